#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "pods/images/registry/options.hpp"

namespace ocirun::pods {

/// What skopeo needs to reach a registry.
struct SkopeoAccess {
  std::string auth_file;    // for --authfile; "": skopeo reads the caller's own
  bool plain_http = false;  // also TLS whose certificate is not verified
};

/// The words behind the path of skopeo that print the manifest or index at `address`, byte by byte.
std::vector<std::string> inspect_words(const std::string& address, const SkopeoAccess& access);

/// The words behind the path of skopeo that copy an image into the OCI layout `layout`. With
/// `keeps_digests`, for a registry, all digests stay; a docker daemon and a store of podman have
/// none that could stay. Signatures are verified as policy.json demands, and not copied, because a
/// layout has no place for them.
std::vector<std::string> copy_words(const std::string& address, const std::string& layout,
                                    const SkopeoAccess& access, bool keeps_digests);

/// The reason of a failure in what skopeo has written to stderr: the text of its last message,
/// without the parts that repeat the address. "" if there is none.
std::string skopeos_reason(std::string_view said);

/// Advice for the reason of a failure, in the form " (…)"; "" if none is known. `host`: the host of
/// the registry.
std::string advice_for(std::string_view reason, std::string_view host);

/// Limits of one run of skopeo.
struct SkopeoLimits {
  std::chrono::seconds patience;  // the longest time without new bytes
  std::uint64_t bytes = 0;        // the most below the watched directory
};

/// Runs skopeo, and returns what it has printed. `watched`: the directory that skopeo writes to;
/// bytes that appear there are progress. With `shows_progress`, skopeo draws its progress on the
/// terminal of `pulling` instead of printing. skopeo has a session of its own, is killed when the
/// caller ends, and gets no other descriptors. The caller must have a single thread. Errors: skopeo
/// is not installed, fails, exceeds the limits, or prints more than kMaxDocument bytes.
Result<std::string> run_skopeo(const Pulling& pulling, const std::vector<std::string>& words,
                               Fd watched, const SkopeoLimits& limits, bool shows_progress);

}  // namespace ocirun::pods
