#include "pods/images/image_name.hpp"

namespace ocirun::pods {

WantedName::WantedName(std::string_view text) : text_(text) {
  if (auto digest = Digest::parse(text)) {
    reference_ = Reference{"", "", "", *std::move(digest)};
  } else if (auto reference = Reference::parse(text)) {
    reference_ = *std::move(reference);
  }
}

std::optional<Digest> WantedName::digest() const {
  return reference_ ? reference_->digest : std::nullopt;
}

WantedName::Match WantedName::match(std::string_view given) const {
  if (given == text_) return Match::kWhole;
  if (!reference_) return Match::kNone;
  if (const auto other = Reference::parse(given))
    if (other->name() == reference_->name() && other->wanted_tag() == reference_->wanted_tag())
      return Match::kWhole;
  return given == reference_->wanted_tag() ? Match::kTagOnly : Match::kNone;
}

}  // namespace ocirun::pods
