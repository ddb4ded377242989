#include "runtime/init/join.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;
using linux::PinnedNamespace;

enum class Refused { kIsAnError, kIsTriedAgain };

Result<void> join(const PinnedNamespace& pinned) {
  if (::setns(pinned.fd.get(), static_cast<int>(linux::clone_flag(pinned.kind))) == 0) return {};
  return fail(errno, "join the {} namespace", linux::config_name(pinned.kind));
}

// Joins the namespaces of `left`. With kIsTriedAgain, `left` keeps those for which the caller has
// no privileges yet (EPERM).
Result<void> join_each(std::vector<const PinnedNamespace*>& left, Refused refused) {
  std::vector<const PinnedNamespace*> again;
  for (const PinnedNamespace* pinned : left) {
    auto joined = join(*pinned);
    if (joined) continue;
    if (joined.error().number() != EPERM || refused == Refused::kIsAnError) return joined;
    again.push_back(pinned);
  }
  left = std::move(again);
  return {};
}

const PinnedNamespace* find_kind(std::span<const PinnedNamespace> pinned, NamespaceKind kind) {
  const auto found = std::ranges::find(pinned, kind, &PinnedNamespace::kind);
  return found == pinned.end() ? nullptr : &*found;
}

}  // namespace

Result<void> join_user_namespace(std::span<const PinnedNamespace> pinned) {
  const PinnedNamespace* user = find_kind(pinned, NamespaceKind::kUser);
  return user == nullptr ? Result<void>{} : join(*user);
}

Result<void> join_namespaces(std::span<const PinnedNamespace> pinned, bool changes_user,
                             const std::function<Result<void>()>& enter_user) {
  std::vector<const PinnedNamespace*> others;
  for (const PinnedNamespace& one : pinned)
    if (one.kind != NamespaceKind::kUser && one.kind != NamespaceKind::kMount)
      others.push_back(&one);
  TRY(join_each(others, changes_user ? Refused::kIsTriedAgain : Refused::kIsAnError));
  TRY(enter_user());
  TRY(join_each(others, Refused::kIsAnError));
  const PinnedNamespace* mount = find_kind(pinned, NamespaceKind::kMount);
  return mount == nullptr ? Result<void>{} : join(*mount);
}

}  // namespace ocirun::runtime
