#include "cgroups/container/apply.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "cgroups/container/explain.hpp"
#include "cgroups/hierarchies/layout.hpp"
#include "cgroups/hierarchies/text.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::cgroups {
namespace {

/// Writes to files of cgroups. Keeps the last file open, because dozens of device rules go to the
/// same file.
class OpenFile {
 public:
  Result<void> write(const Directory& directory, const std::string& file, std::string_view value) {
    if (directory_ != &directory || file != file_ || !fd_) {
      directory_ = &directory;
      file_ = file;
      fd_.reset();
      OCIRUN_TRY_ASSIGN(fd_, directory.open_file(file, O_WRONLY));
    }
    if (auto done = linux::sys::write_once(fd_, value); !done)
      return fail(done.error().number(), "write {} to {}/{}", value, directory.path(), file);
    return {};
  }

 private:
  const Directory* directory_ = nullptr;
  std::string file_;
  UniqueFd fd_;
};

/// Whether the kernel lacks a file, or does not know a value. The kernel's ENOTSUPP (524) is in no
/// libc header.
bool not_supported(int number) {
  constexpr int kEnotsupp = 524;
  return number == ENOENT || number == EOPNOTSUPP || number == kEnotsupp || number == ENODEV;
}

enum class Outcome { kInForce, kDropped };

Result<Outcome> make_write(const Directory& directory, const Write& write, OpenFile& file) {
  Result<void> result = file.write(directory, write.file, write.value);
  if (!result && result.error().number() == ENOENT && !write.other_file.empty())
    result = file.write(directory, write.other_file, write.other_value);
  const bool is_missing = !result && not_supported(result.error().number());
  if (!result && (!is_missing || write.if_missing == IfMissing::kError))
    return std::unexpected(std::move(result).error());
  if (write.if_missing != IfMissing::kDrop) return Outcome::kInForce;
  // The kernel rounds a limit down to whole pages: the file's text is not longer than the written
  // text. If the kernel ignores the limit, the file shows a longer number near 2^63.
  const std::string now = directory.read_or_empty(write.file);
  return is_missing || now.size() > write.value.size() ? Outcome::kDropped : Outcome::kInForce;
}

Result<const Node*> node_of(std::span<const Node> nodes, const Write& write,
                            HandedDown& handed_down) {
  if (const Node* v1 = find_v1(nodes, write.controller)) return v1;
  const Node* unified = find_unified(nodes);
  if (unified == nullptr)
    return refuse("{}: this host has no {} controller", write.pointer, write.controller);
  if (!write.controller.empty())
    OCIRUN_TRY(
        within(enable_controllers(*unified, {write.controller}, handed_down), write.pointer));
  return unified;
}

/// The further results of apply_group().
struct Effects {
  HandedDown& handed_down;
  std::vector<std::string>* dropped = nullptr;  // JSON pointers of limits that the kernel lacks
  Writes* old_values = nullptr;                 // writes that restore the old values
};

/// Makes all writes of one controller. Repeats each write that failed with EINVAL at the end.
Result<void> apply_group(std::span<const Node> nodes, std::span<const Write> group,
                         const Effects& effects) {
  OCIRUN_TRY_ASSIGN(const Node* node, node_of(nodes, group.front(), effects.handed_down));
  OCIRUN_TRY_ASSIGN(const Directory* directory, within(node->directory(), group.front().pointer));
  OpenFile file;
  const auto explained = [&](const Write& write, Error error) {
    if (const std::string reason = explain(*directory, write, error.number()); !reason.empty())
      error.within(reason);
    return std::unexpected(error.within(write.pointer));
  };

  std::vector<const Write*> again;
  for (const Write& write : group) {
    if (effects.old_values != nullptr)
      if (auto old = old_value(*directory, write)) effects.old_values->push_back(*std::move(old));
    const Result<Outcome> result = make_write(*directory, write, file);
    if (result && *result == Outcome::kDropped && effects.dropped != nullptr)
      effects.dropped->push_back(write.pointer);
    if (!result && result.error().number() == EINVAL)
      again.push_back(&write);
    else if (!result)
      return explained(write, result.error());
  }
  for (const Write* write : again) {
    if (write->file == "cpu.rt_runtime_us") make_room_for_realtime(*node, write->value);
    if (const auto result = make_write(*directory, *write, file); !result)
      return explained(*write, result.error());
  }
  return {};
}

Result<void> apply_all(std::span<const Node> nodes, std::span<const Write> writes,
                       const Effects& effects) {
  while (!writes.empty()) {
    const auto end = std::ranges::find_if(
        writes, [&](const Write& w) { return w.controller != writes.front().controller; });
    const auto size = static_cast<std::size_t>(end - writes.begin());
    OCIRUN_TRY(apply_group(nodes, writes.first(size), effects));
    writes = writes.subspan(size);
  }
  return {};
}

}  // namespace

Result<void> apply_writes(std::span<const Node> nodes, std::span<const Write> writes,
                          HandedDown& handed_down, std::vector<std::string>* dropped) {
  return apply_all(nodes, writes, {.handed_down = handed_down, .dropped = dropped});
}

