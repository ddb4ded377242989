// Any bytes as config.json: the JSON reader, the conversion to Config, and the rules.
#include "bundle/config/config.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  const bundle::Parsed parsed = bundle::parse_config(text, HostPath("/bundle"));
  fuzz::require(parsed.config.has_value() == (parsed.problem_count == 0));
  fuzz::require(parsed.problems.size() <= parsed.problem_count);
  for (const std::string& problem : parsed.problems) fuzz::require(!problem.empty());
  // `validate` also reports unknown names. These are warnings, not problems.
  const bundle::Parsed told =
      bundle::parse_config(text, HostPath("/bundle"), bundle::UnknownNames::kTold);
  fuzz::require(told.problem_count == parsed.problem_count);
  return 0;
}
