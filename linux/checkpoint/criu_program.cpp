#include "linux/checkpoint/criu_program.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::linux {
namespace {

constexpr char kSpeaker[] = "ocirun-criu";

bool is_program(const std::string& path) {
  const auto file = sys::open(path.c_str(), O_PATH | O_CLOEXEC);
  const auto status = file ? sys::fstat(*file) : Result<struct stat>(std::unexpected(file.error()));
  return status && S_ISREG(status->st_mode) && (status->st_mode & 0111) != 0;
}

// Puts `descriptors` to the numbers from `first` on and closes all above them. Copies them out of
// the way first, because one of them may have a number that another one gets.
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

[[noreturn]] void become(const ExecArguments& arguments, int first,
                         const std::vector<Fd>& descriptors, const std::function<bool()>& before) {
  ::setsid();
  if (before && !before()) ::_exit(126);
  reset_signals();
  if (place_descriptors(first, descriptors))
    ::execve(arguments.argv()[0], arguments.argv(), environ);
  ::_exit(127);
}

Result<Child> start_program(const ExecArguments& arguments, int first,
                            const std::vector<Fd>& descriptors,
                            const std::function<bool()>& before) {
  TRY_ASSIGN(Child child, clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) become(arguments, first, descriptors, before);
  return child;
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
  TRY_ASSIGN(const std::string speaker_path, find_own_program(kSpeaker));
  words.insert(words.begin(), speaker_path);
  const ExecArguments speaker_arguments(std::move(words), {});
  const ExecArguments criu_arguments({launch.program, "swrk", fmt::format("{}", kCriuDescriptor)},
                                     {});
  // This process has to make the pair: CRIU opens the directories as descriptors of the process
  // that SO_PEERCRED names, which is the maker.
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errno, "make a socket pair for criu");
  const UniqueFd ours(ends[0]), crius(ends[1]);
  TRY_ASSIGN(auto conversation, MessageSocket::make_pair());

  std::vector<Fd> passed{crius};
  passed.insert(passed.end(), launch.passed.begin(), launch.passed.end());
  TRY_ASSIGN(Child criu, start_program(criu_arguments, kCriuDescriptor, passed, launch.before));
  auto speaker = start_program(speaker_arguments, kCriuDescriptor,
                               {Fd(ours), conversation.second.fd()}, nullptr);
  if (!speaker) {
    kill_child(criu);
    return std::unexpected(std::move(speaker).error());
  }
  return CriuLink(std::move(conversation.first), std::move(criu), std::move(*speaker));
}

CriuLink::CriuLink(CriuLink&& other) noexcept
    : conversation_(std::move(other.conversation_)),
      criu_(std::exchange(other.criu_, {})),
      speaker_(std::exchange(other.speaker_, {})) {}

CriuLink::~CriuLink() {
  if (speaker_.pid == 0) return;
  conversation_.close();  // ocirun-criu gives up, and CRIU undoes its work then
  for (const int pid : {speaker_.pid, criu_.pid}) [[maybe_unused]]
    const auto ignored = wait_for_child(pid);
}

Result<CriuNews> CriuLink::hear() const {
  auto received = conversation_.receive();
  if (!received) return std::unexpected(std::move(received).error());
  Packet packet = *std::move(received);
  CriuNews news;
  if (packet.end_of_stream) {
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

Result<void> CriuLink::answer(CriuWord word) const {
  return conversation_.send(static_cast<std::uint8_t>(word));
}

}  // namespace ocirun::linux
