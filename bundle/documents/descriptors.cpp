#include "bundle/documents/descriptors.hpp"

#include "bundle/json/document.hpp"
#include "bundle/json/writer.hpp"

namespace ocirun::bundle {

std::string descriptors_text(const StandardStreams& streams) {
  JsonWriter out(JsonWriter::Layout::kOneLine);
  out.begin_array();
  for (const std::string& stream : streams) out.value(std::string_view(stream));
  out.end_array();
  return std::move(out).take();
}

Result<StandardStreams> parse_descriptors(std::string_view text) {
  constexpr const char* kWanted = "descriptors.json: must be a list of three strings";
  Report report;
  Document document;
  if (!document.parse(text, report) || !report.ok() || !document.root()->is_array())
    return refuse("{}", kWanted);
  StandardStreams streams;
  std::size_t count = 0;
  for (const Node* item = document.root()->first; item != nullptr; item = item->next) {
    if (!item->is_string() || count == streams.size()) return refuse("{}", kWanted);
    streams[count++] = item->text;
  }
  if (count != streams.size()) return refuse("{}", kWanted);
  return streams;
}

}  // namespace ocirun::bundle
