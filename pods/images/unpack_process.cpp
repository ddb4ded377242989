#include "pods/images/unpack_process.hpp"

#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

#include "linux/base/memory_reserve.hpp"
#include "linux/base/pipe.hpp"
#include "linux/base/printable.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/procfs.hpp"
#include "linux/process/capabilities.hpp"
#include "linux/process/clone.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

#if defined(__has_feature)
#define OCIRUN_HAS_FEATURE(name) __has_feature(name)
#else
#define OCIRUN_HAS_FEATURE(name) 0
#endif

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

// AddressSanitizer reserves terabytes of addresses.
#if defined(__SANITIZE_ADDRESS__) || OCIRUN_HAS_FEATURE(address_sanitizer)
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

// zstd takes up to 128 MiB, libarchive's map of a GNU sparse file as much as the archive wants.
constexpr rlim_t kMemory = rlim_t{512} << 20;
constexpr rlim_t kUnknownSize = rlim_t{1} << 30;  // of the process, where there is no /proc
constexpr std::size_t kLongestError = std::size_t{64} << 10;

// The child's report: lines "read BYTES" and, last, either "done ENTRIES BYTES DEVICES ATTRIBUTES"
// or "failed", which a text of error_lines() follows.
constexpr std::string_view kRead = "read", kDone = "done", kFailed = "failed";

// The status with which libarchive itself ends a process that has no memory for a sparse map.
constexpr int kNoMemory = 1;

/// What the child works on.
struct Job {
  ByteStream& blob;
  const LayerBlob& layer;
  UnpackOptions options;
  LowerLayers below;
  Fd into;
  Fd report;
  std::span<const Fd> locks;
};

/// A mount of its own for a directory: ".." does not lead out of it, and nothing in it is executed.
Result<UniqueFd> as_mount(Fd directory, std::uint64_t more_attributes) {
  constexpr auto kFlags =
      static_cast<unsigned>(OPEN_TREE_CLONE) | static_cast<unsigned>(AT_EMPTY_PATH);
  TRY_ASSIGN(UniqueFd mount, sys::open_tree(directory, "", kFlags));
  mount_attr attributes{};
  attributes.attr_set = static_cast<std::uint64_t>(MOUNT_ATTR_NOSUID) | MOUNT_ATTR_NODEV |
                        MOUNT_ATTR_NOEXEC | more_attributes;
  TRY(sys::mount_setattr(mount, 0, attributes));
  return mount;
}

/// Replaces the directories of the job by mounts, which stay open until the process ends, and
/// leaves the caller's mount namespace. In this order: a directory of another mount namespace
/// cannot become a mount.
Result<void> use_mounts(Job& job) {
  TRY_ASSIGN(UniqueFd into, as_mount(job.into, 0));
  UniqueFd below;
  if (job.below.directory.value >= 0) {
    TRY_ASSIGN(below, as_mount(job.below.directory, MOUNT_ATTR_RDONLY));
    ::close(job.below.directory.value);
    job.below.directory = Fd{below.release()};
  }
  ::close(job.into.value);
  job.into = Fd{into.release()};
  if (::unshare(CLONE_NEWNS) != 0) return fail(errno, "make a mount namespace");
  return sys::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
}

rlim_t own_size() {
  const auto procfs = linux::Procfs::open(linux::Procfs::Subset::kProcesses);
  if (!procfs) return kUnknownSize;
  const auto text = procfs->read("self/statm");
  if (!text) return kUnknownSize;
  std::string_view rest = *text;
  const auto pages = linux::number<rlim_t>(linux::cut(rest, ' '));
  return pages ? *pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) : kUnknownSize;
}

Result<void> limit(int resource, rlim_t most) {
  rlimit limits{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0)
    return fail(errno, "read a resource limit");
  limits.rlim_max = std::min(limits.rlim_max, most);
  limits.rlim_cur = std::min(limits.rlim_cur, limits.rlim_max);
  if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limits) != 0)
    return fail(errno, "set a resource limit");
  return {};
}

Result<void> drop_capabilities(OpaqueMark mark) {
  linux::CapabilitySet wanted;
  for (const int capability :
       {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID, CAP_MKNOD, CAP_SETFCAP})
    wanted.add(static_cast<unsigned>(capability));
  if (mark == OpaqueMark::kTrusted) wanted.add(CAP_SYS_ADMIN);  // for attributes "trusted.*"
  TRY_ASSIGN(const auto grantable, linux::grantable_capabilities(wanted));
  if (grantable.permitted.has(CAP_SETPCAP)) TRY(linux::drop_bounding_set(wanted));
  linux::CapabilitySets sets;
  sets.permitted = sets.effective =
      linux::CapabilitySet::from_bits(wanted.bits() & grantable.permitted.bits());
  return linux::set_capabilities(sets);
}

