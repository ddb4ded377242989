// ocirun-systemd is the only program that loads libsystemd. ocirun runs ocirun-systemd only for the
// systemd cgroup manager, so that other containers do not pay for the library.
// cgroups/systemd/property.hpp describes the protocol.

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "cgroups/systemd/program/bus.hpp"
#include "cgroups/systemd/program/unit.hpp"
#include "linux/base/file_io.hpp"
#include "linux/sealed/own_program.hpp"

namespace {

using namespace ocirun;
using namespace ocirun::cgroups;

/// Calls read(2) on stdin once. Returns 0 at end of file.
Result<std::size_t> read_some(std::span<char> buffer) {
  for (;;) {
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size >= 0) return static_cast<std::size_t>(size);
    if (errno != EINTR) return fail(errno, "read from ocirun");
  }
}

Result<std::vector<UnitProperty>> read_properties() {
  std::string text;
  std::array<char, 4096> buffer{};
  std::vector<UnitProperty> properties;
  for (;;) {
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) {
      OCIRUN_TRY_ASSIGN(const std::size_t size, read_some(buffer));
      if (size == 0) return refuse("ocirun-systemd is a part of ocirun and not for use by hand");
      text.append(buffer.data(), size);
      continue;
    }
    const std::string line = text.substr(0, end);
    text.erase(0, end + 1);
    if (line == kEndLine) return properties;
    OCIRUN_TRY_ASSIGN(UnitProperty property, parse_property_line(line));
    properties.push_back(std::move(property));
  }
}

struct Request {
  SystemdInstance instance = SystemdInstance::kSystem;
  std::string verb, unit;
  int pid = 0;
};

Result<Request> read_arguments(std::span<char* const> words) {
  const std::string_view instance = words.size() > 1 ? words[1] : "";
  Request request{
      .instance = instance == kUserInstance ? SystemdInstance::kUser : SystemdInstance::kSystem,
      .verb = words.size() > 2 ? words[2] : "",
      .unit = words.size() > 3 ? words[3] : "",
      .pid = ::getpid()};
  const std::string_view pid = words.size() > 4 ? words[4] : "";
  std::from_chars(pid.data(), pid.data() + pid.size(), request.pid);
  const bool known_instance = instance == kUserInstance || instance == kSystemInstance;
  const bool known_unit = is_scope_name(request.unit) || is_slice_name(request.unit);
  if (!known_instance || (request.verb != kManagerVerb && !known_unit))
    return refuse("ocirun-systemd is a part of ocirun and not for use by hand");
  return request;
}

Result<std::string> run(std::span<char* const> words) {
  OCIRUN_TRY_ASSIGN(const Request request, read_arguments(words));
  OCIRUN_TRY_ASSIGN(const std::vector<UnitProperty> properties, read_properties());
  OCIRUN_TRY_ASSIGN(const Bus bus, Bus::connect(request.instance));
  const auto nothing = [](Result<void> done) -> Result<std::string> {
    OCIRUN_TRY(done);
    return std::string();
  };
  if (request.verb == kManagerVerb) return describe_manager(bus);
  if (request.verb == kStartVerb) return start_scope(bus, request.unit, properties, request.pid);
  if (request.verb == kSliceVerb) return start_slice(bus, request.unit, properties);
  if (request.verb == kSetVerb) return nothing(set_unit_properties(bus, request.unit, properties));
  if (request.verb == kAttachVerb) return nothing(attach_process(bus, request.unit, request.pid));
  if (request.verb == kStopVerb) return nothing(remove_unit(bus, request.unit));
  return refuse("ocirun-systemd: unknown verb {}", request.verb);
}

}  // namespace

int main(int argc, char** argv) {
  const Result<std::string> outcome = run(std::span(argv, static_cast<std::size_t>(argc)));
  const std::string answer = outcome
                                 ? std::string(kOk) + *outcome
                                 : std::string(kErrorAnswer) + linux::error_lines(outcome.error());
  if (!linux::write_all(Fd{STDOUT_FILENO}, answer)) return 2;
  ::shutdown(STDOUT_FILENO, SHUT_WR);
  // systemd removes an empty scope. So this process stays in the scope until ocirun closes the
  // socket.
  std::array<char, 16> buffer{};
  while (outcome && argc > 2 && argv[2] == kStartVerb) {
    const Result<std::size_t> size = read_some(buffer);
    if (!size || *size == 0) break;
  }
  return outcome ? 0 : 1;
}