Result<Writes> replace_values(std::span<const Node> nodes, std::span<const Write> writes,
                              HandedDown& handed_down, std::vector<std::string>* dropped) {
  Writes old_values;
  const Effects effects{.handed_down = handed_down, .dropped = dropped, .old_values = &old_values};
  if (Result<void> applied = apply_all(nodes, writes, effects); !applied) {
    restore_values(nodes, old_values);
    return std::unexpected(std::move(applied).error());
  }
  return old_values;
}

void restore_values(std::span<const Node> nodes, std::span<const Write> old_values) {
  constexpr int kRounds = 3;  // the kernel may refuse a value until another value is restored
  std::vector<const Write*> left;
  for (const Write& write : old_values) left.insert(left.begin(), &write);
  HandedDown none;
  for (int round = 0; round < kRounds && !left.empty(); ++round)
    std::erase_if(left, [&](const Write* write) {
      const auto node = node_of(nodes, *write, none);
      if (!node) return true;
      const auto directory = (*node)->directory();
      OpenFile file;
      return !directory || make_write(**directory, *write, file).has_value();
    });
}

namespace {

/// A file with one line for each device (or another key), and the value that resets a line.
struct Keyed {
  std::string_view file;  // a file name, or the beginning of file names
  std::string_view cleared;
};
constexpr Keyed kKeyed[] = {
    {"blkio.throttle.", "0"},
    {"blkio.weight_device", "0"},
    {"blkio.leaf_weight_device", "0"},
    {"blkio.bfq.weight_device", "default"},
    {"io.bfq.weight", "default"},
    {"io.weight", "default"},
    {"io.max", "rbps=max wbps=max riops=max wiops=max"},
    {"io.latency", "target=0"},
    {"rdma.max", "hca_handle=max hca_object=max"},
    {"misc.max", "max"},
    {"net_prio.ifpriomap", "0"},
};

std::string_view first_line(std::string_view text) { return text.substr(0, text.find('\n')); }

/// The line of `text` whose first word is `key`.
std::string_view line_of(std::string_view text, std::string_view key) {
  for (const std::string_view line : words(text, '\n'))
    if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ') return line;
  return {};
}

}  // namespace

std::string restoring_value(std::string_view file, std::string_view text, std::string_view value) {
  // The first line of `text` is "oom_kill_disable 0" or "oom_kill_disable 1".
  if (file == "memory.oom_control")
    return std::string(text.substr(text.find_last_of(' ', text.find('\n')) + 1, 1));
  const auto row = std::ranges::find_if(
      kKeyed, [&](const Keyed& keyed) { return file.starts_with(keyed.file); });
  // A cpuset file may be empty. Writing "\n" makes the file empty again.
  if (row == std::end(kKeyed)) return text.empty() ? "\n" : std::string(text);
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos) {  // `value` names no device: the default weight
    const std::string_view line = line_of(text, "default");
    return std::string(line.empty() ? first_line(text) : line);
  }
  const std::string_view key = value.substr(0, blank);
  const std::string_view line = line_of(text, key);
  return line.empty() ? fmt::format("{} {}", key, row->cleared) : std::string(line);
}

std::optional<Write> old_value(const Directory& directory, const Write& write) {
  Write old{.controller = write.controller,
            .file = write.file,
            .value = write.value,
            .pointer = write.pointer,
            .if_missing = IfMissing::kPassOver};
  Result<std::string> text = directory.read(write.file);
  if (!text && !write.other_file.empty()) {
    old.file = write.other_file;
    old.value = write.other_value;
    text = directory.read(old.file);
  }
  if (!text) return std::nullopt;
  while (text->ends_with('\n')) text->pop_back();
  old.value = restoring_value(old.file, *text, old.value);
  return old;
}

namespace {

constexpr const char* kRuntime = "cpu.rt_runtime_us";
constexpr const char* kPeriod = "cpu.rt_period_us";

}  // namespace

void make_room_for_realtime(const Node& node, std::string_view runtime) {
  const std::string_view below = std::string_view(node.path()).substr(node.mount_point().size());
  const Result<const Directory*> directory = node.directory();
  const auto asked = number(runtime);
  if (!directory || !asked || !below.starts_with(fmt::format("{}/", kOwnParent))) return;
  const auto period = number((*directory)->read_or_empty(kPeriod));
  if (!period || *period == 0) return;

  std::size_t end = node.mount_point().size();
  while ((end = node.path().find('/', end + 1)) != std::string::npos) {
    const Result<Directory> parent = Directory::open(node.path().substr(0, end));
    if (!parent) return;
    const auto now = number(parent->read_or_empty(kRuntime));
    const auto parent_period = number(parent->read_or_empty(kPeriod));
    if (!now || !parent_period) return;
    // The parent needs as large a share of the parent's period as the container asks of the
    // container's period. The product is rounded up.
    const double share = static_cast<double>(*asked) / static_cast<double>(*period);
    const auto more = static_cast<std::uint64_t>(share * static_cast<double>(*parent_period)) + 1;
    // If the kernel refuses this write, the later write to the container's file reports the error.
    if (!parent->write(kRuntime, fmt::to_string(*now + more))) return;
  }
}

}  // namespace ocirun::cgroups
