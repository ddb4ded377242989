#include "runtime/inspect/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

std::string_view mark_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAsAsked:
      return "=";
    case Verdict::kDrift:
      return "≠ drift";
    case Verdict::kUnasked:
      return "unasked";
    case Verdict::kUnknown:
      return "?";
    case Verdict::kFact:
      return "";
  }
  return "";
}

/// "asked 64, found 128"; where both are the same, the text alone.
std::string told(const Row& row) {
  if (row.asked.empty() || row.asked == row.found || row.verdict == Verdict::kFact)
    return row.found;
  if (row.verdict == Verdict::kUnknown) return fmt::format("asked {}; {}", row.asked, row.found);
  return fmt::format("asked {}, found {}", row.asked, row.found);
}

void append(std::string& text, const Section& section) {
  text += fmt::format("{}\n", section.name);
  std::size_t width = 0;
  constexpr std::size_t kWidest = 40;
  for (const Row& row : section.rows)
    width = std::max(width, std::min(linux::in_one_line(row.what).size(), kWidest));
  for (const Row& row : section.rows)
    text += fmt::format("  {:<9}{:<{}}  {}\n", mark_of(row.verdict), linux::in_one_line(row.what),
                        width, linux::in_one_line(told(row)));
}

}  // namespace

Row compared(std::string what, std::string asked, std::string found) {
  const Verdict verdict = asked == found ? Verdict::kAsAsked : Verdict::kDrift;
  return {std::move(what), std::move(asked), std::move(found), verdict};
}

std::size_t Inspection::count(Verdict verdict) const {
  std::size_t number = 0;
  for (const Section& section : sections)
    number += static_cast<std::size_t>(std::ranges::count(section.rows, verdict, &Row::verdict));
  return number;
}

Inspection drift_of(Inspection inspection) {
  for (Section& section : inspection.sections)
    std::erase_if(section.rows, [](const Row& row) {
      return row.verdict != Verdict::kDrift && row.verdict != Verdict::kUnknown;
    });
  std::erase_if(inspection.sections, [](const Section& section) { return section.rows.empty(); });
  return inspection;
}

std::string inspection_text(const Inspection& inspection) {
  const bundle::StateDocument& state = inspection.state;
  std::string text = fmt::format("{}: {}", state.id, bundle::status_name(state.status));
  if (state.pid != 0) text += fmt::format(", pid {}", state.pid);
  if (!inspection.is_alive) {
    text += ": nothing to compare\n";
  } else {
    const std::size_t drifts = inspection.drifts();
    text += drifts == 0 ? ", no drift" : fmt::format(", drift: {}", drifts);
    if (const std::size_t unknown = inspection.count(Verdict::kUnknown); unknown != 0)
      text += fmt::format(", not known: {}", unknown);
    text += "\n";
  }
  for (const Section& section : inspection.sections) append(text, section);
  return text;
}

std::string inspection_json(const Inspection& inspection) {
  bundle::JsonWriter json(bundle::JsonWriter::Layout::kIndented);
  json.begin_object()
      .member("id", inspection.state.id)
      .member("status", bundle::status_name(inspection.state.status))
      .member("pid", inspection.state.pid)
      .member("drift", inspection.drifts())
      .member("unknown", inspection.count(Verdict::kUnknown))
      .key("sections")
      .begin_object();
  for (const Section& section : inspection.sections) {
    json.key(section.name).begin_array();
    for (const Row& row : section.rows) {
      json.begin_object().member("what", row.what);
      if (!row.asked.empty()) json.member("asked", row.asked);
      json.member("found", row.found)
          .member("verdict", linux::name_of(kVerdictNames, row.verdict))
          .end_object();
    }
    json.end_array();
  }
  json.end_object().end_object();
  return std::move(json).take() + "\n";
}

}  // namespace ocirun::runtime
