#include "shim/streams/streams.hpp"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "shim/streams/logger.hpp"

namespace ocirun::shim {
namespace {

namespace sys = linux::sys;

Result<linux::Pipe> pipe_of(const PipeOwner& owner) {
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, linux::make_pipe());
  if ((owner.uid != 0 || owner.gid != 0) && ::fchown(pipe.reader.get(), owner.uid, owner.gid) != 0)
    return fail(errno, "give a pipe to user {}", owner.uid);
  return pipe;
}

bool is_fifo(const std::string& path) {
  const auto status = sys::fstatat(Fd{AT_FDCWD}, path.c_str());
  return status && S_ISFIFO(status->st_mode);
}

constexpr std::string_view kFileScheme = "file://", kFifoScheme = "fifo://";

/// The path in a name without a scheme, or with the scheme file or fifo. Errors: another scheme.
Result<std::string> path_of(const std::string& name) {
  if (name.starts_with(kFileScheme)) return without_codes(name.substr(kFileScheme.size()));
  if (name.starts_with(kFifoScheme)) return name.substr(kFifoScheme.size());
  if (const auto colon = name.find("://"); colon != std::string::npos)
    return refuse("{}: streams of the scheme {} are not supported (fifo, file, binary)", name,
                  name.substr(0, colon));
  return name;
}

}  // namespace

Async<Result<std::shared_ptr<Streams>>> Streams::open(Children& children, StreamNames names,
                                                      PipeOwner owner, LoggedContainer container) {
  const std::shared_ptr<Streams> streams(new Streams(children));
  const auto opened = streams->open_all(names, owner, container);
  if (!opened) co_return std::unexpected(opened.error());
  if (streams->has_logger()) {
    const Result<void> ready = co_await become_ready(streams->loop_, streams->logger_);
    const int pid = streams->logger_.pid;
    if (!ready && children.is_expected(pid)) ::kill(pid, SIGKILL);
    if (!ready)
      co_return within<std::shared_ptr<Streams>>(std::unexpected(ready.error()), names.out);
  }
  co_return streams;
}

Result<void> Streams::open_all(const StreamNames& names, const PipeOwner& owner,
                               const LoggedContainer& container) {
  OCIRUN_TRY(open_in(names, owner));
  if (is_logger(names.out)) return start_logger(names, owner, container);
  OCIRUN_TRY(open_out(names.out, names, owner, out_));
  return open_out(names.terminal ? "" : names.err, names, owner, err_);
}

Result<void> Streams::open_in(const StreamNames& names, const PipeOwner& owner) {
  OCIRUN_TRY_ASSIGN(in_.theirs, linux::open_verified_null());
  if (names.in.empty()) return {};
  OCIRUN_TRY_ASSIGN(const std::string path, path_of(names.in));
  OCIRUN_TRY_ASSIGN(in_.outside, sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (is_fifo(path)) {
    OCIRUN_TRY_ASSIGN(input_holder_, sys::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  }
  if (names.terminal) return {};
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, pipe_of(owner));
  OCIRUN_TRY(linux::set_nonblocking(pipe.writer));
  in_.theirs = std::move(pipe.reader);
  in_.ours = std::move(pipe.writer);
  return {};
}

Result<void> Streams::open_out(const std::string& name, const StreamNames& names,
                               const PipeOwner& owner, End& end) {
  OCIRUN_TRY_ASSIGN(end.theirs, linux::open_verified_null());
  // The shim reads a terminal even without a name for its output: its program would stop otherwise.
  if (name.empty() && names.terminal && &end == &out_) {
    OCIRUN_TRY_ASSIGN(end.outside, linux::open_verified_null());
  }
  if (name.empty()) return {};
  OCIRUN_TRY(open_outside(name, end));
  if (names.terminal) return {};
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, pipe_of(owner));
  OCIRUN_TRY(linux::set_nonblocking(pipe.reader));
  end.theirs = std::move(pipe.writer);
  end.ours = std::move(pipe.reader);
  return {};
}

Result<void> Streams::open_outside(const std::string& name, End& end) {
  OCIRUN_TRY_ASSIGN(const std::string path, path_of(name));
  if (!is_fifo(path)) {
    const int creates = name.starts_with(kFileScheme) ? O_CREAT : 0;
    OCIRUN_TRY_ASSIGN(end.outside,
                      sys::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | creates, 0600));
    return {};
  }
  // While the shim has a reading end too, the writing end opens at once, and writing causes no
  // EPIPE when the client is away.
  OCIRUN_TRY_ASSIGN(UniqueFd reader, sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  readers_.push_back(std::move(reader));
  OCIRUN_TRY_ASSIGN(end.outside, sys::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
  return {};
}

// The process writes to the logging program itself, unless it has a terminal, which the shim reads.
Result<void> Streams::start_logger(const StreamNames& names, const PipeOwner& owner,
                                   const LoggedContainer& container) {
  OCIRUN_TRY_ASSIGN(linux::Pipe out, pipe_of(owner));
  OCIRUN_TRY_ASSIGN(linux::Pipe err, pipe_of(owner));
  OCIRUN_TRY_ASSIGN(logger_, run_logger(children_, names.out, container, out.reader, err.reader));
  children_.expect(logger_.pid, [weak = weak_from_this()](const ProcessEnd&) {
    if (const auto self = weak.lock()) self->drained_.give();
  });
  if (names.terminal) {
    OCIRUN_TRY_ASSIGN(out_.theirs, linux::open_verified_null());
    OCIRUN_TRY_ASSIGN(err_.theirs, linux::open_verified_null());
    OCIRUN_TRY(linux::set_nonblocking(out.writer));
    out_.outside = std::move(out.writer);
    return {};
  }
  out_.theirs = std::move(out.writer);
  err_.theirs = std::move(err.writer);
  return {};
}

void Streams::start_pipes() {
  if (in_.ours) {
    input_ = std::make_unique<Pump>(loop_, std::move(in_.outside), std::move(in_.ours), [] {});
    input_->start();
  }
  for (End* end : {&out_, &err_})
    if (end->ours) pump_out(std::move(end->ours), std::move(end->outside));
}

Result<void> Streams::start(UniqueFd terminal) {
  terminal_ = std::move(terminal);
  for (End* end : {&in_, &out_, &err_}) {
    end->theirs.reset();
    if (terminal_ && end->outside) {
      end->ours.reset(::fcntl(terminal_.get(), F_DUPFD_CLOEXEC, 3));
      if (!end->ours) return fail(errno, "copy the descriptor of the terminal");
      OCIRUN_TRY(linux::set_nonblocking(end->ours));
    }
  }
  start_pipes();  // of the terminal
  if (running_outputs_ == 0 && !has_logger()) drained_.give();
  return {};
}

void Streams::pump_out(UniqueFd source, UniqueFd sink) {
  outputs_.push_back(
      std::make_unique<Pump>(loop_, std::move(source), std::move(sink), [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self && --self->running_outputs_ == 0 && !self->has_logger()) self->drained_.give();
      }));
  ++running_outputs_;
  outputs_.back()->start();
}

Result<void> Streams::resize(std::uint32_t width, std::uint32_t height) const {
  if (!terminal_) return refuse("the process has no terminal");
  const winsize size{.ws_row = static_cast<std::uint16_t>(height),
                     .ws_col = static_cast<std::uint16_t>(width),
                     .ws_xpixel = 0,
                     .ws_ypixel = 0};
  if (::ioctl(terminal_.get(), TIOCSWINSZ, &size) != 0) return fail(errno, "resize the terminal");
  return {};
}

}  // namespace ocirun::shim
