#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::linux {

/// A set of CPUs or memory nodes, "0-3,7". Its size depends on the largest number.
class NumberSet {
 public:
  /// Numbers and ranges separated by commas, with blanks allowed around them; numbers below
  /// 1048576. A text of blanks is the empty set. Errors name the text.
  static Result<NumberSet> parse(std::string_view text);
  bool empty() const { return words_.empty(); }
  bool contains(std::size_t number) const;
  /// Number N is bit N % W of word N / W, where a word has W bits.
  const std::vector<unsigned long>& words() const { return words_; }

 private:
  void add(std::size_t number);
  std::vector<unsigned long> words_;
};

}  // namespace ocirun::linux
