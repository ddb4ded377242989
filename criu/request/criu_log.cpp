#include "criu/request/criu_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::size_t kMaxLog = std::size_t{64} << 20;

constexpr std::string_view kNoServer = "Can't connect to server";  // no "Error (" in this line

constexpr std::string_view kStreams =
    "a standard stream was a file outside of the container: give restore the same file, or the "
    "null device for the null device; a pipe at run may be replaced by any stream";
constexpr std::string_view kConnected = "give --tcp-established, or end the TCP connections first";
constexpr std::string_view kHostsTerminal =
    "give --shell-job: a program uses a terminal of the host";
constexpr std::string_view kOldCriu =
    "this criu is too old for the running kernel: install a newer one";
constexpr std::string_view kLesserProcessor =
    "the processor lacks features of the one of the checkpoint: restore on a host that has them";

/// A text in a line of the log of CRIU, and the advice for such a line. If a line contains several
/// of the texts, the first entry counts.
constexpr std::pair<std::string_view, std::string_view> kAdvice[] = {
    {"Illegal seek", kStreams},
    {"has bad mode", kStreams},
    {"has bad size",
     "the file has changed since the checkpoint: put back the one of that time, and for output to "
     "a file outside of the container use a pipe"},
    {"Can't bind inet socket",
     "an address of a saved connection is not there: a hook has to make it, or checkpoint and "
     "restore get --keep-network"},
    {"Connected TCP socket", kConnected},
    {"tcp-established", kConnected},
    {"In-flight connection",
     "give --tcp-skip-in-flight, or try again when no connection is being made"},
    {"file locks", "give --file-locks"},
    {"External socket is used",
     "give --ext-unix-sk, or close the connections to sockets outside of the container"},
    {"without peer",
     "a program is connected to a unix socket of another network namespace, which criu cannot "
     "save: close the connection first"},
    {"shell-job", kHostsTerminal},
    {"without correspond master peer", kHostsTerminal},
    {"Use link-remap option", "give --link-remap: an open file has lost its name, and has another"},
    {"increase limit",
     "an open file that was removed is too large for criu's limit: raise it by a line "
     "\"ghost-limit SIZE\" in the file that the annotation org.criu.config names"},
    {"Can't lookup mount=",
     "a program has a file open that is outside of the container: a standard stream that is such a "
     "file has to be a pipe, a socket, a terminal of the container or the null device"},
    {"on overmounted mounts",
     "a program has a file open on a mount that another one covers: close the file first"},
    {" unsupported id ",
     "criu cannot save this file system: unmount it in the container first, or let config.json "
     "bind it from the host"},
    {"Can't dump file",
     "a program has a file of a kind open that criu cannot save, such as a device or io_uring: "
     "close it first"},
    {"Can't dump that handle",
     "a program watches a file that was removed: criu cannot save such a watch"},
    {"tables-restore",
     "criu locks the network by iptables-restore: install iptables, or give --network-lock "
     "nftables or skip"},
    {"Unseizable non-zombie", "a process could not be stopped at that moment: try again"},
    {"kernel lacks get_rseq_conf",
     "the kernel is too old for criu to save a program that uses rseq: Linux 5.13 and newer can"},
    {"get_rseq_conf", kOldCriu},
    {"sys_rseq(", kOldCriu},
    {"(criu/vdso.c:", kOldCriu},
    {"/parasite-vdso.c:", kOldCriu},
    {"capabilities do not match run time", kLesserProcessor},
    {"CPU xfeatures", kLesserProcessor},
    {"CPU xsave", kLesserProcessor},
    {"Can't fork for",
     "the pid of a saved process is in use on this host (a container with a pid namespace of its "
     "own has no such conflict), or /linux/resources/pids/limit is too small"},
    {"Read-only file system",
     "the host is read-only for criu during a restore, but for the root file system, the sources "
     "of binds, the images and --work-path: forged images, or a file of criu's configuration "
     "elsewhere; --trust-images lets criu write to the host"},
    {kNoServer, "no criu page-server answers at the address of --page-server"},
    {"No space left on device",
     "a file system is full: that of the images, or, in a restore, one of the container"},
    {"Can't open file",
     "the root file system or a bind lacks a file that a program has open: put the file back as it "
     "was at the checkpoint"},
};

// Whether the line gives no reason for a failure. "Dumping FAILED." and "Dump files (pid: 1) failed
// with -1" only repeat that CRIU has failed. CRIU goes on if the host has no /dev/net/tun.
bool is_noise(std::string_view error) {
  return error.find("FAILED") != std::string_view::npos ||
         error.find(" failed with -") != std::string_view::npos ||
         error.find("Unable to create tun") != std::string_view::npos;
}

}  // namespace

std::string last_errors(std::string_view log) {
  constexpr std::size_t kQuoted = 2;
  std::vector<std::string> errors;
  for (const std::string_view line : linux::words(log, '\n')) {
    const std::size_t at = line.find("Error (");
    if (at == std::string_view::npos) continue;
    const std::size_t end = line.find("): ", at);
    const std::string_view text =
        end == std::string_view::npos ? line.substr(at) : line.substr(end + 3);
    if (!is_noise(text)) errors.push_back(linux::in_one_line(text));
  }
  if (errors.size() > kQuoted) errors.erase(errors.begin(), errors.end() - kQuoted);
  return fmt::format("{}", fmt::join(errors, "; "));
}

std::string_view advice_for(std::string_view log) {
  for (const std::string_view line : linux::words(log, '\n')) {
    if (line.find("Error (") == std::string_view::npos &&
        line.find(kNoServer) == std::string_view::npos)
      continue;
    for (const auto& [said, advice] : kAdvice)
      if (line.find(said) != std::string_view::npos) return advice;
  }
  return "";
}

Result<void> remove_old(const CriuLog& log) {
  auto removed = linux::sys::unlinkat(log.directory, log.name.c_str(), 0);
  if (!removed && removed.error().number() != ENOENT)
    return within(std::move(removed), "{}/{}", log.path, log.name);
  return {};
}

Error explain_by_log(Error error, const CriuLog& log) {
  const auto text = linux::read_file(log.directory, log.name, kMaxLog, O_NOFOLLOW);
  if (!text) return error;
  std::string sentence = fmt::format("{}/{}", log.path, log.name);
  const std::string errors = last_errors(*text);
  const std::string_view advice = advice_for(*text);
  if (!errors.empty()) sentence += fmt::format(" says \"{}\"", errors);
  if (!advice.empty()) sentence += fmt::format(" ({})", advice);
  std::vector<std::string> frames = error.frames();
  frames.push_back((errors.empty() ? "see " : "") + sentence);
  return Error(0, std::move(frames));
}

}  // namespace ocirun::runtime
