#include "cgroups/systemd/program/bus.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>

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
  // connect() awaits the greeting of the bus with the time limit of this Bus. Otherwise, the first
  // call would await the greeting with sd-bus's own timeout.
  const int opened =
      instance == SystemdInstance::kUser ? sd_bus_open_user(&raw) : sd_bus_open_system(&raw);
  if (opened < 0) return cannot_connect(instance, -opened);
  Bus bus(raw);
  for (;;) {
    const int ready = sd_bus_is_ready(raw);
    if (ready > 0) return bus;
    const int done = ready < 0 ? ready : sd_bus_process(raw, nullptr);
    if (done < 0) return cannot_connect(instance, -done);
    if (done == 0) OCIRUN_TRY(bus.wait());
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
  OCIRUN_TRY_ASSIGN(const Reply reply, call(message));
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

namespace {

template <typename Number>
int append_number(sd_bus_message* message, char type, std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return -EINVAL;
  return sd_bus_message_append_basic(message, type, &number);
}

int append_basic(sd_bus_message* message, char type, const std::string& text) {
  switch (type) {
    case 's':
      return sd_bus_message_append_basic(message, type, text.c_str());
    case 'b': {
      const int truth = text == "true" ? 1 : 0;
      if (truth == 0 && text != "false") return -EINVAL;
      return sd_bus_message_append_basic(message, type, &truth);
    }
    case 'y':
      return append_number<std::uint8_t>(message, type, text);
    case 'n':
      return append_number<std::int16_t>(message, type, text);
    case 'q':
      return append_number<std::uint16_t>(message, type, text);
    case 'i':
      return append_number<std::int32_t>(message, type, text);
    case 'u':
      return append_number<std::uint32_t>(message, type, text);
    case 'x':
      return append_number<std::int64_t>(message, type, text);
    case 't':
      return append_number<std::uint64_t>(message, type, text);
    case 'd':
      return append_number<double>(message, type, text);
    default:
      return -EINVAL;
  }
}

/// Appends the pairs of an array. `element` is the type of a pair, such as "(st)". `values` has the
/// first and the second member of each pair in turn.
int append_pairs(sd_bus_message* message, const std::string& element,
                 std::span<const std::string> values) {
  const std::string types = element.substr(1, 2);
  if (values.size() % 2 != 0) return -EINVAL;
  int done = 0;
  for (std::size_t i = 0; i < values.size() && done >= 0; i += 2) {
    done = sd_bus_message_open_container(message, 'r', types.c_str());
    if (done >= 0) done = append_basic(message, types[0], values[i]);
    if (done >= 0) done = append_basic(message, types[1], values[i + 1]);
    if (done >= 0) done = sd_bus_message_close_container(message);
  }
  return done;
}

int append_value(sd_bus_message* message, const UnitProperty& property) {
  const std::string& signature = property.signature;
  if (signature.size() == 1)
    return property.values.size() == 1
               ? append_basic(message, signature.front(), property.values.front())
               : -EINVAL;
  const std::string element = signature.substr(1);
  int done = sd_bus_message_open_container(message, 'a', element.c_str());
  if (done >= 0 && element.front() == '(') {
    done = append_pairs(message, element, property.values);
  } else {
    for (std::size_t i = 0; i < property.values.size() && done >= 0; ++i)
      done = append_basic(message, element.front(), property.values[i]);
  }
  return done < 0 ? done : sd_bus_message_close_container(message);
}

int append_property(sd_bus_message* message, const UnitProperty& property) {
  int done = sd_bus_message_open_container(message, 'r', "sv");
  if (done >= 0) done = sd_bus_message_append_basic(message, 's', property.name.c_str());
  if (done >= 0) done = sd_bus_message_open_container(message, 'v', property.signature.c_str());
  if (done >= 0) done = append_value(message, property);
  if (done >= 0) done = sd_bus_message_close_container(message);
  return done < 0 ? done : sd_bus_message_close_container(message);
}

}  // namespace

Result<void> append_properties(const Message& message, std::span<const UnitProperty> properties,
                               unsigned version) {
  int done = sd_bus_message_open_container(message.get(), 'a', "(sv)");
  if (done < 0) return fail(-done, "make a list of properties");
  for (const UnitProperty& property : properties) {
    if (property.since > version) continue;
    done = append_property(message.get(), property);
    if (done < 0) return fail(-done, "make the property {}", property.name);
  }
  done = sd_bus_message_close_container(message.get());
  return done < 0 ? fail(-done, "make a list of properties") : Result<void>{};
}

}  // namespace ocirun::cgroups
