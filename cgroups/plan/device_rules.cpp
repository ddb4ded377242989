#include "cgroups/plan/device_rules.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace ocirun::cgroups {
namespace {

constexpr DeviceRule character_device(std::optional<std::int64_t> major,
                                      std::optional<std::int64_t> minor) {
  return {.allow = true,
          .type = 'c',
          .major = major,
          .minor = minor,
          .read = true,
          .write = true,
          .mknod = true};
}

constexpr DeviceRule kDefaultRules[] = {
    {.allow = true, .type = 'c', .major = {}, .minor = {}, .mknod = true},
    {.allow = true, .type = 'b', .major = {}, .minor = {}, .mknod = true},
    character_device(1, 3),               // null
    character_device(1, 5),               // zero
    character_device(1, 7),               // full
    character_device(1, 8),               // random
    character_device(1, 9),               // urandom
    character_device(5, 0),               // tty
    character_device(5, 1),               // console
    character_device(5, 2),               // ptmx
    character_device(10, 200),            // /dev/net/tun: containers make the node for a VPN
    character_device(136, std::nullopt),  // /dev/pts/*
};

using Access = unsigned;  // bits kRead, kWrite, kMknod
constexpr Access kRead = 1, kWrite = 2, kMknod = 4, kFull = 7;

Access access_of(const DeviceRule& rule) {
  return (rule.read ? kRead : 0) | (rule.write ? kWrite : 0) | (rule.mknod ? kMknod : 0);
}

/// Clients write -1 for "any".
std::optional<std::int64_t> any_if_negative(std::optional<std::int64_t> number) {
  return number.value_or(0) < 0 ? std::nullopt : number;
}

struct Exception {
  char type;
  std::optional<std::int64_t> major, minor;
  Access access;
};

bool covers(const Exception& wide, const Exception& narrow) {
  return wide.type == narrow.type && (!wide.major || wide.major == narrow.major) &&
         (!wide.minor || wide.minor == narrow.minor);
}
bool overlaps(const Exception& a, const Exception& b) {
  return a.type == b.type && (!a.major || !b.major || a.major == b.major) &&
         (!a.minor || !b.minor || a.minor == b.minor) && (a.access & b.access) != 0;
}

std::string text_of(const Exception& e) {
  const auto number = [](std::optional<std::int64_t> n) { return n ? fmt::to_string(*n) : "*"; };
  return fmt::format("{} {}:{} {}{}{}", e.type, number(e.major), number(e.minor),
                     e.access & kRead ? "r" : "", e.access & kWrite ? "w" : "",
                     e.access & kMknod ? "m" : "");
}

/// Device rules as cgroup v1 stores them: a default, and exceptions from the default.
struct Verdict {
  bool allow_by_default = false;
  std::vector<Exception> exceptions;

  Result<void> add(const DeviceRule& rule) {
    if (rule.type == 'a') {
      allow_by_default = rule.allow;
      exceptions.clear();
      return {};
    }
    const Exception made{rule.type, rule.major, rule.minor, access_of(rule)};
    if (made.access == 0) return {};
    return rule.allow == allow_by_default ? restore_default(made) : except(made);
  }

  Result<void> except(const Exception& made) {
    for (Exception& existing : exceptions)
      if (covers(existing, made) && covers(made, existing)) {
        existing.access |= made.access;
        return {};
      }
    exceptions.push_back(made);
    return {};
  }

  Result<void> restore_default(const Exception& made) {
    for (const Exception& existing : exceptions)
      if (overlaps(existing, made) && !covers(made, existing))
        return refuse(
            "cgroup v1 cannot {} \"{}\" after it was told to {} \"{}\": name the devices one by "
            "one, or use cgroup v2",
            allow_by_default ? "allow" : "deny", text_of(made), allow_by_default ? "deny" : "allow",
            text_of(existing));
    for (Exception& existing : exceptions)
      if (covers(made, existing)) existing.access &= ~made.access;
    std::erase_if(exceptions, [](const Exception& e) { return e.access == 0; });
    return {};
  }
};

}  // namespace

