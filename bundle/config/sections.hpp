#pragma once

// The readers of the document's sections, which the parse_*.cpp define.

#include <vector>

#include "bundle/config/config.hpp"
#include "bundle/json/fields.hpp"

namespace ocirun::bundle {

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

}  // namespace ocirun::bundle
