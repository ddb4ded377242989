#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"

// The annotations of config.json that ocirun obeys. Other projects define them, and engines copy
// them from images, so a value that makes no sense does not keep a container from running:
// check_config() warns, and the annotation counts as not given. An unknown name or value of those
// below kOwnPrefix, which are ocirun's own, is an error.
namespace ocirun::bundle {

using Annotations = std::map<std::string, std::string>;

inline constexpr std::string_view kStopSignal = "org.opencontainers.image.stopSignal";
inline constexpr std::string_view kImageSystem = "org.opencontainers.image.os";
inline constexpr std::string_view kExposedPorts = "org.opencontainers.image.exposedPorts";
inline constexpr std::string_view kCriuConfig = "org.criu.config";

/// The value of an annotation of the image; nothing if it is absent or empty. An empty value is
/// valid (T-6), and umoci writes one for each member that the image lacks.
std::optional<std::string_view> image_annotation(const Annotations& annotations,
                                                 std::string_view name);

/// The signal that an image names as its stop signal. Nothing if `text` is empty, names no signal,
/// or names signal 0, which stops no process.
std::optional<int> parse_stop_signal(std::string_view text);

/// The signal that the annotation kStopSignal names (T-7).
std::optional<int> stop_signal(const Annotations& annotations);

inline constexpr char kOwnPrefix[] = "org.ocirun.";
/// "true": a small process waits for the end of the container, and records it (life.hpp).
inline constexpr char kRecordExit[] = "org.ocirun.record-exit";
/// "true": no process of another container runs on a core's other threads (core_scheduling.hpp).
inline constexpr char kCoreScheduling[] = "org.ocirun.core-scheduling";
/// Whether the annotation `name`, one of these two, is "true". Errors: the value is neither "true"
/// nor "false".
Result<bool> is_true(const Annotations& annotations, const char* name);
/// Whether kCoreScheduling is "true"; false for a value that check_config() refuses.
bool wants_core_scheduling(const Annotations& annotations);

/// Whether the value of kCriuConfig can be used: "" asks for no file, as with runc.
bool is_criu_config(std::string_view value);

}  // namespace ocirun::bundle
