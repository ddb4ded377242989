#include "cgroups/hierarchies/unit_names.hpp"

#include <algorithm>

#include "cgroups/hierarchies/text.hpp"
#include "linux/base/letters.hpp"

namespace ocirun::cgroups {
namespace {

constexpr std::string_view kSlice = ".slice", kScope = ".scope";
constexpr std::size_t kLongestUnit = 255;

bool is_unit_character(char c) {
  return linux::is_alphanumeric(c) || std::string_view(":-_.\\@").find(c) != std::string_view::npos;
}

bool is_unit_name(std::string_view unit, std::string_view suffix) {
  return unit.size() > suffix.size() && unit.size() <= kLongestUnit && unit.ends_with(suffix) &&
         !unit.starts_with('.') && !unit.starts_with('@') &&
         std::ranges::all_of(unit, is_unit_character);
}

std::string default_slice(SystemdInstance instance) {
  return instance == SystemdInstance::kUser ? "user.slice" : "system.slice";
}

template <typename Kept>
std::string escape(std::string_view text, Kept is_kept) {
  std::string escaped;
  for (const char c : text)
    escaped +=
        is_kept(c) ? std::string(1, c) : fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return escaped;
}

std::string escape_id(std::string_view id) { return escape(id, is_unit_character); }

}  // namespace

bool is_scope_name(std::string_view unit) { return is_unit_name(unit, kScope); }
bool is_slice_name(std::string_view unit) {
  return unit != "-.slice" && expand_slice(unit).has_value();
}

std::string escape_slice_part(std::string_view text) {
  return escape(text, [](char c) {
    return is_unit_character(c) && std::string_view("-\\@").find(c) == std::string_view::npos;
  });
}

Result<std::string> expand_slice(std::string_view slice) {
  if (slice == "-.slice") return std::string();
  const auto refused = [&] {
    return refuse(
        "\"{}\" is no slice: \"a-b.slice\" is meant, of letters, digits and :_.\\, the parts "
        "between single dashes not empty; \"-\" is the root slice",
        slice);
  };
  if (!is_unit_name(slice, kSlice)) return refused();
  std::string path, above;
  for (const std::string_view part : split(slice.substr(0, slice.size() - kSlice.size()), '-')) {
    if (part.empty()) return refused();
    above += (above.empty() ? "" : "-") + std::string(part);
    path += fmt::format("/{}{}", above, kSlice);
  }
  return path;
}

Result<ScopeName> name_scope(const std::optional<std::string>& cgroups_path, const std::string& id,
                             SystemdInstance instance) {
  if (cgroups_path.value_or("").empty()) {
    ScopeName scope{default_slice(instance), fmt::format("ocirun-{}{}", escape_id(id), kScope)};
    if (is_scope_name(scope.unit)) return scope;
    return refuse("the id is too long for systemd's unit names: give /linux/cgroupsPath");
  }
  const auto parts = split(*cgroups_path, ':');
  if (parts.size() != 3 || parts[2].empty())
    return refuse(
        "/linux/cgroupsPath \"{}\": with the systemd cgroup manager it must be "
        "\"slice:prefix:name\", as in \"system.slice:ocirun:web\"",
        *cgroups_path);
  std::string slice(parts[0]);
  if (slice.empty()) slice = default_slice(instance);
  if (slice == "-") slice = "-.slice";
  OCIRUN_TRY(within(expand_slice(slice), "/linux/cgroupsPath \"{}\"", *cgroups_path));
  std::string unit =
      fmt::format("{}{}{}{}", parts[1], parts[1].empty() ? "" : "-", parts[2], kScope);
  if (!is_scope_name(unit))
    return refuse(
        "/linux/cgroupsPath \"{}\": \"{}\" is no unit's name: at most {} letters, digits and "
        "-_.\\@ (see systemd-escape(1))",
        *cgroups_path, unit, kLongestUnit);
  return ScopeName{std::move(slice), std::move(unit)};
}

}  // namespace ocirun::cgroups
