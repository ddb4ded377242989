#include "cgroups/systemd/program/bus.hpp"

#include <algorithm>
#include <cerrno>

namespace ocirun::cgroups {
namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr char kDestination[] = "org.freedesktop.systemd1";

Result<void> timed_out() {
  return fail(ETIMEDOUT, "systemd has not answered for {} s (is D-Bus running?)",
              Bus::kPatience.count() / 1000);
}

std::unexpected<Error> cannot_connect(SystemdInstance instance, int number) {
  if (instance == SystemdInstance::kUser)
    return fail(number,
                "connect to the user's systemd: wants XDG_RUNTIME_DIR or DBUS_SESSION_BUS_ADDRESS "
                "of a session with a user bus (log in, or loginctl enable-linger), or "
                "--cgroup-manager=cgroupfs");
  return fail(number,
              "connect to systemd over the system bus: wants a host with systemd and dbus running, "
              "or --cgroup-manager=cgroupfs");
}

}  // namespace

std::uint64_t Bus::microseconds_left() const {
  const auto left = std::chrono::ceil<microseconds>(deadline_ - steady_clock::now());
  return left.count() > 0 ? static_cast<std::uint64_t>(left.count()) : 0;
}

Result<Bus> Bus::connect(SystemdInstance instance) {
  sd_bus* raw = nullptr;
  // The first call on a new connection would wait for the greeting of the bus with sd-bus's own
  // timeout. So the greeting is awaited here, with the time limit of this Bus.
  const int opened =
      instance == SystemdInstance::kUser ? sd_bus_open_user(&raw) : sd_bus_open_system(&raw);
  if (opened < 0) return cannot_connect(instance, -opened);
  Bus bus(raw);
  for (;;) {
    const int ready = sd_bus_is_ready(raw);
    if (ready > 0) return bus;
    const int done = ready < 0 ? ready : sd_bus_process(raw, nullptr);
    if (done < 0) return cannot_connect(instance, -done);
    if (done == 0) TRY(bus.wait());
  }
}

Result<void> Bus::wait(std::chrono::milliseconds limit) const {
  const auto most = static_cast<std::uint64_t>(microseconds(limit).count());
  const std::uint64_t left = microseconds_left();
  if (left == 0) return timed_out();
  const int done = sd_bus_wait(bus_.get(), std::min(left, most));
  if (done < 0 && done != -EINTR) return fail(-done, "wait for systemd");
  return {};
}

Result<Message> Bus::new_call(const char* method) const {
  sd_bus_message* message = nullptr;
  const int made = sd_bus_message_new_method_call(bus_.get(), &message, kDestination, kManagerPath,
                                                  kManagerInterface, method);
  if (made < 0) return fail(-made, "call systemd's {}", method);
  return Message(message);
}

Result<Reply> Bus::call(const Message& message) const {
  sd_bus_error error{};
  sd_bus_message* answer = nullptr;
  const std::uint64_t left = microseconds_left();
  const int done =
      left == 0 ? -ETIMEDOUT : sd_bus_call(bus_.get(), message.get(), left, &error, &answer);
  Reply reply{.message = Message(answer), .error_name = {}, .error_text = {}};
  if (sd_bus_error_is_set(&error)) {
    reply.error_name = error.name;
    reply.error_text = error.message == nullptr ? "" : error.message;
  }
  sd_bus_error_free(&error);
  if (done >= 0) return reply;
  if (done == -ETIMEDOUT || reply.error_name == SD_BUS_ERROR_NO_REPLY ||
      reply.error_name == SD_BUS_ERROR_TIMEOUT)
    return std::unexpected(timed_out().error());
  if (reply.error_name.empty()) return fail(-done, "call systemd");
  return reply;
}

Result<std::string> Bus::text_property(const std::string& path, const char* interface,
                                       const char* name) const {
  sd_bus_message* raw = nullptr;
  int done = sd_bus_message_new_method_call(bus_.get(), &raw, kDestination, path.c_str(),
                                            "org.freedesktop.DBus.Properties", "Get");
  const Message message(raw);
  if (done >= 0) done = sd_bus_message_append_basic(message.get(), 's', interface);
  if (done >= 0) done = sd_bus_message_append_basic(message.get(), 's', name);
  if (done < 0) return fail(-done, "ask systemd for {}", name);
  TRY_ASSIGN(const Reply reply, call(message));
  if (!reply.good()) return refusal(reply, name);
  const char* text = nullptr;
  done = sd_bus_message_enter_container(reply.message.get(), 'v', "s");
  if (done >= 0) done = read_text(reply.message.get(), 's', text);
  if (done < 0) return fail(-done, "read systemd's {}", name);
  return std::string(text);
}

std::unexpected<Error> refusal(const Reply& reply, std::string_view what) {
  std::string text = reply.error_text.empty() ? reply.error_name : reply.error_text;
  while (text.ends_with('.') || text.ends_with('\n')) text.pop_back();
  if (reply.error_name == SD_BUS_ERROR_ACCESS_DENIED ||
      reply.error_name == SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED)
    return fail(EACCES, "{}: systemd refuses: {}", what, text);
  if (reply.error_name == SD_BUS_ERROR_SERVICE_UNKNOWN ||
      reply.error_name == SD_BUS_ERROR_NAME_HAS_NO_OWNER ||
      reply.error_name == SD_BUS_ERROR_DISCONNECTED)
    return refuse("{}: there is no systemd on the bus: {}", what, text);
  return refuse("{}: systemd refuses: {}", what, text);
}

}  // namespace ocirun::cgroups
