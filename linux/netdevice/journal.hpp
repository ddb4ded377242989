#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/netdevice/net_address.hpp"

namespace ocirun::linux {

/// A device that leaves the host, as it was there, and how far it has come.
struct Departure {
  std::string host_name;
  std::string kind;          // Link::kind
  std::string passing_name;  // between two namespaces; chosen so that no other device has it
  bool was_up = false;
  std::vector<NetAddress> addresses;
  int index_there = 0;   // in the container's namespace; 0: nobody has written that it arrived
  int index_home = 0;    // on the host, once it was fetched back; 0: it was not
  bool is_back = false;  // complete, or known to be gone
};

/// The file `netdevices` of a container that is being made (L-29): what happens to its devices, a
/// line each, written before it cannot be undone from the line before. A write is a line: what
/// SIGKILL left half written has no end of line, and did not happen.
class Journal {
 public:
  /// `file` is open for reading and appending.
  explicit Journal(Fd file) : file_(file) {}

  /// No other process moves these devices until `file` is closed. Errors: ETIMEDOUT, another one
  /// does for five seconds already.
  Result<void> lock() const;

  Result<void> leaves(const Departure& device) const;
  Result<void> arrived(const Departure& device, int index_there) const;
  Result<void> came_home(const Departure& device, int index_home) const;
  Result<void> is_back(const Departure& device) const;

  /// In the order in which they left.
  Result<std::vector<Departure>> read() const;

 private:
  Result<void> append(std::string_view line) const;
  Fd file_;
};

/// The line of a departure, without its end.
std::string departure_line(const Departure& device);
/// What a journal tells; a line that is none of a journal's is left out.
std::vector<Departure> parse_journal(std::string_view text);

}  // namespace ocirun::linux
