#include "linux/netdevice/journal.hpp"

#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <optional>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/netdevice/net_address.hpp"

// The lines of a journal. PASSING-NAME identifies the device in all lines after its "leave" line.
// leave HOST-NAME PASSING-NAME up|down KIND ADDRESS…
// there PASSING-NAME INDEX
// home PASSING-NAME INDEX
// back PASSING-NAME
namespace ocirun::linux {
namespace {

constexpr std::chrono::milliseconds kLockPatience{5000};
constexpr std::size_t kMaxJournal = 64 * 1024 * 1024;

constexpr std::string_view kHardware = "-";

using Words = std::vector<std::string_view>;

std::optional<Departure> read_departure(const Words& words) {
  if (words.size() < 5 || (words[3] != "up" && words[3] != "down")) return std::nullopt;
  Departure device{.host_name = std::string(words[1]),
                   .kind = std::string(words[4] == kHardware ? "" : words[4]),
                   .passing_name = std::string(words[2]),
                   .was_up = words[3] == "up",
                   .addresses = {}};
  for (std::size_t i = 5; i < words.size(); ++i) {
    auto address = parse_net_address(words[i]);
    if (!address) return std::nullopt;
    device.addresses.push_back(*std::move(address));
  }
  return device;
}

void read_line(std::string_view line, std::vector<Departure>& devices) {
  const Words words = linux::words(line);
  if (words.size() < 2) return;
  if (words[0] == "leave") {
    if (auto device = read_departure(words)) devices.push_back(*std::move(device));
    return;
  }
  const auto device = std::ranges::find(devices, words[1], &Departure::passing_name);
  if (device == devices.end()) return;
  if (words[0] == "back" && words.size() == 2) device->is_back = true;
  const auto index = words.size() == 3 ? number<int>(words[2]) : std::nullopt;
  if (!index || *index <= 0) return;
  if (words[0] == "there") device->index_there = *index;
  if (words[0] == "home") device->index_home = *index;
}

}  // namespace

std::string departure_line(const Departure& device) {
  std::string line =
      fmt::format("leave {} {} {} {}", device.host_name, device.passing_name,
                  device.was_up ? "up" : "down", device.kind.empty() ? kHardware : device.kind);
  for (const NetAddress& address : device.addresses) line += " " + net_address_text(address);
  return line;
}

std::vector<Departure> parse_journal(std::string_view text) {
  std::vector<Departure> devices;
  text = text.substr(0, text.rfind('\n') + 1);  // drop a line that was not written to its end
  while (!text.empty()) read_line(cut(text, '\n'), devices);
  return devices;
}

Result<void> Journal::lock() const {
  Patience left(kLockPatience);
  while (::flock(file_.value, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail(errno, "lock the journal netdevices");
    if (!left.wait()) return fail(ETIMEDOUT, "another ocirun-netdevice moves these devices");
  }
  return {};
}

Result<void> Journal::append(std::string_view line) const {
  // " ?\n" ends a line that was cut off. No valid line has the word "?".
  return within(sys::write_once(file_, fmt::format(" ?\n{}\n", line)),
                "write the journal netdevices");
}

Result<void> Journal::leaves(const Departure& device) const {
  return append(departure_line(device));
}
Result<void> Journal::arrived(const Departure& device, int index_there) const {
  return append(fmt::format("there {} {}", device.passing_name, index_there));
}
Result<void> Journal::came_home(const Departure& device, int index_home) const {
  return append(fmt::format("home {} {}", device.passing_name, index_home));
}
Result<void> Journal::is_back(const Departure& device) const {
  return append(fmt::format("back {}", device.passing_name));
}

Result<std::vector<Departure>> Journal::read() const {
  if (::lseek(file_.value, 0, SEEK_SET) != 0) return fail(errno, "read the journal netdevices");
  OCIRUN_TRY_ASSIGN(const std::string text,
                    within(sys::read_all(file_, kMaxJournal), "read the journal netdevices"));
  return parse_journal(text);
}

}  // namespace ocirun::linux
