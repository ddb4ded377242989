#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/netdevice/net_address.hpp"

namespace ocirun::linux {

/// The state of a device on the host before it leaves, and how far its move has come.
struct Departure {
  std::string host_name;
  std::string kind;          // Link::kind
  std::string passing_name;  // the name while it changes namespaces; unused by any other device
  bool was_up = false;
  std::vector<NetAddress> addresses;
  int index_there = 0;   // in the container's namespace; 0: its arrival is not recorded
  int index_home = 0;    // on the host after its return; 0: its return is not recorded
  bool is_back = false;  // completely restored, or known to be gone
};

/// The file `netdevices` of a container that is being created (L-29). Before each step that could
/// not be undone from the earlier lines, a line that suffices to undo it is appended. Each line is
/// one write: a line without its newline was cut off by SIGKILL, and the step after it has not
/// happened.
class Journal {
 public:
  /// `file` is open for reading and appending.
  explicit Journal(Fd file) : file_(file) {}

  /// Locks `file`: no other process moves these devices until `file` is closed. Errors: ETIMEDOUT:
  /// another process has held the lock for five seconds.
  Result<void> lock() const;

  Result<void> leaves(const Departure& device) const;
  Result<void> arrived(const Departure& device, int index_there) const;
  Result<void> came_home(const Departure& device, int index_home) const;
  Result<void> is_back(const Departure& device) const;

  /// All devices, in the order in which they left.
  Result<std::vector<Departure>> read() const;

 private:
  Result<void> append(std::string_view line) const;
  Fd file_;
};

/// The line that leaves() writes, without its newline.
std::string departure_line(const Departure& device);
/// The devices in the text of a journal. Invalid lines are skipped.
std::vector<Departure> parse_journal(std::string_view text);

}  // namespace ocirun::linux
