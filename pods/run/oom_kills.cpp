#include "pods/run/oom_kills.hpp"

#include <algorithm>
#include <utility>

#include "pods/run/sandbox/pod_cgroup.hpp"

namespace ocirun::pods {
namespace {

// cgroup v1 tells of a lack of memory before it kills a process, so that the counter is read again
// a few times.
constexpr std::chrono::milliseconds kFirstPause{50}, kLastPause{3200};

// The programs that one lack of memory ends have all ended within this time.
constexpr std::chrono::seconds kTogether{2};

}  // namespace

std::string cgroup_of(const PodRecord& pod, const ContainerRecord& container) {
  if (pod.cgroup.empty()) return "";
  if (pod.slice.empty()) return fmt::format("{}/{}", pod.cgroup, container.name);
  return fmt::format("{}/{}", pod.cgroup, scope_name_for(container.id));
}

bool UnreportedKills::take(std::uint64_t counted, Clock::time_point now) {
  if (now > last_call_ + kTogether) reported_ = std::max(reported_, last_count_);
  last_call_ = now;
  last_count_ = counted;
  if (reported_ >= counted) return false;
  ++reported_;
  return true;
}

PodOomKills::PodOomKills(const PodRecord& pod)
    : pod_(pod), unreported_(pod.slice.empty() ? 0 : count_oom_kills(pod.cgroup)) {}

bool PodOomKills::take_unreported(Clock::time_point now) {
  return !pod_.slice.empty() && unreported_.take(count_oom_kills(pod_.cgroup), now);
}

void OomKills::begin(const ContainerRecord& container) {
  cgroup_ = pod_.cgroup_of(container);
  seen_ = 0;
  before_sigkill_.reset();
  again_ = Clock::time_point::max();
  watch_.reset();
  if (cgroup_.empty()) return;
  if (auto watch = watch_oom(cgroup_)) watch_ = *std::move(watch);
}

void OomKills::resume(const ContainerRecord& container) {
  begin(container);
  if (!cgroup_.empty()) seen_ = count_oom_kills(cgroup_);
}

void OomKills::add_wanted(std::vector<pollfd>& watched) const {
  if (watch_) watched.push_back({watch_->fd().value, watch_->poll_events(), 0});
}

std::uint64_t OomKills::count() {
  if (cgroup_.empty()) return 0;
  const std::uint64_t now = std::max(seen_, count_oom_kills(cgroup_));
  const std::uint64_t more = now - std::exchange(seen_, now);
  pod_.report(more);
  return more;
}

std::uint64_t OomKills::look(Clock::time_point now) {
  if (!watch_) return 0;
  if (watch_->happened()) {
    pause_ = kFirstPause;
  } else {
    if (now < again_) return 0;
    pause_ *= 2;
  }
  again_ = pause_ > kLastPause ? Clock::time_point::max() : now + pause_;
  return count();
}

void OomKills::expect_sigkill() { before_sigkill_ = seen_; }

OomKills::Last OomKills::end(bool by_sigkill, Clock::time_point now) {
  watch_.reset();
  again_ = Clock::time_point::max();
  Last last{.kills = count(), .program = false};
  if (!by_sigkill) return last;
  last.program = seen_ > before_sigkill_.value_or(0);
  if (!last.program && !before_sigkill_ && pod_.take_unreported(now)) {
    last.program = true;
    ++last.kills;
  }
  return last;
}

}  // namespace ocirun::pods
