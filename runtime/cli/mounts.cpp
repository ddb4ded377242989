#include <algorithm>
#include <cstdint>

#include "bundle/json/writer.hpp"
#include "linux/base/name_table.hpp"
#include "linux/base/text.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/commands/mounts.hpp"

namespace ocirun::runtime::cli {
namespace {

using bundle::LiveMount;

enum class Action : std::uint8_t { kAdd, kRemove, kList };
constexpr linux::Named<Action> kActions[] = {
    {"add", Action::kAdd}, {"remove", Action::kRemove}, {"list", Action::kList}};

/// The document of "type=bind,source=/a,destination=/b,options=ro:nosuid", the form of `ctr run`.
/// `remove` looks at the destination alone.
Result<std::string> document_of_words(const std::string& text, Action action) {
  std::string type;
  std::string source;
  std::string destination;
  std::vector<std::string> options;
  for (const std::string_view word : linux::split(text, ',')) {
    std::string_view rest = word;
    const std::string_view name = linux::cut(rest, '=');
    const std::string value(rest);
    if (name == "type")
      type = value;
    else if (name == "source" || name == "src")
      source = value;
    else if (name == "destination" || name == "dst" || name == "target")
      destination = value;
    else if (name == "options")
      for (const std::string_view option : linux::words(value, ':')) options.emplace_back(option);
    else
      return refuse(
          "--mount {}: {}: must be type=, source=, destination= or options=WORD[:WORD…], separated "
          "by commas, with colons between options",
          text, name);
  }
  if (destination.empty()) return refuse("--mount {}: destination= is missing", text);
  if (action == Action::kRemove) {
    type = source = "tmpfs";
    options.clear();
  }
  const bool is_bind = std::ranges::any_of(
      options, [](const std::string& option) { return option == "bind" || option == "rbind"; });
  if (type == "bind" && !is_bind) options.emplace_back("bind");
  bundle::JsonWriter json(bundle::JsonWriter::Layout::kOneLine);
  json.begin_object().member("destination", destination).member("type", type);
  json.member("source", source).member("options", options).end_object();
  return std::move(json).take();
}

/// The mounts of the file, and then those of the options --mount.
Result<std::vector<LiveMount>> asked_mounts(const Invocation& invocation,
                                            const Container& container, Action action) {
  const Arguments& arguments = invocation.arguments;
  const bool has_file = arguments.operands().size() > 2;
  if (!has_file && arguments.values("mount").empty())
    return refuse(
        "give a file with a list of mounts, in the form of /mounts of config.json, or --mount");
  const HostPath bundle(container.record().bundle);
  const HostPath rootfs(container.record().rootfs);
  std::vector<std::string> warnings;
  std::vector<LiveMount> mounts;
  const auto append = [&](const std::string& text) -> Result<void> {
    OCIRUN_TRY_ASSIGN(auto parsed, bundle::parse_mounts(text, bundle, rootfs, warnings));
    std::ranges::move(parsed, std::back_inserter(mounts));
    return {};
  };
  if (has_file) {
    const std::string& file = arguments.operands()[2];
    OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(file), "{}", file));
    OCIRUN_TRY(within(append(text), "{}", file));
  }
  for (const std::string& words : arguments.values("mount")) {
    OCIRUN_TRY_ASSIGN(const std::string document, document_of_words(words, action));
    OCIRUN_TRY(within(append("[" + document + "]"), "--mount {}", words));
  }
  for (const std::string& warning : warnings) invocation.log.warn(warning);
  return mounts;
}

Result<void> list(const Container& container, const std::string& format) {
  OCIRUN_TRY_ASSIGN(const std::vector<LiveMount> mounts, added_mounts(container));
  std::string text;
  if (format == "json") {
    for (const LiveMount& live : mounts) text += (text.empty() ? "[" : ",\n ") + live.document;
    return print(text.empty() ? "[]\n" : text + "]\n");
  }
  for (const LiveMount& live : mounts)
    text += fmt::format("{}  {}  {}\n", linux::in_one_line(live.mount.destination.string()),
                        live.mount.bind ? "bind" : live.mount.type,
                        linux::in_one_line(live.mount.source));
  return print(text);
}

}  // namespace

Result<int> run_mounts(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const auto action = linux::value_of(kActions, arguments.operands().front());
  if (!action) return refuse("{}: must be add, remove or list", arguments.operands().front());
  const std::string format = arguments.value("format").value_or("text");
  if (format != "text" && format != "json")
    return refuse("--format {}: must be text or json", format);
  if (*action != Action::kList && arguments.value("format"))
    return refuse("--format: is for `mounts list`");
  if (*action == Action::kList &&
      (arguments.operands().size() > 2 || !arguments.values("mount").empty()))
    return refuse("`mounts list` takes no mounts");
  OCIRUN_TRY_ASSIGN(const ContainerId id, ContainerId::parse(arguments.operands()[1]));
  OCIRUN_TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  if (*action == Action::kList) {
    OCIRUN_TRY(list(container, format));
    return 0;
  }
  OCIRUN_TRY_ASSIGN(const std::vector<LiveMount> mounts,
                    asked_mounts(invocation, container, *action));
  if (mounts.empty()) return 0;
  if (*action == Action::kAdd) {
    OCIRUN_TRY(add_mounts(container, mounts));
    return 0;
  }
  std::vector<RootfsPath> destinations;
  for (const LiveMount& live : mounts) destinations.push_back(live.mount.destination);
  OCIRUN_TRY(remove_mounts(container, destinations,
                           [&](const std::string& sentence) { invocation.log.warn(sentence); }));
  return 0;
}

}  // namespace ocirun::runtime::cli
