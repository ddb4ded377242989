#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "pods/images/layer.hpp"
#include "pods/images/source_files.hpp"

// The messages between ocirun-pod and its program ocirun-unpack. Only ocirun-unpack reads archives,
// because libarchive and its decompressors then read untrusted bytes.

namespace ocirun::pods {

inline constexpr const char* kUnpackProgram = "ocirun-unpack";

/// The numbers of the descriptors that the program gets. 2 is the null device.
inline constexpr int kArchiveDescriptor = 0;
inline constexpr int kReportDescriptor = 1;  // a pipe, for messages
inline constexpr int kIntoDescriptor = 3;  // an empty directory, or the file for the plain archive
/// From this number on: the directory of the layers below, if there are any, and the locks, which
/// stay open to the end.
inline constexpr int kMoreDescriptor = 4;

/// The exit status of ocirun-unpack when it has no memory. libarchive exits with the same status.
inline constexpr int kNoMemoryStatus = 1;

/// The memory, in bytes, that ocirun-unpack may take beyond what it has at its start. zstd takes up
/// to 128 MiB; libarchive's map of a GNU sparse file takes as much as the archive wants.
inline constexpr std::uint64_t kMostUnpackMemory = std::uint64_t{512} << 20;

/// "Unpack this layer into kIntoDescriptor."
struct LayerJob {
  LayerBlob layer;
  std::uint64_t offset = 0, size = 0;  // of the blob in kArchiveDescriptor
  UnpackOptions options;               // without `progress`
  bool reports_progress = false;
  std::vector<std::string> below;  // the names of the layers below, the nearest first
};

/// "Tell where the files of this archive are." A compressed archive is uncompressed into
/// kIntoDescriptor, and the places are those in there.
struct IndexJob {
  Compression compression = Compression::kNone;
  std::uint64_t most_bytes = 0;  // uncompressed
  std::uint64_t most_entries = 0;
};

/// The command line for a job, without the program's name.
std::vector<std::string> words_of(const LayerJob& job);
std::vector<std::string> words_of(const IndexJob& job);
/// Parses a command line. Returns nothing unless words_of() could have written it.
std::optional<LayerJob> parse_layer_job(std::span<const std::string> words);
std::optional<IndexJob> parse_index_job(std::span<const std::string> words);

/// The program's messages. Each ends with NUL, which no name contains.
std::string progress_message(std::uint64_t bytes);
std::string done_message(const UnpackedLayer& unpacked);
std::string member_message(const ArchiveMember& member);
std::string failed_message(const Error& error);

/// All that the program has reported until it has closed its pipe.
struct UnpackReport {
  std::optional<UnpackedLayer> done;
  std::optional<Error> error;
};
/// Reads all messages. Calls `on_progress` with the number of each progress_message(), and
/// `on_member` with each member. Any message may be malformed, because an archive may have taken
/// the program over. Errors: a message that is too long; those of `on_member`.
Result<UnpackReport> read_report(
    Fd from, const std::function<void(std::uint64_t)>& on_progress,
    const std::function<Result<void>(const ArchiveMember&)>& on_member);

}  // namespace ocirun::pods
