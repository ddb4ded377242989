// Rules for the sources that a compiler does not check: which folder may include which, and which
// files may call functions that take a path. Each exception has its reason beside it. The rules for
// all files of the repository are in integration/lint.bats.

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fs = std::filesystem;

namespace {

/// For each folder of the top level, the folders from which it may include: itself and the floors
/// below.
const std::map<std::string, std::set<std::string>> kMayInclude{
    {"linux", {"linux"}},
    {"cgroups", {"cgroups", "linux"}},
    {"hooks", {"hooks", "linux"}},
    {"bundle", {"bundle", "cgroups", "hooks", "linux"}},
    {"runtime", {"runtime", "criu", "bundle", "cgroups", "hooks", "linux"}},  // kRegistersCriu
    {"criu", {"criu", "runtime", "bundle", "cgroups", "hooks", "linux"}},
    {"pods", {"pods", "bundle", "cgroups", "linux"}},  // a client of the runtime's command line
    {"shim", {"shim", "bundle", "cgroups", "linux"}},  // another one
};

/// The one file of the runtime that includes criu/: main() adds its commands to the table.
constexpr std::string_view kRegistersCriu = "runtime/main.cpp";

/// The folders ("rooms") of the picture in CONTRIBUTING.md, from the top: "runtime/cli", …,
/// "hooks", …. Files directly in a floor's folder belong to the top room of the floor.
std::vector<std::string> read_rooms() {
  std::ifstream document(fs::path(OCIRUN_SOURCE_DIR) / "CONTRIBUTING.md");
  const std::regex row(R"re(^(?:([a-z]+)/|   ) +([a-z/]+)?  +\S.*$)re");
  std::vector<std::string> rooms;
  std::string floor;
  bool in_picture = false;
  for (std::string line; std::getline(document, line);) {
    if (line == "```") {
      if (!rooms.empty()) break;
      continue;
    }
    in_picture = in_picture || line.starts_with("pods/ ");
    std::smatch match;
    if (!in_picture || !std::regex_match(line, match, row)) continue;
    if (match[1].matched) floor = match[1];
    rooms.push_back(match[2].matched ? floor + "/" + match[2].str() : floor);
  }
  return rooms;
}

/// The index in `rooms` of the room that `path` belongs to; rooms.size() if there is none.
std::size_t height(const std::vector<std::string>& rooms, const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  const auto deepest = [&](const fs::path& name) {
    return static_cast<std::size_t>(std::ranges::find(rooms, name.string()) - rooms.begin());
  };
  std::size_t found = deepest(folder);
  if (found == rooms.size() && folder.has_parent_path()) found = deepest(folder.parent_path());
  if (found == rooms.size() && !folder.has_parent_path())  // the floor's own folder
    found = static_cast<std::size_t>(
        std::ranges::find_if(
            rooms, [&](const auto& room) { return room.starts_with(folder.string() + "/"); }) -
        rooms.begin());
  return found;
}

/// For each library, the only folders that may include its headers.
const std::map<std::string, std::set<std::string>> kLibraryHomes{
    {"nlohmann/", {"bundle"}},       {"seccomp.h", {"linux"}},  {"libmnl/", {"linux"}},
    {"sys/capability.h", {"linux"}}, {"criu.pb-c.h", {"criu"}}, {"systemd/", {"cgroups"}},
    {"yaml-cpp/", {"pods"}},         {"archive.h", {"pods"}},   {"archive_entry.h", {"pods"}},
    {"nettle/", {"pods", "shim"}},   {"curl/", {"pods"}},       {"microhttpd.h", {"pods"}},
    {"toml++/", {"shim"}},           {"shim.pb-c.h", {"shim"}}, {"metrics.pb-c.h", {"shim"}},
    {"options.pb-c.h", {"shim"}},    {"start.pb-c.h", {"shim"}}};

/// Headers that no source may include: they cost start-up time or memory, or bring threads.
const std::set<std::string> kForbiddenHeaders{"iostream", "fstream", "filesystem", "regex",
                                              "locale",   "thread",  "future",     "mutex"};

/// For each exempt file, the reason.
using Reasons = std::map<std::string, std::string_view>;

/// A room and a room below it that it does not include, although the picture allows it.
struct Ban {
  std::string_view room;
  std::string_view banned;
};
constexpr std::array kBans{
    Ban{"pods/run/networks", "pods/prepare"}, Ban{"pods/run/sandbox", "pods/prepare"},
    Ban{"pods/run/units", "pods/prepare"},    Ban{"pods/run/networks", "pods/images"},
    Ban{"pods/run/sandbox", "pods/images"},   Ban{"pods/state", "pods/images"},
    Ban{"runtime/parent", "runtime/init"},
};

/// The files that break a ban today.
const Reasons kBanExceptions{
    {"runtime/parent/init_link.cpp", "the fork: the child becomes init"},
};

/// The files that may call libc functions which take a path. All others use linux::sys or SafeDir;
/// SafeDir itself uses linux::sys. The paths come from an image or a container only where the
/// reason says so.
const Reasons kRawPathCalls{
    {"linux/base/mount_calls.cpp", "the wrappers themselves"},
    {"linux/base/syscalls.cpp", "the wrappers themselves"},
    {"linux/sealed/executable.cpp", "readlink of our own /proc/self/exe"},
    {"linux/sealed/kept_image.cpp",
     "statx of our own /proc/self/exe, and of a directory that is open"},
    {"linux/base/file_io.cpp", "one component of a host directory that is open"},
    {"linux/mounts/terminal.cpp", "connect(2) to the operator's console socket"},
    {"shim/start/socket.cpp", "bind(2) and connect(2) of containerd's socket for the shim"},
    {"shim/ttrpc/client.cpp", "connect(2) to containerd's socket"},
    {"shim/tasks/console.cpp", "bind(2) beside the shim's own socket"},
    {"shim/tasks/runtime.cpp", "a log file in the bundle, which containerd has made"},
    {"cgroups/hierarchies/directory.cpp",
     "the cgroup filesystem, O_NOFOLLOW beneath a verified mount"},
    {"hooks/run_hook.cpp", "chdir to the bundle or the container's root"},
    {"runtime/state/store.cpp",
     "the state root, one component at a time, and single names below its descriptor"},
    {"runtime/state/state_directory.cpp",
     "realpath of the state root, for a name that a container is told"},
    {"linux/base/notify_socket.cpp", "connect(2) to the operator's NOTIFY_SOCKET"},
    {"runtime/parent/init_cgroup.cpp",
     "files of the container's cgroup, AT_SYMLINK_NOFOLLOW beneath it"},
    {"runtime/init/exec_child.cpp",
     "chroot of a process that enters a container without mount namespace"},
    {"linux/process/interpreter.cpp", "inside the container's root, with the process's own ids"},
    {"runtime/init/executable.cpp", "inside the container's root, with the process's own ids"},
    {"runtime/init/process.cpp", "chdir inside the container's root, checked afterwards"},
    {"pods/run/probes/main.cpp", "connect(2) to a port"},
    {"pods/run/sandbox/metadata_service.cpp", "bind(2) to a port"},
    {"pods/run/sandbox/host_ports.cpp", "bind(2) to a port"},
    {"runtime/cli/lifecycle.cpp", "realpath of the operator's bundle"},
};

/// The files whose string literals may name files of /proc or /dev.
const Reasons kProcAndDevLiterals{
    {"linux/files/procfs.cpp", "the verified procfs"},
    {"linux/mounts/devices.cpp",
     "the devices that every container has; the host's loop devices, each checked"},
    {"linux/sealed/executable.cpp", "/proc/self/exe, before any namespace"},
    {"linux/sealed/kept_image.cpp", "/proc/self/exe, before any namespace"},
    {"linux/base/syscalls.cpp", "/proc/self/fd, to name a file of our own before any namespace"},
    {"linux/sealed/detached_copy.cpp",
     "own id maps, and the place of a mount, in a child's own namespaces"},
    {"linux/sealed/entry.cpp", "/proc/self/exe and /proc/self/fd, before any namespace"},
    {"linux/namespaces/sysctl.cpp", "own namespaces, compared before anything is mounted"},
    {"linux/mounts/mount.cpp", "the host's own, bound where a user may not mount a new one"},
    {"linux/process/lsm.cpp", "/proc/filesystems of the host"},
    {"linux/namespaces/namespaces.cpp",
     "the text of an error; own id maps, before anything is mounted"},
    {"linux/files/mountinfo.cpp", "the text of an error"},
    {"linux/files/owner_name.cpp", "own id map, for the text of an error"},
    {"linux/process/pidfd.cpp", "the boot id, of the host"},
    {"cgroups/systemd/limits.cpp", "names of devices that systemd is told"},
    {"bundle/config/default_config.cpp", "text of the template"},
    {"pods/cli/exec.cpp", "the path of a descriptor, which the runtime opens"},
    {"pods/prepare/mount_places.cpp", "places in a container, by name alone"},
    {"pods/prepare/plan/bundle.cpp", "text of a config.json"},
    {"pods/run/sandbox/network.cpp", "the host's device that pasta opens"},
    {"pods/run/networks/bridge.cpp",
     "sysctls of a pod's network, in a process that has entered it"},
    {"pods/run/networks/subnet.cpp", "the routes of the host"},
    {"pods/run/sandbox/holder.hpp", "namespaces of a pod's holder, on the host"},
    {"runtime/init/join.cpp", "namespaces of a container's init, on the host"},
    {"runtime/parent/user_namespace.cpp", "id maps of a namespace to be joined, on the host"},
    {"runtime/cli/values.cpp", "an option's value, on the host"},
    {"runtime/state/state_directory.cpp",
     "a socket's name by its directory's descriptor, on the host"},
    {"runtime/commands/processes.cpp", "the host's processes, to tell which are a container's"},
    {"runtime/parent/agent.cpp", "the name that a terminal is sent with"},
    {"runtime/cli/main_loop.cpp", "/dev/null of the host for closed standard streams"},
};

/// This file makes system calls by number, because it runs before libc is initialized.
constexpr char kBeforeLibc[] = "linux/sealed/entry.cpp";

struct Source {
  std::string name;    // "linux/base/error.hpp"
  std::string folder;  // "linux"
  std::vector<std::string> lines;
};

/// The line up to the first "//" that is outside of a string literal.
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
      continue;
    }
    if (line[i] == '"') quoted = !quoted;
    if (!quoted && line[i] == '/' && line[i + 1] == '/') return line.substr(0, i);
  }
  return line;
}

