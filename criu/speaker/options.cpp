#include "criu/speaker/options.hpp"

#include <algorithm>
#include <array>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"

namespace ocirun::linux {

/// A row of the table of options. `apply` puts a value into the message, and returns false for a
/// value that is not allowed.
struct OptionRow {
  std::string_view name;
  int since;  // the first criu that knows the option; kOldestCriu: every criu that ocirun accepts
  bool (*apply)(CriuOptions& options, std::string_view value);

  static char* keep(CriuOptions& options, std::string_view text) {
    return options.texts_.emplace_back(text).data();
  }
  static Criu__Options& message(CriuOptions& options) { return options.message_; }

  template <auto kHas, auto kValue>
  static bool apply_switch(CriuOptions& options, std::string_view value) {
    options.message_.*kHas = 1;
    options.message_.*kValue = value == "1" ? 1 : 0;
    return value == "0" || value == "1";
  }
  template <auto kHas, auto kValue>
  static bool apply_number(CriuOptions& options, std::string_view value) {
    using Number = std::remove_reference_t<decltype(options.message_.*kValue)>;
    const auto parsed = number<Number>(value);
    options.message_.*kHas = 1;
    options.message_.*kValue = parsed.value_or(0);
    return parsed.has_value();
  }
  template <auto kValue>
  static bool apply_text(CriuOptions& options, std::string_view value) {
    options.message_.*kValue = keep(options, value);
    return !value.empty();
  }
  static bool apply_images(CriuOptions& options, std::string_view value);
  static bool apply_external(CriuOptions& options, std::string_view value);
  static bool apply_mount(CriuOptions& options, std::string_view value);
  static bool apply_cgroup_root(CriuOptions& options, std::string_view value);
  static bool apply_inherited(CriuOptions& options, std::string_view value);
  static bool apply_joined(CriuOptions& options, std::string_view value);
  static bool apply_page_server(CriuOptions& options, std::string_view value);
  static bool apply_cgroup_mode(CriuOptions& options, std::string_view value);
  static bool apply_network_lock(CriuOptions& options, std::string_view value);
};

namespace {

constexpr Named<Criu__CgroupMode> kCgroupModes[] = {{"ignore", CRIU__CGROUP_MODE__IGNORE},
                                                    {"soft", CRIU__CGROUP_MODE__SOFT},
                                                    {"full", CRIU__CGROUP_MODE__FULL},
                                                    {"strict", CRIU__CGROUP_MODE__STRICT}};
constexpr Named<Criu__NetworkLock> kNetworkLocks[] = {{"iptables", CRIU__NETWORK_LOCK__IPTABLES},
                                                      {"nftables", CRIU__NETWORK_LOCK__NFTABLES},
                                                      {"skip", CRIU__NETWORK_LOCK__SKIP}};

// Copies `made` to the end of `items`, and adds the address of the copy to `list`. The message will
// point to `list`.
template <typename Item>
Item* append(std::list<Item>& items, std::vector<Item*>& list, const Item& made) {
  items.push_back(made);
  list.push_back(&items.back());
  return list.back();
}

}  // namespace

bool OptionRow::apply_images(CriuOptions& options, std::string_view value) {
  const auto descriptor = number<std::int32_t>(value);
  options.message_.images_dir_fd = descriptor.value_or(-1);
  return descriptor && *descriptor >= 0;
}

bool OptionRow::apply_external(CriuOptions& options, std::string_view value) {
  options.external_.push_back(keep(options, value));
  return !value.empty();
}

bool OptionRow::apply_mount(CriuOptions& options, std::string_view value) {
  Criu__ExternalMount* mount =
      append(options.mounts_, options.mount_list_, CRIU__EXTERNAL_MOUNT__INIT);
  mount->key = keep(options, cut(value, '\n'));
  mount->val = keep(options, value);
  return !value.empty();
}

bool OptionRow::apply_cgroup_root(CriuOptions& options, std::string_view value) {
  Criu__CgroupRoot* root = append(options.roots_, options.root_list_, CRIU__CGROUP_ROOT__INIT);
  const std::string_view controllers = cut(value, '\n');
  root->ctrl = controllers.empty() ? nullptr : keep(options, controllers);
  root->path = keep(options, value);
  return value.starts_with('/');
}

bool OptionRow::apply_inherited(CriuOptions& options, std::string_view value) {
  Criu__InheritedDescriptor* inherited =
      append(options.inherited_, options.inherited_list_, CRIU__INHERITED_DESCRIPTOR__INIT);
  inherited->key = keep(options, cut(value, '\n'));
  const auto descriptor = number<std::int32_t>(value);
  inherited->fd = descriptor.value_or(-1);
  return descriptor && *descriptor >= 0;
}

bool OptionRow::apply_joined(CriuOptions& options, std::string_view value) {
  Criu__JoinedNamespace* joined =
      append(options.joined_, options.joined_list_, CRIU__JOINED_NAMESPACE__INIT);
  joined->ns = keep(options, cut(value, '\n'));
  joined->ns_file = keep(options, value);
  return !value.empty();
}

bool OptionRow::apply_page_server(CriuOptions& options, std::string_view value) {
  Criu__PageServer server = CRIU__PAGE_SERVER__INIT;
  const std::size_t colon = value.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const auto port = number<std::uint16_t>(value.substr(colon + 1));
  server.address = keep(options, value.substr(0, colon));
  server.has_port = 1;
  server.port = port.value_or(0);
  options.server_.push_back(server);
  options.message_.ps = &options.server_.back();
  return port && *port != 0;
}

bool OptionRow::apply_cgroup_mode(CriuOptions& options, std::string_view value) {
  const auto mode = value_of(kCgroupModes, value);
  options.message_.has_manage_cgroups = options.message_.has_manage_cgroups_mode = 1;
  options.message_.manage_cgroups_mode = mode.value_or(CRIU__CGROUP_MODE__IGNORE);
  options.message_.manage_cgroups = value == "ignore" ? 0 : 1;
  return mode.has_value();
}

bool OptionRow::apply_network_lock(CriuOptions& options, std::string_view value) {
  const auto lock = value_of(kNetworkLocks, value);
  options.message_.has_network_lock = 1;
  options.message_.network_lock = lock.value_or(CRIU__NETWORK_LOCK__IPTABLES);
  return lock.has_value();
}

namespace {

using Opts = Criu__Options;
template <auto kHas, auto kValue>
constexpr auto kSwitch = &OptionRow::apply_switch<kHas, kValue>;
template <auto kHas, auto kValue>
constexpr auto kNumber = &OptionRow::apply_number<kHas, kValue>;
template <auto kValue>
constexpr auto kText = &OptionRow::apply_text<kValue>;

constexpr std::array kRows{
    OptionRow{"images", kOldestCriu, OptionRow::apply_images},
    OptionRow{"work", kOldestCriu, kNumber<&Opts::has_work_dir_fd, &Opts::work_dir_fd>},
    OptionRow{"pid", kOldestCriu, kNumber<&Opts::has_pid, &Opts::pid>},
    OptionRow{"log-file", kOldestCriu, kText<&Opts::log_file>},
    OptionRow{"log-level", kOldestCriu, kNumber<&Opts::has_log_level, &Opts::log_level>},
    OptionRow{"cpu-cap", kOldestCriu, kNumber<&Opts::has_cpu_cap, &Opts::cpu_cap>},
    OptionRow{"root", kOldestCriu, kText<&Opts::root>},
    OptionRow{"parent-path", kOldestCriu, kText<&Opts::parent_img>},
    OptionRow{"config", kOldestCriu, kText<&Opts::config_file>},
    OptionRow{"freeze-cgroup", kOldestCriu, kText<&Opts::freeze_cgroup>},
    OptionRow{"notify", kOldestCriu, kSwitch<&Opts::has_notify_scripts, &Opts::notify_scripts>},
    OptionRow{"leave-running", kOldestCriu,
              kSwitch<&Opts::has_leave_running, &Opts::leave_running>},
    OptionRow{"tcp-established", kOldestCriu,
              kSwitch<&Opts::has_tcp_established, &Opts::tcp_established>},
    OptionRow{"tcp-skip-in-flight", kOldestCriu,
              kSwitch<&Opts::has_tcp_skip_in_flight, &Opts::tcp_skip_in_flight>},
    OptionRow{"ext-unix-sk", kOldestCriu, kSwitch<&Opts::has_ext_unix_sk, &Opts::ext_unix_sk>},
    OptionRow{"shell-job", kOldestCriu, kSwitch<&Opts::has_shell_job, &Opts::shell_job>},
    OptionRow{"file-locks", kOldestCriu, kSwitch<&Opts::has_file_locks, &Opts::file_locks>},
    OptionRow{"evasive-devices", kOldestCriu,
              kSwitch<&Opts::has_evasive_devices, &Opts::evasive_devices>},
    OptionRow{"link-remap", kOldestCriu, kSwitch<&Opts::has_link_remap, &Opts::link_remap>},
    OptionRow{"auto-dedup", kOldestCriu, kSwitch<&Opts::has_auto_dedup, &Opts::auto_dedup>},
    OptionRow{"track-memory", kOldestCriu, kSwitch<&Opts::has_track_mem, &Opts::track_mem>},
    OptionRow{"lazy-pages", kOldestCriu, kSwitch<&Opts::has_lazy_pages, &Opts::lazy_pages>},
    OptionRow{"sibling", kOldestCriu, kSwitch<&Opts::has_rst_sibling, &Opts::rst_sibling>},
    OptionRow{"orphan-terminal", kOldestCriu,
              kSwitch<&Opts::has_orphan_pts_master, &Opts::orphan_pts_master>},
    OptionRow{"empty-ns", kOldestCriu, kNumber<&Opts::has_empty_ns, &Opts::empty_ns>},
    OptionRow{"page-server", kOldestCriu, OptionRow::apply_page_server},
    OptionRow{"manage-cgroups-mode", kOldestCriu, OptionRow::apply_cgroup_mode},
    OptionRow{"cgroup-root", kOldestCriu, OptionRow::apply_cgroup_root},
    OptionRow{"external", kOldestCriu, OptionRow::apply_external},
    OptionRow{"external-mount", kOldestCriu, OptionRow::apply_mount},
    OptionRow{"inherit", kOldestCriu, OptionRow::apply_inherited},
    OptionRow{"join", kOldestCriu, OptionRow::apply_joined},
    OptionRow{"lsm-profile", kOldestCriu, kText<&Opts::lsm_profile>},
    OptionRow{"lsm-mount-context", version_number(3, 16, 0), kText<&Opts::lsm_mount_context>},
    OptionRow{"network-lock", version_number(3, 17, 0), OptionRow::apply_network_lock},
};

}  // namespace

std::string version_text(int number) {
  const int major = number / 10'000, minor = number / 100 % 100, sublevel = number % 100;
  return sublevel == 0 ? fmt::format("{}.{}", major, minor)
                       : fmt::format("{}.{}.{}", major, minor, sublevel);
}

CriuOptions::CriuOptions() : message_(CRIU__OPTIONS__INIT) { message_.images_dir_fd = -1; }

Result<CriuOptions> CriuOptions::parse(std::span<const std::string_view> words) {
  CriuOptions options;
  for (const std::string_view word : words) OCIRUN_TRY(options.add(word));
  return options;
}

Result<void> CriuOptions::add(std::string_view word) {
  const std::size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const auto row = std::ranges::find(kRows, name, &OptionRow::name);
  if (equals == std::string_view::npos || row == kRows.end())
    return refuse("ocirun-criu has no option \"{}\"", word);
  const std::string_view value = word.substr(equals + 1);
  if (!row->apply(*this, value)) return refuse("{}: \"{}\" is not allowed", name, value);
  wanted_versions_.emplace_back(row->name, row->since);
  return {};
}

Criu__Options& CriuOptions::message() {
  message_.external = external_.data();
  message_.n_external = external_.size();
  message_.ext_mnt = mount_list_.data();
  message_.n_ext_mnt = mount_list_.size();
  message_.cg_root = root_list_.data();
  message_.n_cg_root = root_list_.size();
  message_.inherit_fd = inherited_list_.data();
  message_.n_inherit_fd = inherited_list_.size();
  message_.join_ns = joined_list_.data();
  message_.n_join_ns = joined_list_.size();
  return message_;
}

Result<void> CriuOptions::check_version(int version) const {
  if (version < kOldestCriu)
    return refuse("criu {} is too old: ocirun needs {} or newer", version_text(version),
                  version_text(kOldestCriu));
  for (const auto& [name, since] : wanted_versions_)
    if (version < since)
      return refuse("--{}: criu {} does not have this option: it came with {}", name,
                    version_text(version), version_text(since));
  return {};
}

}  // namespace ocirun::linux
