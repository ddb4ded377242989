#include "shim/start/arguments.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "linux/base/letters.hpp"
#include "linux/base/text.hpp"

namespace ocirun::shim {
namespace {

constexpr std::string_view kFlags =
    "-namespace, -id, -address, -publish-binary, -bundle, -debug, -v, -info, -h";
constexpr std::string_view kHowToConfigure =
    "containerd starts this program: put it beside containerd or into its PATH, and choose the "
    "runtime io.containerd.ocirun.v2 (`ctr run --runtime io.containerd.ocirun.v2 …`, or "
    "runtime_type in /etc/containerd/config.toml, or runtimeType in /etc/docker/daemon.json)";

struct TextFlag {
  std::string_view name;
  std::string Arguments::* member;
};
constexpr std::array kTextFlags{
    TextFlag{"namespace", &Arguments::container_namespace}, TextFlag{"id", &Arguments::id},
    TextFlag{"address", &Arguments::address},
    TextFlag{"publish-binary", &Arguments::publish_binary}, TextFlag{"bundle", &Arguments::bundle}};

/// "-id=X": the name and the value of a flag; without "=" there is no value.
struct WrittenFlag {
  std::string_view name;
  std::optional<std::string_view> value;
};
WrittenFlag split_flag(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {word, std::nullopt};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

/// The value of a flag that needs none.
Result<bool> read_switch(const WrittenFlag& flag) {
  const std::string_view value = flag.value.value_or("true");
  if (is_one_of(value, {"true", "1", "t", "T", "TRUE", "True"})) return true;
  if (is_one_of(value, {"false", "0", "f", "F", "FALSE", "False"})) return false;
  return refuse("-{}={}: must be true or false", flag.name, linux::in_one_line(value));
}

Result<void> read_flag_without_value(const WrittenFlag& flag, Arguments& out) {
  const auto action = flag.name == "v"                      ? Action::kVersion
                      : flag.name == "info"                 ? Action::kInformation
                      : is_one_of(flag.name, {"h", "help"}) ? Action::kHelp
                                                            : Action::kStart;
  if (flag.name != "debug" && action == Action::kStart)
    return refuse("unknown flag -{}: must be one of {}", linux::in_one_line(flag.name), kFlags);
  OCIRUN_TRY_ASSIGN(const bool is_on, read_switch(flag));
  if (flag.name == "debug")
    out.debug = is_on;
  else if (is_on)
    out.action = action;
  return {};
}

/// Identifiers become parts of paths.
Result<void> check_identifier(std::string_view flag, std::string_view text) {
  constexpr std::size_t kMostBytes = 255;
  const auto is_allowed = [](char c) {
    return linux::is_alphanumeric(c) || c == '-' || c == '_' || c == '.';
  };
  if (text.empty()) return refuse("-{} is missing: {}", flag, kHowToConfigure);
  if (text.size() <= kMostBytes && linux::is_alphanumeric(text.front()) &&
      std::ranges::all_of(text, is_allowed))
    return {};
  return refuse(
      "-{} \"{}\": must be at most {} letters, digits, \"-\", \"_\" and \".\", a letter or digit "
      "first",
      flag, linux::in_one_line(text), kMostBytes);
}

Result<void> read_action(std::span<const std::string> words, Arguments& out) {
  if (words.empty()) return refuse("{}", kHowToConfigure);
  if (words.size() > 1)
    return refuse("unexpected word \"{}\" behind {}", linux::in_one_line(words[1]),
                  linux::in_one_line(words[0]));
  if (words[0] != "start" && words[0] != "delete")
    return refuse("unknown action \"{}\": must be start or delete", linux::in_one_line(words[0]));
  out.action = words[0] == "start" ? Action::kStart : Action::kDelete;
  OCIRUN_TRY(check_identifier("namespace", out.container_namespace));
  OCIRUN_TRY(check_identifier("id", out.id));
  if (out.action == Action::kDelete && out.bundle.empty())
    return refuse("-bundle is missing: delete needs the directory of the bundle");
  return {};
}

}  // namespace

Result<Arguments> parse_arguments(std::span<const std::string> words) {
  Arguments out;
  bool is_question = false;
  for (; !words.empty() && words[0].size() > 1 && words[0][0] == '-'; words = words.subspan(1)) {
    if (words[0] == "--") {
      words = words.subspan(1);
      break;
    }
    const WrittenFlag flag = split_flag(words[0]);
    const auto row = std::ranges::find(kTextFlags, flag.name, &TextFlag::name);
    if (row == kTextFlags.end()) {
      OCIRUN_TRY(read_flag_without_value(flag, out));
      is_question = is_question || flag.name != "debug";
    } else if (flag.value) {
      out.*row->member = *flag.value;
    } else {
      if (words.size() < 2) return refuse("-{}: its value is missing", flag.name);
      words = words.subspan(1);
      out.*row->member = words[0];
    }
  }
  if (!is_question) OCIRUN_TRY(read_action(words, out));
  return out;
}

std::string help_text() {
  return fmt::format(
      "usage: containerd-shim-ocirun-v2 [FLAG...] start|delete\n\n{}.\n\n"
      "  start   starts the server of a container, or finds that of its pod; prints its address\n"
      "  delete  removes what is left of a container\n\n"
      "  -namespace NAME       the namespace of containerd\n"
      "  -id ID                the container\n"
      "  -address PATH         the socket of containerd\n"
      "  -publish-binary PATH  the executable of containerd\n"
      "  -bundle DIRECTORY     the bundle, for delete\n"
      "  -debug                logs more\n"
      "  -v                    prints the version\n"
      "  -info                 prints what the runtime supports, as a RuntimeInfo of containerd\n"
      "  -h                    prints this text\n",
      kHowToConfigure);
}

}  // namespace ocirun::shim
