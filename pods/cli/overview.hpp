#pragma once

#include <string>
#include <string_view>

namespace ocirun::pods::cli {

/// The text of `ocirun pod --help`: all commands by what they are for, on a screen of 24 lines.
std::string overview();

/// Our command for one of podman, Docker, Compose or kubectl; "" for another word.
std::string_view meant_by(std::string_view word);

}  // namespace ocirun::pods::cli
