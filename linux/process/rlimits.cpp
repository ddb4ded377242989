#include "linux/process/rlimits.hpp"

#include <sys/resource.h>

#include <cerrno>

#include "linux/base/name_table.hpp"

namespace ocirun::linux {
namespace {

constexpr Named<int> kResources[] = {
    {"RLIMIT_AS", RLIMIT_AS},
    {"RLIMIT_CORE", RLIMIT_CORE},
    {"RLIMIT_CPU", RLIMIT_CPU},
    {"RLIMIT_DATA", RLIMIT_DATA},
    {"RLIMIT_FSIZE", RLIMIT_FSIZE},
    {"RLIMIT_LOCKS", RLIMIT_LOCKS},
    {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK},
    {"RLIMIT_MSGQUEUE", RLIMIT_MSGQUEUE},
    {"RLIMIT_NICE", RLIMIT_NICE},
    {"RLIMIT_NOFILE", RLIMIT_NOFILE},
    {"RLIMIT_NPROC", RLIMIT_NPROC},
    {"RLIMIT_RSS", RLIMIT_RSS},
    {"RLIMIT_RTPRIO", RLIMIT_RTPRIO},
    {"RLIMIT_RTTIME", RLIMIT_RTTIME},
    {"RLIMIT_SIGPENDING", RLIMIT_SIGPENDING},
    {"RLIMIT_STACK", RLIMIT_STACK},
};

// The remedy for `error`. EPERM has two reasons: CAP_SYS_RESOURCE is missing to raise the hard
// limit, or RLIMIT_NOFILE is above the sysctl fs.nr_open.
std::string rlimit_advice(int pid, const Rlimit& wanted, int error) {
  if (error == EINVAL) return " (the soft limit may not be above the hard limit)";
  rlimit64 now{};
  if (error != EPERM ||
      ::prlimit64(pid, static_cast<__rlimit_resource>(wanted.resource), nullptr, &now) != 0)
    return "";
  return fmt::format(
      " (ask for at most the hard limit of the process that starts the runtime, {}, "
      "which CAP_SYS_RESOURCE on the host raises{})",
      rlimit_text(now.rlim_max),
      wanted.resource == RLIMIT_NOFILE ? " up to the sysctl fs.nr_open" : "");
}

}  // namespace

std::optional<int> rlimit_resource(std::string_view name) { return value_of(kResources, name); }
std::string_view rlimit_name(int resource) { return name_of(kResources, resource); }
std::string rlimit_text(std::uint64_t limit) {
  return limit == RLIM64_INFINITY ? "unlimited" : fmt::format("{}", limit);
}
std::vector<std::string_view> rlimit_names() { return names_of(kResources); }

Result<void> set_rlimit(int pid, const Rlimit& limit) {
  const rlimit64 wanted{.rlim_cur = limit.soft, .rlim_max = limit.hard};
  if (::prlimit64(pid, static_cast<__rlimit_resource>(limit.resource), &wanted, nullptr) == 0)
    return {};
  const int error = errno;
  return fail(error, "set {} to soft {}, hard {}{}", rlimit_name(limit.resource),
              rlimit_text(limit.soft), rlimit_text(limit.hard), rlimit_advice(pid, limit, error));
}

Result<void> set_rlimits(int pid, const std::vector<Rlimit>& limits) {
  for (std::size_t i = 0; i < limits.size(); ++i)
    OCIRUN_TRY(within(set_rlimit(pid, limits[i]), "/process/rlimits/{}", i));
  return {};
}

}  // namespace ocirun::linux
