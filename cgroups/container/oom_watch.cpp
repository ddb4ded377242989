#include "cgroups/container/oom_watch.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "cgroups/hierarchies/node.hpp"
#include "cgroups/hierarchies/text.hpp"

namespace ocirun::cgroups {
namespace {

/// Reads the line "oom_kill N" of memory.events or, since Linux 4.13, of memory.oom_control.
/// Reading from the start also rearms poll(2).
std::optional<std::uint64_t> read_kills(Fd file) {
  std::array<char, 512> buffer{};
  const ssize_t count = ::pread(file.value, buffer.data(), buffer.size(), 0);
  if (count <= 0) return std::nullopt;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  constexpr std::string_view kName = "oom_kill ";
  for (const std::string_view line : words(text, '\n'))
    if (line.starts_with(kName)) return number(line.substr(kName.size()));
  return 0;
}

std::optional<std::uint64_t> read_kills(const Node& node, const char* name) {
  const auto directory = node.directory();
  if (!directory) return std::nullopt;
  const auto file = (*directory)->open_file(name, O_RDONLY);
  return file ? read_kills(*file) : std::nullopt;
}

}  // namespace

Result<OomWatch> OomWatch::open(std::span<const Node> nodes) {
  OomWatch watch;
  for (const Node& node : nodes) {
    if (!node.has("memory")) continue;
    OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
    OCIRUN_TRY_ASSIGN(watch.control_, directory->open_file("memory.oom_control", O_RDONLY));
    watch.fd_ = UniqueFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!watch.fd_) return fail(errno, "make an eventfd");
    OCIRUN_TRY(directory->write("cgroup.event_control",
                                fmt::format("{} {}", watch.fd_.get(), watch.control_.get())));
    return watch;
  }
  for (const Node& node : nodes) {
    if (!node.unified()) continue;
    OCIRUN_TRY_ASSIGN(const Directory* directory, node.directory());
    auto events = directory->open_file("memory.events", O_RDONLY);
    if (!events && events.error().number() == ENOENT) break;
    OCIRUN_TRY_ASSIGN(watch.fd_, std::move(events));
    watch.kills_ = read_kills(watch.fd_).value_or(0);
    return watch;
  }
  return refuse("no memory controller counts for this container");
}

std::optional<std::uint64_t> count_oom_kills(std::span<const Node> nodes) {
  for (const Node& node : nodes)
    if (node.has("memory")) return read_kills(node, "memory.oom_control");
  for (const Node& node : nodes)
    if (node.unified()) return read_kills(node, "memory.events");
  return std::nullopt;
}

short OomWatch::poll_events() const { return control_ ? POLLIN : POLLPRI; }

bool OomWatch::happened() {
  if (!control_) {
    const std::uint64_t now = read_kills(fd_).value_or(kills_);
    return std::exchange(kills_, now) < now;
  }
  std::uint64_t count = 0;
  if (::read(fd_.get(), &count, sizeof count) != sizeof count) return false;
  return read_kills(control_).has_value();  // nullopt: the removal of the cgroup woke the reader
}

}  // namespace ocirun::cgroups
