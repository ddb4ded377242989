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

/// Which names are asked for, such as those of the running containers, and for which command line.
struct Question {
  Completes completes = Completes::kNothing;  // kContainer or a later value
  bool (*wanted)(Status) = nullptr;           // whether containers of this status; nullptr: of all
  const Arguments& before;                    // the options before the command
  const Arguments& arguments;                 // the command's options and operands so far
};
/// The names that a program knows of, in any order.
using Names = std::vector<Candidate> (*)(const Question&);

/// Passes the options at the beginning of `words` to `before`, up to the first word that is no
/// option: the name of the command. Mistakes in options are ignored. Returns the index of that
/// word, or words.size().
std::size_t read_before(Reader& before, std::span<const std::string> words);

/// The candidates for the last of `words`, which the user has begun to type and which may be empty.
/// The words before it are the command line so far; mistakes in them are ignored. Each candidate is
/// a line "WORD\tHELP", or "WORD" if it has no help. WORD replaces the whole last word: behind
/// "--format=j" it is "--format=json". Behind a WORD that ends in ":" the shell adds no space,
/// because the user types on. The line ":files" or ":directories" makes the shell add the names of
/// files or directories. "": there are no candidates.
std::string completion_text(const Program& program, Names names,
                            std::span<const std::string> words);

}  // namespace ocirun::bundle::cli
