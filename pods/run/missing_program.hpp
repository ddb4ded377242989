#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "pods/model/container.hpp"

namespace ocirun::pods {

/// The exit status that shells have for a program that cannot be executed: 127 if it does not
/// exist, 126 if it is no executable file; nothing if the runtime failed for another reason.
/// `said`: the runtime's words, of which ocirun and runc have the same.
std::optional<int> status_of_missing_program(std::string_view said);

/// The place in the document of the word `program`, with which the container's command line begins;
/// that of the image, if the image names the program; nullptr if neither is known.
Place place_of_program(const Container& container, std::string_view program);

}  // namespace ocirun::pods
