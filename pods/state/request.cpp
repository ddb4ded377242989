#include "pods/state/request.hpp"

#include "bundle/json/record.hpp"

namespace ocirun::pods {
namespace {

using bundle::required;
using bundle::written;

constexpr const char* kRequestFile = "run.json";
constexpr int kRequestFormat = 1;

constexpr auto kRequest = bundle::exact_fields<RunRequest>(
    written("format", &RunRequest::format, bundle::RecordFormat{kRequestFormat}),
    required("options", &RunRequest::options, bundle::texts),
    required("words", &RunRequest::words, bundle::texts),
    required("directory", &RunRequest::directory, bundle::nonempty_text),
    required("text", &RunRequest::text, bundle::text),
    required("fingerprint", &RunRequest::fingerprint, bundle::text));

}  // namespace

Result<void> write_request(Fd directory, const RunRequest& request) {
  return bundle::replace_record(directory, kRequestFile, kRequest, request);
}

Result<RunRequest> read_request(Fd directory) {
  return bundle::read_record(directory, kRequestFile, bundle::Document::kMaxSize, kRequest);
}

}  // namespace ocirun::pods
