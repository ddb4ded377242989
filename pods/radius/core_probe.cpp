#include "linux/base/text.hpp"
#include "pods/model/http_question.hpp"
#include "pods/radius/resource.hpp"

namespace ocirun::pods {
namespace {

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

}  // namespace

bool core_probe(Value at, Probe& out) {
  out.place = &at.node();
  out.timeout = std::chrono::seconds(5);
  CoreProbe chosen = CoreProbe::kHttp;
  if (!read_kind<kCoreProbes>(at, "kind of probe", "httpGet, tcp or exec", chosen)) return false;
  switch (chosen) {
    case CoreProbe::kHttp:
      return read_core_probe<HttpProbe>(
          at, out, required_part("containerPort", of_question(&HttpProbe::port, port_number)),
          required_part("path", of_question(&HttpProbe::path, http_path)),
          part("headers", of_question(&HttpProbe::headers, named_http_headers)));
    case CoreProbe::kTcp:
      return read_core_probe<TcpProbe>(
          at, out, required_part("containerPort", of_question(&TcpProbe::port, port_number)));
    case CoreProbe::kExecuted:
      return read_core_probe<ExecProbe>(
          at, out, required_part("command", of_question(&ExecProbe::command, words)));
  }
  return false;
}

}  // namespace ocirun::pods
