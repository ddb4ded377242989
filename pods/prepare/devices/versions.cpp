#include "pods/prepare/devices/versions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "pods/documents/model/device_names.hpp"
#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {
namespace {

/// The index of a version in kVersions: a newer version has a greater one.
using Version = std::uint8_t;
constexpr std::array<std::string_view, 8> kVersions = {"0.3.0", "0.4.0", "0.5.0", "0.6.0",
                                                       "0.7.0", "0.8.0", "1.0.0", "1.1.0"};
constexpr Version k040 = 1, k050 = 2, k060 = 3, k070 = 4, k100 = 6, k110 = 7;

/// A member of the objects `of`, and the versions that have it. `of` is the name under which the
/// object, or the list of objects, stands in containerEdits; "": containerEdits itself.
struct DatedMember {
  std::string_view of;
  std::string_view name;
  Version since;
  Version until = k110;
};
constexpr std::array kDatedMembers = {DatedMember{"mounts", "type", k040},
                                      DatedMember{"deviceNodes", "hostPath", k050},
                                      DatedMember{"", "intelRdt", k070},
                                      DatedMember{"", "additionalGids", k070},
                                      DatedMember{"", "additionalGIDs", k070},
                                      DatedMember{"", "netDevices", k110},
                                      DatedMember{"intelRdt", "schemata", k110},
                                      DatedMember{"intelRdt", "enableMonitoring", k110},
                                      DatedMember{"intelRdt", "enableCMT", k070, k100},
                                      DatedMember{"intelRdt", "enableMBM", k070, k100}};

class Check {
 public:
  explicit Check(Version version) : version_(version) {}

  void file(Value root) const {
    member(root, {"", "annotations", k060});
    if (const auto kind = root.member("kind");
        kind && class_of_kind(kind->node().text).contains('.'))
      since(*kind, k060, "a \".\" in a class");
    if (const auto common = root.member("containerEdits")) edits(*common);
    const auto devices = root.member("devices");
    if (!devices) return;
    for (const Value device : *devices) {
      member(device, {"", "annotations", k060});
      if (const auto name = device.member("name");
          name && name->node().text.find_first_of("0123456789") == 0)
        since(*name, k050, "a digit at the beginning of a name");
      if (const auto own = device.member("containerEdits")) edits(*own);
    }
  }

 private:
  void edits(Value at) const {
    for (const DatedMember& dated : kDatedMembers) {
      if (dated.of.empty()) {
        member(at, dated);
        continue;
      }
      const auto objects = at.member(dated.of);
      if (!objects) continue;
      if (objects->node().is_object()) member(*objects, dated);
      if (objects->node().is_array())
        for (const Value object : *objects) member(object, dated);
    }
  }
  void member(Value object, const DatedMember& dated) const {
    const auto found = object.member(dated.name);
    if (!found) return;
    since(*found, dated.since, dated.name);
    if (version_ > dated.until)
      found->problem("{} is only for cdiVersion {} and older, and the file has {}", dated.name,
                     kVersions.at(dated.until), kVersions.at(version_));
  }
  void since(Value at, Version least, std::string_view what) const {
    if (version_ < least)
      at.problem("{} needs cdiVersion {} or newer, and the file has {}", what, kVersions.at(least),
                 kVersions.at(version_));
  }

  Version version_;
};

}  // namespace

void check_cdi_version(Value root) {
  const auto written = root.member("cdiVersion");
  if (!written || !written->node().is_string()) return;
  std::string_view word = written->node().text;
  if (word.starts_with('v')) word.remove_prefix(1);
  const auto* const found = std::ranges::find(kVersions, word);
  if (found == kVersions.end())
    return written->problem("must be one of {}, not {}", bundle::comma_list(kVersions),
                            bundle::found(*written));
  Check(static_cast<Version>(found - kVersions.begin())).file(root);
}

}  // namespace ocirun::pods
