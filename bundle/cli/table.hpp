#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "bundle/documents/state.hpp"

// Tables of commands and options. One parser, one help, one completion and one search for what was
// meant read the tables of `ocirun` and those of `ocirun pod`.
namespace ocirun::bundle::cli {

/// The words that completion offers for the value of an option, or for an operand. kWords: the
/// words of the text in the table, as "table|json". A word in capitals, as NAME, stands for
/// something else and is not offered; in the place of FILE and PATH, files are offered. From
/// kContainer on: the names that the program gives (completion.hpp).
enum class Completes : std::uint8_t {
  kNothing,
  kWords,
  kFile,
  kDirectory,
  kCapability,
  kSignal,
  kContainer,
  kPod,
  kPodContainer,  // of the pod that the line names
  kPodOrFile,     // "POD:", or a file of the host
  kVolume,
  kNetwork
};
/// kMany: each occurrence counts. Help says "repeatable", and completion offers the option again.
enum class Times : std::uint8_t { kOnce, kMany };

/// A row of a table of options.
struct Option {
  std::string_view name;        // "pid-file"
  char letter = 0;              // 'p', or 0
  std::string_view value = {};  // "FILE"; empty: a switch; "[=SECONDS]": may follow behind "="
  std::string_view help = {};
  Completes completes = Completes::kNothing;
  Times times = Times::kOnce;
};

/// Whether a value may be missing: `--wait-ready` and `--wait-ready=30`.
constexpr bool may_lack_value(const Option& option) { return option.value.starts_with("[="); }

/// The words that completion offers for an operand; with kMany, for this operand and all behind it.
/// For kContainer: the containers whose status suits `wanted`; if the line has the switch
/// `widened_by`, those whose status suits `widened_to`. A null function stands for all statuses.
struct Operand {
  Completes completes = Completes::kNothing;
  bool (*wanted)(Status) = nullptr;
  std::string_view widened_by = {};
  bool (*widened_to)(Status) = nullptr;
  Times times = Times::kOnce;
};

/// The places where options may stand. kUntilOperand: before the first operand; the words from
/// there on belong to another program (exec, ps).
enum class OptionPlacement : std::uint8_t { kAnywhere, kUntilOperand };

inline constexpr std::size_t kAnyNumber = static_cast<std::size_t>(-1);

struct Count {
  std::size_t least = 0, most = 0;
};

/// A row of the table of commands: how the command is written.
struct Syntax {
  std::string_view name;
  std::string_view operands = {};  // "[--] ID [SIGNAL]"
  std::string_view summary = {};
  std::span<const Option> options = {};
  Count count = {};  // of the operands
  std::array<Operand, 3> completed_operands = {};
  OptionPlacement placement = OptionPlacement::kAnywhere;
};

/// The meaning of an empty value of an option. kIsNone: Arguments::value() returns nothing, as with
/// runc, because scripts pass `--user "$U"`. kCounts: value() returns "", which the command
/// refuses.
enum class EmptyValue : std::uint8_t { kIsNone, kCounts };

/// The command line of a program.
struct Program {
  std::string_view name;                 // "ocirun"
  std::span<const Option> options = {};  // before the command
  std::span<const Syntax* const> commands = {};
  EmptyValue empty_value = EmptyValue::kCounts;
};

/// The option of this name, written as "--force", "-f", or "-force", which is Go's style and used
/// by go-runc. nullptr: there is none.
const Option* find_option(std::span<const Option> options, std::string_view written);
/// The options of letters that stand together, as in "-it" or "-itu": switches, but for the last
/// option, which may take a value. Empty if `written` is something else. find_option() goes first:
/// "-tty" is --tty.
std::vector<const Option*> options_of_letters(std::span<const Option> options,
                                              std::string_view written);
/// The command of this name; nullptr: there is none.
const Syntax* find_syntax(const Program& program, std::string_view name);

/// The rows of `first` and `second` as one table.
template <std::size_t A, std::size_t B>
constexpr std::array<Option, A + B> joined(const std::array<Option, A>& first,
                                           const std::array<Option, B>& second) {
  std::array<Option, A + B> all;
  for (std::size_t i = 0; i < A + B; ++i) all.at(i) = i < A ? first.at(i) : second.at(i - A);
  return all;
}

}  // namespace ocirun::bundle::cli
