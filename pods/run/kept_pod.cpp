#include "pods/run/kept_pod.hpp"

#include <fcntl.h>

#include "bundle/json/record.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/images/fields.hpp"
#include "pods/state/process_json.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

using bundle::required;
using bundle::written;

constexpr const char* kKeptFile = "keeper.json";
constexpr int kKeptFormat = 1;

constexpr auto kPart =
    bundle::exact_fields<SubPath>(required("volume", &SubPath::volume, bundle::text),
                                  required("source", &SubPath::source, bundle::absolute_path),
                                  required("path", &SubPath::path, bundle::text),
                                  required("mayMake", &SubPath::may_make, bundle::flag),
                                  required("recursive", &SubPath::recursive, bundle::flag),
                                  required("shownAt", &SubPath::shown_at, bundle::absolute_path));

constexpr auto kLayer =
    bundle::exact_fields<StoredLayer>(required("chainId", &StoredLayer::chain_id, DigestText()),
                                      required("directory", &StoredLayer::directory, bundle::text));

constexpr auto kKeptContainer = bundle::exact_fields<KeptContainer>(
    required("name", &KeptContainer::name, bundle::nonempty_text),
    required("program", &KeptContainer::program, bundle::text),
    required("stopSignal", &KeptContainer::stop_signal, bundle::range(0, 64)),
    required("hasRoot", &KeptContainer::has_root, bundle::flag),
    required("layers", &KeptContainer::layers, bundle::list_of(kLayer)),
    required("parts", &KeptContainer::parts, bundle::list_of(kPart)));

constexpr auto kKeptPod = bundle::exact_fields<KeptPod>(
    written("format", &KeptPod::format, bundle::RecordFormat{kKeptFormat}),
    required("keeper", &KeptPod::keeper, kProcess),
    required("metadata", &KeptPod::has_metadata, bundle::flag),
    required("locks", &KeptPod::locks, bundle::whole_number),
    required("containers", &KeptPod::containers, bundle::list_of(kKeptContainer)));

}  // namespace

Result<void> write_kept_pod(Fd directory, const KeptPod& pod) {
  return bundle::replace_record(directory, kKeptFile, kKeptPod, pod);
}

Result<KeptPod> read_kept_pod(Fd directory) {
  return bundle::read_record(directory, kKeptFile, bundle::Document::kMaxSize, kKeptPod);
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
