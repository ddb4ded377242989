#include "linux/base/text.hpp"
#include "pods/documents/model/http_question.hpp"
#include "pods/documents/radius/resource.hpp"

namespace ocirun::pods {
namespace {

enum class CoreProbe : std::uint8_t { kHttp, kTcp, kExecuted };
constexpr linux::Named<CoreProbe> kCoreProbes[] = {
    {"httpGet", CoreProbe::kHttp}, {"tcp", CoreProbe::kTcp}, {"exec", CoreProbe::kExecuted}};

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
  const auto table = exact_fields<Probe>(
      part("kind", any_value), rows...,
      field("initialDelaySeconds", &Probe::initial_delay, seconds_from(0)),
      field("periodSeconds", &Probe::period, seconds_from(1)),
      field("timeoutSeconds", &Probe::timeout, seconds_from(1)),
      field("failureThreshold", &Probe::failure_threshold, whole_number(1, 2'147'483'647)));
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
