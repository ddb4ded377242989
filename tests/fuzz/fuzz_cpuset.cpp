// Lists of CPUs and memory nodes ("0-3,7"). A parsed set, written number by number and parsed
// again, must be the same set.
#include <string>

#include "linux/base/number_set.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto set = linux::NumberSet::parse(fuzz::text_of(data, size));
  constexpr std::size_t kMostWords = 512;  // longer sets cost time and find nothing new
  if (!set || set->words().size() > kMostWords) return 0;
  std::string plain;
  for (std::size_t word = 0; word < set->words().size(); ++word)
    for (std::size_t bit = 0; bit < 64; ++bit)
      if ((set->words()[word] >> bit & 1UL) != 0) {
        fuzz::require(set->contains(word * 64 + bit));
        plain += (plain.empty() ? "" : ",") + std::to_string(word * 64 + bit);
      }
  fuzz::require(set->empty() == plain.empty());
  const auto again = linux::NumberSet::parse(plain);
  fuzz::require(again && again->words() == set->words());
  return 0;
}
