#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/plan/bindings.hpp"
#include "pods/prepare/plan/environment.hpp"

namespace ocirun::pods {

/// The variables, the command and the args that the document gives to the program of a container.
struct Expansion {
  Environment named;  // its variables, to which "$(NAME)" can refer
  std::optional<std::vector<std::string>> command, args;
  std::size_t cost = 0;  // the bytes of all strings, as linux::ExecLimits::cost() counts
};

/// An error, and the part of the document that it is about.
struct PlacedError {
  Error error;
  Place place;
};

/// How a secret or a config map that is not given is treated. kRefused: as an error. kEmpty: as one
/// without keys, so that "$(NAME)" becomes the empty text.
enum class Missing : std::uint8_t { kRefused, kEmpty };

/// Takes the values of variables from secrets and config maps, and replaces "$(NAME)" in variables,
/// command and args. Stops as soon as the text is too long: 30 variables, each with two references
/// to the variable before, would take gigabytes. Errors: those of Secrets; E2BIG: the text is more
/// than execve(2) takes, so that no program could be started.
std::expected<Expansion, PlacedError> expand_container(const Pod& pod, const Container& container,
                                                       const Bindings& bindings,
                                                       Missing missing = Missing::kRefused);

/// The most bytes that ocirun copies to the containers of a pod from texts that the document, the
/// command line or a secret has once.
inline constexpr std::size_t kMostCopied = std::size_t{64} << 20;

/// The errors of expand_container() for all containers of a pod. Stops at the container with which
/// the arguments, variables, groups and annotations of all containers take more than kMostCopied.
/// Each container has the annotations of the pod.
std::vector<PlacedError> find_expansion_errors(const Pod& pod, const Bindings& bindings,
                                               Missing missing);

}  // namespace ocirun::pods
