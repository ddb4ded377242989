#pragma once

#include <deque>
#include <string>

#include "shim/loop/async.hpp"
#include "shim/loop/loop.hpp"
#include "shim/messages/message.hpp"
#include "shim/ttrpc/client.hpp"

namespace ocirun::shim {

/// Tells containerd what happens to tasks, in the order of the calls. An event is sent again until
/// containerd has answered; containerd may get an event twice. At most 10,000 events wait for a
/// containerd that is away.
class Publisher {
 public:
  /// `address` is the socket of containerd's ttrpc server, with or without "unix://".
  Publisher(Loop& loop, std::string address, std::string container_namespace);

  /// Sends an event. `topic`: "/tasks/start"; `type`: "containerd.events.TaskStart".
  template <typename Event>
  void publish(std::string topic, std::string type, const Event& event) {
    add(std::move(topic), std::move(type), bytes_of(event));
  }
  bool is_idle() const { return waiting_.empty(); }

 private:
  void add(std::string topic, std::string type, std::string event);
  Async<> send_all();

  Loop& loop_;
  std::string address_, namespace_;
  std::deque<std::string> waiting_;  // requests; send_all() is sending the first one
  bool is_sending_ = false;
};

}  // namespace ocirun::shim
