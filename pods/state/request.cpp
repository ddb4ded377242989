#include "pods/state/request.hpp"

#include <fcntl.h>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::required;

constexpr const char* kRequestFile = "run.json";
constexpr int kRequestFormat = 1;

constexpr auto kRequest = bundle::exact_fields<RunRequest>(
    field("format", &RunRequest::format, bundle::RecordFormat{kRequestFormat}),
    required("options", &RunRequest::options, bundle::texts),
    required("words", &RunRequest::words, bundle::texts),
    required("directory", &RunRequest::directory, bundle::nonempty_text),
    required("text", &RunRequest::text, bundle::text),
    required("fingerprint", &RunRequest::fingerprint, bundle::text));

}  // namespace

Result<void> write_request(Fd directory, const RunRequest& request) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_object().member("format", kRequestFormat).member("options", request.options);
  out.member("words", request.words).member("directory", request.directory);
  out.member("text", request.text).member("fingerprint", request.fingerprint).end_object();
  return linux::replace_file(directory, kRequestFile, std::move(out).take(), 0600);
}

Result<RunRequest> read_request(Fd directory) {
  OCIRUN_TRY_ASSIGN(
      const std::string text,
      linux::read_file(directory, kRequestFile, bundle::Document::kMaxSize, O_NOFOLLOW));
  bundle::Document document;
  bundle::Report report;
  RunRequest request;
  if (document.parse(text, report)) kRequest(bundle::Value(*document.root(), report), request);
  if (report.ok()) return request;
  return refuse("{}: {}", kRequestFile,
                bundle::first_of(report.problems(), report.problem_count()));
}

}  // namespace ocirun::pods
