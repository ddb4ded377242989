#pragma once

#include <span>
#include <string>

#include "linux/process/clone.hpp"
#include "pods/model/container.hpp"

namespace ocirun::pods {

/// A probe's question under way: the process that asks, and what it writes.
struct Asked {
  linux::Child child;
  UniqueFd output;
  std::string text;  // the first bytes that the process has written
};

struct Answer {
  bool is_success = false;
  std::string reason;  // of a failure
};

/// Starts to ask. HTTP and TCP are asked at the loopback addresses of the network namespace
/// `network` (-1: the caller's) by the program ocirun-probe; the question of an exec probe is the
/// program `command`, which executes the probe's command in the container. Errors: fork fails; the
/// program ocirun-probe is missing.
Result<Asked> ask(const Probe& probe, Fd network, std::span<const std::string> command);

/// Reads what the process has written, without waiting, so that it can go on writing.
void hear(Asked& asked);

/// The answer, when the process has ended. Reaps the process.
Answer take_answer(Asked& asked);

/// Kills the process that asks, and reaps it.
void abandon(Asked& asked);

}  // namespace ocirun::pods
