#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::cgroups {

/// One property of a systemd unit, on its way to D-Bus.
struct UnitProperty {
  std::string name;                 // "MemoryMax"
  std::string signature;            // a D-Bus type: one of kSignatures
  std::vector<std::string> values;  // in decimal, "true" or "false", or text: one for each basic
                                    // value of the signature, so none for an empty array
  unsigned since = 0;               // systemd versions before this one are not told
  friend bool operator==(const UnitProperty&, const UnitProperty&) = default;
};

/// What properties are made of.
inline constexpr std::string_view kSignatures[] = {"b",  "y",  "n",  "q",  "i",     "u",    "x",
                                                   "t",  "d",  "s",  "as", "ay",    "ai",   "au",
                                                   "at", "ax", "ad", "ab", "a(ss)", "a(st)"};

// ocirun-systemd INSTANCE VERB [UNIT [PID]], a stream socket as stdin and stdout. It reads lines
//   property SINCE NAME SIGNATURE =VALUE …     (in values all but letters, digits and -_./: is %XX)
//   end
// and answers with "ok" and a text, or "error" and linux::error_lines(), then half-closes.
inline constexpr std::string_view kManagerVerb = "manager";  // answers "VERSION CONTROL_GROUP"
// A scope with itself as its only process, which goes when the socket is closed. Answers with the
// scope's cgroup.
inline constexpr std::string_view kStartVerb = "start";
inline constexpr std::string_view kSetVerb = "set";
inline constexpr std::string_view kAttachVerb = "attach";
inline constexpr std::string_view kStopVerb = "stop";  // until it is gone, failed or not
inline constexpr std::string_view kSystemInstance = "system";
inline constexpr std::string_view kUserInstance = "user";
inline constexpr std::string_view kEndLine = "end";
inline constexpr std::string_view kOk = "ok\n";
inline constexpr std::string_view kError = "error\n";

/// The lines for `properties`, and the end.
std::string property_lines(const std::vector<UnitProperty>& properties);
/// One of them, without its newline. Errors: it is none.
Result<UnitProperty> parse_property_line(std::string_view line);

}  // namespace ocirun::cgroups
