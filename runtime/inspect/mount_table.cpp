#include "runtime/inspect/mount_table.hpp"

#include <linux/mount.h>

#include <algorithm>
#include <ranges>

#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"

namespace ocirun::runtime {
namespace {

constexpr linux::Named<std::uint64_t> kProtectionNames[] = {
    {"ro", MOUNT_ATTR_RDONLY},
    {"nosuid", MOUNT_ATTR_NOSUID},
    {"nodev", MOUNT_ATTR_NODEV},
    {"noexec", MOUNT_ATTR_NOEXEC},
    {"nosymfollow", MOUNT_ATTR_NOSYMFOLLOW},
};

}  // namespace

const std::uint64_t kProtections = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
                                   MOUNT_ATTR_NOEXEC | MOUNT_ATTR_NOSYMFOLLOW;

bool MountLine::has(std::string_view attribute) const {
  const auto words = linux::split(attributes, ',');
  return std::ranges::find(words, attribute) != words.end();
}

std::uint64_t MountLine::protections() const {
  std::uint64_t bits = 0;
  for (const auto& protection : kProtectionNames)
    if (has(protection.name)) bits |= protection.value;
  return bits;
}

std::string MountLine::text() const { return type + " " + text_of_protections(protections()); }

std::string text_of_protections(std::uint64_t protections) {
  std::string text = (protections & MOUNT_ATTR_RDONLY) != 0 ? "ro" : "rw";
  for (const auto& protection : kProtectionNames)
    if (protection.value != MOUNT_ATTR_RDONLY && (protections & protection.value) != 0)
      text += "," + std::string(protection.name);
  return text;
}

MountTable::MountTable(std::string_view text) {
  while (const auto entry = linux::next_mount(text))
    lines_.push_back({.id = entry->id,
                      .parent = entry->parent,
                      .point = linux::unescape_path(entry->mount_point),
                      .type = std::string(entry->type),
                      .device = std::string(entry->device),
                      .root = linux::unescape_path(entry->root),
                      .attributes = std::string(entry->attributes),
                      .propagation = std::string(entry->propagation)});
}

const MountLine* MountTable::at(std::string_view point) const {
  const auto reversed = std::views::reverse(lines_);
  const auto line = std::ranges::find(reversed, point, &MountLine::point);
  return line == reversed.end() ? nullptr : &*line;
}

std::size_t MountTable::count_at(std::string_view point) const {
  return static_cast<std::size_t>(std::ranges::count(lines_, point, &MountLine::point));
}

const MountLine* MountTable::with_id(std::uint64_t id) const {
  const auto line = std::ranges::find(lines_, id, &MountLine::id);
  return line == lines_.end() ? nullptr : &*line;
}

}  // namespace ocirun::runtime
