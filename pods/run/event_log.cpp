#include "pods/run/event_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/run/logs/line.hpp"

namespace ocirun::pods {
namespace {

constexpr off_t kMostBytes = off_t{16} << 20;
constexpr std::size_t kMostDetail = 256;

}  // namespace

Result<EventLog> EventLog::open(Fd directory, std::string pod) {
  OCIRUN_TRY_ASSIGN(
      UniqueFd file,
      linux::sys::openat(directory, kFile, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, 0600));
  return EventLog(std::move(file), std::move(pod));
}

void EventLog::add(std::string_view event, std::string_view container, std::string_view detail,
                   std::optional<std::uint64_t> oom_kills) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kOneLine);
  out.begin_object().member("time", present_text()).member("pod", pod_);
  if (!container.empty()) out.member("container", container);
  out.member("event", event);
  if (!detail.empty())
    out.member("detail", linux::in_one_line(std::string(detail.substr(0, kMostDetail))));
  if (oom_kills) out.member("oomKills", *oom_kills);
  out.end_object();
  const auto info = linux::sys::fstat(file_);
  // Otherwise a probe that fails and succeeds by turns could fill the disk. The file is emptied and
  // not replaced, because readers keep it open.
  if (info && info->st_size > kMostBytes) {
    ignore(::ftruncate(file_.get(), 0));
  }
  ignore(linux::write_all(file_, std::move(out).take() + "\n"));
}

}  // namespace ocirun::pods
