// `mounts` (docs/requirements.md: M-1 … M-8).

#include <algorithm>

#include "bundle/config/sections.hpp"
#include "bundle/json/writer.hpp"
#include "linux/base/letters.hpp"
#include "linux/base/name_table.hpp"

namespace ocirun::bundle {
namespace {

/// An element of `mounts` as the document has it. read_mount() converts a WrittenMount to a
/// linux::Mount.
struct WrittenMount {
  std::string destination, type, source;
  std::vector<std::string> options;
  std::optional<std::vector<linux::IdMapping>> uids, gids;
};

constexpr auto kMountFields =
    fields<WrittenMount>(required("destination", &WrittenMount::destination, nonempty_text),  // M-2
                         field("type", &WrittenMount::type, text),                            //
                         field("source", &WrittenMount::source, text),                        //
                         field("options", &WrittenMount::options, texts),                     //
                         field("uidMappings", &WrittenMount::uids, read_id_mappings),         // M-8
                         field("gidMappings", &WrittenMount::gids, read_id_mappings));

/// The JSON pointer of element `index` of a mount's `options`, for messages.
std::string option_at(Value at, std::size_t index) {
  return pointer_below(at.node(), "options") + fmt::format("/{}", index);
}

/// Words of the command lines of Docker and podman, in lower case and without hyphens and
/// underscores, and what to write instead. No filesystem of the kernel has an option of such a
/// name.
constexpr linux::Named<std::string_view> kForeignOptions[] = {
    {"readonly", "did you mean ro?"},
    {"readwrite", "did you mean rw?"},
    {"recursive", "did you mean rbind?"},
    {"z", "ocirun relabels no files: leave it out, and run chcon on the source"},
    {"u", "ocirun changes no owners: leave it out, and run chown on the source, or use idmap"},
    {"nocopy", "a word of Docker's volumes: leave it out"},
    {"cached", "a word of Docker Desktop: leave it out"},
    {"delegated", "a word of Docker Desktop: leave it out"},
    {"consistent", "a word of Docker Desktop: leave it out"},
};

/// What to write instead of an option that is certainly a mistake, for a message; nothing for
/// others.
std::optional<std::string_view> foreign_hint(std::string_view option) {
  const std::size_t comma = option.find(',');
  if (comma != std::string_view::npos &&
      std::ranges::binary_search(linux::known_mount_options(), option.substr(0, comma)))
    return "each word between commas is an element of its own";
  std::string bare;
  for (const char c : option)
    if (c != '-' && c != '_') bare += linux::lower(c);
  return linux::value_of(kForeignOptions, bare);
}

/// The hint for an option that a bind mount does not take, in brackets; "" if there is none.
std::string hint(std::string_view option) {
  if (const auto foreign = foreign_hint(option)) return fmt::format(" ({})", *foreign);
  const std::string_view near = nearest(option, linux::known_mount_options());
  return near.empty() ? "" : fmt::format(" (did you mean {}?)", near);
}

void apply_options(Value at, const WrittenMount& written, linux::Mount& out) {
  std::vector<std::size_t> data;  // the indices of the options for the filesystem
  for (std::size_t i = 0; i < written.options.size(); ++i) {
    const std::string& option = written.options[i];
    if (option.empty()) continue;
    if (linux::apply_mount_option(out, option) == linux::MountOptionUse::kFilesystemData)
      data.push_back(i);
  }
  for (const std::size_t index : data) {
    const std::string& option = written.options[index];
    if (out.bind)  // M-7: the kernel would ignore the option
      at.report().problem(
          fmt::format("{}: a bind mount takes no filesystem-specific option, and {} is none of the "
                      "known mount options{}",
                      option_at(at, index), in_quotes(option), hint(option)));
    else if (const auto foreign = foreign_hint(option))
      at.report().warning(fmt::format("{}: {} is no mount option, and goes to the filesystem ({})",
                                      option_at(at, index), in_quotes(option), *foreign));
  }
}

void check_kind(Value at, const WrittenMount& written, const linux::Mount& out) {
  if (out.bind) {
    if (written.source.empty() && !out.remount)
      at.problem_at("source", "is missing: a bind mount needs the path that it binds");
    return;
  }
  if (written.type == "bind")  // M-4
    at.problem_at("type", "type \"bind\" needs option \"bind\" or \"rbind\" in options");
  else if (written.type.empty() && !out.remount)  // M-5
    at.problem_at("type",
                  "is missing: every mount needs a type, except bind mounts (option \"bind\" "
                  "or \"rbind\")");
  if (out.copy_up && written.type != "tmpfs")
    at.problem_at("options", "option tmpcopyup needs type \"tmpfs\", not {}",
                  in_quotes(written.type));
}

void check_mappings(Value at, const WrittenMount& written, linux::Mount& out) {  // M-8
  if (written.uids.has_value() != written.gids.has_value())
    return at.problem_at(
        written.uids ? "gidMappings" : "uidMappings",
        "is missing: uidMappings and gidMappings are given together or not at all");
  if (!written.uids || (written.uids->empty() && written.gids->empty())) return;
  if (written.uids->empty() || written.gids->empty())
    return at.problem_at(written.uids->empty() ? "uidMappings" : "gidMappings",
                         "must hold a mapping, because the other list does: uidMappings and "
                         "gidMappings go together");
  out.id_map = {*written.uids, *written.gids};
  if (out.id_map_kind == linux::IdMapKind::kNone) out.id_map_kind = linux::IdMapKind::kMount;
}

}  // namespace

bool read_mount(Value at, linux::Mount& out) {
  WrittenMount written;
  const std::size_t before = at.report().problem_count();
  const bool whole = kMountFields(at, written);
  apply_options(at, written, out);
  if (whole) {
    check_kind(at, written, out);
    check_mappings(at, written, out);
  }
  if (!written.destination.empty() && !written.destination.starts_with('/')) {  // M-2
    at.warning("destination {} is relative: it is read relative to \"/\" (deprecated)",
               in_quotes(written.destination));
    written.destination.insert(0, "/");
  }
  out.destination = RootfsPath(std::move(written.destination));
  out.source = std::move(written.source);
  out.type = out.bind ? std::string() : std::move(written.type);
  return at.report().problem_count() == before;
}

}  // namespace ocirun::bundle
