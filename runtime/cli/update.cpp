#include <fcntl.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

#include "bundle/config/config.hpp"
#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"
#include "cgroups/plan/resources.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/commands/update.hpp"

namespace ocirun::runtime::cli {
namespace {

enum class Kind { kNumber, kSize, kText };

/// An option that stands for a member of linux.resources.
struct Row {
  std::string_view option, section, member;
  Kind kind;
};
constexpr Row kRows[] = {
    {"blkio-weight", "blockIO", "weight", Kind::kNumber},
    {"cpu-period", "cpu", "period", Kind::kNumber},
    {"cpu-quota", "cpu", "quota", Kind::kNumber},
    {"cpu-burst", "cpu", "burst", Kind::kNumber},
    {"cpu-share", "cpu", "shares", Kind::kNumber},
    {"cpu-rt-period", "cpu", "realtimePeriod", Kind::kNumber},
    {"cpu-rt-runtime", "cpu", "realtimeRuntime", Kind::kNumber},
    {"cpuset-cpus", "cpu", "cpus", Kind::kText},
    {"cpuset-mems", "cpu", "mems", Kind::kText},
    {"cpu-idle", "cpu", "idle", Kind::kNumber},
    {"memory", "memory", "limit", Kind::kSize},
    {"memory-reservation", "memory", "reservation", Kind::kSize},
    {"memory-swap", "memory", "swap", Kind::kSize},
    {"kernel-memory", "memory", "kernel", Kind::kSize},
    {"kernel-memory-tcp", "memory", "kernelTCP", Kind::kSize},
    {"pids-limit", "pids", "limit", Kind::kNumber},
};

Result<void> write_value(bundle::JsonWriter& out, const Row& row, const std::string& text) {
  const auto named = [&] { return fmt::format("--{}", row.option); };
  if (row.kind == Kind::kText) {
    out.member(row.member, text);
    return {};
  }
  if (row.kind == Kind::kSize) {
    OCIRUN_TRY_ASSIGN(const std::int64_t bytes, within(parse_size(text), named()));
    out.member(row.member, bytes);
    return {};
  }
  const auto number = linux::number<std::int64_t>(text);
  if (!number) return refuse("--{} {}: must be a whole number", row.option, text);
  out.member(row.member, *number);
  return {};
}

/// The options as a JSON document, in the form of the file that `--resources` names.
Result<std::string> document_of_options(const Arguments& arguments) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kOneLine);
  out.begin_object();
  std::string_view section;
  for (const std::string_view name : {"blockIO", "cpu", "memory", "pids"}) {
    for (const Row& row : kRows) {
      const auto text = row.section == name ? arguments.value(row.option) : std::nullopt;
      if (!text) continue;
      if (section != name) out.key(name).begin_object();
      section = name;
      OCIRUN_TRY(write_value(out, row, *text));
    }
    if (section == name) out.end_object();
  }
  out.end_object();
  return std::move(out).take();
}

/// Replaces the JSON pointer of a given option by the option: "/linux/resources/memory/limit" and
/// "resources: /memory/limit" become "--memory".
std::string in_terms_of_options(std::string sentence, const Arguments& arguments) {
  for (const Row& row : kRows) {
    if (!arguments.has(row.option)) continue;
    const std::string pointer = fmt::format("/{}/{}", row.section, row.member);
    for (const std::string& spelt : {"/linux/resources" + pointer, "resources: " + pointer})
      if (const std::size_t at = sentence.find(spelt);
          at != std::string::npos &&
          (at + spelt.size() == sentence.size() ||
           !std::isalnum(static_cast<unsigned char>(sentence[at + spelt.size()]))))
        sentence.replace(at, spelt.size(), fmt::format("--{}", row.option));
  }
  return sentence;
}

Error in_terms_of_options(const Error& error, const Arguments& arguments) {
  std::vector<std::string> frames = error.frames();
  for (std::string& frame : frames) frame = in_terms_of_options(std::move(frame), arguments);
  return Error(error.number(), std::move(frames));
}

/// Parses "HOST[:PATH[:rwm]]", the form that engines use.
Result<DeviceGrant> parse_grant(std::string_view option, const std::string& text) {
  DeviceGrant grant;
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  std::string host = text.substr(0, first);
  std::string path = first == std::string::npos ? host : text.substr(first + 1, second - first - 1);
  if (!host.starts_with('/') || !path.starts_with('/'))
    return refuse("{} {}: must be HOST[:PATH[:rwm]] with absolute paths", option, text);
  if (second != std::string::npos) {
    const std::string access = text.substr(second + 1);
    if (access.empty() || access.find_first_not_of("rwm") != std::string::npos)
      return refuse("{} {}: \"{}\" must be letters of \"rwm\"", option, text, access);
    grant.read = access.contains('r');
    grant.write = access.contains('w');
    grant.mknod = access.contains('m');
  }
  grant.host = HostPath(std::move(host));
  grant.path = RootfsPath(std::move(path));
  return grant;
}

Result<UpdateRequest> read_update_request(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  UpdateRequest request;
  std::vector<std::string> warnings;
  if (const auto name = arguments.value("resources")) {
    OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(*name), "--resources"));
    OCIRUN_TRY_ASSIGN(request.resources,
                      within(bundle::parse_resources(text, warnings), "--resources " + *name));
  }
  OCIRUN_TRY_ASSIGN(const std::string text, document_of_options(arguments));
  OCIRUN_TRY_ASSIGN(const cgroups::Resources given, bundle::parse_resources(text, warnings));
  request.resources = cgroups::merge(std::move(request.resources), given);
  for (const std::string& warning : warnings) invocation.log.warn(warning);
  request.l3_cache_schema = arguments.value("l3-cache-schema");
  request.mem_bw_schema = arguments.value("mem-bw-schema");
  for (const std::string& device : arguments.values("device-add")) {
    OCIRUN_TRY_ASSIGN(DeviceGrant grant, parse_grant("--device-add", device));
    request.added_devices.push_back(std::move(grant));
  }
  for (const std::string& device : arguments.values("device-remove")) {
    OCIRUN_TRY_ASSIGN(DeviceGrant grant, parse_grant("--device-remove", device));
    request.removed_devices.push_back(std::move(grant));
  }
  return request;
}

Result<void> update(const Invocation& invocation) {
  OCIRUN_TRY_ASSIGN(const ContainerId id, id_of(invocation.arguments));
  if (invocation.arguments.has_no_option())
    return refuse("nothing to change is given; see ocirun update --help");
  OCIRUN_TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  OCIRUN_TRY_ASSIGN(const UpdateRequest request, read_update_request(invocation));
  return update_container(container, request, [&](const std::string& sentence) {
    invocation.log.warn(in_terms_of_options(sentence, invocation.arguments));
  });
}

}  // namespace

Result<int> run_update(const Invocation& invocation) {
  if (const Result<void> updated = update(invocation); !updated)
    return std::unexpected(in_terms_of_options(updated.error(), invocation.arguments));
  return 0;
}

}  // namespace ocirun::runtime::cli
