#include "shim/events/publisher.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

namespace ocirun::shim {
namespace {

const std::string kService = "containerd.services.events.ttrpc.v1.Events", kMethod = "Forward";
// The most events that wait for a containerd that is away. Beyond that, add() drops the oldest
// ones: when containerd is back, it asks for the states of all tasks.
constexpr std::size_t kMostWaiting = 10'000;
constexpr std::chrono::milliseconds kFirstPause{20}, kLongestPause{2'000};

}  // namespace

Publisher::Publisher(Loop& loop, std::string address, std::string container_namespace)
    : loop_(loop), address_(std::move(address)), namespace_(std::move(container_namespace)) {}

void Publisher::add(std::string topic, std::string type, std::string event) {
  if (address_.empty()) return;  // containerd has named no socket for events
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  Shim__Timestamp timestamp = timestamp_of(now);
  auto any = new_message<Shim__Any>();
  any.type_url = in_message(type);
  any.value = data_in_message(event);
  auto envelope = new_message<Shim__Envelope>();
  envelope.timestamp = &timestamp;
  envelope.namespace_ = in_message(namespace_);
  envelope.topic = in_message(topic);
  envelope.event = &any;
  auto request = new_message<Shim__ForwardRequest>();
  request.envelope = &envelope;
  if (waiting_.size() >= kMostWaiting) waiting_.erase(waiting_.begin() + 1);
  waiting_.push_back(bytes_of(request));
  if (!std::exchange(is_sending_, true)) go(send_all());
}

Async<> Publisher::send_all() {
  ttrpc::Client client(loop_, address_);
  Loop::Clock::duration pause = kFirstPause;
  while (!waiting_.empty()) {
    const std::string request = waiting_.front();
    const ttrpc::Answer answer = co_await client.call(kService, kMethod, request);
    // An event that containerd refuses is not taken the next time either.
    const bool is_away = !answer && answer.error().code == ttrpc::Code::kUnavailable;
    if (!is_away) {
      waiting_.pop_front();
      pause = kFirstPause;
      continue;
    }
    co_await Pause{loop_, pause};
    pause = std::min<Loop::Clock::duration>(2 * pause, kLongestPause);
  }
  is_sending_ = false;
}

}  // namespace ocirun::shim
