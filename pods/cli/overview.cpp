#include "pods/cli/overview.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

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

struct Meant {
  std::string_view word, ours;
};
constexpr std::array kMeant{
    Meant{"ps", "status"},      Meant{"ls", "status"},       Meant{"list", "status"},
    Meant{"get", "status"},     Meant{"inspect", "status"},  Meant{"describe", "status"},
    Meant{"up", "run"},         Meant{"create", "run"},      Meant{"apply", "run"},
    Meant{"play", "run"},       Meant{"down", "stop"},       Meant{"rm", "delete"},
    Meant{"remove", "delete"},  Meant{"prune", "delete"},    Meant{"top", "stats"},
    Meant{"log", "logs"},       Meant{"attach", "logs"},     Meant{"port", "ports"},
    Meant{"image", "images"},   Meant{"volume", "volumes"},  Meant{"shell", "exec"},
    Meant{"generate", "export"}, Meant{"config", "validate"},
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
  const auto* const found = std::ranges::find(kMeant, word, &Meant::word);
  return found == kMeant.end() ? std::string_view() : found->ours;
}

}  // namespace ocirun::pods::cli
