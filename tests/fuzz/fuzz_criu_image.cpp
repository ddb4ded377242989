// Any bytes as an image of criu, as descriptors.json and as a log of criu. What was parsed must lie
// within the input.
#include "bundle/documents/state.hpp"
#include "criu/dump/cgroups.hpp"
#include "criu/dump/format.hpp"
#include "criu/request/criu_log.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  for (const auto kind : {runtime::ImageKind::kMounts, runtime::ImageKind::kUserNamespace}) {
    const auto entries = runtime::parse_image(text, kind);
    if (!entries) continue;
    for (const runtime::ImageMessage& entry : *entries)
      for (const runtime::ImageField& field : entry) {
        fuzz::require(field.number != 0);
        fuzz::require(field.bytes.empty() ||
                      (field.bytes.data() >= text.data() &&
                       field.bytes.data() + field.bytes.size() <= text.data() + text.size()));
        ignore(runtime::parse_image_message(field.bytes));
      }
  }
  ignore(runtime::parse_image_cgroups(text));
  if (const auto streams = bundle::parse_descriptors(text)) {
    const auto again = bundle::parse_descriptors(bundle::descriptors_text(*streams));
    fuzz::require(again && *again == *streams);
  }
  fuzz::require(runtime::last_errors(text).find('\n') == std::string::npos);
  ignore(runtime::advice_for(text));
  return 0;
}
