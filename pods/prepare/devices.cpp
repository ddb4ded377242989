#include "pods/prepare/devices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <utility>

#include "linux/base/text.hpp"
#include "linux/namespaces/namespaces.hpp"
#include "pods/documents/model/device_names.hpp"
#include "pods/documents/model/device_requests.hpp"
#include "pods/documents/model/digest.hpp"
#include "pods/prepare/devices/ready.hpp"
#include "pods/prepare/devices/registry.hpp"
#include "pods/prepare/volumes.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kGpuClass = "gpu";
constexpr std::string_view kAllDevices =
    "all";  // the name that vendors give to all devices together

/// The devices of a kind that containers can get by count, not by name.
class Pool {
 public:
  /// Leaves out the names that another name of the same device precedes.
  static Result<Pool> open(const DeviceRegistry& registry, const std::string& kind,
                           const std::string& locks) {
    OCIRUN_TRY_ASSIGN(const std::vector<std::string> names, registry.names(kind));
    Pool pool(kind, locks);
    std::set<std::string> seen;
    for (const std::string& name : names) {
      if (name == kAllDevices) continue;
      const auto device = registry.find(kind, name);
      const auto identity = device ? identity_of(*device) : std::unexpected(device.error());
      if (!identity)
        pool.faults_.push_back(identity.error().message());
      else if (seen.insert(*identity).second)
        pool.free_.push_back({.device = *device, .identity = *identity});
    }
    pool.size_ = pool.free_.size();
    return pool;
  }

  /// Removes the device that --device names.
  void leave_out(const std::string& identity) {
    if (std::erase_if(free_, [&](const Entry& entry) { return entry.identity == identity; }) != 0)
      ++named_;
  }

  /// The `count` devices behind the first `from`, which other containers have. Taken devices stay
  /// in the pool, because each init container counts from 0.
  Result<std::vector<FoundDevice>> take(std::size_t from, std::size_t count) {
    while (taken_.size() < from + count && !free_.empty()) OCIRUN_TRY(take_next());
    if (taken_.size() < from + count) return refuse("{}", shortage(from, count));
    return std::vector<FoundDevice>(taken_.begin() + static_cast<long>(from),
                                    taken_.begin() + static_cast<long>(from + count));
  }

  std::vector<UniqueFd> take_locks() { return std::move(held_); }

 private:
  struct Entry {
    FoundDevice device;
    std::string identity;
  };

  Pool(std::string kind, std::string locks) : kind_(std::move(kind)), locks_(std::move(locks)) {}

  /// Moves the next device to the taken ones, unless another pod has it.
  Result<void> take_next() {
    const Entry entry = std::move(free_.front());
    free_.erase(free_.begin());
    if (!locks_.empty()) {
      auto held = lock_name(locks_, "device-" + digest_of(entry.identity).hex(), Use::kAlone);
      if (!held && held.error().number() == EAGAIN) {
        ++busy_;
        return {};
      }
      if (!held) return std::unexpected(held.error());
      held_.push_back(*std::move(held));
    }
    taken_.push_back(entry.device);
    return {};
  }

  std::string shortage(std::size_t from, std::size_t count) const {
    std::string sentence =
        fmt::format("{} of the devices {} {} needed, and the host has {}", from + count, kind_,
                    from + count == 1 ? "is" : "are", size_);
    if (busy_ != 0)
      sentence +=
          fmt::format(", of which other pods have {} (`ocirun pod status` lists pods)", busy_);
    if (named_ != 0) sentence += fmt::format(", of which --device names {}", named_);
    for (const std::string& fault : faults_) sentence += fmt::format("; {}", fault);
    return sentence;
  }

  std::string kind_, locks_;
  std::vector<Entry> free_;
  std::vector<FoundDevice> taken_;
  std::vector<UniqueFd> held_;
  std::vector<std::string> faults_;  // of devices that cannot be given
  std::size_t size_ = 0, busy_ = 0, named_ = 0;
};

/// Some devices of a kind that a container asks for.
struct Request {
  std::string kind;
  std::size_t count = 0;
  Place place = nullptr;
};

bool is_for(const NamedDevice& named, const Container& container) {
  return named.container.empty() || named.container == container.name;
}

class Choice {
 public:
  Choice(const Workload& workload, const Given& given, const DeviceRegistry& registry,
         const std::string& locks)
      : workload_(workload), given_(given), registry_(registry), locks_(locks) {}

  Result<PodDevices> choose() {
    for (const Container* container : all_containers(workload_.pod))
      OCIRUN_TRY(find_named(*container));
    for (const Container& init : workload_.pod.init_containers) {
      std::map<std::string, std::size_t> begin;  // each init container has the pools for itself
      OCIRUN_TRY(add_counted(init, begin));
    }
    std::map<std::string, std::size_t> used;
    for (const Container& container : workload_.pod.containers)
      OCIRUN_TRY(add_counted(container, used));
    return finish();
  }

 private:
  /// The devices of --device.
  Result<void> find_named(const Container& container) {
    for (const NamedDevice& named : given_.devices) {
      if (!is_for(named, container)) continue;
      OCIRUN_TRY_ASSIGN(const FoundDevice device,
                        within(registry_.find(named.kind, named.name), "--device"));
      OCIRUN_TRY_ASSIGN(const std::string identity, within(identity_of(device), "--device"));
      identities_.insert(identity);
      const bool is_new = named_[&container].emplace(named.kind, identity).second;
      if (is_new) devices_[&container].push_back(device);
    }
    return {};
  }

