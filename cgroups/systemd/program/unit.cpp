#include "cgroups/systemd/program/unit.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <vector>

#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/program/bus.hpp"

namespace ocirun::cgroups {
namespace {

constexpr char kUnitInterface[] = "org.freedesktop.systemd1.Unit";
constexpr char kScopeInterface[] = "org.freedesktop.systemd1.Scope";
constexpr char kSliceInterface[] = "org.freedesktop.systemd1.Slice";
constexpr char kNoSuchUnit[] = "org.freedesktop.systemd1.NoSuchUnit";
constexpr char kNotLoaded[] = "org.freedesktop.systemd1.UnitNotLoaded";
constexpr char kUnitExists[] = "org.freedesktop.systemd1.UnitExists";
constexpr std::chrono::milliseconds kPause{5};

/// Collects the results of all jobs of systemd that end. A job can end before await() knows the
/// job's path.
class Jobs {
 public:
  explicit Jobs(const Bus& bus) : bus_(bus) {}
  Jobs(const Jobs&) = delete;
  Jobs& operator=(const Jobs&) = delete;
  ~Jobs() { sd_bus_slot_unref(slot_); }

  Result<void> listen() {
    const int matched =
        sd_bus_match_signal(bus_.get(), &slot_, "org.freedesktop.systemd1", kManagerPath,
                            kManagerInterface, "JobRemoved", &Jobs::hear, this);
    if (matched < 0) return fail(-matched, "listen to systemd");
    OCIRUN_TRY_ASSIGN(const Message call, bus_.new_call("Subscribe"));
    OCIRUN_TRY_ASSIGN(const Reply reply, bus_.call(call));
    return reply.good() ? Result<void>{} : refusal(reply, "listen to systemd");
  }

  /// Waits for the job whose path is in `answer`. Returns the job's result: "done", "failed", …
  Result<std::string> await(const Message& answer) {
    const char* path = nullptr;
    if (const int done = read_text(answer.get(), 'o', path); done < 0)
      return fail(-done, "read systemd's answer");
    const std::string job = path;
    for (;;) {
      const auto found = std::ranges::find(ended_, job, &Ended::job);
      if (found != ended_.end()) return found->result;
      const int done = sd_bus_process(bus_.get(), nullptr);
      if (done < 0) return fail(-done, "listen to systemd");
      if (done == 0) OCIRUN_TRY(bus_.wait());
    }
  }

 private:
  struct Ended {
    std::string job, result;
  };
  static int hear(sd_bus_message* message, void* self, sd_bus_error*) {
    std::uint32_t id = 0;
    const char *job = nullptr, *unit = nullptr, *result = nullptr;
    if (sd_bus_message_read_basic(message, 'u', &id) >= 0 && read_text(message, 'o', job) >= 0 &&
        read_text(message, 's', unit) >= 0 && read_text(message, 's', result) >= 0)
      static_cast<Jobs*>(self)->ended_.push_back({job, result});
    return 0;
  }

  const Bus& bus_;
  sd_bus_slot* slot_ = nullptr;
  std::vector<Ended> ended_;
};

Result<unsigned> version_of(const Bus& bus) {
  OCIRUN_TRY_ASSIGN(const std::string text,
                    bus.text_property(kManagerPath, kManagerInterface, "Version"));
  unsigned version = 0;  // the first number of a text such as "252.39-1~deb12u1" or "v252"
  const std::size_t digits = std::min(text.find_first_of("0123456789"), text.size());
  std::from_chars(text.data() + digits, text.data() + text.size(), version);
  return version;
}

Result<void> append_texts(const Message& message, std::span<const char* const> texts) {
  for (const char* text : texts)
    if (const int done = sd_bus_message_append_basic(message.get(), 's', text); done < 0)
      return fail(-done, "make a message");
  return {};
}

/// The D-Bus path of the unit's object; "" where systemd has no unit of that name.
Result<std::string> find_unit(const Bus& bus, const std::string& unit) {
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("GetUnit"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str()}));
  OCIRUN_TRY_ASSIGN(const Reply reply, bus.call(message));
  if (reply.error_name == kNoSuchUnit) return std::string();
  if (!reply.good()) return refusal(reply, "find " + unit);
  const char* path = nullptr;
  if (const int done = read_text(reply.message.get(), 'o', path); done < 0)
    return fail(-done, "find {}", unit);
  return std::string(path);
}

Result<void> reset_failed(const Bus& bus, const std::string& unit) {
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("ResetFailedUnit"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str()}));
  OCIRUN_TRY_ASSIGN(const Reply reply, bus.call(message));
  if (reply.good() || reply.error_name == kNoSuchUnit || reply.error_name == kNotLoaded) return {};
  return refusal(reply, "reset " + unit);
}

/// Waits about a second until systemd has removed an ended unit. A unit that stays is no error.
Result<void> await_absence(const Bus& bus, const std::string& unit) {
  constexpr int kTries = 200;
  for (int i = 0; i < kTries; ++i) {
    OCIRUN_TRY_ASSIGN(const std::string path, find_unit(bus, unit));
    if (path.empty()) return {};
    OCIRUN_TRY(bus.wait(kPause));
    while (sd_bus_process(bus.get(), nullptr) > 0) {
    }
  }
  return {};
}

Result<Reply> ask_for_unit(const Bus& bus, const std::string& unit,
                           std::span<const UnitProperty> properties, unsigned version) {
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("StartTransientUnit"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str(), "fail"}));
  OCIRUN_TRY(append_properties(message, properties, version));
  int done = sd_bus_message_open_container(message.get(), 'a', "(sa(sv))");  // no auxiliary units
  if (done >= 0) done = sd_bus_message_close_container(message.get());
  if (done < 0) return fail(-done, "make a message");
  return bus.call(message);
}

