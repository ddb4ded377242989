// Any bytes as the file `netdevices` of a state directory. A parsed device, written as a line and
// parsed again, must be the same device.
#include "linux/netdevice/journal.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const linux::Departure& device : linux::parse_journal(fuzz::text_of(data, size))) {
    const std::string line = linux::departure_line(device);
    const auto again = linux::parse_journal(line + "\n");
    fuzz::require(again.size() == 1 && linux::departure_line(again[0]) == line);
    fuzz::require(device.index_there >= 0 && device.index_home >= 0);
  }
  return 0;
}
