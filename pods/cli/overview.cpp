#include "pods/cli/overview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "linux/base/name_table.hpp"
#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {
namespace {

/// Commands that a reader looks for together.
struct Group {
  std::array<const Command*, 4> commands;  // nullptr: the group has fewer
  const char* words;
};
constexpr std::array kGroups{
    Group{{&kRun, &kStart, &kRestart}, "run the pod of a document; run a pod again"},
    Group{{&kStop, &kDelete, &kKill, &kWait}, "end pods, remove them, send signals, await ends"},
    Group{{&kStatus, &kPorts, &kStats}, "what pods do, which ports they have, what they use"},
    Group{{&kLogs, &kEvents}, "what containers have written, what has happened"},
    Group{{&kExec, &kCopy}, "run a program in a container, copy files in and out"},
    Group{{&kPull, &kImages, &kVolumes}, "fetch images, list images and kept directories"},
    Group{{&kValidate, &kPlan}, "tell all faults of documents; write their bundles"},
    Group{{&kUnit, &kExport}, "a service of systemd; for Kubernetes or Docker Swarm"},
};

/// Words of other tools, and our commands.
constexpr linux::Named<std::string_view> kMeant[] = {
    {"ps", "status"},      {"ls", "status"},       {"list", "status"},     {"get", "status"},
    {"inspect", "status"}, {"describe", "status"}, {"up", "run"},          {"create", "run"},
    {"apply", "run"},      {"play", "run"},        {"down", "stop"},       {"rm", "delete"},
    {"remove", "delete"},  {"prune", "delete"},    {"top", "stats"},       {"log", "logs"},
    {"attach", "logs"},    {"port", "ports"},      {"image", "images"},    {"volume", "volumes"},
    {"shell", "exec"},     {"generate", "export"}, {"config", "validate"},
};

}  // namespace

std::string overview() {
  std::string text =
      "usage: ocirun pod COMMAND [OPTION...] [OPERAND...]\n\n"
      "A pod is a group of containers on this machine. A document in YAML or JSON\n"
      "describes the pod: of Kubernetes, Knative, OAM, Radius or App Container.\n\n";
  for (const Group& group : kGroups) {
    std::vector<std::string_view> names;
    for (const Command* command : group.commands)
      if (command != nullptr) names.push_back(command->name);
    text += fmt::format("  {:<24}{}\n", fmt::format("{}", fmt::join(names, " ")), group.words);
  }
  return text +
         "\n`ocirun pod COMMAND --help` prints the options of a command; ocirun-pod(8)\n"
         "names the page of each command. `ocirun pod run -` reads standard input.\n";
}

std::string_view meant_by(std::string_view word) {
  return linux::value_of(kMeant, word).value_or("");
}

}  // namespace ocirun::pods::cli
