#include "shim/start/log.hpp"

#include <string>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::shim {

void Log::call(std::string_view method, std::chrono::nanoseconds time,
               const ttrpc::Answer& answer) const {
  const bool has_failed = !answer && answer.error().code == ttrpc::Code::kUnknown;
  if (!debug_ && !has_failed) return;
  write(has_failed ? "error" : "debug",
        fmt::format("{} took {:.3f} ms{}{}", method,
                    std::chrono::duration<double, std::milli>(time).count(),
                    answer ? "" : " and failed: ", answer ? "" : answer.error().message));
}

// Writes a line in the form of containerd's own log.
void Log::write(std::string_view level, std::string_view message) const {
  constexpr std::size_t kMostMessage = 640;  // so that a pipe takes a line whole: PIPE_BUF
  if (!fifo_) return;
  std::string line = fmt::format("time=\"{}\" level={} msg=", linux::rfc3339_now(9), level);
  bundle::append_json_string(line, message.substr(0, kMostMessage));
  ignore(linux::sys::write_once(fifo_, line + " runtime=io.containerd.ocirun.v2\n"));
}

}  // namespace ocirun::shim
