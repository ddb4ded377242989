#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// The file events.jsonl of a pod: events of the pod and its containers, a JSON object in each
/// line. The file is emptied at 16 MiB. An event that cannot be written is lost, because a full
/// disk must not end a pod.
class EventLog {
 public:
  static constexpr const char* kFile = "events.jsonl";

  /// `directory` is the directory of the pod.
  static Result<EventLog> open(Fd directory, std::string pod);

  /// `event`: "created", "started", "exited" … `container`: "" for the pod itself. `detail`: a
  /// sentence, or "". `oom_kills`: how many processes of the container the kernel has killed so far
  /// because a memory limit was reached.
  void add(std::string_view event, std::string_view container = "", std::string_view detail = "",
           std::optional<std::uint64_t> oom_kills = {});

 private:
  EventLog(UniqueFd file, std::string pod) : file_(std::move(file)), pod_(std::move(pod)) {}
  UniqueFd file_;
  std::string pod_;
};

}  // namespace ocirun::pods
