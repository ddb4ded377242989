#include "pods/radius/resource.hpp"

namespace ocirun::pods {
namespace {

/// The properties that a source SCHEME://HOST:PORT[/PATH] has: the name of a variable's end, and
/// the value. Without a port the source has none.
std::map<std::string, std::string> properties_of_url(std::string_view source) {
  const std::size_t colon = source.find("://");
  if (colon == std::string_view::npos || colon == 0) return {};
  const std::string_view rest = source.substr(colon + 3);
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  const std::size_t port = authority.rfind(':');
  if (port == std::string_view::npos || port == 0 || authority.contains('@')) return {};
  std::string_view host = authority.substr(0, port);
  const std::string_view number = authority.substr(port + 1);
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return {};
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {{"scheme", std::string(source.substr(0, colon))},
          {"hostname", std::string(host)},
          {"port", std::string(number)}};
}

bool connection_source(Value at, Connection& out) {
  if (!nonempty_string(at, out.source)) return false;
  out.of_url = properties_of_url(out.source);
  return true;
}

bool disabled_variables(Value at, Connection& out) {
  bool disabled = false;
  if (!boolean(at, disabled)) return false;
  out.sets_variables = !disabled;
  return true;
}

template <typename... Rows>
constexpr auto connection_fields(Rows... rows) {
  return exact_fields<Connection>(required_part("source", connection_source),
                                  part("disableDefaultEnvVars", disabled_variables), rows...);
}

bool connection(Value at, Edition edition, Connection& out) {
  static constexpr auto kCore =
      connection_fields(no_effect("kind", "the source says what the resource is"),
                        not_supported("iam", "no cloud grants roles to the container"));
  static constexpr auto kCompute =
      connection_fields(removed("iam", "", "a recipe of the platform may grant access"));
  return edition == Edition::kCore ? kCore(at, out) : kCompute(at, out);
}

}  // namespace

bool radius_connections(Value at, Edition edition, std::vector<Connection>& out) {
  return named_items(at, out, [edition](Value member, Connection& item) {
    if (!connection(member, edition, item)) return false;
    if (!item.sets_variables)
      member.warning(
          "the connection has no effect: disableDefaultEnvVars leaves out its variables, and there "
          "is nothing else that it gives");
    return true;
  });
}

}  // namespace ocirun::pods
