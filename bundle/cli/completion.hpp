#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/cli/arguments.hpp"
#include "bundle/cli/table.hpp"

namespace ocirun::bundle::cli {

/// The command that the completion of a shell calls: `ocirun __complete WORD...`, with the words of
/// the line behind "ocirun" up to the one that is completed, which may be "". Not in the help.
inline constexpr std::string_view kCompletionCommand = "__complete";

/// A word that completion offers. `help`: what a shell shows beside it; "": nothing.
struct Candidate {
  std::string word, help = {};
};

/// What the names are wanted for.
struct Question {
  Completes completes = Completes::kNothing;  // kContainer or a later one
  bool (*wanted)(Status) = nullptr;           // of containers; nullptr: of any status
  const Arguments& before;                    // the options before the command
  const Arguments& arguments;                 // those of the command, so far
};
/// The names that a program knows of, in any order.
using Names = std::vector<Candidate> (*)(const Question&);

/// Reads the options before the command, and passes mistakes over. Returns the index of the
/// command.
std::size_t read_before(Reader& before, std::span<const std::string> words);

/// What can take the place of the last of the `words`, a line "WORD\tHELP" or "WORD" for each; a
/// line ":files" or ":directories" if the shell has to offer these itself. "": nothing. Each WORD
/// is a whole word of the command line, as "--format=json"; one that ends in ":" goes on. Mistakes
/// in the words before are passed over.
std::string completion_text(const Program& program, Names names,
                            std::span<const std::string> words);

}  // namespace ocirun::bundle::cli
