#include "pods/images/unpack_process.hpp"

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/confined/confine.hpp"
#include "linux/mounts/devices.hpp"
#include "linux/process/spawn.hpp"
#include "linux/sealed/own_program.hpp"
#include "pods/images/unpack_job.hpp"

namespace ocirun::pods {
namespace {

/// In these namespaces, an attacker who has taken the process over sees no other process and no
/// network. Processes that it makes end with it.
constexpr unsigned kNamespaces = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

struct Started {
  linux::Child child;
  UniqueFd report;
};

/// Starts the program. `more`: the descriptors from kIntoDescriptor on.
Result<Started> start(std::vector<std::string> words, Fd archive, std::span<const Fd> more) {
  OCIRUN_TRY_ASSIGN(std::string path, linux::find_own_program(kUnpackProgram));
  OCIRUN_TRY_ASSIGN(linux::Pipe pipe, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(const UniqueFd null, linux::open_verified_null());
  words.insert(words.begin(), path);
  const linux::ExecArguments arguments(std::move(words), {});
  std::vector<Fd> descriptors{archive, pipe.writer, null};
  descriptors.insert(descriptors.end(), more.begin(), more.end());
  const auto spawn = [&](unsigned namespaces) {
    return linux::spawn(path.c_str(), arguments, arguments.envp(), descriptors,
                        {.namespaces = namespaces});
  };
  auto child = spawn(kNamespaces);
  if (!child && linux::are_namespaces_refused(child.error())) child = spawn(0);
  if (!child) return std::unexpected(std::move(child).error());
  return Started{.child = *std::move(child), .report = std::move(pipe.reader)};
}

/// The error for a process that has ended without a report.
std::string silent_end(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemoryStatus)
    return fmt::format("needs more than {} MiB of memory", kMostUnpackMemory >> 20);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
    return "was killed, because it made a system call that reading an archive does not take";
  return status == 0 ? "reported nothing" : linux::describe_end(status);
}

/// Closes the report, which ends a process that still writes, and waits for the end of the process.
/// A process whose report was malformed may have been taken over, and is killed at once. `who`
/// names the process in errors.
Result<UnpackedLayer> end(const linux::Child& child, UniqueFd report, Result<UnpackReport> read,
                          const std::string& who) {
  report.reset();
  if (!read) ::kill(child.pid, SIGKILL);
  OCIRUN_TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  OCIRUN_TRY_ASSIGN(UnpackReport said, std::move(read));
  if (said.error) return std::unexpected(*std::move(said.error));
  if (status == 0 && said.done) return *said.done;
  return refuse("{} {}", who, silent_end(status));
}

}  // namespace

Result<UnpackedLayer> unpack_layer_apart(const FileRange& blob, const LayerBlob& layer, Fd into,
                                         const LowerLayers& below, const UnpackOptions& options,
                                         std::span<const Fd> locks) {
  const LayerJob job{.layer = layer,
                     .offset = blob.offset(),
                     .size = blob.size(),
                     .options = options,
                     .reports_progress = static_cast<bool>(options.progress),
                     .below = below.names};
  std::vector<Fd> more{into};
  if (!below.names.empty()) more.push_back(below.directory);
  more.insert(more.end(), locks.begin(), locks.end());
  OCIRUN_TRY_ASSIGN(Started started, start(words_of(job), blob.file(), more));
  return outcome_of(started.child, std::move(started.report), layer, options.progress);
}

Result<UnpackedLayer> outcome_of(const linux::Child& child, UniqueFd report, const LayerBlob& layer,
                                 const std::function<void(std::uint64_t)>& progress) {
  const std::string name = fmt::format("layer {}", shown_name(layer));
  auto read = within(read_report(report, progress, {}), name);
  return end(child, std::move(report), std::move(read), name + ": the process that unpacks it");
}

Result<TarIndex> index_archive_apart(Fd archive, Compression compression, Fd plain,
                                     const SourceLimits& limits) {
  const IndexJob job{.compression = compression,
                     .most_bytes = limits.archive_bytes,
                     .most_entries = limits.archive_entries};
  std::vector<Fd> more;
  if (compression != Compression::kNone) more.push_back(plain);
  OCIRUN_TRY_ASSIGN(Started started, start(words_of(job), archive, more));
  TarIndex index;
  const Fd indexed = compression == Compression::kNone ? archive : plain;
  std::size_t count = 0;
  auto read = read_report(started.report, {}, [&](const ArchiveMember& member) -> Result<void> {
    if (count++ == limits.archive_entries)
      return refuse("the archive has more than {} entries", limits.archive_entries);
    OCIRUN_TRY_ASSIGN(const struct stat info, linux::sys::fstat(indexed));
    return index.add(member, static_cast<std::uint64_t>(info.st_size));
  });
  OCIRUN_TRY(end(started.child, std::move(started.report), std::move(read),
                 "the process that reads the archive"));
  return index;
}

}  // namespace ocirun::pods
