#include "pods/run/kept_pod.hpp"

#include <fcntl.h>

#include <cerrno>

#include "bundle/json/fields.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/state/process_json.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

using bundle::field;
using bundle::required;

constexpr const char* kKeptFile = "keeper.json";
constexpr int kKeptFormat = 1;

constexpr auto kPart =
    bundle::exact_fields<SubPath>(required("volume", &SubPath::volume, bundle::text),
                                  required("source", &SubPath::source, bundle::absolute_path),
                                  required("path", &SubPath::path, bundle::text),
                                  required("mayMake", &SubPath::may_make, bundle::flag),
                                  required("recursive", &SubPath::recursive, bundle::flag),
                                  required("shownAt", &SubPath::shown_at, bundle::absolute_path));

bool digest(bundle::Value at, Digest& out) {
  std::string text;
  if (!bundle::text(at, text)) return false;
  auto parsed = Digest::parse(text);
  if (!parsed) {
    at.problem("{}", parsed.error().message());
    return false;
  }
  out = *std::move(parsed);
  return true;
}

constexpr auto kLayer =
    bundle::exact_fields<StoredLayer>(required("chainId", &StoredLayer::chain_id, digest),
                                      required("directory", &StoredLayer::directory, bundle::text));

constexpr auto kKeptContainer = bundle::exact_fields<KeptContainer>(
    required("name", &KeptContainer::name, bundle::nonempty_text),
    required("program", &KeptContainer::program, bundle::text),
    required("stopSignal", &KeptContainer::stop_signal, bundle::range(0, 64)),
    required("hasRoot", &KeptContainer::has_root, bundle::flag),
    required("layers", &KeptContainer::layers, bundle::list_of(kLayer)),
    required("parts", &KeptContainer::parts, bundle::list_of(kPart)));

constexpr auto kKeptPod = bundle::exact_fields<KeptPod>(
    field("format", &KeptPod::format, bundle::RecordFormat{kKeptFormat}),
    required("keeper", &KeptPod::keeper, kProcess),
    required("metadata", &KeptPod::has_metadata, bundle::flag),
    required("locks", &KeptPod::locks, bundle::whole_number),
    required("containers", &KeptPod::containers, bundle::list_of(kKeptContainer)));

void write_kept_container(bundle::JsonWriter& out, const KeptContainer& container) {
  out.begin_object().member("name", container.name).member("program", container.program);
  out.member("stopSignal", container.stop_signal).member("hasRoot", container.has_root);
  out.key("layers").begin_array();
  for (const StoredLayer& layer : container.layers)
    out.begin_object()
        .member("chainId", layer.chain_id.text())
        .member("directory", layer.directory)
        .end_object();
  out.end_array().key("parts").begin_array();
  for (const SubPath& part : container.parts) {
    out.begin_object().member("volume", part.volume).member("source", part.source);
    out.member("path", part.path).member("mayMake", part.may_make);
    out.member("recursive", part.recursive).member("shownAt", part.shown_at).end_object();
  }
  out.end_array().end_object();
}

}  // namespace

Result<void> write_kept_pod(Fd directory, const KeptPod& pod) {
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kIndented);
  out.begin_object().member("format", kKeptFormat);
  write_process(out, "keeper", pod.keeper);
  out.member("metadata", pod.has_metadata).member("locks", pod.locks);
  out.key("containers").begin_array();
  for (const KeptContainer& container : pod.containers) write_kept_container(out, container);
  out.end_array().end_object();
  return linux::replace_file(directory, kKeptFile, std::move(out).take(), 0600);
}

Result<KeptPod> read_kept_pod(Fd directory) {
  OCIRUN_TRY_ASSIGN(const std::string text,
                    linux::read_file(directory, kKeptFile, bundle::Document::kMaxSize, O_NOFOLLOW));
  bundle::Document document;
  bundle::Report report;
  KeptPod pod;
  if (document.parse(text, report)) kKeptPod(bundle::Value(*document.root(), report), pod);
  if (report.ok()) return pod;
  return fail(pod.format > kKeptFormat ? kNewerRecord : EBADMSG, "{}: {}", kKeptFile,
              bundle::first_of(report.problems(), report.problem_count()));
}

KeptContainer kept_container(const ReadyContainer& ready, const StoredImage* image) {
  KeptContainer kept{.name = ready.container->name,
                     .program = ready.launch.args.empty() ? "" : ready.launch.args.front(),
                     .stop_signal = ready.stop_signal,
                     .has_root = ready.root.has_value(),
                     .layers = {},
                     .parts = ready.parts};
  if (image != nullptr) kept.layers = image->layers;
  return kept;
}

Result<ReadyContainer> reopen_container(const KeptContainer& kept, const Container& container,
                                        const Store& store, const std::string& bundle) {
  ReadyContainer ready{.container = &container,
                       .bundle = bundle,
                       .root = {},
                       .parts = kept.parts,
                       .launch = {},
                       .stop_signal = kept.stop_signal,
                       .warnings = {}};
  ready.launch.args = {kept.program};
  if (!kept.has_root) return ready;
  OCIRUN_TRY_ASSIGN(UniqueFd made,
                    linux::sys::open(bundle.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  OCIRUN_TRY_ASSIGN(ready.root, Root::open(store, kept.layers, std::move(made), bundle));
  OCIRUN_TRY(ready.root->find_last_run());
  return ready;
}

}  // namespace ocirun::pods
