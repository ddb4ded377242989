#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/cli/commands.hpp"
#include "pods/run/event_log.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {
namespace {

constexpr std::array kEventsOptions{
    Option{"follow", "", "wait for more until the pod has ended", 'f'},
    kDataOption,
};

constexpr std::size_t kPiece = 65536;
constexpr int kPause = 100;  // milliseconds between two looks at the file

/// Prints what is behind `offset` in the file.
Result<void> print_from(Fd file, off_t& offset) {
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t count = ::pread(file.value, piece.data(), piece.size(), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errno, "read the events");
    if (count == 0) return {};
    TRY(print(std::string_view(piece).substr(0, static_cast<std::size_t>(count))));
    offset += count;
  }
}

Result<int> events(const Arguments& arguments, const Caller&) {
  const std::string& name = arguments.operands().front();
  TRY_ASSIGN(const PodsDirectory pods, PodsDirectory::open(data_of(arguments)));
  TRY_ASSIGN(const PodDirectory directory, pods.open_pod(name));
  TRY_ASSIGN(const UniqueFd file, linux::sys::openat(directory.fd(), EventLog::kFile,
                                                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  off_t offset = 0;
  for (;;) {
    const auto view = view_pod(pods, name);
    TRY(print_from(file, offset));
    // The end was seen before the last events were read.
    if (!arguments.has("follow") || !view || !view->is_supervised) return 0;
    ::poll(nullptr, 0, kPause);
  }
}

}  // namespace

const Command kEvents{.name = "events",
                      .operands = "POD",
                      .summary = "print what has happened to a pod, a JSON object in each line",
                      .options = kEventsOptions,
                      .least_operands = 1,
                      .run = events};

}  // namespace ocirun::pods::cli
