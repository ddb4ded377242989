#include "pods/documents/model/container_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "pods/documents/model/http_question.hpp"

namespace ocirun::pods {
namespace {

bool scheme(Value at, HttpProbe& out) {
  std::string word;
  if (!string(at, word)) return false;
  out.tls = word == "HTTPS";
  if (out.tls || word == "HTTP") return true;
  at.problem("must be HTTP or HTTPS, not {}", found(at));
  return false;
}
/// Also accepts the words in lower case, which the published type of Radius has.
bool scheme_of_any_case(Value at, HttpProbe& out) {
  out.tls = at.node().is_string() && at.node().text == "https";
  return out.tls || (at.node().is_string() && at.node().text == "http") || scheme(at, out);
}

/// A number, or the name of a port of the container.
constexpr auto number_or_name = [](Value at, auto& out) {
  return at.node().is_string() ? nonempty_string(at, out.port_name) : port_number(at, out.port);
};

constexpr auto kExec =
    exact_fields<ExecProbe>(required("command", &ExecProbe::command, command_line));
constexpr auto kOamHttp = exact_fields<HttpProbe>(
    required("path", &HttpProbe::path, http_path), required("port", &HttpProbe::port, port_number),
    field("httpHeaders", &HttpProbe::headers, http_headers));
constexpr auto kOamTcp = exact_fields<TcpProbe>(required("port", &TcpProbe::port, port_number));
constexpr auto other_host = not_supported("host", "probes ask the pod itself");
constexpr auto kKubernetesHttp = exact_fields<HttpProbe>(
    field("path", &HttpProbe::path, http_path), required_part("port", number_or_name),
    field("httpHeaders", &HttpProbe::headers, http_headers),
    part_unless_empty<std::string>("scheme", scheme_of_any_case), other_host);
constexpr auto kKubernetesTcp =
    exact_fields<TcpProbe>(required_part("port", number_or_name), other_host);
constexpr auto kKnativeHttp = exact_fields<HttpProbe>(
    field("path", &HttpProbe::path, http_path), part("port", number_or_name),
    field("httpHeaders", &HttpProbe::headers, http_headers),
    part_unless_empty<std::string>("scheme", scheme), other_host);
constexpr auto kKnativeTcp = exact_fields<TcpProbe>(part("port", number_or_name), other_host);

/// Members that a probe of Knative cannot have here. kubernetes_probe() has a row for this one.
constexpr std::array kOtherMembers{
    UnsupportedName{"terminationGracePeriodSeconds", "--grace is the time that a stop gives"},
};
bool is_kubernetes_member(Value member) {
  if (member.key() != "grpc") return refuse_if_listed(member, kOtherMembers);
  if (!member.is_null()) refuse_always(member, "write tcpSocket, httpGet or exec");
  return true;
}

template <typename Kind, typename Reader>
constexpr auto question(std::string_view key, Reader reader) {
  return part(key, [reader](Value at, Probe& out) {
    return reader(at, out.question.template emplace<Kind>());
  });
}

enum class Question : std::uint8_t { kRequired, kTcpByDefault };

/// `besides` handles members that OAM does not have; nullptr for OAM. `rows` are rows for members
/// that not all kinds of probes have.
template <typename Http, typename Tcp, typename... Rows>
bool read_probe(Value at, Probe& out, Question needed, Http http, Tcp tcp, bool (*besides)(Value),
                Rows... rows) {
  const auto table =
      exact_fields<Probe>(
          question<ExecProbe>("exec", kExec), question<HttpProbe>("httpGet", http),
          question<TcpProbe>("tcpSocket", tcp),
          field("initialDelaySeconds", &Probe::initial_delay, seconds_from(0)),
          field("periodSeconds", &Probe::period, seconds_from(1)),
          field("timeoutSeconds", &Probe::timeout, seconds_from(1)),
          field("successThreshold", &Probe::success_threshold, whole_number(1, 2'147'483'647)),
          field("failureThreshold", &Probe::failure_threshold, whole_number(1, 2'147'483'647)),
          rows...)
          .beside(besides);
  out.place = &at.node();
  if (!table(at, out)) return false;
  int given = 0;
  for (const std::string_view name : {"exec", "httpGet", "tcpSocket"})
    if (at.member(name)) ++given;
  if (given == 0 && needed == Question::kTcpByDefault) out.question = TcpProbe{};
  if (given == 1 || (given == 0 && needed == Question::kTcpByDefault)) return true;
  if (given == 0 && at.report().has_unsupported_in(at.node())) return true;  // grpc
  at.problem("must have exactly one of exec, httpGet and tcpSocket, not {}", given);
  return false;
}

/// Sets `number` to that of the port `name`. `ports`: the member of the container in the document.
void resolve(Value at, std::optional<Value> ports, const Container& container, std::string& name,
             std::uint16_t& number) {
  if (name.empty()) return;
  const auto port = std::ranges::find(container.ports, name, &Port::name);
  if (port == container.ports.end()) {
    if (!NamesOf(ports).may_have(name))
      at.problem("the port \"{}\" is none of the container's ports", name);
    return;
  }
  number = port->number;
  name.clear();
}

}  // namespace

bool oam_probe(Value at, Probe& out) {
  return read_probe(at, out, Question::kRequired, kOamHttp, kOamTcp, nullptr);
}
bool kubernetes_probe(Value at, Probe& out) {
  return read_probe(at, out, Question::kRequired, kKubernetesHttp, kKubernetesTcp,
                    is_kubernetes_member,
                    field("terminationGracePeriodSeconds", &Probe::grace, seconds_from(1)));
}
bool kubernetes_readiness_probe(Value at, Probe& out) {
  if (!kubernetes_probe(at, out)) return false;
  if (const auto grace = at.member("terminationGracePeriodSeconds"))
    grace->warning("has no effect: a container that is not ready is not stopped");
  return true;
}
bool knative_probe(Value at, Probe& out) {
  return read_probe(at, out, Question::kTcpByDefault, kKnativeHttp, kKnativeTcp,
                    is_kubernetes_member);
}

void resolve_port_names(Value at, Container& container) {
  const auto ports = at.member("ports");
  for (auto* probe : {&container.liveness, &container.readiness, &container.startup}) {
    if (!*probe) continue;
    const Value place((*probe)->place != nullptr ? *(*probe)->place : at.node(), at.report());
    if (auto* http = std::get_if<HttpProbe>(&(*probe)->question))
      resolve(place, ports, container, http->port_name, http->port);
    else if (auto* tcp = std::get_if<TcpProbe>(&(*probe)->question))
      resolve(place, ports, container, tcp->port_name, tcp->port);
  }
}

void warn_of_replaced(Value at, const std::vector<EnvVariable>& env) {
  std::map<std::string_view, std::size_t> last;
  std::size_t index = 0;
  for (const Value item : at) {
    const auto [same, is_new] = last.emplace(env[index].name, index);
    if (!is_new)
      item.member("name")->warning("{} is set by item {} too: the value of this one counts",
                                   found(*item.member("name")), std::exchange(same->second, index));
    ++index;
  }
}

bool container_image(Value at, Container& out) {
  out.image_place = &at.node();
  return image_reference(at, out.image);
}

}  // namespace ocirun::pods
