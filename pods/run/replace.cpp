#include "pods/run/replace.hpp"

#include <fcntl.h>

#include <cerrno>

#include "linux/base/file_io.hpp"
#include "pods/images/digest.hpp"
#include "pods/plan/bindings.hpp"
#include "pods/run/manage.hpp"
#include "pods/state/record.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kFile = "parts";
constexpr std::size_t kLongestDigest = 256;

/// Adds texts to a digest so that no two lists of texts give the same bytes.
class Parts {
 public:
  void add(std::string_view text) {
    const std::string size = fmt::format("{}:", text.size());
    hasher_.update(size.data(), size.size());
    hasher_.update(text.data(), text.size());
  }
  std::string digest() { return hasher_.finish().text(); }

 private:
  Hasher hasher_{Digest::Algorithm::kSha256};
};

Result<void> add_secrets(Parts& parts, const Workload& workload, const Given& given) {
  const Secrets secrets{.bindings = given.bindings, .pod = workload.pod};
  for (const auto& [id, directory] : given.bindings.secrets) {
    parts.add(id);
    TRY_ASSIGN(const auto files, secrets.files(id));
    for (const auto& [key, bytes] : files) {
      parts.add(key);
      parts.add(bytes);
    }
  }
  return {};
}

bool is_of_earlier_boot(const PodRecord& record) {
  const auto boot = linux::read_boot_id();
  return boot && !record.boot_id.empty() && *boot != record.boot_id;
}

/// A supervisor that runs in the foreground removes its pod itself.
Result<void> unless_gone(Result<void> outcome) {
  if (!outcome && outcome.error().number() == ENOENT) return {};
  return outcome;
}

Result<void> stop_and_delete(const PodsDirectory& pods, const std::string& name) {
  TRY_ASSIGN(const auto stopping, begin_stop(pods, name, std::nullopt));
  if (stopping) TRY(await_stop(*stopping));
  return unless_gone(delete_pod(pods, name, Force::kNo));
}

}  // namespace

Result<std::string> digest_of_parts(const Workload& workload, const Settings& settings,
                                    const Images& images) {
  Parts parts;
  parts.add(workload.text);
  for (const std::string& word : settings.shape) parts.add(word);
  for (const std::string& word : settings.runtime) parts.add(word);
  parts.add(settings.log_directory);
  parts.add(settings.given.seccomp.profile);
  for (const auto& [name, binding] : settings.given.volumes) {
    TRY_ASSIGN(const HostPath path, linux::absolute_path(binding.directory.string()));
    parts.add(name);
    parts.add(path.string());
    parts.add(binding.read_only ? "ro" : "rw");
  }
  for (const auto& [name, value] : settings.given.variables) {
    parts.add(name);
    parts.add(value);
  }
  TRY(add_secrets(parts, workload, settings.given));
  for (const Container* container : all_containers(workload.pod)) {
    const auto image = images.of.find(container);
    parts.add(image == images.of.end() ? "" : image->second.digest.text());
    parts.add(container->bundle ? container->bundle->directory : "");
  }
  return parts.digest();
}

Result<void> keep_digest_of_parts(const PodDirectory& directory, const std::string& digest) {
  return linux::replace_file(directory.fd(), kFile, digest, 0600);
}

Result<Room> make_room(const PodsDirectory& pods, const Settings& settings,
                       const std::string& parts, const std::function<Result<void>()>& try_new) {
  const auto old = view_pod(pods, settings.name);
  if (!old && old.error().number() == ENOENT) return Room::kFree;
  if (old && is_of_earlier_boot(old->record)) {
    TRY(unless_gone(delete_pod(pods, settings.name, Force::kNo)));
    return Room::kFree;
  }
  if (!settings.replaces) return Room::kFree;
  TRY(old);
  TRY_ASSIGN(const PodDirectory directory, pods.open_pod(settings.name));
  const auto kept = linux::read_file(directory.fd(), kFile, kLongestDigest, O_NOFOLLOW);
  if (old->is_supervised && kept && *kept == parts) return Room::kUnchanged;
  TRY(within(try_new(), "the pod \"{}\" stays as it is", settings.name));
  TRY(within(stop_and_delete(pods, settings.name), "replace the pod \"{}\"", settings.name));
  return Room::kFree;
}

}  // namespace ocirun::pods
