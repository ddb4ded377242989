#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/documents/state.hpp"
#include "linux/base/name_table.hpp"

namespace ocirun::runtime {

/// How a fact about a living container compares with its document. kDrift: the container is not as
/// the document has it. kUnasked: the document does not say, or a program may change the fact about
/// itself and thereby gains nothing. kUnknown: the fact could not be read. kFact: a number that
/// nobody asks for, such as the use of memory.
enum class Verdict : std::uint8_t { kAsAsked, kDrift, kUnasked, kUnknown, kFact };

inline constexpr linux::Named<Verdict> kVerdictNames[] = {
    {"as asked", Verdict::kAsAsked}, {"drift", Verdict::kDrift}, {"unasked", Verdict::kUnasked},
    {"unknown", Verdict::kUnknown},  {"fact", Verdict::kFact},
};

/// One fact. The texts may hold what a container has written.
struct Row {
  std::string what;   // "network", "/mounts/3 /data"
  std::string asked;  // by the document; "" for nothing
  std::string found;  // in the container; for kUnknown the reason
  Verdict verdict = Verdict::kFact;
};

using Rows = std::vector<Row>;

/// A row of which `asked` and `found` are compared as texts.
Row compared(std::string what, std::string asked, std::string found);

struct Section {
  std::string_view name;  // "namespaces"
  Rows rows;
};

/// What `ocirun inspect` prints.
struct Inspection {
  bundle::StateDocument state;
  bool is_alive = true;  // false: there is no process to compare with the document
  std::vector<Section> sections;

  std::size_t drifts() const { return count(Verdict::kDrift); }
  std::size_t count(Verdict verdict) const;
};

/// Leaves out all rows but those of kDrift and kUnknown, which may hide drift, and sections without
/// rows.
Inspection drift_of(Inspection inspection);

/// A line for each row, below a line for each section.
std::string inspection_text(const Inspection& inspection);
/// A JSON object: id, status, pid, drift (a number), sections.
std::string inspection_json(const Inspection& inspection);

}  // namespace ocirun::runtime
