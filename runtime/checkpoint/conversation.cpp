#include "runtime/checkpoint/conversation.hpp"

#include <optional>

#include "linux/checkpoint/cgroup_options.hpp"
#include "runtime/base/signals.hpp"

namespace ocirun::runtime {
namespace {

std::string version_of(int number) {
  return fmt::format("{}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
}

}  // namespace

Result<void> talk_with_criu(const linux::CriuLaunch& launch, std::vector<std::string> words,
                            const Log& log, const OnStage& on_stage, Progress& progress) {
  // Is destroyed after CRIU has ended. A check mounts nothing.
  std::optional<linux::CgroupOptions> options;
  if (words.front() != "check") options.emplace();
  TRY_ASSIGN(const linux::CriuLink criu, linux::CriuLink::start(launch, std::move(words)));
  std::string stage = "its start";
  std::optional<Error> refusal;
  const auto on_silence = [&](std::chrono::seconds so_far) -> Result<void> {
    if (!progress.is_shown())
      log.warn(fmt::format("criu has been at work for {} s since {}", so_far.count(), stage));
    return {};
  };
  for (;;) {
    TRY(await_word(criu.descriptor(), criu.end_of_criu(), on_silence, progress.tick()));
    progress.erase();
    if (const int signal = criu.fatal_signal(); signal != 0) {
      if (refusal) return std::unexpected(*std::move(refusal));
      return refuse("criu {}", linux::describe_end(signal));
    }
    TRY_ASSIGN(linux::CriuNews news, criu.hear());
    switch (news.word) {
      case linux::CriuWord::kVersion:
        log.debug(fmt::format("{} is criu {}", launch.program, version_of(news.number)));
        break;
      case linux::CriuWord::kStage: {
        stage = news.stage;
        log.debug(fmt::format("criu: {}", stage));
        auto may_go_on = on_stage(news);
        TRY(criu.answer(may_go_on ? linux::CriuWord::kGoOn : linux::CriuWord::kStop));
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

}  // namespace ocirun::runtime
