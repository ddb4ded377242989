#include "runtime/inspect/look_up.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "linux/files/mountinfo.hpp"
#include "linux/files/procfs.hpp"
#include "linux/files/safe_dir.hpp"
#include "runtime/inspect/bounded.hpp"

namespace ocirun::runtime {
namespace {

constexpr std::chrono::milliseconds kPatienceForPlaces{2000};

/// The circumstances of the look-ups of one side.
struct Surroundings {
  const linux::Procfs& procfs;
  SoughtPath::Side side;
  linux::SafeDir root;
  std::string path;  // of the root, on the host for a container without a mount namespace; else "/"
  const Answers& answers;
};

/// The path of an open file, from the root.
Result<std::string> path_in(const Surroundings& here, Fd file) {
  OCIRUN_TRY_ASSIGN(std::string path, linux::host_path_of(file));
  if (here.path != "/" && path.starts_with(here.path))
    path = path == here.path ? "/" : path.substr(here.path.size());
  return path;
}

Result<Found> look_up_one(const Surroundings& here, const std::string& path) {
  const auto check = [&](Fd file) -> Result<void> {
    OCIRUN_TRY_ASSIGN(const std::uint64_t mount, linux::mount_of(here.procfs, file));
    return here.answers(here.side, mount) ? Result<void>() : fail(EREMOTE, "look up");
  };
  OCIRUN_TRY(check(here.root.fd()));
  OCIRUN_TRY_ASSIGN(
      const UniqueFd file,
      here.root.open_by_walk(RootfsPath(path), O_PATH, linux::SafeDir::Symlinks::kInside, check));
  OCIRUN_TRY_ASSIGN(const struct stat status, linux::sys::fstat(file));
  Found found;
  found.mode = status.st_mode;
  found.device = static_cast<std::int64_t>(status.st_rdev);
  OCIRUN_TRY_ASSIGN(found.mount, linux::mount_of(here.procfs, file));
  OCIRUN_TRY_ASSIGN(found.path, path_in(here, file));
  return found;
}

// A record of the child: four numbers and the path, each with a NUL at its end. No path has a NUL.
constexpr std::size_t kFields = 5;

std::string record_of(const Result<Found>& found) {
  Found told = found.value_or(Found());
  if (!found) told.error = found.error().number() == 0 ? EIO : found.error().number();
  std::string record;
  for (const std::string& field :
       {std::to_string(told.error), std::to_string(told.mode), std::to_string(told.device),
        std::to_string(told.mount), told.path})
    record += field + '\0';
  return record;
}

void tell(Fd out, Fd top, std::span<const SoughtPath> places, const Answers& answers) {
  auto container = linux::sys::openat(top, ".", O_PATH | O_DIRECTORY);
  auto host = linux::sys::open("/", O_PATH | O_DIRECTORY);
  const auto procfs = linux::Procfs::of_host();
  if (!container || !host || !procfs) return;
  const Surroundings in_container{*procfs, SoughtPath::Side::kContainer,
                                  linux::SafeDir(*std::move(container)),
                                  linux::host_path_of(top).value_or("/"), answers};
  const Surroundings on_host{*procfs, SoughtPath::Side::kHost, linux::SafeDir(*std::move(host)),
                             "/", answers};
  for (const SoughtPath& place : places) {
    const auto found =
        look_up_one(place.side == SoughtPath::Side::kHost ? on_host : in_container, place.path);
    if (!linux::write_all(out, record_of(found))) return;
  }
}

/// Adds the whole records of `text` to `list`.
void read_records(std::string_view text, std::vector<std::optional<Found>>& list) {
  std::vector<std::string_view> fields = linux::split(text, '\0');
  fields.pop_back();  // what follows the last NUL
  for (std::span rest(fields); rest.size() >= kFields; rest = rest.subspan(kFields)) {
    Found found;
    found.error = linux::number<int>(rest[0]).value_or(EIO);
    found.mode = linux::number<mode_t>(rest[1]).value_or(0);
    found.device = linux::number<std::int64_t>(rest[2]).value_or(0);
    found.mount = linux::number<std::uint64_t>(rest[3]).value_or(0);
    found.path = rest[4];
    list.emplace_back(std::move(found));
  }
}

}  // namespace

std::vector<std::optional<Found>> look_up(Fd root, const std::vector<SoughtPath>& places,
                                          const Answers& answers) {
  std::vector<std::optional<Found>> found;
  const auto text = written_within(kPatienceForPlaces, std::array{root},
                                   [&](Fd out) { tell(out, root, places, answers); });
  if (text) read_records(*text, found);
  found.resize(places.size());
  return found;
}

}  // namespace ocirun::runtime
