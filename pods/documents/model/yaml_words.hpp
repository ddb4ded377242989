#pragma once

// What scalars without quotes mean in YAML 1.2, which ocirun reads, and in YAML 1.1, which kubectl
// and the servers of Kubernetes read.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace ocirun::pods {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words);

/// Whether YAML 1.2's core schema reads `word` as a number. A whole number too is one.
bool is_yaml_float(std::string_view word);

/// The value that YAML 1.1 gives `word`, as JSON writes it: "8" for 010, "true" for yes, "1000" for
/// 1_000. Nothing for a text and for null. Times such as 12:30 and dates are texts: the library of
/// kubectl leaves out these two types of YAML 1.1.
std::optional<std::string> yaml_1_1_value(std::string_view word);

/// The name of a member that kubectl makes of `word`: "8" for 010, "true" for on, "1.1" for 1.10.
std::string yaml_1_1_name(std::string_view word);

}  // namespace ocirun::pods
