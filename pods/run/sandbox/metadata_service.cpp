#include "pods/run/sandbox/metadata_service.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"
#include "linux/programs/program.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/run/sandbox/holder.hpp"
#include "pods/run/sandbox/pod_cgroup.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr const char* kMetadataProgram = "ocirun-metadata";
constexpr int kSocketNumber = 3;  // see metadata/main.cpp
constexpr int kBacklog = 128;     // connections that the kernel keeps while all others are in use
constexpr std::chrono::seconds kPatience{20};  // until the program answers
constexpr std::size_t kMostErrors = 65536;     // bytes that are kept
/// In these namespaces, an attacker who has taken the program over sees no other process, and no
/// network except its connections.
constexpr std::uint64_t kNamespaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWIPC;

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (::getrandom(bytes.data(), count, 0) != static_cast<ssize_t>(count))
    return fail(errno, "make a secret");
  return bytes;
}

/// A UUID of RFC 4122, version 4: random except for the bits of version and variant.
Result<std::string> make_uuid() {
  OCIRUN_TRY_ASSIGN(std::string bytes, random_bytes(16));
  bytes[6] = static_cast<char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<char>((bytes[8] & 0x3f) | 0x80);
  std::string text = hexadecimal(bytes);
  for (const std::size_t place : {8U, 13U, 18U, 23U}) text.insert(place, "-");
  return text;
}

/// A TCP socket of the network namespace.
Result<UniqueFd> make_socket(Fd network) {
  OCIRUN_TRY_ASSIGN(const UniqueFd own, sys::open(namespace_path(0, "net").c_str(), O_RDONLY));
  if (network.value >= 0 && ::setns(network.value, CLONE_NEWNET) != 0)
    return fail(errno, "enter the pod's network");
  UniqueFd made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int error = errno;
  // Ends the process: the supervisor must not continue in a network that the pod controls.
  if (network.value >= 0 && ::setns(own.get(), CLONE_NEWNET) != 0) std::abort();
  if (!made) return fail(error, "make a socket");
  return made;
}

/// Binds the socket to a port of 127.0.0.1 that the kernel chooses, and returns the port.
Result<std::uint16_t> bind_to_loopback(Fd socket) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.value, reinterpret_cast<const sockaddr*>(&address), size) != 0)
    return fail(errno, "bind to 127.0.0.1 in the pod's network");
  if (::getsockname(socket.value, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail(errno, "find the port");
  return ntohs(address.sin_port);
}

/// A file in memory that is sealed against changes.
Result<UniqueFd> make_sealed_file(std::string_view text) {
  OCIRUN_TRY_ASSIGN(
      UniqueFd file,
      linux::make_memory_file("ocirun-metadata", MFD_ALLOW_SEALING | linux::kNeverExecuted));
  OCIRUN_TRY(linux::write_all(file, text));
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return fail(errno, "seal a file in memory");
  return file;
}

/// A copy of a descriptor for the program, under a number that no dup2(2) for the program
/// overwrites.
Result<UniqueFd> moved_away(Fd descriptor) {
  constexpr int kFirstFree = 10;
  UniqueFd copy(::fcntl(descriptor.value, F_DUPFD_CLOEXEC, kFirstFree));
  if (!copy) return fail(errno, "copy a descriptor");
  return copy;
}

struct Inherited {
  Fd content, socket, errors;
  std::vector<UniqueFd> tasks;  // of the cgroup, on cgroup v1
};

/// What the new process does. Returns only an error.
Result<void> become_service(const linux::ExecArguments& arguments, const Inherited& given) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setsid();
  for (const UniqueFd& tasks : given.tasks) OCIRUN_TRY(sys::write_once(tasks, "0"));
  OCIRUN_TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  OCIRUN_TRY_ASSIGN(const UniqueFd content, moved_away(given.content));
  OCIRUN_TRY_ASSIGN(const UniqueFd nothing, moved_away(null));
  OCIRUN_TRY_ASSIGN(const UniqueFd errors, moved_away(given.errors));
  OCIRUN_TRY_ASSIGN(const UniqueFd socket, moved_away(given.socket));
  ::dup2(content.get(), STDIN_FILENO);
  ::dup2(nothing.get(), STDOUT_FILENO);
  ::dup2(errors.get(), STDERR_FILENO);
  ::dup2(socket.get(), kSocketNumber);
  linux::reset_signals();
  linux::close_descriptors_on_exec(kSocketNumber + 1);
  ::execve(arguments.argv()[0], arguments.argv(), arguments.envp());
  return fail(errno, "execute {}", arguments.argv()[0]);
}

}  // namespace

Result<MetadataService> MetadataService::listen(Fd network,
                                                const std::vector<std::uint16_t>& taken) {
  constexpr std::size_t kTokenBytes = 32, kKeyBytes = 64;
  constexpr int kAttempts = 100;
  Content content;
  OCIRUN_TRY_ASSIGN(const std::string token, random_bytes(kTokenBytes));
  content.token = hexadecimal(token);
  OCIRUN_TRY_ASSIGN(content.key, random_bytes(kKeyBytes));
  OCIRUN_TRY_ASSIGN(content.uuid, make_uuid());
  std::vector<UniqueFd> refused;  // open, so that the kernel chooses other ports
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    OCIRUN_TRY_ASSIGN(UniqueFd socket, make_socket(network));
    OCIRUN_TRY_ASSIGN(const std::uint16_t port, bind_to_loopback(socket));
    if (std::ranges::find(taken, port) != taken.end()) {
      refused.push_back(std::move(socket));
      continue;
    }
    if (::listen(socket.get(), kBacklog) != 0) return fail(errno, "listen for requests");
    return MetadataService(std::move(socket), port, std::move(content));
  }
  return refuse("each port that the kernel chose is one of the document's");
}

