#include <algorithm>

#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

using linux::is_letter;

/// A character of a name of a host or of a connection.
bool is_of_name(char c) { return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

bool is_scheme(std::string_view text) {  // RFC 3986, section 3.1
  return !text.empty() && is_letter(text.front()) &&
         std::ranges::all_of(text, [](char c) { return c == '+' || (is_of_name(c) && c != '_'); });
}

/// A name of a host, an address of IPv4, or one of IPv6 without its brackets.
bool is_host(const std::string& text) {
  return is_ip_address(text) || (!text.empty() && std::ranges::all_of(text, is_of_name));
}

/// Reads SCHEME://HOST[:PORT][/PATH], the URL of a service, into properties with the names that
/// their variables end with.
bool url(Value at, Connection& out) {
  const std::string_view source = out.source;
  const std::size_t colon = source.find("://");
  const std::string_view scheme = source.substr(0, colon);
  std::string_view host = source.substr(colon + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  const std::size_t port = host.find(':', host.starts_with('[') ? host.find(']') : 0);
  std::optional<std::uint16_t> number;
  bool is_good = is_scheme(scheme);
  if (port != std::string_view::npos) {
    number = linux::number<std::uint16_t>(host.substr(port + 1));
    is_good = is_good && number && *number > 0;
    host = host.substr(0, port);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (!is_good || !is_host(std::string(host))) {
    at.problem("must be the id of a resource, or a URL SCHEME://HOST:PORT, not {}", found(at));
    return false;
  }
  out.of_url = {{"scheme", std::string(scheme)}, {"hostname", std::string(host)}};
  if (number) out.of_url.emplace("port", fmt::format("{}", *number));
  return true;
}

bool connection_source(Value at, Connection& out) {
  if (!nonempty_string(at, out.source)) return false;
  const bool is_url = !out.source.starts_with('/') && out.source.contains("://");
  return !is_url || url(at, out);
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

/// The name becomes a part of the names of variables.
bool has_connection_name(Value member) {
  const std::string_view name = member.key();
  const bool is_good =
      !name.empty() && !name.contains('.') && std::ranges::all_of(name, is_of_name);
  if (!is_good) member.problem("the name must be letters, digits, \"-\" and \"_\"");
  return is_good;
}

}  // namespace

bool radius_connections(Value at, Edition edition, std::vector<Connection>& out) {
  std::map<std::string, std::string> names;  // of variables, each with its connection
  return named_items(at, out, [&](Value member, Connection& item) {
    const auto [same, is_new] = names.emplace(connection_variable(item.name), item.name);
    if (!is_new)
      member.problem("its variables have the names of those of the connection \"{}\": rename one",
                     same->second);
    const bool is_named = has_connection_name(member);
    if (!connection(member, edition, item) || !is_named || !is_new) return false;
    if (!item.sets_variables)
      member.warning(
          "the connection has no effect: disableDefaultEnvVars leaves out its variables, and there "
          "is nothing else that it gives");
    return true;
  });
}

}  // namespace ocirun::pods