std::span<const DeviceRule> default_device_rules() { return kDefaultRules; }

std::vector<DeviceRule> complete_rules(std::span<const DeviceRule> rules) {
  std::vector<DeviceRule> complete;
  complete.reserve(rules.size() + std::size(kDefaultRules) + 1);
  complete.push_back({.allow = false,
                      .type = 'a',
                      .major = {},
                      .minor = {},
                      .read = true,
                      .write = true,
                      .mknod = true});
  for (DeviceRule rule : rules) {
    rule.major = any_if_negative(rule.major);
    rule.minor = any_if_negative(rule.minor);
    const bool everything = !rule.major && !rule.minor && access_of(rule) == kFull;
    if (rule.type != 'a') {
      complete.push_back(rule);
    } else if (everything) {
      complete.assign(1, rule);  // the rule covers all devices: earlier rules have no effect
    } else {
      // cgroup v1 applies a rule of type "a" to all devices, whatever its numbers and letters are.
      for (const char type : {'c', 'b'}) {
        rule.type = type;
        complete.push_back(rule);
      }
    }
  }
  std::ranges::copy(kDefaultRules, std::back_inserter(complete));
  return complete;
}

namespace {

constexpr const char* kAllow = "devices.allow";
constexpr const char* kDeny = "devices.deny";

Result<Verdict> verdict_of(std::span<const DeviceRule> rules) {
  Verdict verdict;
  for (const DeviceRule& rule : complete_rules(rules))
    OCIRUN_TRY(within(verdict.add(rule), "/linux/resources/devices"));
  return verdict;
}

void add_write(Writes& writes, const char* file, std::string value) {
  writes.push_back({.controller = "devices",
                    .file = file,
                    .value = std::move(value),
                    .pointer = "/linux/resources/devices"});
}

/// Adds a write to `file` for each exception of `from` that `other` does not have.
void add_missing(Writes& writes, const char* file, const Verdict& from, const Verdict& other) {
  for (Exception exception : from.exceptions) {
    for (const Exception& present : other.exceptions)
      if (covers(present, exception) && covers(exception, present))
        exception.access &= ~present.access;
    if (exception.access != 0) add_write(writes, file, text_of(exception));
  }
}

}  // namespace

Result<std::vector<Write>> plan_device_rules_v1(std::span<const DeviceRule> rules) {
  OCIRUN_TRY_ASSIGN(const Verdict verdict, verdict_of(rules));
  std::vector<Write> writes;
  add_write(writes, verdict.allow_by_default ? kAllow : kDeny, "a");
  for (const Exception& exception : verdict.exceptions)
    add_write(writes, verdict.allow_by_default ? kDeny : kAllow, text_of(exception));
  return writes;
}

Result<DeviceChange> plan_device_change_v1(std::span<const DeviceRule> old,
                                           std::span<const DeviceRule> now) {
  OCIRUN_TRY_ASSIGN(const Verdict before, verdict_of(old));
  OCIRUN_TRY_ASSIGN(const Verdict after, verdict_of(now));
  DeviceChange change;
  if (before.allow_by_default != after.allow_by_default) {
    OCIRUN_TRY_ASSIGN(change.writes, plan_device_rules_v1(now));
    change.passes_through_nothing = true;
    return change;
  }
  // Writes that allow come before writes that deny. An exception denies if the default allows, and
  // allows if the default denies.
  const Verdict& allows = after.allow_by_default ? before : after;
  const Verdict& denies = after.allow_by_default ? after : before;
  add_missing(change.writes, kAllow, allows, after.allow_by_default ? after : before);
  add_missing(change.writes, kDeny, denies, after.allow_by_default ? before : after);
  return change;
}

}  // namespace ocirun::cgroups
