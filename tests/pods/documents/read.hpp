#pragma once

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "pods/documents/workload.hpp"

namespace ocirun::pods {

inline std::string lines(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text += sentence + '\n';
  return text;
}

/// The problems of a document, one a line: "f:3:5: /spec: …". What only an export takes is one too.
inline std::string problems(std::string_view text) {
  const Workload workload = read_workload("f", text);
  std::string all = lines(workload.problems);
  for (const Elsewhere& part : workload.pod.elsewhere)
    if (part.is_copied || !part.can_be_ignored) all += workload.at(part) + '\n';
  return all;
}
inline std::string warnings(std::string_view text) {
  return lines(read_workload("f", text).warnings);
}

/// The Pod of a document that has no problem.
inline Pod good(std::string_view text) {
  Workload workload = read_workload("f", text);
  BOOST_TEST(lines(workload.problems) == "");
  return std::move(workload.pod);
}

/// `text` with the only occurrence of `from` replaced by `to`.
inline std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string changed(text);
  const std::size_t at = changed.find(from);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "the document lacks " << from);
  return changed.replace(at, from.size(), to);
}

}  // namespace ocirun::pods
