#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pods/cli/commands.hpp"
#include "pods/run/manage.hpp"

namespace ocirun::pods::cli {

/// The pods that the operands name, or all pods if there is no operand.
struct ChosenPods {
  std::vector<PodView> views;
  bool is_list = false;  // all pods were meant, or several were named
};
/// Views the pods of a command with the operands "[POD...]". Without names, leaves out pods that
/// are deleted meanwhile, and with a warning pods that a newer version has recorded. Errors: a
/// named pod does not exist.
Result<ChosenPods> view_pods(const PodsDirectory& pods, const std::vector<std::string>& names);

/// The cells of a line of a table.
using Row = std::vector<std::string>;
/// Pads the cells of each column to the widest one, except in the last column.
std::string text_table(const std::vector<Row>& rows);

/// The container that --container names, or the only one whose program runs. An init container that
/// has ended is no candidate. `consequence` ends the error for a named container whose program does
/// not run: "no program can be executed in it".
Result<ContainerRecord> choose_running_container(const PodRecord& record,
                                                 const std::optional<std::string>& wanted,
                                                 std::string_view consequence);

}  // namespace ocirun::pods::cli
