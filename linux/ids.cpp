#include "linux/ids.hpp"

#include <charconv>

namespace ocirun {

template <typename Tag>
Result<Id<Tag>> Id<Tag>::parse(std::string_view text) {
  std::uint32_t value = 0;
  const char* last = text.data() + text.size();
  const auto [end, code] = std::from_chars(text.data(), last, value);
  if (text.empty() || code != std::errc{} || end != last || value == kUnchanged)
    return refuse("{} id \"{}\": must be a number from 0 to 4294967294", Tag::kName, text);
  Id id;
  id.value_ = value;
  return id;
}

template class Id<UidTag>;
template class Id<GidTag>;

}  // namespace ocirun