std::string MetadataService::url() const {
  return fmt::format("http://127.0.0.1:{}/{}", port_, content_.token);
}

Result<linux::ProcessIdentity> MetadataService::start(std::vector<Resource> resources,
                                                      std::string place, std::string cgroup) {
  content_.resources = std::move(resources);
  const std::string text = content_text(content_);
  if (text.size() > kMostContentBytes)
    return fail(EFBIG, "the manifests of the pod have {} bytes", text.size());
  OCIRUN_TRY_ASSIGN(file_, make_sealed_file(text));
  content_.resources.clear();
  content_.key.clear();
  place_ = std::move(place);
  cgroup_ = std::move(cgroup);
  OCIRUN_TRY_ASSIGN(const linux::ProcessIdentity process, launch());
  for (;;) {
    const auto has_answered = take_answer(Clock::now());
    if (has_answered && *has_answered) return process;
    if (!has_answered) {
      linux::Child child{.pid = process.pid, .pidfd = {}};
      linux::kill_child(child);
      return std::unexpected(has_answered.error());
    }
    pollfd watched{answer_.get(), POLLIN, 0};
    ::poll(&watched, 1, static_cast<int>(kPatience.count()) * 1000);
  }
}

/// Starts the program.
Result<linux::ProcessIdentity> MetadataService::launch() {
  OCIRUN_TRY_ASSIGN(const std::string path, linux::find_own_program(kMetadataProgram));
  const linux::ExecArguments arguments({path, place_}, {});
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) return fail(errno, "read the content again");
  cgroups::Cgroup::JoinHandles join;
  if (!cgroup_.empty()) {
    OCIRUN_TRY_ASSIGN(join, make_helper_cgroup(cgroup_));
  }
  OCIRUN_TRY_ASSIGN(linux::Pipe errors, linux::make_pipe());  // closed when the program answers
  OCIRUN_TRY_ASSIGN(linux::Child child, linux::clone_process(kNamespaces, join.unified_directory,
                                                             linux::Parentage::kMine));
  if (child.pid == 0) {
    const auto failed = become_service(arguments, {.content = file_,
                                                   .socket = socket_,
                                                   .errors = errors.writer,
                                                   .tasks = std::move(join.tasks)});
    ignore(linux::write_all(errors.writer, linux::error_lines(failed.error())));
    ::_exit(1);
  }
  const auto process = linux::identify_process(child.pid);
  if (!process) {
    linux::kill_child(child);
    return process;
  }
  pid_ = child.pid;
  said_.clear();
  answer_ = std::move(errors.reader);
  started_ = Clock::now();
  deadline_ = started_ + kPatience;
  return process;
}

void MetadataService::add_wanted(std::vector<pollfd>& watched) const {
  if (answer_) watched.push_back({answer_.get(), POLLIN, 0});
}

/// Reads what the program has written until now, and returns whether it has closed the pipe.
bool MetadataService::hear() {
  for (;;) {
    pollfd watched{answer_.get(), POLLIN, 0};
    if (::poll(&watched, 1, 0) <= 0) return false;
    std::array<char, 4096> piece;
    const ssize_t count = ::read(answer_.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || said_.size() > kMostErrors) return true;
    said_.append(piece.data(), static_cast<std::size_t>(count));
  }
}

Result<bool> MetadataService::take_answer(Clock::time_point now) {
  if (!answer_) return false;
  const bool is_closed = hear();
  if (!is_closed && now < deadline_) return false;
  answer_.reset();
  deadline_ = Clock::time_point::max();
  if (is_closed && said_.empty()) return true;
  ::kill(pid_, SIGKILL);
  due_ = now + backoff_.after_run_of({});
  if (!is_closed) return refuse("no answer within {} s", kPatience.count());
  return std::unexpected(linux::parse_error_lines(said_, kMetadataProgram));
}

MetadataService MetadataService::resume(UniqueFd socket, UniqueFd file, std::string place,
                                        std::string cgroup) {
  MetadataService service(std::move(socket), 0, {});
  service.file_ = std::move(file);
  service.place_ = std::move(place);
  service.cgroup_ = std::move(cgroup);
  service.due_ = Clock::now();
  return service;
}

std::string MetadataService::ended(std::optional<int> status, Clock::time_point now) {
  const bool has_answered = !answer_;
  if (answer_) hear();
  answer_.reset();
  deadline_ = Clock::time_point::max();
  due_ = now + backoff_.after_run_of(has_answered ? now - started_ : Clock::duration::zero());
  std::string end = linux::describe_end(status);
  if (has_answered || said_.empty()) return end;
  return fmt::format("{}: {}", end, linux::parse_error_lines(said_, kMetadataProgram).message());
}

Result<linux::ProcessIdentity> MetadataService::start_again(Clock::time_point now) {
  due_ = Clock::time_point::max();
  auto started = launch();
  if (!started) due_ = now + backoff_.after_run_of({});
  return started;
}

}  // namespace ocirun::pods
