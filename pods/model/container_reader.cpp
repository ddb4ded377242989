#include "pods/model/container_reader.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

bool is_token(char c) {  // RFC 9110, section 5.6.2
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_header_name(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token);
}

bool header_name(Value at, std::string& out) {
  if (!nonempty_string(at, out)) return false;
  if (is_header_name(out)) return true;
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

/// Names of HTTP headers have no case.
std::string in_lower_case(std::string_view name) {
  std::string text(name);
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

bool headers(Value at, std::vector<HttpHeader>& out) {
  if (!list_of(kHeader)(at, out)) return false;
  std::vector<std::string> names;
  for (const HttpHeader& header : out) names.push_back(in_lower_case(header.name));
  report_twice(at, names, by("name", std::identity{}));
  return true;
}

/// An object of headers.
bool named_headers(Value at, std::vector<HttpHeader>& out) {
  if (!at.expect_object()) return false;
  bool good = true;
  std::set<std::string> names;
  for (const Value member : at) {
    HttpHeader& header = out.emplace_back();
    header.name = member.key();
    good &= header_value(member, header.value);
    const bool is_name = is_header_name(member.key());
    const bool is_new = names.insert(in_lower_case(member.key())).second;
    if (!is_name) member.problem("{:?} is no name of an HTTP header", member.key());
    if (!is_new) member.problem("is another header's name too: names of headers have no case");
    good &= is_name && is_new;
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

enum class CoreProbe : std::uint8_t { kHttp, kTcp, kExecuted };
constexpr linux::Named<CoreProbe> kCoreProbes[] = {
    {"httpGet", CoreProbe::kHttp}, {"tcp", CoreProbe::kTcp}, {"exec", CoreProbe::kExecuted}};

/// A count that Radius declares as a float: a whole number, also with a fraction of zeros.
constexpr auto whole_float(std::uint32_t least) {
  return [least](Value at, std::uint32_t& out) {
    const bundle::Node& node = at.node();
    const std::size_t point =
        node.kind == bundle::Node::Kind::kOther ? node.text.find('.') : std::string_view::npos;
    if (point != std::string_view::npos &&
        node.text.find_first_not_of('0', point + 1) == std::string_view::npos)
      if (const auto whole = linux::number<std::uint32_t>(node.text.substr(0, point));
          whole && *whole >= least && *whole <= 2'147'483'647) {
        out = *whole;
        return true;
      }
    return bundle::range(least, 2'147'483'647)(at, out);
  };
}
constexpr auto float_seconds(std::uint32_t least) {
  return [least](Value at, std::chrono::seconds& out) {
    std::uint32_t count = 0;
    if (!whole_float(least)(at, count)) return false;
    out = std::chrono::seconds(count);
    return true;
  };
}

/// A command line in one text, which Radius splits at each blank.
bool words(Value at, std::vector<std::string>& out) {
  std::string text;
  if (!string(at, text)) return false;
  for (const std::string_view word : linux::words(text, ' ')) out.emplace_back(word);
  if (out.empty()) {
    at.problem("is empty: a probe executes a program");
    return false;
  }
  if (text.find_first_of("'\"\\") != std::string::npos)
    at.warning("has quotes, which group no words: each blank separates two words");
  return true;
}

/// Reads a probe whose question is a Question. `rows` read the members of the question.
template <typename Question, typename... Rows>
bool read_core_probe(Value at, Probe& out, Rows... rows) {
  out.question.emplace<Question>();
  const auto table =
      exact_fields<Probe>(part("kind", any_value), rows...,
                          field("initialDelaySeconds", &Probe::initial_delay, float_seconds(0)),
                          field("periodSeconds", &Probe::period, float_seconds(1)),
                          field("timeoutSeconds", &Probe::timeout, float_seconds(1)),
                          field("failureThreshold", &Probe::failure_threshold, whole_float(1)));
  return table(at, out);
}

template <typename Question, typename Member, typename Reader>
constexpr auto of_question(Member Question::* member, Reader reader) {
  return [=](Value at, Probe& out) { return reader(at, std::get<Question>(out.question).*member); };
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
  out.place = &at.node();
  out.timeout = std::chrono::seconds(5);
  if (!at.expect_object()) return false;
  const auto kind = at.member("kind");
  CoreProbe chosen = CoreProbe::kHttp;
  if (!kind) {
    at.problem_at("kind", "is missing, it is required: httpGet, tcp or exec");
    return false;
  }
  if (!word_of<kCoreProbes>("kind of probe")(*kind, chosen)) return false;
  switch (chosen) {
    case CoreProbe::kHttp:
      return read_core_probe<HttpProbe>(
          at, out, required_part("containerPort", of_question(&HttpProbe::port, port_number)),
          required_part("path", of_question(&HttpProbe::path, request_path)),
          part("headers", of_question(&HttpProbe::headers, named_headers)));
    case CoreProbe::kTcp:
      return read_core_probe<TcpProbe>(
          at, out, required_part("containerPort", of_question(&TcpProbe::port, port_number)));
    case CoreProbe::kExecuted:
      return read_core_probe<ExecProbe>(
          at, out, required_part("command", of_question(&ExecProbe::command, words)));
  }
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
