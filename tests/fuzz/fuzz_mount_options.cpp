// Any text as the options of a mount, separated by commas.
#include "linux/mounts/options.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

namespace {

linux::Mount read(std::string_view text) {
  linux::Mount mount;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    linux::apply_mount_option(mount, text.substr(0, comma));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return mount;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const linux::Mount once = read(text);
  // The last option about a flag wins, so that repeating the list changes no attribute.
  const linux::Mount twice = read(std::string(text) + "," + std::string(text));
  fuzz::require(once.attributes.set == twice.attributes.set);
  fuzz::require(once.attributes.clear == twice.attributes.clear);
  fuzz::require(once.recursive_attributes.set == twice.recursive_attributes.set);
  fuzz::require(once.recursive_attributes.clear == twice.recursive_attributes.clear);
  return 0;
}
