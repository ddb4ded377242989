// Copies of files between two sides, one of which is hostile.

#include "pods/transfer/copy_files.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "linux/base/paths.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

namespace fs = std::filesystem;

/// Two directories: the root of a container, and one of the host.
struct CopyScene {
  Scratch scratch;
  std::vector<std::string> warnings;
  CopyScene() {
    fs::create_directories(scratch / "root/d/sub");
    fs::create_directories(scratch / "host");
    write("root/d/file", "text");
    write("host/secret", "secret");
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch / name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(scratch / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  PathOpener inside() const {
    return [path = scratch / "root"](const std::string& name, int flags) -> Result<UniqueFd> {
      OCIRUN_TRY_ASSIGN(const auto root, linux::SafeDir::open_root(HostPath(path)));
      return root.open(RootfsPath(name), flags);
    };
  }
  static PathOpener outside() {
    return [](const std::string& path, int flags) { return linux::sys::open(path.c_str(), flags); };
  }
  CopyRules rules() {
    return {.owner = {}, .warn = [this](const std::string& text) { warnings.push_back(text); }};
  }
  Result<void> copy_out(const std::string& from, const std::string& to) {
    OCIRUN_TRY_ASSIGN(const CopySource source, open_copy_source(inside(), from));
    OCIRUN_TRY_ASSIGN(const CopyTarget target, open_copy_target(outside(), scratch / to, source));
    return copy_files(source, target, rules());
  }
  Result<void> copy_in(const std::string& from, const std::string& to) {
    OCIRUN_TRY_ASSIGN(const CopySource source, open_copy_source(outside(), scratch / from));
    OCIRUN_TRY_ASSIGN(const CopyTarget target, open_copy_target(inside(), to, source));
    return copy_files(source, target, rules());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(copied_files, CopyScene)

BOOST_AUTO_TEST_CASE(a_target_is_a_directory_that_gets_the_name_or_the_name_itself) {
  must(copy_out("/d/file", "host"));
  BOOST_TEST(read("host/file") == "text");
  must(copy_out("/d/file", "host/other"));
  BOOST_TEST(read("host/other") == "text");
  must(copy_out("/d", "host"));
  BOOST_TEST(read("host/d/file") == "text");
  must(copy_out("/d", "host/new"));
  BOOST_TEST(fs::is_directory(scratch / "host/new/sub"));
  must(copy_out("/d/.", "host"));
  BOOST_TEST(fs::is_directory(scratch / "host/sub"));
  must(copy_out("/d/.", "host/newer"));
  BOOST_TEST(read("host/newer/file") == "text");
  must(copy_out("/", "host/root"));
  BOOST_TEST(read("host/root/d/file") == "text");
  must_fail(copy_out("/d/file", "host/absent/"));
  must_fail(copy_out("/d/file", "absent/file"));
  BOOST_TEST(warnings.empty());
}

BOOST_AUTO_TEST_CASE(modes_without_special_bits_and_times_are_kept) {
  must(linux::sys::utimensat(Fd{AT_FDCWD}, (scratch / "root/d/file").c_str(),
                             {.tv_sec = 1000, .tv_nsec = 5}, {.tv_sec = 2000, .tv_nsec = 7}));
  BOOST_REQUIRE(::chmod((scratch / "root/d/file").c_str(), 06751) == 0);
  BOOST_REQUIRE(::chmod((scratch / "root/d/sub").c_str(), 03775) == 0);
  must(copy_out("/d", "host/d"));
  const struct stat file =
      must(linux::sys::fstatat(Fd{AT_FDCWD}, (scratch / "host/d/file").c_str()));
  BOOST_TEST((file.st_mode & 07777) == 0751U);
  BOOST_TEST((file.st_mtim.tv_sec == 2000 && file.st_mtim.tv_nsec == 7));
  const struct stat sub = must(linux::sys::fstatat(Fd{AT_FDCWD}, (scratch / "host/d/sub").c_str()));
  BOOST_TEST((sub.st_mode & 07777) == 01775U);
}

BOOST_AUTO_TEST_CASE(no_symlink_is_followed_below_source_and_target) {
  fs::create_symlink(scratch / "host", scratch / "root/d/way");
  must(copy_out("/d", "host/d"));
  BOOST_TEST(fs::read_symlink(scratch / "host/d/way") == scratch / "host");
  // The container makes a directory of the symlink, and copies it over the first copy.
  fs::remove(scratch / "root/d/way");
  fs::create_directory(scratch / "root/d/way");
  write("root/d/way/secret", "evil");
  BOOST_TEST(
      must_fail(copy_out("/d/.", "host/d")).ends_with("way: is in the way: it is no directory"));
  BOOST_TEST(read("host/secret") == "secret");
  fs::create_directories(scratch / "from/sub");
  fs::remove_all(scratch / "root/d/sub");
  fs::create_symlink(scratch / "host", scratch / "root/d/sub");
  write("from/sub/secret", "evil");
  must_fail(copy_in("from/.", "/d"));
  must(copy_in("from/sub/secret", "/d/sub"));  // the symlink dangles in the container: replaced
  BOOST_TEST(read("root/d/sub") == "evil");
  BOOST_TEST(read("host/secret") == "secret");
}

BOOST_AUTO_TEST_CASE(a_symlink_in_the_place_of_the_copy_is_replaced) {
  fs::create_symlink(scratch / "host/secret", scratch / "root/d/link");
  write("new", "new");
  must(copy_in("new", "/d/link"));
  BOOST_TEST(read("host/secret") == "secret");
  BOOST_TEST(read("root/d/link") == "new");
  BOOST_TEST(!fs::is_symlink(scratch / "root/d/link"));
}

BOOST_AUTO_TEST_CASE(fifos_are_left_out_and_neither_read_nor_replaced) {
  BOOST_REQUIRE(::mkfifo((scratch / "root/d/pipe").c_str(), 0666) == 0);
  must(copy_out("/d", "host/d"));
  BOOST_TEST(!fs::exists(scratch / "host/d/pipe"));
  BOOST_REQUIRE(warnings.size() == 1);
  BOOST_TEST(warnings.front() == "/d/pipe: is a FIFO, and is left out");
  BOOST_TEST(
      must_fail(copy_out("/d/pipe", "host/pipe")).ends_with("is a FIFO, and cannot be copied"));
  BOOST_TEST(must_fail(copy_in("host/secret", "/d/pipe"))
                 .ends_with("pipe: is in the way: it is neither a file nor a symlink"));
}

BOOST_AUTO_TEST_CASE(files_of_the_kernel_are_neither_read_nor_written) {
  const auto source = must(open_copy_source(outside(), "/proc/self/status"));
  const auto target = must(open_copy_target(outside(), scratch / "host", source));
  BOOST_TEST(must_fail(copy_files(source, target, rules())).contains("filesystem of the kernel"));
  const auto good = must(open_copy_source(inside(), "/d/file"));
  const auto bad = must(open_copy_target(outside(), "/proc/self", good));
  BOOST_TEST(must_fail(copy_files(good, bad, rules())).contains("nothing is copied to it"));
}

BOOST_AUTO_TEST_CASE(a_directory_is_not_copied_into_itself) {
  for (const char* target : {"root/d", "root/d/new", "root/d/sub"})
    BOOST_TEST(
        must_fail(copy_out("/d", target)).ends_with("a directory cannot be copied into itself"));
  BOOST_TEST(
      must_fail(copy_out("/d/.", "root/d")).ends_with("a directory cannot be copied into itself"));
}

BOOST_AUTO_TEST_CASE(nothing_incomplete_is_left_after_an_error) {
  const auto copy_to_a_full_disk = [this] {
    // As a full disk does, the limit ends the copy in the middle of the file.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    BOOST_REQUIRE(::getrlimit(RLIMIT_FSIZE, &limit) == 0);
    const rlim_t before = std::exchange(limit.rlim_cur, 2);
    BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const std::string error = must_fail(copy_out("/d/file", "host/new"));
    limit.rlim_cur = before;
    BOOST_REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
    BOOST_TEST(error.ends_with("file too large"), error);
  };
  BOOST_TEST(run_in_child(0, copy_to_a_full_disk) == 0);
  BOOST_TEST(!fs::exists(scratch / "host/new"));
  for (const auto& entry : fs::recursive_directory_iterator(scratch / "host"))
    BOOST_TEST(!entry.path().filename().string().starts_with(".ocirun-cp."));
}

BOOST_AUTO_TEST_CASE(a_copy_has_the_given_owner, *needs_root()) {
  CopyRules foreign = rules();
  foreign.owner = std::pair(must(Uid::make(4242)), Gid());
  const auto source = must(open_copy_source(inside(), "/d/file"));
  const auto target = must(open_copy_target(outside(), scratch / "host/new", source));
  must(copy_files(source, target, foreign));
  BOOST_TEST(must(linux::sys::fstatat(Fd{AT_FDCWD}, (scratch / "host/new").c_str())).st_uid ==
             4242U);
}

BOOST_AUTO_TEST_SUITE_END()
