#include "pods/documents/needs.hpp"

#include <fmt/core.h>

#include <cmath>
#include <set>
#include <string_view>

#include "pods/documents/appc/types.hpp"
#include "pods/documents/key_documents.hpp"
#include "pods/documents/model/device_requests.hpp"
#include "pods/documents/model/pod_fields.hpp"

namespace ocirun::pods {
namespace {

constexpr int kMostGpus = 4096;

class Needs {
 public:
  void add(Gift gift, std::vector<std::string> names, Place place, std::string sentence,
           bool is_fault = false) {
    if (told_.insert(sentence).second)
      needs_.push_back({.sentence = std::move(sentence),
                        .place = place,
                        .gift = gift,
                        .names = std::move(names),
                        .is_fault = is_fault});
  }

  /// `key.key`: the key that is used; "": the secret as a whole.
  void add_secret(const Pod& pod, Place place, const SecretKey& key) {
    const std::string& secret = key.secret;
    const auto document = pod.key_documents.find(secret);
    const bool is_config_map = secret.starts_with(kConfigMapPrefix);
    if (document != pod.key_documents.end()) {
      if (key.key.empty() || key.is_optional || document->second.keys.contains(key.key)) return;
      return add(
          Gift::kSecret, {secret}, place,
          fmt::format("{} in this file has no key \"{}\": write it there, or --secret {}=DIR",
                      shown_secret(secret), key.key, secret),
          true);
    }
    const std::size_t before = needs_.size();
    add(Gift::kSecret, {secret}, place,
        fmt::format("{}{}: a document of the kind {} in the file, or --secret {}=DIR, a file for "
                    "each key",
                    shown_secret(secret), key.is_optional ? ", which may be absent" : "",
                    is_config_map ? "ConfigMap" : "Secret", secret));
    if (needs_.size() != before) needs_.back().is_optional = key.is_optional;
  }

  /// AC-5. An id that rkt has written is complete, but no OCI image has such a hash.
  void add_image(const Container& container) {
    if (is_image_id(container.image)) return;
    const bool is_rkt_s = is_rkt_image_id(container.image);
    add(Gift::kImage, {container.image, container.image_name, container.name},
        container.image_place,
        fmt::format(
            "{0}: --image {1}=SOURCE names the image of the app \"{1}\"",
            is_rkt_s ? "the image, which only rkt finds by this id"
                     : fmt::format("not reified: \"{}\" is no hash of an image", container.image),
            container.name),
        !is_rkt_s);
  }

  void add_pull_secret(const PullSecret& secret) {
    const std::size_t before = needs_.size();
    add(Gift::kPullSecret, {secret.name}, secret.place,
        fmt::format("the credentials \"{0}\" for a registry: --pull-secret {0}=AUTHFILE, else your "
                    "own are used",
                    secret.name));
    if (needs_.size() != before) needs_.back().is_optional = true;
  }

  /// OAM-32, OAM-37
  void add_devices(const Resources& resources) {
    if (resources.gpus != std::floor(resources.gpus) || resources.gpus > kMostGpus)
      add(Gift::kNone, {}, resources.place,
          fmt::format("{:g} GPUs cannot be had: a container gets whole GPUs, at most {}",
                      resources.gpus, kMostGpus),
          true);
    else if (resources.gpus > 0)
      add(Gift::kDevices, {}, resources.place,
          fmt::format("GPUs, {:g}: a CDI specification of the host with devices of the class gpu",
                      resources.gpus));
    for (const DeviceRequest& request : resources.devices)
      add(Gift::kDevices, {request.kind}, request.place,
          fmt::format("devices of the kind {}, {}: a CDI specification of the host", request.kind,
                      request.count));
    for (const ExtendedResource& resource : resources.extended) {
      const bool is_kind = may_be_devices(resource);
      const std::size_t before = needs_.size();
      add(Gift::kExtended, {resource.name}, resource.place,
          fmt::format(
              "the extended resource {0}: --extended {0}={1}{2}", resource.name, resource.required,
              is_kind ? ", or a CDI specification of the host with devices of this kind" : ""));
      if (needs_.size() != before) needs_.back().may_be_devices = is_kind;
    }
  }

  void add_container(const Pod& pod, const Container& container) {
    if (const PullSecret* secret = pull_secret_of(pod, container)) add_pull_secret(*secret);
    if (pod.kind == Kind::kAppc) add_image(container);
    for (const EnvSource& source : container.env_sources)
      add_secret(pod, source.place,
                 {.secret = source.secret, .key = "", .is_optional = source.is_optional});
    for (const EnvVariable& variable : container.env)
      if (const auto* key = std::get_if<SecretKey>(&variable.value))
        add_secret(pod, variable.place, *key);
    for (const ConfigFile& file : container.config_files)
      if (file.parameter)
        add(Gift::kParameter, {*file.parameter}, file.place,
            fmt::format("the parameter \"{0}\": --param {0}=VALUE", *file.parameter));
    add_devices(container.resources);
    std::set<std::string_view> mounted;
    for (const Mount& mount : container.mounts) mounted.insert(mount.path);
    for (const MountPoint& point : container.mount_points)
      if (!mounted.contains(point.path))
        add(Gift::kVolume, {point.name}, point.place,
            fmt::format(
                "not reified: no mount satisfies the mount point \"{0}\": --volume {0}=HOSTPATH",
                point.name),
            true);
  }

  void add_volume(const Pod& pod, const Volume& volume) {
    if (volume.kind == Volume::Source::kOperator && !volume.is_claimed) {
      // The option ends its NAME at the first "=". The volume has a second name.
      const std::string& name = volume.source.contains('=') ? volume.name : volume.source;
      std::string sentence = fmt::format("a directory for the volume \"{}\": --volume {}=HOSTPATH",
                                         volume.source, name);
      if (is_pod_name(name))  // as those of volumes that ocirun keeps
        sentence += fmt::format(", or --volume {} for a directory that ocirun keeps", name);
      add(Gift::kVolume, {volume.source, volume.name}, volume.place, std::move(sentence));
    }
    if (volume.kind != Volume::Source::kSecret) return;
    SecretKey key{.secret = volume.source, .key = "", .is_optional = volume.is_optional};
    add_secret(pod, volume.place, key);
    if (!volume.items || !pod.key_documents.contains(volume.source)) return;
    for (const KeyFile& file : *volume.items) {
      key.key = file.key;
      add_secret(pod, file.place, key);
    }
  }

  std::vector<Need> take() { return std::move(needs_); }

 private:
  std::vector<Need> needs_;
  std::set<std::string> told_;
};

}  // namespace

std::vector<Need> needs_of(const Pod& pod) {
  Needs needs;
  for (const Container* container : all_containers(pod)) needs.add_container(pod, *container);
  for (const Volume& volume : pod.volumes) needs.add_volume(pod, volume);
  for (const Connection& connection : pod.connections) {
    if (!connection.sets_variables || connection.of_url.contains("port")) continue;
    const std::string& name = connection.name;
    needs.add(Gift::kConnection, {name}, connection.place,
              connection.of_url.empty()
                  ? fmt::format("the properties of the connection \"{0}\" ({1}) as variables: "
                                "--param {0}.PROPERTY=VALUE for each",
                                name, connection.source)
                  : fmt::format("the port of the connection \"{0}\", which the URL {1} lacks: "
                                "--param {0}.port=PORT",
                                name, connection.source));
  }
  return needs.take();
}

}  // namespace ocirun::pods