/// Resets a failed or ending unit of the same name and waits until systemd has removed the unit. An
/// active unit is an error.
Result<void> clear_the_way(const Bus& bus, const std::string& unit) {
  OCIRUN_TRY_ASSIGN(const std::string path, find_unit(bus, unit));
  if (path.empty()) return {};
  OCIRUN_TRY_ASSIGN(const std::string state,
                    bus.text_property(path, kUnitInterface, "ActiveState"));
  if (state != "failed" && state != "inactive" && state != "deactivating") {
    OCIRUN_TRY_ASSIGN(const std::string description,
                      bus.text_property(path, kUnitInterface, "Description"));
    return fail(
        EEXIST, "systemd has a unit {} already, which is {} ({}): {}, or stop that one", unit,
        state, description,
        is_scope_name(unit) ? "give /linux/cgroupsPath another name" : "give the pod another name");
  }
  OCIRUN_TRY(reset_failed(bus, unit));
  return await_absence(bus, unit);
}

/// Starts a transient unit and waits until it runs. Returns the unit's cgroup.
Result<std::string> start_unit(const Bus& bus, const std::string& unit,
                               std::span<const UnitProperty> properties, const char* interface) {
  OCIRUN_TRY_ASSIGN(const unsigned version, version_of(bus));
  Jobs jobs(bus);
  OCIRUN_TRY(jobs.listen());
  OCIRUN_TRY_ASSIGN(Reply reply, ask_for_unit(bus, unit, properties, version));
  if (reply.error_name == kUnitExists) {
    OCIRUN_TRY(clear_the_way(bus, unit));
    OCIRUN_TRY_ASSIGN(reply, ask_for_unit(bus, unit, properties, version));
  }
  if (!reply.good()) return refusal(reply, "start " + unit);
  OCIRUN_TRY_ASSIGN(const std::string result, jobs.await(reply.message));
  if (result != "done")
    return refuse("start {}: systemd's job ended as \"{}\" (see systemctl status {})", unit, result,
                  unit);
  OCIRUN_TRY_ASSIGN(const std::string path, find_unit(bus, unit));
  if (path.empty())
    return refuse("start {}: the unit ended at once (see journalctl --unit {})", unit, unit);
  return bus.text_property(path, interface, "ControlGroup");
}

}  // namespace

Result<std::string> describe_manager(const Bus& bus) {
  OCIRUN_TRY_ASSIGN(const unsigned version, version_of(bus));
  OCIRUN_TRY_ASSIGN(const std::string group,
                    bus.text_property(kManagerPath, kManagerInterface, "ControlGroup"));
  return fmt::format("{} {}", version, group);
}

Result<std::string> start_scope(const Bus& bus, const std::string& unit,
                                std::span<const UnitProperty> properties, int pid) {
  std::vector<UnitProperty> all(properties.begin(), properties.end());
  all.push_back({.name = "PIDs", .signature = "au", .values = {fmt::to_string(pid)}});
  return start_unit(bus, unit, all, kScopeInterface);
}

Result<std::string> start_slice(const Bus& bus, const std::string& unit,
                                std::span<const UnitProperty> properties) {
  return start_unit(bus, unit, properties, kSliceInterface);
}

Result<void> set_unit_properties(const Bus& bus, const std::string& unit,
                                 std::span<const UnitProperty> properties) {
  OCIRUN_TRY_ASSIGN(const unsigned version, version_of(bus));
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("SetUnitProperties"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str()}));
  const int runtime = 1;  // systemd need not keep the values across a reboot
  if (const int done = sd_bus_message_append_basic(message.get(), 'b', &runtime); done < 0)
    return fail(-done, "make a message");
  OCIRUN_TRY(append_properties(message, properties, version));
  OCIRUN_TRY_ASSIGN(const Reply reply, bus.call(message));
  return reply.good() ? Result<void>{} : refusal(reply, "set properties of " + unit);
}

Result<void> attach_process(const Bus& bus, const std::string& unit, int pid) {
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("AttachProcessesToUnit"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str(), ""}));
  const auto number = static_cast<std::uint32_t>(pid);
  if (const int done = sd_bus_message_append_array(message.get(), 'u', &number, sizeof(number));
      done < 0)
    return fail(-done, "make a message");
  OCIRUN_TRY_ASSIGN(const Reply reply, bus.call(message));
  return reply.good() ? Result<void>{}
                      : refusal(reply, fmt::format("move process {} into {}", pid, unit));
}

Result<void> remove_unit(const Bus& bus, const std::string& unit) {
  Jobs jobs(bus);
  OCIRUN_TRY(jobs.listen());
  OCIRUN_TRY_ASSIGN(const Message message, bus.new_call("StopUnit"));
  OCIRUN_TRY(append_texts(message, std::vector{unit.c_str(), "replace"}));
  OCIRUN_TRY_ASSIGN(const Reply reply, bus.call(message));
  if (reply.error_name == kNoSuchUnit || reply.error_name == kNotLoaded) return {};
  if (!reply.good()) return refusal(reply, "stop " + unit);
  OCIRUN_TRY_ASSIGN(const std::string result, jobs.await(reply.message));
  if (result != "done")
    return refuse("stop {}: systemd's job ended as \"{}\" (see systemctl status {})", unit, result,
                  unit);
  OCIRUN_TRY(reset_failed(bus, unit));
  return await_absence(bus, unit);
}

}  // namespace ocirun::cgroups
