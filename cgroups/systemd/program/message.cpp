#include "cgroups/systemd/program/message.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>

namespace ocirun::cgroups {
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

/// Appends an array of pairs, such as "a(st)"; `values` alternates between first and second
/// members.
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
