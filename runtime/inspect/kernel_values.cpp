// The values that the kernel keeps for init's namespaces: names and sysctls.

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/namespaces/sysctl.hpp"
#include "runtime/inspect/bounded.hpp"
#include "runtime/inspect/rows.hpp"
#include "runtime/inspect/subject.hpp"

namespace ocirun::runtime {
namespace {

using linux::NamespaceKind;

constexpr std::chrono::milliseconds kPatienceForValues{5000};

/// A sysctl may have tabs between its numbers, and ends with a newline.
std::string in_words(std::string_view value) {
  std::string text(value);
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return fmt::format("{}", fmt::join(linux::words(text), " "));
}

/// Enters the namespaces that have names and sysctls. The caller is a child process of its own.
bool enter(const Subject& subject) {
  for (const NamespaceKind kind :
       {NamespaceKind::kUser, NamespaceKind::kIpc, NamespaceKind::kUts, NamespaceKind::kNetwork}) {
    if (!subject.config.namespaces.contains(kind)) continue;
    const auto space = linux::sys::openat(
        subject.procfs.fd(), fmt::format("{}/ns/{}", subject.files, linux::proc_name(kind)).c_str(),
        O_RDONLY);
    const bool is_entered =
        space && ::setns(space->get(), static_cast<int>(linux::clone_flag(kind))) == 0;
    // A namespace that belongs to the caller's user namespace needs no entry into another one.
    if (!is_entered && kind != NamespaceKind::kUser) return false;
  }
  return true;
}

/// Writes the names of the host and the domain, and the value of each sysctl, with a NUL behind
/// each; "" for what cannot be read.
void tell_values(const Subject& subject, const linux::Procfs& full, Fd out) {
  if (!enter(subject)) return;
  utsname names{};
  ::uname(&names);
  std::string text = std::string(names.nodename) + '\0' + names.domainname + '\0';
  for (const linux::Sysctl& sysctl : subject.config.sysctls) {
    const auto value = full.read("sys/" + sysctl.path);
    text += (value ? in_words(*value) : "") + '\0';
  }
  ignore(linux::write_all(out, text));
}

}  // namespace

Rows inspect_kernel_values(const Subject& subject) {
  Rows rows;
  const bundle::Config& config = subject.config;
  if (config.hostname.empty() && config.domainname.empty() && config.sysctls.empty()) return rows;
  const auto full = linux::Procfs::open(linux::Procfs::Subset::kFull);
  const auto text =
      full ? written_within(kPatienceForValues, std::array{subject.procfs.fd(), full->fd()},
                            [&](Fd out) { tell_values(subject, *full, out); })
           : Result<std::string>(std::unexpected(full.error()));
  const std::string told = text.value_or("");
  const auto values = linux::split(told, '\0');
  const bool is_whole = values.size() == config.sysctls.size() + 3;
  const auto add = [&](std::string what, const std::string& asked, std::size_t index) {
    if (is_whole && !values[index].empty())
      rows.push_back(compared(std::move(what), asked, std::string(values[index])));
    else
      rows.push_back(
          {std::move(what), asked,
           text ? "cannot be read in the container's namespaces" : text.error().message(),
           Verdict::kUnknown});
  };
  if (!config.hostname.empty()) add("/hostname", config.hostname, 0);
  if (!config.domainname.empty()) add("/domainname", config.domainname, 1);
  for (std::size_t i = 0; i < config.sysctls.size(); ++i)
    add("/linux/sysctl/" + config.sysctls[i].name, in_words(config.sysctls[i].value), i + 2);
  return rows;
}

}  // namespace ocirun::runtime
