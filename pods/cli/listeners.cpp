#include "pods/cli/listeners.hpp"

#include <poll.h>
#include <unistd.h>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {
namespace {

/// Shows on a terminal which layer is unpacked.
void show_progress(const std::string& image, const AddProgress& progress) {
  const bool is_done = progress.size != 0 && progress.read >= progress.size;
  const std::string part = progress.size == 0
                               ? fmt::format("{} MiB", progress.read >> 20)
                               : fmt::format("{:3} %", progress.read * 100 / progress.size);
  static_cast<void>(
      linux::write_all(Fd{STDERR_FILENO},
                       fmt::format("\r{}: layer {} of {}: {}{}", linux::in_one_line(image),
                                   progress.index + 1, progress.count, part, is_done ? "\n" : "")));
}

/// Prints a line, but leaves it out if nobody reads the output: the supervisor must not wait. The
/// logs have all lines.
void print_if_read(Fd out, std::string_view text) {
  constexpr int kPatience = 100;  // milliseconds
  pollfd watched{out.value, POLLOUT, 0};
  if (::poll(&watched, 1, kPatience) == 1) static_cast<void>(linux::write_all(out, text));
}

void show_last_lines(const std::string& container, const std::vector<std::string>& lines,
                     const std::string& hint) {
  std::string text =
      lines.empty()
          ? fmt::format("ocirun: container \"{}\" has written nothing\n", container)
          : fmt::format("ocirun: the last lines of container \"{}\" ({}):\n", container, hint);
  for (const std::string& line : lines)
    text += fmt::format("{} | {}\n", container, linux::in_one_line(line));
  static_cast<void>(linux::write_all(Fd{STDERR_FILENO}, text));
}

}  // namespace

Listener terminal_listener(bool has_prefix) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  if (::isatty(STDERR_FILENO) == 1) listener.progress = show_progress;
  listener.print = [has_prefix](const std::string& container, Stream stream,
                                std::string_view line) {
    const Fd out{stream == Stream::kStderr ? STDERR_FILENO : STDOUT_FILENO};
    const std::string text =
        has_prefix ? fmt::format("{} | {}\n", container, line) : fmt::format("{}\n", line);
    print_if_read(out, text);
  };
  return listener;
}

Listener detached_listener(const std::string& pod, Afterwards afterwards) {
  Listener listener;
  listener.warn = [](const std::string& sentence) { warn(sentence); };
  const std::string hint = afterwards == Afterwards::kKeep
                               ? fmt::format("`ocirun pod logs {}` has all", pod)
                               : "--keep keeps all";
  listener.last_lines = [hint](const std::string& container,
                               const std::vector<std::string>& lines) {
    show_last_lines(container, lines, hint);
  };
  return listener;
}

}  // namespace ocirun::pods::cli
