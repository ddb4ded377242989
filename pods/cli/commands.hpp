#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/cli/arguments.hpp"
#include "bundle/cli/completion.hpp"
#include "linux/base/error.hpp"
#include "linux/base/paths.hpp"
#include "pods/documents/workload.hpp"
#include "pods/prepare/given.hpp"
#include "pods/run/settings.hpp"
#include "pods/run/units/service_notifier.hpp"

namespace ocirun::pods::cli {

using bundle::cli::Arguments;
using bundle::cli::Completes;
using bundle::cli::kAnyNumber;
using bundle::cli::Operand;
using bundle::cli::Option;
using bundle::cli::OptionPlacement;
using bundle::cli::Times;

/// How `ocirun pod` was called: the command line of `ocirun` before the command of `pod`.
struct Caller {
  std::string runtime;               // the path of ocirun
  std::vector<std::string> options;  // the options before `pod`, for each call of the runtime
  ManagerVariables manager = {};
  bool is_ordinary = false;  // the user was not root, and may be root of a user namespace now
};

/// kRoot: the command makes or removes files of several owners. An ordinary user becomes root of a
/// user namespace before it runs.
enum class Rights : std::uint8_t { kOwn, kRoot };

/// A command of `ocirun pod`.
struct Command : bundle::cli::Syntax {
  Result<int> (*run)(const Arguments& arguments, const Caller& caller);  // the exit status
  Rights rights = Rights::kOwn;
};

/// Checks documents or, with --profile, bundles.
extern const Command kValidate;
extern const Command kRun, kPlan, kUnit, kExport;
extern const Command kStart, kRestart;
extern const Command kStatus, kLogs, kEvents, kExec, kStop, kDelete;
extern const Command kPorts, kStats, kCopy;
extern const Command kWait, kKill;
extern const Command kImages, kPull, kVolumes;

/// The command line of `ocirun pod`.
extern const bundle::cli::Program kProgram;
/// The command `name`; nullptr if there is none.
const Command* find_command(std::string_view name);
/// The names that completion offers: of pods, their containers, volumes and networks. Lists
/// directories of --data, and nothing else.
std::vector<bundle::cli::Candidate> names_for(const bundle::cli::Question& question);

/// Prints to stdout. Errors: stdout is closed, or its disk is full.
Result<void> print(std::string_view text);
/// Prints a line to stderr, "ocirun: warning: …".
void warn(std::string_view sentence);
/// Prints a line to stderr, "ocirun: …", that is no warning.
void note(std::string_view sentence);

/// Prints an error as main() does. For a command that continues after the error, or whose exit
/// status is not 1.
void print_error(const Command& command, Error error);

/// The names of --ignore. Errors: a name is empty.
Result<std::vector<std::string>> read_ignored(const Arguments& arguments);
/// The error for a name of --ignore that no refused part of the document has.
std::string unused_ignored(std::string_view name);

/// The directory of --data. main() has set the default.
HostPath data_of(const Arguments& arguments);

/// Reads the text of a document; "-" is standard input.
Result<std::string> read_document(const std::string& file);
/// The name of a document in messages.
std::string shown_name(const std::string& file);

/// Whether --format is json. Errors: it is neither json nor text.
Result<bool> wants_json(const Arguments& arguments);

enum class Empty : std::uint8_t { kRefused, kAllowed };
/// "NAME=VALUE" of each use of an option. `empty`: whether VALUE may be "". Errors: another form; a
/// NAME that is given twice.
Result<std::map<std::string, std::string>> pairs_of(const Arguments& arguments,
                                                    std::string_view option,
                                                    Empty empty = Empty::kRefused);

/// The values of --pull, --pull-secret, --plain-http and --pull-timeout. Errors name the option.
Result<Pulling> read_pulling(const Arguments& arguments);
/// Warns of each pull secret of the document that no --pull-secret gives.
void warn_of_pull_secrets(const Arguments& arguments, const Workload& workload);

/// The values of kGivenOptions, but --name and --ignore. Errors name the option and the form of its
/// value.
Result<Given> read_given(const Arguments& arguments);

/// The variables of --env-file and --env, each name once: the last value counts, and --env counts
/// more than --env-file. A name without a value has the value of the caller's environment. Errors:
/// a variable without a value is not set here; another form.
Result<std::vector<std::pair<std::string, std::string>>> read_variables(const Arguments& arguments);

/// Reads a document for `run` or `plan`, and prints its warnings. Errors: the problem of the
/// document, or how many it has, which are printed before; parts that need several machines, if it
/// is to run on this one.
Result<Workload> read_workload_to_run(const Arguments& arguments, const std::string& file,
                                      Audience audience = Audience::kThisMachine);
/// read_workload_to_run() for a document whose `text` was read before.
Result<Workload> workload_of_text(const Arguments& arguments, const std::string& file,
                                  const std::string& text,
                                  Audience audience = Audience::kThisMachine);

/// The name of the pod: --name, else `of_document`, the name that the document has, else the name
/// of the file without its ending.
Result<std::string> name_for(const Arguments& arguments, const std::string& of_document,
                             const std::string& file);

/// Parses whole seconds, from 0 to a year.
Result<std::chrono::seconds> read_seconds(std::string_view option, std::string_view text);

}  // namespace ocirun::pods::cli
