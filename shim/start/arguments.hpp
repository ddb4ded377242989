#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "linux/base/error.hpp"

namespace ocirun::shim {

/// What one call of the program does.
enum class Action : std::uint8_t { kStart, kDelete, kVersion, kInformation, kHelp };

/// The arguments that containerd gives the program.
struct Arguments {
  Action action = Action::kHelp;
  std::string container_namespace;  // a namespace of containerd, not of the kernel
  std::string id;                   // of the container
  std::string address;              // of containerd's gRPC socket
  std::string publish_binary;       // containerd's executable; not used: events go to a socket
  std::string bundle;
  bool debug = false;
};

/// Parses the words behind the program's name as Go's package flag does: `-id X`, `-id=X`, `--id X`
/// and `--id=X` are the same. The action is the last word. Errors: an unknown flag, a flag without
/// its value, no or another action; `start` and `delete` without -namespace or -id, or with one
/// that is not letters, digits, "-", "_" and "." behind a letter or digit; `delete` without
/// -bundle.
Result<Arguments> parse_arguments(std::span<const std::string> words);

/// The text for -h.
std::string help_text();

}  // namespace ocirun::shim
