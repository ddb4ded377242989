#pragma once

#include <boost/test/unit_test.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

/// Whether `text` contains `part`. A text without it is an error of the test that shows the text.
inline bool has(const std::string& text, std::string_view part) {
  const bool found = text.find(part) != std::string::npos;
  BOOST_CHECK_MESSAGE(found, text);
  return found;
}

/// `text` with `to` in the place of `from`, which it must contain.
inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error("no such text: " + std::string(from));
  return text.replace(at, from.size(), to);
}
