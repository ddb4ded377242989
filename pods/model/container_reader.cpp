#include "pods/model/container_reader.hpp"

#include <algorithm>
#include <array>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

bool is_token(char c) {  // RFC 9110, section 5.6.2
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool header_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (std::ranges::all_of(out, is_token)) return true;
  at.problem("is no name of an HTTP header: {}", found(at));
  return false;
}

bool header_value(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto is_control = [](unsigned char c) { return (c < 0x20 && c != '\t') || c == 0x7F; };
  if (std::ranges::none_of(out, is_control)) return true;
  at.problem("contains a control character, which HTTP/1.1 does not allow: {}", found(at));
  return false;
}

/// The part of a URL behind the host.
bool request_path(Value at, std::string& out) {
  if (!string(at, out)) return false;
  const auto is_bad = [](unsigned char c) { return c <= 0x20 || c == 0x7F || c == '#'; };
  if (std::ranges::any_of(out, is_bad)) {
    at.problem("contains a blank, a control character or \"#\", which no HTTP path has: {}",
               found(at));
    return false;
  }
  if (!out.starts_with('/')) out.insert(0, "/");
  return true;
}

constexpr auto kHeader =
    exact_fields<HttpHeader>(required("name", &HttpHeader::name, header_name),
                             required("value", &HttpHeader::value, header_value));

