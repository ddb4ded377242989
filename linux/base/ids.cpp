#include "linux/base/ids.hpp"

#include "linux/base/text.hpp"

namespace ocirun {

template <typename Tag>
Result<Id<Tag>> Id<Tag>::parse(std::string_view text) {
  const auto value = linux::number<std::uint32_t>(text);
  if (!value || *value == kUnchanged)
    return refuse("{} id \"{}\": must be a number from 0 to 4294967294", Tag::kName, text);
  Id id;
  id.value_ = *value;
  return id;
}

template class Id<UidTag>;
template class Id<GidTag>;

}  // namespace ocirun