  /// Gives a container the devices that its document asks for by count. `used`: how many devices of
  /// the pool of each kind are those of other containers.
  Result<void> add_counted(const Container& container, std::map<std::string, std::size_t>& used) {
    OCIRUN_TRY_ASSIGN(const std::vector<Request> requests, requests_of(container));
    for (const Request& request : requests) {
      const auto& named = named_[&container];
      const auto have = static_cast<std::size_t>(std::ranges::count_if(
          named, [&](const auto& device) { return device.first == request.kind; }));
      if (have >= request.count) continue;
      const std::size_t count = request.count - have;
      OCIRUN_TRY(within(add(container, request.kind, used[request.kind], count),
                        workload_.at(request.place)));
      used[request.kind] += count;
    }
    return {};
  }

  Result<void> add(const Container& container, const std::string& kind, std::size_t from,
                   std::size_t count) {
    auto pool = pools_.find(kind);
    if (pool == pools_.end()) {
      OCIRUN_TRY_ASSIGN(Pool opened, Pool::open(registry_, kind, locks_));
      for (const std::string& identity : identities_) opened.leave_out(identity);
      pool = pools_.emplace(kind, std::move(opened)).first;
    }
    OCIRUN_TRY_ASSIGN(const std::vector<FoundDevice> taken, pool->second.take(from, count));
    std::vector<FoundDevice>& devices = devices_[&container];
    devices.insert(devices.end(), taken.begin(), taken.end());
    return {};
  }

  Result<std::vector<Request>> requests_of(const Container& container) const {
    const Resources& resources = container.resources;
    std::vector<Request> requests;
    for (const DeviceRequest& request : resources.devices)
      requests.push_back({.kind = request.kind, .count = request.count, .place = request.place});
    for (const ExtendedResource& resource : resources.extended)
      if (!given_.extended.contains(resource.name) && may_be_devices(resource))
        requests.push_back({.kind = resource.name,
                            .count = *linux::number<std::uint32_t>(resource.required),
                            .place = resource.place});
    if (resources.gpus > 0) {
      OCIRUN_TRY_ASSIGN(const std::string kind,
                        within(kind_of_gpus(container), workload_.at(resources.place)));
      requests.push_back({.kind = kind,
                          .count = static_cast<std::size_t>(resources.gpus),
                          .place = resources.place});
    }
    return requests;
  }

  /// The kind of --device, else the only kind of the class gpu.
  Result<std::string> kind_of_gpus(const Container& container) const {
    for (const NamedDevice& named : given_.devices)
      if (is_for(named, container) && class_of_kind(named.kind) == kGpuClass) return named.kind;
    std::vector<std::string> kinds = registry_.kinds_of_class(kGpuClass);
    if (kinds.size() == 1) return std::move(kinds.front());
    if (!kinds.empty())
      return refuse(
          "GPUs are required, and the host has several kinds ({}): --device VENDOR/gpu=NAME "
          "chooses one",
          fmt::join(kinds, ", "));
    return refuse("GPUs are required, and no CDI specification in {} has devices of the class gpu",
                  fmt::join(given_.cdi.paths, ", "));
  }

  Result<PodDevices> finish() {
    PodDevices out;
    const NodeOrigin origin =
        linux::is_in_initial_user_namespace() ? NodeOrigin::kMade : NodeOrigin::kBound;
    for (const auto& [container, devices] : devices_) {
      ContainerDevices& own = out.of[container];
      for (const FoundDevice& device : devices) {
        own.names.push_back(device.full_name());
        out.files.emplace(device.spec->file, device.spec->text);
      }
      OCIRUN_TRY_ASSIGN(own.edits,
                        within(ready_edits(devices, origin, out.warnings), "{}: container \"{}\"",
                               workload_.at(container->place), container->name));
    }
    for (auto& [kind, pool] : pools_)
      for (UniqueFd& lock : pool.take_locks()) out.locks.push_back(std::move(lock));
    for (const BrokenSpec& broken : registry_.broken())
      out.warnings.push_back(
          fmt::format("a CDI specification that this pod does not need is left out: {}",
                      fmt::join(broken.problems, "; ")));
    return out;
  }

  const Workload& workload_;
  const Given& given_;
  const DeviceRegistry& registry_;
  const std::string& locks_;
  std::map<std::string, Pool> pools_;  // by kind
  std::set<std::string> identities_;   // identity_of() each device of --device
  std::map<const Container*, std::set<std::pair<std::string, std::string>>>
      named_;  // kinds and identities
  std::map<const Container*, std::vector<FoundDevice>> devices_;
};

bool wants_devices(const Container& container, const Given& given) {
  const Resources& resources = container.resources;
  return resources.gpus > 0 || !resources.devices.empty() ||
         std::ranges::any_of(resources.extended, [&](const ExtendedResource& resource) {
           return !given.extended.contains(resource.name) && may_be_devices(resource);
         });
}

}  // namespace

Result<PodDevices> prepare_devices(const Workload& workload, const Given& given,
                                   const std::string& locks) {
  const bool is_needed =
      !given.devices.empty() ||
      std::ranges::any_of(all_containers(workload.pod), [&](const Container* container) {
        return wants_devices(*container, given);
      });
  if (!is_needed) return PodDevices{};
  OCIRUN_TRY_ASSIGN(const DeviceRegistry registry, DeviceRegistry::read(given.cdi));
  return Choice(workload, given, registry, locks).choose();
}

}  // namespace ocirun::pods
