#include "linux/seccomp/tree.hpp"

namespace ocirun::linux {
namespace {

// A jump to routine i, until the place of the routine is known: no other instruction of the tree
// has this code.
constexpr std::uint16_t kJumpToRoutine = BPF_JMP | BPF_JA | BPF_X;

Program subtree(std::span<const Leaf> leaves) {
  if (leaves.size() == 1) {
    const Leaf& leaf = leaves.front();
    if (!leaf.routine) return {return_answer(leaf.answer)};
    return {statement(kJumpToRoutine, static_cast<std::uint32_t>(*leaf.routine))};
  }
  const auto below = leaves.first(leaves.size() / 2);
  const auto above = leaves.subspan(below.size());
  const Program lower = subtree(below);
  Program code;
  if (lower.size() <= kLongestJump) {
    code.push_back(jump(BPF_JGE, above.front().first, lower.size(), 0));
  } else {
    code.push_back(jump(BPF_JGE, above.front().first, 0, 1));
    code.push_back(jump_always(lower.size()));
  }
  append(code, lower);
  append(code, subtree(above));
  return code;
}

}  // namespace

Program search_tree(std::span<const Leaf> leaves, std::span<const Program> routines) {
  Program code = subtree(leaves);
  const std::size_t end_of_tree = code.size();
  std::vector<std::size_t> places;
  for (const Program& routine : routines) {
    places.push_back(code.size());
    append(code, routine);
  }
  for (std::size_t at = 0; at < end_of_tree; ++at)
    if (code[at].code == kJumpToRoutine) code[at] = jump_always(places[code[at].k] - at - 1);
  return code;
}

}  // namespace ocirun::linux