const std::vector<Source>& sources() {
  static const std::vector<Source> all = [] {
    std::vector<Source> found;
    const fs::path root = OCIRUN_SOURCE_DIR;
    for (const auto& [folder, ignored] : kMayInclude)
      for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
        const std::string extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".hpp") continue;
        Source source{fs::relative(entry.path(), root), folder, {}};
        std::ifstream stream(entry.path());
        for (std::string line; std::getline(stream, line);) source.lines.push_back(line);
        found.push_back(std::move(source));
      }
    std::ranges::sort(found, {}, &Source::name);
    return found;
  }();
  return all;
}

/// Calls `body` for each line of code that `pattern` matches, with the source, "FILE:LINE" and the
/// first match.
template <typename Callable>
void each_match(const std::string& pattern, Callable&& body) {
  const std::regex expression(pattern);
  for (const Source& source : sources())
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string code = without_comment(source.lines[i]);
      std::smatch match;
      if (std::regex_search(code, match, expression))
        body(source, source.name + ":" + std::to_string(i + 1), match);
    }
}

/// Checks that every match of `pattern` is in a file of `reasons`, and that every file of `reasons`
/// has a match.
void check_listed(const std::string& pattern, const Reasons& reasons, std::string_view advice) {
  std::set<std::string> used;
  each_match(pattern,
             [&](const Source& source, const std::string& where, const std::smatch& match) {
               used.insert(source.name);
               BOOST_CHECK_MESSAGE(reasons.contains(source.name),
                                   where << ": " << match.str() << ": " << advice);
             });
  for (const auto& [name, reason] : reasons)
    BOOST_CHECK_MESSAGE(used.contains(name), name << " is listed and no longer needs to be");
}

