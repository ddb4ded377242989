#include "criu/launch/criu_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/exec.hpp"
#include "linux/process/spawn.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::linux {
namespace {

constexpr char kSpeaker[] = "ocirun-criu";

bool is_program(const std::string& path) {
  const auto file = sys::open(path.c_str(), O_PATH | O_CLOEXEC);
  const auto status = file ? sys::fstat(*file) : Result<struct stat>(std::unexpected(file.error()));
  return status && S_ISREG(status->st_mode) && (status->st_mode & 0111) != 0;
}

// The variables of the caller that criu gets: PATH has the programs that criu runs, HOME has its
// configuration. criu gets no other variables, because a new child of criu is in the container's
// pid namespace and still has a copy of criu's memory.
std::vector<std::string> criu_environment() {
  std::vector<std::string> environment;
  for (const char* name : {"PATH", "HOME"})
    if (const char* value = std::getenv(name))
      environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

// Gives `descriptors` the numbers from `first` on, and closes all higher numbers. Copies all
// descriptors to higher numbers first, because dup2(2) closes the descriptor that it replaces.
bool place_descriptors(int first, const std::vector<Fd>& descriptors) {
  const int beyond = first + static_cast<int>(descriptors.size());
  std::vector<int> copies;
  for (const Fd descriptor : descriptors) {
    copies.push_back(::fcntl(descriptor.value, F_DUPFD_CLOEXEC, beyond));
    if (copies.back() < 0) return false;
  }
  for (std::size_t i = 0; i < copies.size(); ++i)
    if (::dup2(copies[i], first + static_cast<int>(i)) < 0) return false;
  close_descriptors_from(beyond);
  return true;
}

[[noreturn]] void become(const ExecArguments& arguments, const std::vector<Fd>& descriptors) {
  reset_signals();
  if (place_descriptors(kCriuDescriptor, descriptors))
    ::execve(arguments.argv()[0], arguments.argv(), arguments.envp());
  ::_exit(127);
}

Result<std::pair<UniqueFd, UniqueFd>> make_rpc_pair() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errno, "make a socket pair for criu");
  return std::pair(UniqueFd(ends[0]), UniqueFd(ends[1]));
}

// Runs in the process that becomes CRIU. Hands one end of CRIU's socket over to the parent, and
// executes CRIU.
[[noreturn]] void become_criu(CriuLaunch launch, const ExecArguments& arguments,
                              const MessageSocket& parent) {
  ::setsid();
  const auto prepared = [&]() -> Result<UniqueFd> {
    if (launch.before) OCIRUN_TRY(launch.before(launch));
    OCIRUN_TRY_ASSIGN(auto ends, make_rpc_pair());
    const Fd given = ends.first;
    OCIRUN_TRY(parent.send(static_cast<std::uint8_t>(CriuWord::kGoOn), {}, std::span(&given, 1)));
    return std::move(ends.second);
  }();
  if (!prepared) {
    ignore(
        parent.send(static_cast<std::uint8_t>(CriuWord::kFailed), error_lines(prepared.error())));
    ::_exit(126);
  }
  std::vector<Fd> descriptors{*prepared, launch.images, launch.work};
  descriptors.insert(descriptors.end(), launch.passed.begin(), launch.passed.end());
  become(arguments, descriptors);
}

// Receives the end of CRIU's socket that become_criu() hands over.
Result<UniqueFd> take_socket(const MessageSocket& child) {
  OCIRUN_TRY_ASSIGN(Packet packet, child.receive());
  if (!packet.end_of_stream && static_cast<CriuWord>(packet.tag) == CriuWord::kFailed)
    return std::unexpected(parse_error_lines(packet.payload, "prepare criu"));
  if (packet.descriptors.size() != 1) return fail(EPIPE, "the process that becomes criu has ended");
  return std::move(packet.descriptors.front());
}

Error ended_early(Error error) {
  return error.within("criu, or the program that speaks with it, ended before its work was done");
}

}  // namespace

Result<std::string> find_criu(std::string_view given) {
  if (!given.empty()) {
    std::string path(given);
    if (path.find('/') != std::string::npos) {
      if (is_program(path)) return path;
      return refuse("--criu {}: must name an executable file", path);
    }
  }
  const std::string name = given.empty() ? "criu" : std::string(given);
  const char* variable = std::getenv("PATH");
  const std::string directories =
      fmt::format("{}:/usr/local/sbin:/usr/sbin", variable == nullptr ? "" : variable);
  for (const std::string_view directory : words(directories, ':')) {
    if (!directory.starts_with('/')) continue;
    std::string path = fmt::format("{}/{}", directory, name);
    if (is_program(path)) return path;
  }
  return refuse(
      "the program {} is in no directory of $PATH: install the package criu, or name the program "
      "with --criu PATH before the command",
      name);
}

