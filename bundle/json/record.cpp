#include "bundle/json/record.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ocirun::bundle {

bool RecordFormat::operator()(Value at, int& out) const {
  const auto greatest = static_cast<std::uint64_t>(std::numeric_limits<int>::max());
  const bool is_newer = at.node().kind == Node::Kind::kNatural &&
                        at.node().number > static_cast<std::uint64_t>(newest);
  if (!is_newer) return range(1, static_cast<std::uint64_t>(newest))(at, out);
  out = static_cast<int>(std::min(at.node().number, greatest));
  at.problem(
      "is {}, and this version of ocirun reads formats up to {}: a newer version wrote this "
      "record, and can still use it",
      at.node().number, newest);
  return false;
}

}  // namespace ocirun::bundle
