#pragma once

#include <map>
#include <string>
#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/document.hpp"
#include "bundle/json/fields.hpp"
#include "bundle/json/report.hpp"

namespace ocirun::bundle {

// The readers of the document's sections, which the parse_*.cpp define.

bool read_mount(Value at, linux::Mount& out);
bool read_process(Value at, Process& out);
bool read_hooks(Value at, hooks::Hooks& out);
bool read_linux(Value at, Config& out);
bool read_id_mappings(Value at, std::vector<linux::IdMapping>& out);
bool read_namespaces(Value at, linux::NamespaceSet& out);
bool read_time_offsets(Value at, std::vector<linux::TimeOffset>& out);
bool read_device(Value at, linux::Device& out);
bool read_net_devices(Value at, std::vector<linux::NetDevice>& out);
bool read_resources(Value at, cgroups::Resources& out);
bool read_seccomp(Value at, linux::SeccompProfile& out);
bool read_annotations(Value at, std::map<std::string, std::string>& out);

/// Checks the rules that hold between sections of a document. Reports problems and warnings to the
/// report of `root`, and returns the refusals (Parsed::refusals).
std::vector<std::string> check_config(const Config& config, Value root);

/// Reports problems that only 0.5 and 0.6 forbid: another platform than this host's (SD-2), and
/// names of environment variables with characters other than letters, digits and underscores
/// (SD-7).
void check_legacy_rules(const Node& root, Report& report);

/// Rewrites a 0.5 or 0.6 document in place into its 1.3 form, the only form that the readers know
/// (docs/requirements.md: SD). An old name together with its new name is a problem. Messages about
/// a rewritten member still point to the user's original.
void legacy_to_current(Document& document, Report& report);

}  // namespace ocirun::bundle
