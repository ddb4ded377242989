#include <fcntl.h>

#include <array>
#include <optional>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"
#include "pods/cli/views.hpp"
#include "pods/run/container_root.hpp"
#include "pods/run/user_namespace.hpp"
#include "pods/transfer/copy_files.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kCopyOptions{
    kContainerOption,
    Option{"user", 0, "UID[:GID]", "who owns what is copied into the container (default 0:0)"},
    kDataOption,
};

/// A path in a container of a pod, "POD:PATH".
struct PathInPod {
  std::string pod, path;
};

/// Reads "POD:PATH". Nothing for a path of the host: one that begins with "/" or ".", or has no
/// colon.
std::optional<PathInPod> path_in_pod(const std::string& operand) {
  const std::size_t colon = operand.find(':');
  if (colon == std::string::npos || operand.starts_with('/') || operand.starts_with('.'))
    return std::nullopt;
  return PathInPod{.pod = operand.substr(0, colon), .path = operand.substr(colon + 1)};
}

/// The two operands of `cp`, of which one is in a pod.
struct Way {
  PathInPod there;
  std::string here;
  bool is_out = false;  // from the pod to the host
};

Result<Way> read_way(const std::string& from, const std::string& to) {
  const auto source = path_in_pod(from), target = path_in_pod(to);
  if (source.has_value() == target.has_value())
    return refuse(
        "one of the operands must be POD:PATH and the other one a path of the host, which begins "
        "with \"/\" or \".\" if it has a colon");
  Way way{.there = source ? *source : *target,
          .here = source ? to : from,
          .is_out = source.has_value()};
  OCIRUN_TRY(check_pod_name(way.there.pod));
  if (way.here == "-")
    return refuse(
        "\"-\": tar archives on the standard streams are not supported; a container with tar {}: "
        "`ocirun pod exec [-c CONTAINER] {} tar -C DIRECTORY -{} -{}`",
        way.is_out ? "writes one" : "reads one", way.there.pod, way.is_out ? "cf" : "xf",
        way.is_out ? " ." : "");
  if (way.there.path.empty())
    return refuse("{}: has no path behind the colon", way.is_out ? from : to);
  if (way.here.empty()) return refuse("the path of the host is empty");
  return way;
}

/// --user UID[:GID]
Result<OwnerIds> read_owner(const std::optional<std::string>& text) {
  OwnerIds owner;
  if (!text) return owner;
  std::string_view group = *text;
  const std::string_view user = linux::cut(group, ':');
  OCIRUN_TRY_ASSIGN(owner.uid, within(Uid::parse(user), "--user"));
  const bool has_group = text->contains(':');
  OCIRUN_TRY_ASSIGN(owner.gid, within(Gid::parse(has_group ? group : user), "--user"));
  return owner;
}

/// Prints the first of many warnings, and counts the others: a container may have any number of
/// entries that are left out.
class Warnings {
 public:
  void add(const std::string& sentence) {
    if (++count_ <= kShown) warn(sentence);
  }
  void finish() const {
    if (count_ > kShown) warn(fmt::format("and {} other entries are left out", count_ - kShown));
  }

 private:
  static constexpr std::size_t kShown = 20;
  std::size_t count_ = 0;
};

/// Refuses a symlink to a directory: it may be an earlier copy, which leads where the container has
/// chosen.
Result<void> check_target_here(const std::string& path) {
  if (path.ends_with('/')) return {};
  const auto link = linux::sys::readlinkat(Fd{AT_FDCWD}, path.c_str());
  if (!link || !linux::sys::open(path.c_str(), O_PATH | O_DIRECTORY)) return {};
  return refuse(
      "{0}: is a symlink to a directory, which may have come out of a container: \"{0}/\" copies "
      "into the directory",
      path);
}

Result<void> copy_way(const Way& way, const ContainerRoot& root, const OwnerIds& inside) {
  const PathOpener in_container = [&](const std::string& path, int flags) {
    return root.directory.open(RootfsPath(path), flags);
  };
  const PathOpener on_host = [](const std::string& path, int flags) {
    return linux::sys::open(path.c_str(), flags);
  };
  Warnings warnings;
  CopyRules rules{.owner = {},
                  .warn = [&](const std::string& sentence) { warnings.add(sentence); }};
  if (!way.is_out) {
    OCIRUN_TRY_ASSIGN(const OwnerIds owner, owner_in(root, inside));
    rules.owner = std::pair(owner.uid, owner.gid);
  }
  if (way.is_out) OCIRUN_TRY(check_target_here(way.here));
  OCIRUN_TRY_ASSIGN(const CopySource source, way.is_out
                                                 ? open_copy_source(in_container, way.there.path)
                                                 : open_copy_source(on_host, way.here));
  OCIRUN_TRY_ASSIGN(const CopyTarget target,
                    way.is_out ? open_copy_target(on_host, way.here, source)
                               : open_copy_target(in_container, way.there.path, source));
  const auto copied = copy_files(source, target, rules);
  warnings.finish();
  return copied;
}

Result<int> copy(const Arguments& arguments, const Caller&) {
  OCIRUN_TRY_ASSIGN(const Way way, read_way(arguments.operands()[0], arguments.operands()[1]));
  if (way.is_out && arguments.has("user"))
    return refuse("--user: what is copied to the host belongs to the caller");
  OCIRUN_TRY_ASSIGN(const OwnerIds inside, read_owner(arguments.value("user")));
  OCIRUN_TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  OCIRUN_TRY_ASSIGN(const PodView view, view_pod(pods, way.there.pod));
  OCIRUN_TRY_ASSIGN(
      const ContainerRecord container,
      choose_running_container(view.record, arguments.value("container"),
                               "only the files of a container that runs can be copied"));
  OCIRUN_TRY(as_root_of(view.record, [&]() -> Result<void> {
    OCIRUN_TRY_ASSIGN(const ContainerRoot root, open_container_root(view.record, container));
    return copy_way(way, root, inside);
  }));
  return 0;
}

}  // namespace

const Command kCopy{{"cp",
                     "POD:PATH HOSTPATH | HOSTPATH POD:PATH",
                     "copy files out of a container that runs, or into it",
                     kCopyOptions,
                     {2, 2},
                     {Operand{Completes::kPodOrFile}, Operand{Completes::kPodOrFile}}},
                    copy};

}  // namespace ocirun::pods::cli
