#include <algorithm>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "runtime/cli/command.hpp"
#include "runtime/cli/values.hpp"
#include "runtime/commands/mounts.hpp"

namespace ocirun::runtime::cli {
namespace {

using bundle::LiveMount;

/// The document of "type=bind,source=/a,destination=/b,options=ro:nosuid", the form of `ctr run`.
Result<std::string> document_of_words(const std::string& text, bool destination_alone) {
  std::string type;
  std::string source;
  std::string destination;
  std::vector<std::string> options;
  for (const std::string_view word : linux::split(text, ',')) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string_view name = word.substr(0, equals);
    const std::string value(word.substr(std::min(equals + 1, word.size())));
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
          "by commas",
          text, name);
  }
  if (destination.empty()) return refuse("--mount {}: destination= is missing", text);
  if (destination_alone && type.empty()) type = "tmpfs";  // `remove` looks at the place alone
  const bool is_bind = std::ranges::any_of(
      options, [](const std::string& option) { return option == "bind" || option == "rbind"; });
  if (type == "bind" && !is_bind) options.emplace_back("bind");
  bundle::JsonWriter json(bundle::JsonWriter::Layout::kOneLine);
  json.begin_object().member("destination", destination).member("type", type);
  json.member("source", source).member("options", options).end_object();
  return std::move(json).take();
}

/// The mounts of the options --mount and of the file.
Result<std::vector<LiveMount>> asked_mounts(const Invocation& invocation,
                                            const Container& container, bool destinations_alone) {
  const Arguments& arguments = invocation.arguments;
  const HostPath bundle(container.record().bundle);
  const HostPath rootfs(container.record().rootfs);
  std::vector<std::string> warnings;
  std::vector<LiveMount> mounts;
  const auto append = [&](const std::string& text) -> Result<void> {
    OCIRUN_TRY_ASSIGN(auto parsed, bundle::parse_mounts(text, bundle, rootfs, warnings));
    std::ranges::move(parsed, std::back_inserter(mounts));
    return {};
  };
  if (arguments.operands().size() > 2) {
    const std::string& file = arguments.operands()[2];
    OCIRUN_TRY_ASSIGN(const std::string text, within(read_document(file), "{}", file));
    OCIRUN_TRY(append(text));
  }
  for (const std::string& words : arguments.values("mount")) {
    OCIRUN_TRY_ASSIGN(const std::string document, document_of_words(words, destinations_alone));
    OCIRUN_TRY(append("[" + document + "]"));
  }
  for (const std::string& warning : warnings) invocation.log.warn(warning);
  if (mounts.empty())
    return refuse(
        "give a file with a list of mounts, in the form of /mounts of config.json, or "
        "--mount");
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
  const std::string& action = arguments.operands().front();
  const std::string format = arguments.value("format").value_or("text");
  if (format != "text" && format != "json")
    return refuse("--format {}: must be text or json", format);
  OCIRUN_TRY_ASSIGN(const ContainerId id, ContainerId::parse(arguments.operands()[1]));
  OCIRUN_TRY_ASSIGN(Container container, Container::load(invocation.options, id));
  if (action == "list") {
    OCIRUN_TRY(list(container, format));
    return 0;
  }
  if (action != "add" && action != "remove")
    return refuse("{}: must be add, remove or list", action);
  OCIRUN_TRY_ASSIGN(const std::vector<LiveMount> mounts,
                    asked_mounts(invocation, container, action == "remove"));
  if (action == "add") {
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
