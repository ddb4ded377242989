#include "pods/prepare/plan/devices.hpp"

#include <algorithm>
#include <string_view>

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

using bundle::JsonWriter;

std::string_view name_of_variable(std::string_view entry) { return linux::cut(entry, '='); }

/// A fifo is made by every user.
bool is_made(const BundlePlan& plan, const ReadyNode& node) {
  return plan.powers.device_nodes || node.type == 'p';
}

void write_node(JsonWriter& out, const ReadyNode& node, const Account& account) {
  out.begin_object().member("path", node.path).member("type", std::string_view(&node.type, 1));
  if (node.type != 'p') out.member("major", node.major).member("minor", node.minor);
  if (node.mode) out.member("fileMode", *node.mode);
  // Without an owner in the CDI document, the program's user owns the node: mode 0600 lets it in.
  out.member("uid", node.uid.value_or(account.uid).value());
  out.member("gid", node.gid.value_or(account.gid).value());
  out.end_object();
}

void write_rdt(JsonWriter& out, const DeviceRdt& rdt) {
  out.key("intelRdt").begin_object();
  if (!rdt.clos_id.empty()) out.member("closID", rdt.clos_id);
  if (!rdt.l3_cache_schema.empty()) out.member("l3CacheSchema", rdt.l3_cache_schema);
  if (!rdt.mem_bw_schema.empty()) out.member("memBwSchema", rdt.mem_bw_schema);
  if (!rdt.schemata.empty()) out.member("schemata", rdt.schemata);
  if (rdt.enable_monitoring) out.member("enableMonitoring", true);
  out.end_object();
}

void write_hook(JsonWriter& out, const DeviceHook& hook) {
  out.begin_object().member("path", hook.path);
  if (!hook.args.empty()) out.member("args", hook.args);
  if (!hook.env.empty()) out.member("env", hook.env);
  if (hook.timeout) out.member("timeout", *hook.timeout);
  out.end_object();
}

}  // namespace

std::vector<std::string> env_with_devices(const BundlePlan& plan) {
  std::vector<std::string> env = plan.launch.env;
  for (const std::string& entry : plan.devices.env) {
    const auto same = std::ranges::find(env, name_of_variable(entry), name_of_variable);
    if (same == env.end())
      env.push_back(entry);
    else
      *same = entry;
  }
  return env;
}

std::vector<Gid> groups_with_devices(const BundlePlan& plan) {
  Account account = plan.launch.account;
  account.additional_gids.insert(account.additional_gids.end(), plan.devices.gids.begin(),
                                 plan.devices.gids.end());
  return supplementary_groups(account, plan.powers.set_groups);
}

std::vector<DeviceMount> mounts_of_devices(const BundlePlan& plan) {
  std::vector<DeviceMount> mounts = plan.devices.mounts;
  for (const ReadyNode& node : plan.devices.nodes)
    if (!is_made(plan, node))
      mounts.push_back({.source = node.host_path,
                        .destination = node.path,
                        .type = "bind",
                        .options = {"bind", "rprivate", "nosuid", "noexec"}});
  return mounts;
}

void write_devices(JsonWriter& out, const BundlePlan& plan) {
  const auto made = [&](const ReadyNode& node) { return is_made(plan, node); };
  if (std::ranges::any_of(plan.devices.nodes, made)) {
    out.key("devices").begin_array();
    for (const ReadyNode& node : plan.devices.nodes)
      if (made(node)) write_node(out, node, plan.launch.account);
    out.end_array();
  }
  if (plan.devices.rdt) write_rdt(out, *plan.devices.rdt);
}

void write_device_rules(JsonWriter& out, const BundlePlan& plan) {
  const auto write = [&](const auto& device) {
    out.begin_object().member("allow", true).member("type", std::string_view(&device.type, 1));
    out.member("major", device.major).member("minor", device.minor);
    out.member("access", device.access).end_object();
  };
  for (const ReadyNode& node : plan.devices.nodes)
    if (node.type != 'p' && !node.access.empty()) write(node);
  for (const AllowedDevice& device : plan.bound_devices) write(device);
}

void write_hooks(JsonWriter& out, const BundlePlan& plan) {
  const std::vector<DeviceHook>& hooks = plan.devices.hooks;
  if (hooks.empty()) return;
  out.key("hooks").begin_object();
  for (const std::string_view name : {"prestart", "createRuntime", "createContainer",
                                      "startContainer", "poststart", "poststop"}) {
    if (std::ranges::find(hooks, name, &DeviceHook::name) == hooks.end()) continue;
    out.key(name).begin_array();
    for (const DeviceHook& hook : hooks)
      if (hook.name == name) write_hook(out, hook);
    out.end_array();
  }
  out.end_object();
}

}  // namespace ocirun::pods
