#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// One property of a systemd unit, as ocirun passes it to ocirun-systemd, which sends it over
/// D-Bus.
struct UnitProperty {
  std::string name;                 // "MemoryMax"
  std::string signature;            // a D-Bus type: one of kSignatures
  std::vector<std::string> values;  // decimal number, "true" or "false", or text: one for each
                                    // basic value of the signature, so none for an empty array
  unsigned since = 0;               // not sent to systemd versions before this one
  friend bool operator==(const UnitProperty&, const UnitProperty&) = default;
};

/// The D-Bus types of the properties that ocirun can send.
inline constexpr std::string_view kSignatures[] = {"b",  "y",  "n",  "q",  "i",     "u",    "x",
                                                   "t",  "d",  "s",  "as", "ay",    "ai",   "au",
                                                   "at", "ax", "ad", "ab", "a(ss)", "a(st)"};

// The protocol between ocirun and ocirun-systemd. The command line is: ocirun-systemd INSTANCE VERB
// [UNIT [PID]], with a stream socket as stdin and stdout. ocirun-systemd reads lines
//   property SINCE NAME SIGNATURE =VALUE …     (in values all but letters, digits and -_./: is %XX)
//   end
// It answers "ok" and a text, or "error" and linux::error_lines(), then half-closes the socket.
inline constexpr std::string_view kManagerVerb = "manager";  // answers "VERSION CONTROL_GROUP"
// Makes a scope whose only process is this ocirun-systemd, which exits when the socket is closed.
// Answers with the scope's cgroup.
inline constexpr std::string_view kStartVerb = "start";
// Makes a slice, which exists until it is stopped. Answers with the slice's cgroup.
inline constexpr std::string_view kSliceVerb = "slice";
inline constexpr std::string_view kSetVerb = "set";
inline constexpr std::string_view kAttachVerb = "attach";
// Stops the unit, failed or not, and waits until it is gone.
inline constexpr std::string_view kStopVerb = "stop";
inline constexpr std::string_view kSystemInstance = "system";
inline constexpr std::string_view kUserInstance = "user";
inline constexpr std::string_view kEndLine = "end";
inline constexpr std::string_view kOk = "ok\n";
inline constexpr std::string_view kErrorAnswer = "error\n";

/// The lines for `properties`, and the end line.
std::string property_lines(const std::vector<UnitProperty>& properties);
/// Parses one line of property_lines(), without its newline. Errors: it is no such line.
Result<UnitProperty> parse_property_line(std::string_view line);

}  // namespace ocirun::cgroups
