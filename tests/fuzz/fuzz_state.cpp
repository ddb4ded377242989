// Any bytes as state.json and as intent.json. The text that is written from an accepted document
// must be read and written again without a change.
#include "bundle/documents/state.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (const auto record = bundle::parse_record(text)) {
    const std::string written = bundle::record_text(*record);
    const auto again = bundle::parse_record(written);
    fuzz::require(again && bundle::record_text(*again) == written);
  }
  if (const auto intent = bundle::parse_intent(text)) {
    const std::string written = bundle::intent_text(*intent);
    const auto again = bundle::parse_intent(written);
    fuzz::require(again && bundle::intent_text(*again) == written);
  }
  return 0;
}
