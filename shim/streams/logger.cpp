#include "shim/streams/logger.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::shim {
namespace {

/// The character of a code such as "%41". Nothing if `text` does not begin with a code.
std::optional<char> character_of(std::string_view text) {
  if (text.size() < 3 || text.front() != '%') return std::nullopt;
  std::uint8_t code = 0;
  const char* const end = text.data() + 3;
  if (std::from_chars(text.data() + 1, end, code, 16).ptr != end) return std::nullopt;
  return static_cast<char>(code);
}

constexpr std::chrono::seconds kPatience{10};
constexpr std::string_view kScheme = "binary://", kSchemeWithByte = "binary-v2://";

std::vector<std::string> command_of(std::string_view name) {
  name.remove_prefix(name.find("://") + 3);
  const std::string_view path = linux::cut(name, '?');
  std::vector<std::string> words{without_codes(path)};
  std::string query(name);
  std::ranges::replace(query, '+', ' ');
  std::string_view rest = query;
  while (!rest.empty()) {
    std::string_view value = linux::cut(rest, '&');
    words.push_back(without_codes(linux::cut(value, '=')));
    if (!value.empty()) words.push_back(without_codes(value));
  }
  return words;
}

}  // namespace

bool is_logger(std::string_view name) {
  return name.starts_with(kScheme) || name.starts_with(kSchemeWithByte);
}

std::string without_codes(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const auto character = character_of(text);
    plain += character.value_or(text.front());
    text.remove_prefix(character ? 3 : 1);
  }
  return plain;
}

Result<Logger> run_logger(const Children& children, const std::string& name,
                          const LoggedContainer& container, Fd out, Fd err) {
  const std::vector<std::string> words = command_of(name);
  if (!words.front().starts_with('/'))
    return refuse("{}: the path of a logging program must be absolute", name);
  OCIRUN_TRY_ASSIGN(linux::Pipe ready, linux::make_pipe());
  Logger logger{
      .pid = 0, .ready = std::move(ready.reader), .says_ready = name.starts_with(kSchemeWithByte)};
  OCIRUN_TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  const linux::ExecArguments arguments(
      words,
      {"CONTAINER_ID=" + container.id, "CONTAINER_NAMESPACE=" + container.container_namespace});
  auto child = within(
      children.spawn(arguments, arguments.envp(), {null, null, null, out, err, ready.writer}),
      "start the logging program {}", words.front());
  if (!child) return std::unexpected(child.error());
  logger.pid = child->pid;
  return logger;
}

Async<Result<void>> become_ready(Loop& loop, Logger& logger) {
  bool is_ready = co_await is_ready_within(loop, logger.ready, EPOLLIN, kPatience);
  char byte = 0;
  if (logger.says_ready) is_ready = is_ready && ::read(logger.ready.get(), &byte, 1) == 1;
  logger.ready.reset();
  if (is_ready) co_return Result<void>();
  co_return refuse("the logging program was not ready in {} s, or has failed before",
                   kPatience.count());
}

}  // namespace ocirun::shim
