#include "shim/tasks/runtime.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"

namespace ocirun::shim {
namespace {

constexpr std::size_t kMostLog = std::size_t{1} << 20;
constexpr std::size_t kMostWritten = std::size_t{16} << 20;

/// A file in memory with this text, read from its beginning.
Result<UniqueFd> text_file(std::string_view text) {
  OCIRUN_TRY_ASSIGN(UniqueFd file, linux::make_memory_file("shim"));
  OCIRUN_TRY(linux::write_all(file, text));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return fail(errno, "read a file in memory");
  return file;
}

/// The message of the last error in a log of JSON lines; "" if there is none.
std::string last_error(std::string_view log) {
  std::string message;
  for (const std::string_view line : linux::words(log, '\n')) {
    bundle::Document document;
    bundle::Report report;
    if (!document.parse(line, report)) continue;
    const bundle::Node* const level = document.root()->find("level");
    const bundle::Node* const text = document.root()->find("msg");
    const bool is_error = level != nullptr && level->is_string() && level->text != "warning" &&
                          level->text != "info" && level->text != "debug";
    if (is_error && text != nullptr && text->is_string()) message = text->text;
  }
  return message;
}

}  // namespace

Async<Result<void>> Runtime::run(std::vector<std::string> words, std::vector<Fd> streams) const {
  const std::string command = words.front();
  // The runtime writes its log to a scratch file, which is removed when the runtime has ended.
  static unsigned long next_log = 0;
  const std::string log = fmt::format("{}log.{}", scratch_prefix_, next_log++);
  std::vector<std::string> all{choice_.runtime, "--root", choice_.root, "--log", log,
                               "--log-format",  "json"};
  if (choice_.systemd_cgroup) all.emplace_back("--systemd-cgroup");
  all.insert(all.end(), words.begin(), words.end());
  auto null = linux::open_verified_null();
  if (!null) co_return std::unexpected(null.error());
  if (streams.empty()) streams = {*null, *null, *null};
  const linux::ExecArguments arguments(std::move(all), {});
  const auto child = children_->spawn(arguments, environ, streams);
  if (!child) co_return within<void>(std::unexpected(child.error()), choice_.runtime);
  const ProcessEnd end = co_await children_->end_of(child->pid);
  const auto text = linux::read_file(Fd{AT_FDCWD}, log, kMostLog, O_NOFOLLOW);
  ::unlink(log.c_str());
  if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0) co_return Result<void>();
  const std::string said = text ? last_error(*text) : "";
  co_return refuse("{} {}: {}", choice_.runtime, command,
                   said.empty() ? linux::describe_end(end.status) : said);
}

Async<Result<std::string>> Runtime::ask(std::vector<std::string> words, std::string input) const {
  const auto in = text_file(input);
  const auto out = text_file("");
  if (!in) co_return std::unexpected(in.error());
  if (!out) co_return std::unexpected(out.error());
  auto null = linux::open_verified_null();
  if (!null) co_return std::unexpected(null.error());
  std::vector<Fd> streams{*in, *out, *null};
  const Result<void> done = co_await run(std::move(words), std::move(streams));
  if (!done) co_return std::unexpected(done.error());
  if (::lseek(out->get(), 0, SEEK_SET) != 0) co_return fail(errno, "read what the runtime wrote");
  auto text = within(linux::sys::read_all(*out, kMostWritten), "what the runtime wrote");
  co_return text;
}

}  // namespace ocirun::shim
