#pragma once

#include <map>
#include <string>
#include <string_view>

#include "bundle/json/document.hpp"

namespace ocirun::pods {

/// A resource that a Radius document connects the containers to (RX-16). The properties of the
/// resource become environment variables, which the operator has to give unless the source is the
/// URL of a service.
struct Connection {
  std::string name;
  std::string source;
  bool sets_variables = true;
  const bundle::Node* place = nullptr;
  /// The properties of a source that is the URL of a service: "scheme", "hostname" and, if the URL
  /// has one, "port".
  std::map<std::string, std::string> of_url = {};
};

/// The name of the variable for `parameter`, a property of a connection: "cache.host" becomes
/// CONNECTION_CACHE_HOST. For the name of a connection, what the names of all its variables begin
/// with.
std::string connection_variable(std::string_view parameter);

}  // namespace ocirun::pods