/// Gives up what unpacking does not need.
Result<void> confine(Job& job) {
  std::vector<Fd> keep(job.locks.begin(), job.locks.end());
  keep.insert(keep.end(), {job.into, job.report, job.below.directory, job.blob.descriptor()});
  linux::close_descriptors_but(keep);
  const rlim_t size = own_size();
  // Without these rights, or before Linux 5.12, the descriptors and capabilities must do.
  static_cast<void>(use_mounts(job));
  if (sys::fchdir(job.into)) static_cast<void>(sys::chroot("."));
  TRY(limit(RLIMIT_CORE, 0));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fail(errno, "set no_new_privs");
  TRY(drop_capabilities(job.options.mark));
  if (kLimitsMemory) TRY(limit(RLIMIT_AS, size + kMemory));
  return {};
}

Result<UnpackedLayer> run(Job& job) {
  TRY(within(confine(job), "confine the process that unpacks a layer"));
  return unpack_layer(job.blob, job.layer, job.into, job.below, job.options);
}

// A report that cannot be written has no reader any more.
void report(Fd to, const std::string& text) { static_cast<void>(sys::write_once(to, text)); }

[[noreturn]] void child_main(Job job, int parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);  // the parent has died before
  linux::reset_signals();
  linux::reserve_memory();
  if (job.options.progress)
    job.options.progress = [&](std::uint64_t bytes) {
      report(job.report, fmt::format("{} {}\n", kRead, bytes));
    };
  const auto outcome =
      linux::within_memory([&]() -> Result<Result<UnpackedLayer>> { return run(job); });
  if (!outcome) ::_exit(kNoMemory);
  if (const Result<UnpackedLayer>& unpacked = *outcome; !unpacked) {
    report(job.report, fmt::format("{}\n{}", kFailed, linux::error_lines(unpacked.error())));
  } else {
    report(job.report, fmt::format("{} {} {} {} {}\n", kDone, unpacked->entries, unpacked->bytes,
                                   unpacked->devices_left_out, unpacked->attributes_left_out));
  }
  ::_exit(0);
}

/// Nothing for a line that no child of ours writes.
std::optional<UnpackedLayer> parse_done(std::string_view rest) {
  UnpackedLayer out;
  for (std::uint64_t* const field :
       {&out.entries, &out.bytes, &out.devices_left_out, &out.attributes_left_out}) {
    const auto value = linux::number(linux::cut(rest, ' '));
    if (!value) return std::nullopt;
    *field = *value;
  }
  return out;
}

/// The child's report, read to its end. Nothing: the child has not reported how it ended. The
/// child may have become somebody else's: nothing of the text is believed to be well-formed.
Result<std::optional<UnpackedLayer>> read_report(
    Fd from, const std::function<void(std::uint64_t)>& progress) {
  std::optional<UnpackedLayer> done;
  std::string text;
  char block[4096];
  bool failed = false;
  for (;;) {
    const ssize_t got = ::read(from.value, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno, "read the report of the process that unpacks the layer");
    if (got == 0) break;
    text.append(block, static_cast<std::size_t>(got));
    for (std::size_t end; !failed && (end = text.find('\n')) != std::string::npos;) {
      std::string_view line(text.data(), end);
      const std::string_view verb = linux::cut(line, ' ');
      if (verb == kDone) done = parse_done(line);
      if (verb == kFailed) failed = true;
      if (const auto bytes = linux::number(line); verb == kRead && bytes && progress)
        progress(*bytes);
      text.erase(0, end + 1);
    }
    if (text.size() > kLongestError)
      return refuse("the report of the process that unpacks the layer is too long");
  }
  if (!failed) return done;
  return std::unexpected(linux::parse_error_lines(linux::without_controls(text), "unpack a layer"));
}

}  // namespace

Result<UnpackedLayer> unpack_layer_apart(ByteStream& blob, const LayerBlob& layer, Fd into,
                                         const LowerLayers& below, const UnpackOptions& options,
                                         std::span<const Fd> locks) {
  TRY_ASSIGN(linux::Pipe pipe, linux::make_pipe());
  const int self = ::getpid();
  TRY_ASSIGN(linux::Child child, linux::clone_process(0, Fd{}, linux::Parentage::kMine));
  if (child.pid == 0) child_main({blob, layer, options, below, into, pipe.writer, locks}, self);
  pipe.writer.reset();
  auto outcome = read_report(pipe.reader, options.progress);
  pipe.reader.reset();  // a child that still writes ends by that
  TRY_ASSIGN(const int status, linux::wait_for_child(child.pid));
  if (!outcome) return std::unexpected(std::move(outcome).error());
  if (status == 0 && *outcome) return **outcome;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMemory)
    return refuse("layer {}: unpacking it takes more than {} MiB of memory", shown_name(layer),
                  kMemory >> 20);
  return refuse("layer {}: the process that unpacked it {}", shown_name(layer),
                status == 0 ? "reported nothing" : linux::describe_end(status));
}

}  // namespace ocirun::pods
