#pragma once

#include <systemd/sd-bus.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cgroups/hierarchies/unit_names.hpp"
#include "cgroups/systemd/property.hpp"
#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// Reads the next field of a message, of type 's' or 'o'. The text lives as long as the message.
/// Gives a type to the pointer that sd_bus_message_read_basic(3) takes as a void*.
inline int read_text(sd_bus_message* message, char type, const char*& text) {
  return sd_bus_message_read_basic(message, type, static_cast<void*>(&text));
}

struct FreeMessage {
  void operator()(sd_bus_message* message) const { sd_bus_message_unref(message); }
};
using Message = std::unique_ptr<sd_bus_message, FreeMessage>;

/// The result of a method call: an answer, or the D-Bus name and the text of an error.
struct Reply {
  Message message;
  std::string error_name, error_text;
  bool good() const { return error_name.empty(); }
};

/// A connection to systemd over the host's or the user's bus. All calls of one Bus together take at
/// most kPatience, whatever the bus does.
class Bus {
 public:
  /// Errors: there is no such bus, it does not answer, it refuses the connection.
  static Result<Bus> connect(SystemdInstance instance);

  /// A method call of systemd's manager object, without arguments: the caller appends them.
  Result<Message> new_call(const char* method) const;
  Result<Reply> call(const Message& message) const;
  /// A property of one of systemd's objects, as text.
  Result<std::string> text_property(const std::string& path, const char* interface,
                                    const char* name) const;
  sd_bus* get() const { return bus_.get(); }
  /// Waits for messages, at most for `limit`. Errors: the time of this Bus (kPatience) is over.
  Result<void> wait(std::chrono::milliseconds limit = kPatience) const;

  static constexpr std::chrono::milliseconds kPatience{10'000};

 private:
  struct Close {
    void operator()(sd_bus* bus) const { sd_bus_close_unref(bus); }
  };
  explicit Bus(sd_bus* bus) : bus_(bus), deadline_(std::chrono::steady_clock::now() + kPatience) {}
  std::uint64_t microseconds_left() const;

  std::unique_ptr<sd_bus, Close> bus_;
  std::chrono::steady_clock::time_point deadline_;
};

inline constexpr char kManagerInterface[] = "org.freedesktop.systemd1.Manager";
inline constexpr char kManagerPath[] = "/org/freedesktop/systemd1";

/// An error with the text of `reply`: a refusal by systemd or the bus, not an errno of the kernel.
std::unexpected<Error> refusal(const Reply& reply, std::string_view what);

/// Appends an array a(sv) of those `properties` that a systemd of `version` knows.
Result<void> append_properties(const Message& message, std::span<const UnitProperty> properties,
                               unsigned version);

}  // namespace ocirun::cgroups
