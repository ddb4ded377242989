#pragma once

// App Container pod manifests: their types and isolators.

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// Reads an App Container pod manifest (AC-1 … AC-23) into `out` and reports every
/// problem; an unknown name is a problem.
void read_appc(Value at, Pod& out);

/// AC Name: lower-case letters and digits, in parts that "-" separates.
bool ac_name(Value at, std::string& out);
/// AC Identifier: like an AC Name, but ".", "_", "~" and "/" may also separate the parts.
bool ac_identifier(Value at, std::string& out);
bool is_ac_identifier(std::string_view text);
/// AC Version: MAJOR.MINOR.PATCH from 0.5 to 0.8, or 1.MINOR.PATCH, the version of the rkt that has
/// written the manifest (AC-1).
bool ac_version(Value at, std::string& out);
/// Whether `id` is a complete Image ID: "sha512-" or "sha256-", and all hexadecimal digits (AC-5).
bool is_image_id(std::string_view id);
/// Whether `id` is an Image ID of rkt, which has the first half of the digits of a sha512.
bool is_rkt_image_id(std::string_view id);
/// The permissions of a directory in octal digits, such as "0755" (AC-17).
bool mode_text(Value at, mode_t& out);
/// An IPv4 address of four numbers, "203.0.113.23".
bool dotted_quad(Value at, std::string& out);
/// A port as an image manifest has it.
bool ac_port(Value at, Port& out);
/// A list of {"name", "value"} with unique AC Identifiers as names (AC-12, AC-19). rkt writes names
/// with a domain.
bool ac_annotations(Value at, std::map<std::string, std::string>& out);

/// The isolators of an app (AC-18): memory, CPU, capabilities, seccomp, no-new-privileges, …
bool app_isolators(Value at, Container& out);
/// The isolators of the pod: memory and CPU.
bool pod_isolators(Value at, Amounts& out);

}  // namespace ocirun::pods
