#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "runtime/base/inheritance.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/options.hpp"
#include "runtime/state/container_id.hpp"
#include "runtime/state/status.hpp"

namespace ocirun::runtime::cli {

/// What a shell offers for the value of an option or for an operand. kWords: the words between the
/// bars of "table|json".
enum class Completes : std::uint8_t {
  kNothing,
  kWords,
  kFile,
  kDirectory,
  kCapability,
  kContainer,
  kSignal
};
/// How often an option is meant to be given.
enum class Times : std::uint8_t { kOnce, kMany };

/// One option as data: parsing, help and completion read it.
struct Option {
  std::string_view name;        // "pid-file"
  char letter = 0;              // 'p', or 0
  std::string_view value = {};  // "FILE"; empty: a switch
  std::string_view help = {};
  Completes completes = Completes::kNothing;
  Times times = Times::kOnce;
};

/// What a shell offers for an operand: of containers those whose status suits `wanted`, and once
/// the switch `widened_by` is given those whose status suits `widened_to`. No function: any status.
struct Operand {
  Completes completes = Completes::kNothing;
  bool (*wanted)(Status) = nullptr;
  std::string_view widened_by = {};
  bool (*widened_to)(Status) = nullptr;
};

/// What followed a command on the command line.
class Arguments {
 public:
  /// For switches. Of an option with a value it tells that the option stands there, with "" too.
  bool has(std::string_view option) const { return values_.contains(option); }
  /// The last value given. An empty one means "not given", as with runc: scripts pass `--user
  /// "$U"`.
  std::optional<std::string> value(std::string_view option) const;
  /// All values given, in their order, without empty ones.
  std::vector<std::string> all(std::string_view option) const;
  /// Errors: not a number from 0 to `most`.
  Result<int> number(std::string_view option, int otherwise, int most) const;
  std::optional<HostPath> path(std::string_view option) const;
  /// The first positional. Errors: missing, or no valid id.
  Result<ContainerId> id() const;

  std::multimap<std::string, std::string, std::less<>> values_;
  std::vector<std::string> positionals;
};

/// Where options may stand. kUntilPositional: the first positional ends them (exec, ps: the rest
/// belongs to another program).
enum class OptionPlacement { kAnywhere, kUntilPositional };
/// Whether the command clones processes into containers and so runs from the sealed executable.
enum class Executable { kPlain, kSealed };

struct Invocation {
  const GlobalOptions& options;
  const Log& log;
  const Arguments& arguments;
  Inheritance inheritance;
  std::string process_document = {};  // the text that `exec --process` names
};

struct Command {
  std::string_view name;
  std::string_view operands;  // "[--] ID [SIGNAL]"
  std::string_view summary;
  std::span<const Option> options;
  std::size_t least_operands = 0, most_operands = 0;
  Result<int> (*run)(const Invocation&);  // the exit status
  OptionPlacement placement = OptionPlacement::kAnywhere;
  Executable executable = Executable::kPlain;
  int failure_status = 1;
  std::array<Operand, 2> completed_operands = {};
};

std::span<const Command> all_commands();
std::span<const Option> global_options();
const Command* find_command(std::string_view name);

/// Reads options and positionals from `words`. Errors: an option that `options` does not have, a
/// value that is missing.
Result<Arguments> parse_words(std::span<const std::string> words, std::span<const Option> options,
                              OptionPlacement placement, std::size_t* consumed = nullptr);

std::string help_text();
std::string help_text(const Command& command);
std::string version_text();

/// The whole program: returns the exit status.
int run_command_line(int argc, char** argv);

}  // namespace ocirun::runtime::cli
