#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pods/export/export.hpp"
#include "pods/export/yaml.hpp"

namespace ocirun::pods {

/// A workload on its way to another engine: what is asked for, and what is found on the way.
class Translation {
 public:
  explicit Translation(const ExportRequest& request)
      : request_(&request),
        left_out_(request.workload.left_out.begin(), request.workload.left_out.end()) {}

  const ExportRequest& request() const { return *request_; }
  const Pod& pod() const { return request_->workload.pod; }
  YamlPart new_object() { return YamlPart::object(document_); }

  /// Notes something that the target cannot say: the member `member` of the value at `place`, such
  /// as "app/user", or the value itself for "". `place`: nullptr for something without a place in
  /// the document.
  template <typename... Args>
  void lose(Place place, std::string_view member, fmt::format_string<Args...> format,
            Args&&... args) {
    add_loss(place, member, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  /// The same for a label or an annotation, which is a member `name` of some object of the
  /// document, or an item of a list that has the name.
  template <typename... Args>
  void lose_named(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
    add_named_loss(name, fmt::vformat(format, fmt::make_format_args(args...)));
  }
  /// Puts a sentence in front of all others in the output.
  void introduce(std::string sentence) { introduction_ = std::move(sentence); }
  /// Notes what the target must have already, such as a secret. Each sentence is told once.
  void expect(std::string sentence);
  /// Adds a sentence for the person at the terminal.
  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  /// Adds a document to the output.
  void add_document(const YamlPart& document) { documents_.push_back(document.node()); }

  /// A copy of a value of the document, without the parts that --ignore leaves out. The words y, n,
  /// yes, no, on and off without quotes are booleans where Kubernetes wants one.
  YamlPart copy_of(const bundle::Node& node);

  /// The output. Errors: something was lost, and the request is not lossy.
  Result<Exported> finish();

 private:
  void add_loss(Place place, std::string_view member, std::string sentence);
  void add_named_loss(std::string_view name, std::string sentence);
  bundle::Node* copy(const bundle::Node& node);

  const ExportRequest* request_;
  std::set<Place> left_out_;  // by --ignore
  bundle::Document document_;
  std::vector<const bundle::Node*> documents_;
  std::string introduction_;
  std::vector<std::string> losses_, expected_, notes_;
};

/// The reference of a container's image in a registry; "" after a loss.
std::string exported_image(Translation& translation, const Container& container);
/// imagePullPolicy for --pull; "" without this option.
std::string exported_pull_policy(const ExportRequest& request);

/// The variables that the document sets in a container, in the order in which they are set, and the
/// platform's own. A later one takes the place of an earlier one of the same name.
std::vector<EnvVariable> exported_variables(const Translation& translation,
                                            const Container& container);

/// The content of a config file.
std::string exported_content(const Translation& translation, const ConfigFile& file);

/// What all containers have alike: their annotations. A loss for each annotation that only some of
/// several containers have.
std::map<std::string, std::string> exported_annotations(Translation& translation);

/// What a container requests and may have: with --enforce-required, and with the limits of the
/// whole pod if it is the only container.
struct ExportedAmounts {
  Amounts requests, limits;
};
ExportedAmounts exported_amounts(const Translation& translation, const Container& container);

/// The volumes of the document, and those that mount points ask for.
std::vector<Volume> exported_volumes(const Pod& pod);

/// Whether the port of the host leads to this port of a container.
bool leads_to(const HostPort& host, const Port& port);
/// The ports of the host that lead to a port which no app lists. Losses: it is not known which.
std::vector<const HostPort*> unlisted_host_ports(Translation& translation);

/// CPUs in thousandths, rounded up, at least one.
std::uint64_t in_thousandths(double cpus);
/// Bytes with the largest unit that leaves them whole. Each unit is 1024 times the unit before.
std::string in_largest_unit(std::uint64_t bytes, std::span<const std::string_view> units);

/// The mode and the owner that the document gives an empty volume, which has the mode `mode` in the
/// engine, and root for its owner.
void lose_owner(Translation& translation, const Volume& volume, mode_t mode);
/// Limits of the whole pod, if it has several containers.
void lose_pod_limits(Translation& translation);
/// A second number of replicas.
void lose_other_replicas(Translation& translation);

/// Whether the container mounts the volume, or has a mount point for it.
bool uses_volume(const Container& container, const std::string& volume);

/// A name that `used` does not have, which it has from then on.
std::string unique_name(const std::string& name, std::set<std::string>& used);

/// Whether a mount of the container has the path of the mount point.
bool is_mounted(const Container& container, const MountPoint& point);

/// Whether the container mounts the volume read-only: the mount or a mount point says so.
bool is_read_only(const Container& container, const Mount& mount);

/// The lower-case form of `name` as a DNS label, in which "-" replaces each character that no label
/// may have; "" if nothing is left.
std::string as_dns_label(std::string_view name);

}  // namespace ocirun::pods
