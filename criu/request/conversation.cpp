#include "criu/request/conversation.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string_view>

#include "cgroups/statistics/stats.hpp"
#include "criu/dump/directory.hpp"
#include "criu/launch/cgroup_options.hpp"
#include "linux/base/syscalls.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

std::string version_of(int number) {
  return fmt::format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
}

constexpr std::chrono::milliseconds kPeriod{200};
constexpr std::string_view kEraseLine = "\r\x1b[K";

// A background process that writes to the terminal may be stopped (SIGTTOU). CRIU would wait for a
// stopped ocirun.
bool is_in_foreground(Fd terminal) {
  const pid_t group = ::tcgetpgrp(terminal.value);
  return group < 0 || group == ::getpgrp();  // -1: not the controlling terminal, so no SIGTTOU
}

// Writes only if the terminal takes output now: write(2) to a stopped terminal (Ctrl-S) blocks.
void write_now(Fd terminal, std::string_view text) {
  pollfd ready{terminal.value, POLLOUT, 0};
  if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
  ignore(::write(terminal.value, text.data(), text.size()));
}

bool has_cursor() {
  const char* kind = std::getenv("TERM");
  return kind != nullptr && *kind != '\0' && std::string_view(kind) != "dumb";
}

}  // namespace

Result<void> talk_with_criu(const linux::CriuLaunch& launch, std::vector<std::string> words,
                            const Log& log, const OnStage& on_stage, Progress& progress) {
  // CRIU may clear the mount options of cgroup2. `options` is declared before `criu`, so that the
  // destructor sets the mount options again after CRIU has ended. A check mounts no cgroup2.
  std::optional<linux::CgroupOptions> options;
  if (words.front() != "check") options.emplace();
  OCIRUN_TRY_ASSIGN(const linux::CriuLink criu, linux::CriuLink::start(launch, std::move(words)));
  std::string stage = "its start";
  std::optional<Error> refusal;
  const auto on_silence = [&](std::chrono::seconds so_far) -> Result<void> {
    if (!progress.is_shown())
      log.warn(fmt::format("criu has been at work for {} s since {}", so_far.count(), stage));
    return {};
  };
  for (;;) {
    OCIRUN_TRY(await_word(criu.descriptor(), criu.end_of_criu(), on_silence, progress.tick()));
    progress.erase();
    if (const int signal = criu.fatal_signal(); signal != 0) {
      if (refusal) return std::unexpected(*std::move(refusal));
      return refuse("criu {}", linux::describe_end(signal));
    }
    OCIRUN_TRY_ASSIGN(linux::CriuNews news, criu.hear());
    switch (news.word) {
      case linux::CriuWord::kVersion:
        log.debug(fmt::format("{} is criu {}", launch.program, version_of(news.number)));
        break;
      case linux::CriuWord::kStage: {
        stage = news.stage;
        log.debug(fmt::format("criu: {}", stage));
        auto may_go_on = on_stage(news);
        OCIRUN_TRY(criu.answer(may_go_on ? linux::CriuWord::kGoOn : linux::CriuWord::kStop));
        if (!may_go_on && !refusal) refusal = std::move(may_go_on).error();
        break;
      }
      case linux::CriuWord::kDone:
        if (refusal) return std::unexpected(*std::move(refusal));
        return {};
      default:
        return std::unexpected(refusal ? *std::move(refusal) : *std::move(news.error));
    }
  }
}

Progress::Progress(Fd output, std::string title, Measure measure)
    : output_(::isatty(output.value) == 1 && has_cursor() ? output : Fd{}),
      title_(std::move(title)),
      measure_(std::move(measure)) {}

Tick Progress::tick() {
  if (!is_shown()) return {};
  return {.period = kPeriod, .call = [this] {
            const auto since = std::chrono::duration_cast<std::chrono::seconds>(
                std::chrono::steady_clock::now() - begin_);
            if (!is_in_foreground(output_)) return;
            has_line_ = true;
            write_now(output_,
                      fmt::format("{}{}", kEraseLine, progress_line(title_, measure_(), since)));
          }};
}

void Progress::erase() {
  if (!has_line_) return;
  has_line_ = false;
  write_now(output_, kEraseLine);
}

std::string progress_line(const std::string& title, const std::optional<Amount>& amount,
                          std::chrono::seconds since) {
  const auto in_mib = [](std::uint64_t bytes) { return bytes >> 20; };
  if (!amount) return fmt::format("{}: {} s", title, since.count());
  if (!amount->total)
    return fmt::format("{}: {} MiB, {} s", title, in_mib(amount->done), since.count());
  return fmt::format("{}: {} of about {} MiB, {} s", title, in_mib(amount->done),
                     in_mib(*amount->total), since.count());
}

std::optional<std::uint64_t> memory_of(const cgroups::Cgroup& cgroup) {
  const auto stats = cgroup.stats();
  if (!stats || !stats->memory) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const char* name : {"anon", "rss", "shmem"}) {  // cgroup v1 calls anonymous memory rss
    const auto found = stats->memory->raw.find(name);
    if (found != stats->memory->raw.end()) bytes += found->second;
  }
  return bytes;
}

std::optional<std::uint64_t> bytes_of_pages(Fd images) {
  std::uint64_t bytes = 0;
  const auto read = for_each_image(images, "pages-", [&](const char* name) -> Result<void> {
    OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstatat(images, name));
    bytes += static_cast<std::uint64_t>(status.st_size);
    return {};
  });
  return read ? std::optional(bytes) : std::nullopt;
}

}  // namespace ocirun::runtime