/// The names in lower case: names of HTTP headers have no case.
std::vector<std::string> names_of(const std::vector<HttpHeader>& headers) {
  std::vector<std::string> names;
  for (const HttpHeader& header : headers) {
    names.push_back(header.name);
    for (char& c : names.back())
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return names;
}

bool headers(Value at, std::vector<HttpHeader>& out) {
  if (!list_of(kHeader)(at, out)) return false;
  report_twice(at, names_of(out), by("name", std::identity{}));
  return true;
}

/// An object of headers.
bool named_headers(Value at, std::vector<HttpHeader>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  for (const Value member : at) {
    HttpHeader& header = out.emplace_back();
    header.name = member.key();
    good &= header_value(member, header.value);
    const bool is_name = !header.name.empty() && std::ranges::all_of(header.name, is_token);
    const std::vector<std::string> names = names_of(out);
    const bool is_first = std::ranges::count(names, names.back()) == 1;
    if (!is_name) member.problem("the name is no name of an HTTP header");
    if (!is_first) member.problem("is another header's name too: their names have no case");
    good &= is_name && is_first;
  }
  return good;
}

bool scheme(Value at, HttpProbe& out) {
  std::string word;
  if (!string(at, word)) return false;
  out.tls = word == "HTTPS";
  if (out.tls || word == "HTTP") return true;
  at.problem("must be HTTP or HTTPS, not {}", found(at));
  return false;
}
/// The published type of Radius has the words in lower case.
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
constexpr auto kOamHttp =
    exact_fields<HttpProbe>(required("path", &HttpProbe::path, request_path),
                            required("port", &HttpProbe::port, port_number),
                            field("httpHeaders", &HttpProbe::headers, headers));
constexpr auto kOamTcp = exact_fields<TcpProbe>(required("port", &TcpProbe::port, port_number));
constexpr auto other_host = not_supported("host", "probes ask the pod itself");
constexpr auto kKubernetesHttp = exact_fields<HttpProbe>(
    field("path", &HttpProbe::path, request_path), required_part("port", number_or_name),
    field("httpHeaders", &HttpProbe::headers, headers), part("scheme", scheme_of_any_case),
    other_host);
constexpr auto kKubernetesTcp =
    exact_fields<TcpProbe>(required_part("port", number_or_name), other_host);
constexpr auto kKnativeHttp = exact_fields<HttpProbe>(
    field("path", &HttpProbe::path, request_path), part("port", number_or_name),
    field("httpHeaders", &HttpProbe::headers, headers), part("scheme", scheme), other_host);
constexpr auto kKnativeTcp = exact_fields<TcpProbe>(part("port", number_or_name), other_host);

/// The members of a Kubernetes probe that ocirun does not support.
constexpr std::array kOtherMembers{
    UnsupportedName{"grpc", "write tcpSocket, httpGet or exec", true},
    UnsupportedName{"terminationGracePeriodSeconds", "--grace is the time that a stop gives"},
};
bool is_kubernetes_member(Value member) { return refuse_if_listed(member, kOtherMembers); }

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
          field("successThreshold", &Probe::success_threshold, bundle::range(1, 2'147'483'647)),
          field("failureThreshold", &Probe::failure_threshold, bundle::range(1, 2'147'483'647)),
          rows...)
          .beside(besides);
  out.place = &at.node();
  if (!table(at, out)) return false;
  int given = 0;
  for (const std::string_view name : {"exec", "httpGet", "tcpSocket"})
    if (at.member(name)) ++given;
  if (given == 0 && needed == Question::kTcpByDefault) out.question = TcpProbe{};
  if (given == 1 || (given == 0 && needed == Question::kTcpByDefault)) return true;
  at.problem("must have exactly one of exec, httpGet and tcpSocket, not {}", given);
  return false;
}

template <typename Question, typename Member, typename Reader>
constexpr auto of_question(Member Question::* member, Reader reader) {
  return [=](Value at, Probe& out) { return reader(at, std::get<Question>(out.question).*member); };
}

/// The members that all probes of Applications.Core/containers have, and `rows`.
template <typename... Rows>
constexpr auto core_probe_fields(Rows... rows) {
  return exact_fields<Probe>(
      part("kind", any_value), rows...,
      field("initialDelaySeconds", &Probe::initial_delay, seconds_from(0)),
      field("periodSeconds", &Probe::period, seconds_from(1)),
      field("timeoutSeconds", &Probe::timeout, seconds_from(1)),
      field("failureThreshold", &Probe::failure_threshold, bundle::range(1, 2'147'483'647)));
}

/// A command line in one text: blanks separate the words.
bool words(Value at, std::vector<std::string>& out) {
  std::string text;
  if (!string(at, text)) return false;
  for (const std::string_view word : linux::words(text, ' ')) out.emplace_back(word);
  if (!out.empty()) return true;
  at.problem("is empty: a probe executes a program");
  return false;
}

/// `ports`: of the document, if there are any.
void resolve(Value at, std::optional<Value> ports, const Container& container, std::string& name,
             std::uint16_t& number) {
  if (name.empty()) return;
  const auto port = std::ranges::find(container.ports, name, &Port::name);
  if (port == container.ports.end()) {
    if (!may_have(ports, name))
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

bool radius_core_probe(Value at, Probe& out) {
  static constexpr auto kHttp =
      core_probe_fields(required_part("containerPort", of_question(&HttpProbe::port, port_number)),
                        required_part("path", of_question(&HttpProbe::path, request_path)),
                        part("headers", of_question(&HttpProbe::headers, named_headers)));
  static constexpr auto kTcp =
      core_probe_fields(required_part("containerPort", of_question(&TcpProbe::port, port_number)));
  static constexpr auto kExecuted =
      core_probe_fields(required_part("command", of_question(&ExecProbe::command, words)));
  out.place = &at.node();
  out.timeout = std::chrono::seconds(5);
  if (!at.expect_object()) return false;
  const std::string_view kind = text_of_member(at.node(), "kind");
  if (kind == "httpGet") {
    out.question.emplace<HttpProbe>();
    return kHttp(at, out);
  }
  if (kind == "tcp") {
    out.question.emplace<TcpProbe>();
    return kTcp(at, out);
  }
  if (kind == "exec") {
    out.question.emplace<ExecProbe>();
    return kExecuted(at, out);
  }
  at.problem_at("kind", "must be httpGet, tcp or exec");
  return false;
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

bool container_image(Value at, Container& out) {
  out.image_place = &at.node();
  return image_reference(at, out.image);
}

}  // namespace ocirun::pods
