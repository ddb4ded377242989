#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/spawn.hpp"

namespace ocirun::linux {

// The interface of the program ocirun-criu, which speaks CRIU's RPC protocol for ocirun:
//    ocirun-criu dump|pre-dump|restore|check [NAME=VALUE]…
// check asks whether CRIU and the kernel can do what the options need, and makes nothing.
// Descriptor 3 is a socket whose other end is the standard RPC socket of a `criu swrk` that the
// caller has started; descriptor 4 is a MessageSocket to the caller. The names of the options are
// the rows of criu/speaker/options.cpp. The caller gets, each as one packet:
//    kVersion   once, first: CRIU's version as a number, 31701 for 3.17.1
//    kStage     CRIU has reached a stage and waits: "STAGE" or "STAGE PID". The caller answers
//               kGoOn or kStop. The stage orphan-pts-master brings one descriptor
//    kDone      the request has succeeded: the pid of the restored process, or 0
//    kFailed    error_lines()
// If the caller ends before a stage is answered, the program refuses the stage, so that CRIU undoes
// what it did. CRIU ignores a refusal of pre-resume: the program kills the restored processes
// and CRIU then.
enum class CriuWord : std::uint8_t { kVersion = 1, kStage, kDone, kFailed, kGoOn, kStop };
inline constexpr int kCriuDescriptor = 3;
inline constexpr int kCallerDescriptor = 4;

/// The path of the program criu: `given` if that is not empty, else the first "criu" in the
/// directories of $PATH and in the usual directories of root's programs. Error: there is none.
Result<std::string> find_criu(std::string_view given);

/// How `criu swrk` is started. CRIU opens its directories by the numbers of their descriptors in
/// the process that has made CRIU's socket. CRIU's own process makes the socket, before execve:
/// CRIU mounts in its work directory, and so needs directories of its own mount namespace.
struct CriuLaunch {
  std::string program;     // an absolute path
  Fd images{}, work{};     // CRIU has them as kImagesDescriptor and kWorkDescriptor
  std::vector<Fd> passed;  // CRIU has them as kFirstPassed, kFirstPassed + 1, …
  // Runs in CRIU's process before execve, and may replace `images` and `work`. May be empty. Its
  // error becomes that of CriuLink::start().
  std::function<Result<void>(CriuLaunch&)> before = {};
};
inline constexpr int kImagesDescriptor = 4;
inline constexpr int kWorkDescriptor = 5;
inline constexpr int kFirstPassed = 6;

/// A message of ocirun-criu.
struct CriuNews {
  CriuWord word = CriuWord::kFailed;
  std::string stage;           // kStage
  int number = 0;              // kVersion: the version. kStage, kDone: a pid, or 0
  UniqueFd terminal;           // kStage orphan-pts-master: the master of the container's terminal
  std::optional<Error> error;  // kFailed
};

/// A criu at work and the ocirun-criu that speaks with it. Both are in a session of their own, so
/// that keys of the caller's terminal do not end them. The destructor ends the conversation, which
/// makes CRIU undo an unfinished request, and waits for both.
class CriuLink {
 public:
  /// Starts both programs. `words` is ocirun-criu's command line without the numbers of the
  /// directories, which are added here.
  static Result<CriuLink> start(const CriuLaunch& launch, std::vector<std::string> words);
  CriuLink(CriuLink&& other) noexcept;
  CriuLink& operator=(CriuLink&&) = delete;
  ~CriuLink();

  /// Readable when hear() does not block.
  Fd descriptor() const { return conversation_.fd(); }
  /// Waits for the next packet. An end of the stream is news of kFailed; CRIU is killed then if it
  /// restores, because nobody can tell it to undo its work.
  Result<CriuNews> hear() const;
  /// Readable when CRIU has ended. Empty where the kernel lacks CLONE_PIDFD.
  Fd end_of_criu() const { return criu_.pidfd; }
  /// The signal that has ended CRIU, or 0. The processes that CRIU was restoring then remain, and
  /// keep CRIU's socket open, so that ocirun-criu does not notice the end of CRIU.
  int fatal_signal() const;
  /// Answers a stage.
  Result<void> answer(CriuWord word) const;

 private:
  CriuLink(MessageSocket conversation, Child criu, Child speaker, bool restores)
      : conversation_(std::move(conversation)),
        criu_(std::move(criu)),
        speaker_(std::move(speaker)),
        restores_(restores) {}
  MessageSocket conversation_;
  Child criu_, speaker_;
  bool restores_;
};

/// Runs criu with `words`, "check" or "cpuinfo check", and returns its status and its messages.
/// `program` is an absolute path. Errors: criu says nothing for kProgramSilence.
Result<ProgramEnd> ask_criu(const std::string& program, std::vector<std::string> words);

}  // namespace ocirun::linux