/// For each room at eye level (a folder of a floor), the other rooms of the floor that it includes.
using Rooms = std::map<std::string, std::set<std::string>>;

/// The second part of "pods/run/supervisor.hpp"; "" for a file of the floor's own folder.
std::string room_at_eye_level(const std::string& path) {
  const std::string rest = path.substr(path.find('/') + 1);
  return rest.contains('/') ? rest.substr(0, rest.find('/')) : "";
}

Rooms rooms_of(const std::string& floor) {
  Rooms rooms;
  for (const Source& source : sources())
    if (source.folder == floor) rooms[room_at_eye_level(source.name)];
  each_match(R"re(^\s*#\s*include\s+"([^"]+)")re",
             [&](const Source& source, const std::string&, const std::smatch& match) {
               const std::string included = match[1];
               if (source.folder != floor || !included.starts_with(floor + "/")) return;
               const std::string from = room_at_eye_level(source.name);
               const std::string to = room_at_eye_level(included);
               if (from != to) rooms[from].insert(to);
             });
  return rooms;
}

/// The number of rooms of the longest chain of includes from `room` on. Rooms include only rooms
/// below them, so that a chain ends; `depth` ends it when they do not.
std::size_t chain(const Rooms& rooms, const std::string& room, std::size_t depth = 0) {
  std::size_t longest = 0;
  if (depth < rooms.size())
    for (const std::string& below : rooms.at(room))
      longest = std::max(longest, chain(rooms, below, depth + 1));
  return longest + 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(architecture)

BOOST_AUTO_TEST_CASE(the_sources_are_found) {
  for (const auto& [folder, ignored] : kMayInclude)
    BOOST_TEST(std::ranges::count(sources(), folder, &Source::folder) > 1);
}

BOOST_AUTO_TEST_CASE(a_folder_includes_only_from_the_floors_below_it) {
  each_match(R"re(^\s*#\s*include\s+"([^"]+)")re",
             [](const Source& source, const std::string& where, const std::smatch& match) {
               const std::string included = match[1];
               const std::string folder = included.substr(0, included.find('/'));
               BOOST_CHECK_MESSAGE(kMayInclude.at(source.folder).contains(folder),
                                   where << ": " << source.folder << " includes " << included);
               BOOST_CHECK_MESSAGE(fs::exists(fs::path(OCIRUN_SOURCE_DIR) / included),
                                   where << ": " << included << " is not a path from the root");
             });
}

BOOST_AUTO_TEST_CASE(a_room_includes_only_from_the_rooms_below_it_in_the_picture) {
  const std::vector<std::string> rooms = read_rooms();
  BOOST_REQUIRE(rooms.size() > 20);
  for (const std::string& room : rooms)
    BOOST_CHECK_MESSAGE(fs::is_directory(fs::path(OCIRUN_SOURCE_DIR) / room), room);
  for (const Source& source : sources())
    BOOST_CHECK_MESSAGE(height(rooms, source.name) < rooms.size(),
                        source.name << " is in no room of CONTRIBUTING.md's picture");
  each_match(R"re(^\s*#\s*include\s+"([^"]+)")re",
             [&](const Source& source, const std::string& where, const std::smatch& match) {
               const std::string included = match[1];
               if (!included.starts_with(source.folder + "/")) return;
               BOOST_CHECK_MESSAGE(height(rooms, source.name) <= height(rooms, included),
                                   where << ": " << included << " is in a room above");
             });
}

BOOST_AUTO_TEST_CASE(a_room_does_not_include_a_room_that_is_banned_for_it) {
  std::set<std::string> used;
  each_match(R"re(^\s*#\s*include\s+"([^"]+)")re",
             [&](const Source& source, const std::string& where, const std::smatch& match) {
               const std::string included = match[1];
               for (const Ban& ban : kBans) {
                 if (!source.name.starts_with(std::string(ban.room) + "/") ||
                     fs::path(included).parent_path() != ban.banned)
                   continue;
                 used.insert(source.name);
                 BOOST_CHECK_MESSAGE(kBanExceptions.contains(source.name),
                                     where << ": " << ban.room << " never includes " << included);
               }
             });
  for (const auto& [name, reason] : kBanExceptions)
    BOOST_CHECK_MESSAGE(used.contains(name), name << " is listed and no longer needs to be");
}

// One file alone of the runtime knows the commands of criu/: a build without criu/ has no other
// difference.
BOOST_AUTO_TEST_CASE(only_main_of_the_runtime_includes_criu) {
  each_match(R"re(^\s*#\s*include\s+"criu/)re",
             [](const Source& source, const std::string& where, const std::smatch&) {
               BOOST_CHECK_MESSAGE(source.folder == "criu" || source.name == kRegistersCriu, where);
             });
}

// A reader of pods/ meets few rooms, and follows few includes from the top to the ground.
BOOST_AUTO_TEST_CASE(pods_has_few_rooms_at_eye_level) {
  const Rooms rooms = rooms_of("pods");
  std::size_t arrows = 0, floors = 0;
  for (const auto& [room, below] : rooms) {
    arrows += below.size();
    floors = std::max(floors, chain(rooms, room));
  }
  std::printf("pods/: %zu rooms, %zu floors of includes, %zu arrows\n", rooms.size(), floors,
              arrows);
  BOOST_TEST(rooms.size() <= 9);
  BOOST_TEST(floors <= 7);
  BOOST_TEST(arrows <= 45);
}

BOOST_AUTO_TEST_CASE(a_library_is_seen_by_one_folder_alone_and_by_no_header) {
  each_match(R"re(^\s*#\s*include\s+<([^>]+)>)re",
             [](const Source& source, const std::string& where, const std::smatch& match) {
               const std::string header = match[1];
               BOOST_CHECK_MESSAGE(!kForbiddenHeaders.contains(header), where << ": " << header);
               for (const auto& [library, homes] : kLibraryHomes)
                 if (header.starts_with(library))
                   BOOST_CHECK_MESSAGE(homes.contains(source.folder), where << ": " << header);
             });
}

BOOST_AUTO_TEST_CASE(only_listed_files_name_files_by_path) {
  check_listed(
      // Calls such as "::open(", but not "SafeDir::open(" or "sys::open(".
      R"re((?:^|[^\w:])::(?:open|openat|creat|mkdir|mkdirat|mknod|mknodat|mkfifo|symlink|symlinkat|link|linkat|unlink|unlinkat|rmdir|rename|renameat|renameat2|chown|lchown|fchownat|chmod|fchmodat|stat|lstat|fstatat|statx|access|faccessat|readlink|readlinkat|realpath|truncate|utimensat|setxattr|getxattr|statfs|statvfs|opendir|mount|umount|umount2|pivot_root|chroot|chdir|bind|connect)\()re",
      kRawPathCalls, "use linux::sys or SafeDir, or list the file with its reason");
  each_match(
      R"re(SYS_(?:open|openat|openat2|mkdir|mkdirat|mount|umount2|chroot|chdir|rename\w*|unlink\w*)\b)re",
      [](const Source& source, const std::string& where, const std::smatch& match) {
        // outer_filter.cpp calls openat2 without a path, which is an error.
        BOOST_CHECK_MESSAGE(source.name == "linux/base/syscalls.cpp" ||
                                source.name == "linux/base/mount_calls.cpp" ||
                                source.name == "linux/base/outer_filter.cpp" ||
                                source.name == kBeforeLibc,
                            where << ": " << match.str());
      });
  each_match(
      R"re(\bstd::filesystem\b|[^\w:.>](?:fopen|freopen|tmpfile|mkstemp|popen|system)\s*\()re",
      [](const Source&, const std::string& where, const std::smatch& match) {
        BOOST_ERROR(where << ": " << match.str());
      });
}

BOOST_AUTO_TEST_CASE(only_listed_files_name_proc_and_dev) {
  check_listed(R"re("/(?:proc|dev)(?:/[^"]*)?")re", kProcAndDevLiterals,
               "use linux::Procfs or linux/mounts/devices.hpp, or list the file with its reason");
}

BOOST_AUTO_TEST_CASE(no_libc_function_that_loads_nss_modules_is_called) {  // no NSS
  each_match(
      R"re(\b(?:getpw\w+|getgr(?:nam|gid|ent)\w*|getaddrinfo|gethostby\w+|dlopen|iconv_open|setlocale|localtime\w*)\s*\()re",
      [](const Source&, const std::string& where, const std::smatch& match) {
        BOOST_ERROR(where << ": " << match.str());
      });
}

// Three sources of exceptions exist: the JSON library, the YAML library, and the allocator when
// memory ends.
BOOST_AUTO_TEST_CASE(exceptions_are_caught_in_the_json_reader_and_where_memory_ends) {
  each_match(R"re(\bcatch\s*\()re",
             [](const Source& source, const std::string& where, const std::smatch&) {
               BOOST_CHECK_MESSAGE(source.name.starts_with("bundle/json/") ||
                                       source.name == "pods/documents/yaml.cpp" ||
                                       source.name == "linux/base/memory_reserve.hpp" ||
                                       source.name == "linux/process/share_out.cpp",
                                   where);
             });
}

BOOST_AUTO_TEST_CASE(headers_are_included_once_and_open_no_namespace_for_others) {
  for (const Source& source : sources()) {
    if (!source.name.ends_with(".hpp")) continue;
    BOOST_CHECK_MESSAGE(std::ranges::find(source.lines, "#pragma once") != source.lines.end(),
                        source.name);
    for (const std::string& line : source.lines)
      BOOST_CHECK_MESSAGE(!line.starts_with("using namespace"), source.name);
  }
}

// The release build compiles a room as one source. A call could then choose an overload of another
// source without any message.
BOOST_AUTO_TEST_CASE(a_function_of_an_anonymous_namespace_has_a_name_of_its_own_in_its_room) {
  const std::regex definition(
      R"re(^(?!using |template|enum |static_assert|(?:class|struct) \w+ ?[{;:])[A-Za-z_][^=;"]*?\b([a-z]\w*)\()re");
  std::map<std::pair<std::string, std::string>, std::string> homes;  // (room, name): the source
  for (const Source& source : sources()) {
    if (!source.name.ends_with(".cpp")) continue;
    bool is_anonymous = false;
    for (const std::string& line : source.lines) {
      if (line == "namespace {") is_anonymous = true;
      if (line == "}  // namespace") is_anonymous = false;
      std::smatch match;
      if (!is_anonymous || !std::regex_search(line, match, definition)) continue;
      const std::string room = fs::path(source.name).parent_path();
      const auto [home, is_new] = homes.try_emplace({room, match[1]}, source.name);
      BOOST_CHECK_MESSAGE(home->second == source.name,
                          source.name << " and " << home->second << " define " << match[1]);
    }
  }
  BOOST_TEST(homes.size() > 500);
}

// Two types of one name in one namespace compile and link, and one of them is then destroyed by the
// other's destructor.
BOOST_AUTO_TEST_CASE(the_types_of_a_floor_have_different_names) {
  std::map<std::string, std::string> declared;
  each_match(
      R"re(^(?:struct|class|enum class|union) (\w+)[^;]*$)re",
      [&](const Source& source, const std::string& where, const std::smatch& match) {
        if (!source.name.ends_with(".hpp")) return;
        const bool is_of_cli = source.name.contains("/cli/");  // a namespace of its own
        const std::string name = source.folder + (is_of_cli ? "::cli::" : "::") + match[1].str();
        const auto [first, is_new] = declared.emplace(name, where);
        BOOST_CHECK_MESSAGE(is_new, where << ": " << name << " is declared in " << first->second);
      });
  BOOST_TEST(declared.size() > 200);
}

BOOST_AUTO_TEST_SUITE_END()