Result<CriuLink> CriuLink::start(const CriuLaunch& launch, std::vector<std::string> words) {
  OCIRUN_TRY_ASSIGN(const std::string speaker_path, find_own_program(kSpeaker));
  const bool restores = !words.empty() && words.front() == "restore";
  words.insert(words.begin(), speaker_path);
  words.push_back(fmt::format("images={}", kImagesDescriptor));
  words.push_back(fmt::format("work={}", kWorkDescriptor));
  const ExecArguments speaker_arguments(std::move(words), {});
  const ExecArguments criu_arguments({launch.program, "swrk", fmt::format("{}", kCriuDescriptor)},
                                     criu_environment());
  OCIRUN_TRY_ASSIGN(auto handover, MessageSocket::make_pair());
  OCIRUN_TRY_ASSIGN(Child criu, clone_process(0, Fd{}, Parentage::kMine));
  if (criu.pid == 0) become_criu(launch, criu_arguments, handover.second);
  handover.second.close();
  auto speaker = [&]() -> Result<std::pair<MessageSocket, Child>> {
    OCIRUN_TRY_ASSIGN(const UniqueFd criu_socket, take_socket(handover.first));
    OCIRUN_TRY_ASSIGN(auto conversation, MessageSocket::make_pair());
    OCIRUN_TRY_ASSIGN(Child child, clone_process(0, Fd{}, Parentage::kMine));
    if (child.pid == 0) {
      ::setsid();
      become(speaker_arguments, {Fd(criu_socket), conversation.second.fd()});
    }
    return std::pair(std::move(conversation.first), std::move(child));
  }();
  if (!speaker) {
    kill_child(criu);
    return std::unexpected(std::move(speaker).error());
  }
  return CriuLink(std::move(speaker->first), std::move(criu), std::move(speaker->second), restores);
}

CriuLink::CriuLink(CriuLink&& other) noexcept
    : conversation_(std::move(other.conversation_)),
      criu_(std::exchange(other.criu_, {})),
      speaker_(std::exchange(other.speaker_, {})),
      restores_(other.restores_) {}

CriuLink::~CriuLink() {
  if (speaker_.pid == 0) return;
  conversation_.close();  // ocirun-criu gives up, and CRIU undoes its work then
  if (fatal_signal() != 0) ::kill(speaker_.pid, SIGKILL);
  for (const int pid : {speaker_.pid, criu_.pid}) ignore(wait_for_child(pid));
}

Result<CriuNews> CriuLink::hear() const {
  auto received = conversation_.receive();
  if (!received) return std::unexpected(std::move(received).error());
  Packet packet = *std::move(received);
  CriuNews news;
  if (packet.end_of_stream) {
    // No other process can have the pid: only the destructor collects the child.
    if (restores_) ::kill(criu_.pid, SIGKILL);
    news.error = ended_early(Error(EPIPE, "hear from ocirun-criu"));
    return news;
  }
  news.word = static_cast<CriuWord>(packet.tag);
  std::string_view rest = packet.payload;
  switch (news.word) {
    case CriuWord::kStage:
      news.stage = cut(rest, ' ');
      news.number = number<int>(rest).value_or(0);
      if (!packet.descriptors.empty()) news.terminal = std::move(packet.descriptors.front());
      return news;
    case CriuWord::kVersion:
    case CriuWord::kDone:
      news.number = number<int>(rest).value_or(0);
      return news;
    case CriuWord::kFailed:
      news.error = parse_error_lines(rest, "criu");
      return news;
    default:
      return fail(EPROTO, "unexpected word {} of ocirun-criu", packet.tag);
  }
}

int CriuLink::fatal_signal() const {
  siginfo_t end{};
  // A readable pidfd shows that CRIU has ended. If CRIU has a tracer, waitid(2) reports the end to
  // the parent a little later, so waitid(2) waits in this case.
  pollfd ended{criu_.pidfd.get(), POLLIN, 0};
  const bool is_certain = criu_.pidfd && ::poll(&ended, 1, 0) == 1;
  const int options = WEXITED | WNOWAIT | (is_certain ? 0 : WNOHANG);
  if (::waitid(P_PID, static_cast<id_t>(criu_.pid), &end, options) != 0 || end.si_pid == 0 ||
      end.si_code == CLD_EXITED)
    return 0;
  return end.si_status;
}

Result<void> CriuLink::answer(CriuWord word) const {
  return conversation_.send(static_cast<std::uint8_t>(word));
}

Result<ProgramEnd> ask_criu(const std::string& program, std::vector<std::string> words) {
  constexpr std::size_t kKept = 64 * 1024;
  words.insert(words.begin(), program);
  const ExecArguments arguments(std::move(words), {});
  OCIRUN_TRY_ASSIGN(const UniqueFd null, open_verified_null());
  OCIRUN_TRY_ASSIGN(Pipe output, make_pipe());
  OCIRUN_TRY_ASSIGN(Child child, spawn(program.c_str(), arguments, environ,
                                       {Fd(null), Fd(output.writer), Fd(output.writer)}));
  output.writer.reset();
  return await_program(std::move(child), output.reader, kKept, program);
}

}  // namespace ocirun::linux
