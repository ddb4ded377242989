#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pods/documents/model/pod.hpp"
#include "pods/prepare/plan/bindings.hpp"

namespace ocirun::pods {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// The platform's own variables of a container: those of the Knative contract (KN-1, KN-2), the
/// name of the app (AC-23), and the address of its metadata service (AC-22).
NamedValues platform_variables(const Pod& pod, const Container& container);

/// The properties of connections (RX-16): --param cache.host=VALUE for the connection "cache"
/// becomes CONNECTION_CACHE_HOST.
NamedValues connection_variables(const Pod& pod, const Bindings& bindings);

/// Whether "$(NAME)" in the document is a reference to a variable. True for documents of
/// Kubernetes, Knative and Radius.
bool has_references(const Pod& pod);

}  // namespace ocirun::pods
