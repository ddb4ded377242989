#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/prepare/plan/bindings.hpp"
#include "pods/prepare/plan/environment.hpp"

namespace ocirun::pods {

/// What the document gives to the program of a container.
struct Expansion {
  Environment named;  // its variables, to which "$(NAME)" can refer
  std::optional<std::vector<std::string>> command, args;
  std::size_t cost = 0;  // what all strings take of linux::ExecLimits::all
};

/// An error, and the part of the document that it is about.
struct PlacedError {
  Error error;
  Place place;
};

/// What stands for a secret or a config map that is not given: an error, or no variables, so that
/// "$(NAME)" is the empty text.
enum class Missing : std::uint8_t { kRefused, kEmpty };

/// Takes the values of variables from secrets and config maps, and replaces "$(NAME)" in variables,
/// command and args. Counts while it does: 30 variables, each with two references to the one
/// before, would take gigabytes. Errors: those of Secrets; E2BIG: more than execve(2) takes, so
/// that no program can be started.
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
