#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/clone.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

using Names = std::vector<std::string>;

/// The umask for a scope.
class Umask {
 public:
  explicit Umask(mode_t mask) : old_(::umask(mask)) {}
  ~Umask() { ::umask(old_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  mode_t old_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(file_io)

BOOST_AUTO_TEST_CASE(a_file_is_made_with_exactly_its_content_and_nothing_beside_it) {
  const Scratch scratch;
  must(replace_file(scratch.open(), "pid", "4711", 0644));
  BOOST_TEST(slurp(scratch / "pid") == "4711");  // no newline: go-runc parses the whole file
  BOOST_TEST((scratch.names() == Names{"pid"}));
}

BOOST_AUTO_TEST_CASE(a_longer_old_content_leaves_no_tail) {
  const Scratch scratch;
  scratch.file("f", std::string(100'000, 'o'));
  must(replace_file(scratch.open(), "f", std::string_view("n\0w", 3), 0600));
  BOOST_TEST(slurp(scratch / "f") == std::string("n\0w", 3));
  must(replace_file(scratch.open(), "f", "", 0600));
  BOOST_TEST(slurp(scratch / "f").empty());
}

BOOST_AUTO_TEST_CASE(the_mode_is_the_one_asked_for_whatever_the_umask) {
  const Scratch scratch;
  for (const mode_t mask : {mode_t{0}, mode_t{022}, mode_t{077}, mode_t{0777}}) {
    const Umask umask(mask);
    must(replace_file(scratch.open(), "private", "x", 0600));
    must(replace_file(scratch.open(), "public", "x", 0644));
    BOOST_TEST(mode_of(scratch / "private") == 0600);
    BOOST_TEST(mode_of(scratch / "public") == 0644);
  }
}

BOOST_AUTO_TEST_CASE(the_mode_of_the_file_that_was_there_does_not_survive) {
  const Scratch scratch;
  scratch.file("state.json", "old", 0666);
  must(replace_file(scratch.open(), "state.json", "new", 0600));
  BOOST_TEST(mode_of(scratch / "state.json") == 0600);
}

BOOST_AUTO_TEST_CASE(who_has_the_old_file_open_keeps_reading_the_old_one) {
  const Scratch scratch;
  scratch.file("f", "old content");
  const UniqueFd reader = must(sys::open((scratch / "f").c_str(), O_RDONLY));
  must(replace_file(scratch.open(), "f", "new", 0600));
  BOOST_TEST(must(sys::read_all(reader, 100)) == "old content");
}

BOOST_AUTO_TEST_CASE(readers_see_the_old_content_or_the_new_and_never_a_part) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  const std::string both[] = {std::string(200'000, 'a'), std::string(150'000, 'b')};
  must(replace_file(directory, "f", both[0], 0600));
  const Child writer = must(clone_process(0, Fd{}, Parentage::kMine));
  if (writer.pid == 0)
    for (unsigned i = 1;; ++i)
      if (!replace_file(directory, "f", both[i % 2], 0600)) ::_exit(1);
  std::size_t torn = 0;
  std::size_t changes = 0;
  char last = 'a';
  for (int i = 0; i < 300; ++i) {
    const std::string seen = must(read_file(directory, "f", 1 << 20));
    if (seen != both[0] && seen != both[1]) ++torn;
    if (!seen.empty() && seen[0] != last) ++changes, last = seen[0];
  }
  ::kill(writer.pid, SIGKILL);
  BOOST_TEST(WIFSIGNALED(must(wait_for_child(writer.pid))));
  BOOST_TEST(torn == 0u);
  BOOST_TEST(changes > 0u);  // or there was nothing to see
}

BOOST_AUTO_TEST_CASE(a_symlink_in_its_place_is_replaced_and_its_target_untouched) {
  const Scratch scratch;
  scratch.file("target", "precious");
  BOOST_REQUIRE(::symlink("target", (scratch / "link").c_str()) == 0);
  must(replace_file(scratch.open(), "link", "new", 0600));
  BOOST_TEST(slurp(scratch / "target") == "precious");
  BOOST_TEST(slurp(scratch / "link") == "new");
  BOOST_TEST(!std::filesystem::is_symlink(scratch / "link"));
}

BOOST_AUTO_TEST_CASE(a_directory_in_its_place_is_an_error_that_leaves_nothing) {
  const Scratch scratch;
  BOOST_REQUIRE(::mkdir((scratch / "d").c_str(), 0755) == 0);
  const auto replaced = replace_file(scratch.open(), "d", "x", 0600);
  BOOST_REQUIRE(!replaced);
  BOOST_TEST(replaced.error().message().find('d') != std::string::npos);
  BOOST_TEST((scratch.names() == Names{"d"}));
}

// The temporary's name can be guessed, and a pid file may lie where others may write.
BOOST_AUTO_TEST_CASE(what_somebody_prepared_under_the_temporary_name_is_not_written_to) {
  const Scratch scratch;
  const std::string guessed = ".pid." + std::to_string(::getpid());
  scratch.file("victim", "precious");
  const auto try_with = [&](const char* what) {
    BOOST_TEST_CONTEXT(what) {
      const auto replaced = replace_file(scratch.open(), "pid", "4711", 0644);
      if (replaced) BOOST_TEST(slurp(scratch / "pid") == "4711");
      BOOST_TEST(slurp(scratch / "victim") == "precious");
      BOOST_TEST(!std::filesystem::exists(std::filesystem::symlink_status(scratch / guessed)));
    }
  };
  BOOST_REQUIRE(::symlink("victim", (scratch / guessed).c_str()) == 0);
  try_with("a symlink");
  BOOST_REQUIRE(::link((scratch / "victim").c_str(), (scratch / guessed).c_str()) == 0);
  try_with("a hard link");

  scratch.file(guessed, "");
  const UniqueFd theirs = must(sys::open((scratch / guessed).c_str(), O_RDWR));
  try_with("a file that somebody else has open");
  BOOST_TEST(must(sys::fstat(theirs)).st_nlink == 0u);  // it did not become the pid file
}

BOOST_AUTO_TEST_CASE(a_fifo_under_the_temporary_name_does_not_make_us_wait) {
  BOOST_TEST(run_in_child(0, [] {
               const Scratch scratch;
               const std::string guessed = ".pid." + std::to_string(::getpid());
               BOOST_REQUIRE(::mkfifo((scratch / guessed).c_str(), 0666) == 0);
               ::alarm(kHangSeconds);  // a hang kills this child
               ignore(replace_file(scratch.open(), "pid", "1", 0644));
               BOOST_TEST(mode_of(scratch / guessed) == -1);
             }) == 0);
}

OCIRUN_CHILD_TEST(a_full_disk_keeps_the_old_file_and_leaves_no_temporary, CLONE_NEWNS) {
  const Scratch scratch;
  must(sys::mount("tmpfs", scratch.path().c_str(), "tmpfs", 0, "size=64k"));
  {
    const UniqueFd directory = scratch.open();
    must(replace_file(directory, "state.json", "old", 0600));
    const auto replaced = replace_file(directory, "state.json", std::string(1 << 20, 'n'), 0600);
    BOOST_REQUIRE(!replaced);
    BOOST_TEST(replaced.error().number() == ENOSPC);
    BOOST_TEST(replaced.error().message().find("state.json") != std::string::npos);
    BOOST_TEST(slurp(scratch / "state.json") == "old");
    BOOST_TEST((scratch.names() == Names{"state.json"}));
    struct statvfs space{};
    BOOST_TEST(::statvfs(scratch.path().c_str(), &space) == 0);
    BOOST_TEST(space.f_bfree > 0u);  // the space came back, too
    must(replace_file(directory, "state.json", "fits", 0600));
  }
  must(sys::unmount(scratch.path().c_str(), 0));
}

OCIRUN_CHILD_TEST(a_read_only_directory_is_an_error_with_its_errno, CLONE_NEWNS) {
  const Scratch scratch;
  must(sys::mount("tmpfs", scratch.path().c_str(), "tmpfs", MS_RDONLY, nullptr));
  BOOST_TEST(replace_file(scratch.open(), "f", "x", 0600).error().number() == EROFS);
  must(sys::unmount(scratch.path().c_str(), 0));
}

BOOST_AUTO_TEST_CASE(a_path_is_split_where_its_last_slash_is) {
  const Scratch scratch;
  must(replace_file(HostPath(scratch / "f"), "absolute", 0600));
  BOOST_TEST(slurp(scratch / "f") == "absolute");
  BOOST_TEST(run_in_child(0, [&] {
               BOOST_REQUIRE(::chdir(scratch.path().c_str()) == 0);
               must(replace_file(HostPath("g"), "relative", 0600));
               must(replace_file(HostPath("./h"), "dotted", 0600));
             }) == 0);
  BOOST_TEST(slurp(scratch / "g") == "relative");
  BOOST_TEST(slurp(scratch / "h") == "dotted");
  BOOST_TEST(replace_file(HostPath(scratch / "no/such/f"), "x", 0600).error().number() == ENOENT);
  BOOST_TEST(replace_file(HostPath(scratch / "f/g"), "x", 0600).error().number() == ENOTDIR);
  BOOST_TEST(!replace_file(HostPath(scratch.path() + "/"), "x", 0600));
  BOOST_TEST(!replace_file(HostPath(""), "x", 0600));
  BOOST_TEST((scratch.names() == Names{"f", "g", "h"}));
}

BOOST_AUTO_TEST_CASE(a_regular_file_is_read_up_to_its_limit) {
  const Scratch scratch;
  scratch.file("f", std::string("a\0b", 3) + std::string(97, 'c'));
  BOOST_TEST(must(read_file(scratch.open(), "f", 100)).size() == 100u);
  BOOST_TEST(must(read_file(scratch.open(), "f", 1000)).substr(0, 3) == std::string("a\0b", 3));
  BOOST_TEST(read_file(scratch.open(), "f", 99).error().number() == EFBIG);
  scratch.file("empty", "");
  BOOST_TEST(must(read_file(scratch.open(), "empty", 0)).empty());
  BOOST_TEST(read_file(scratch.open(), "missing", 10).error().number() == ENOENT);
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_an_error_and_never_a_wait) {
  BOOST_TEST(run_in_child(0, [] {
               ::alarm(kHangSeconds);  // a hang kills this child
               const Scratch scratch;
               BOOST_REQUIRE(::mkfifo((scratch / "fifo").c_str(), 0600) == 0);
               BOOST_REQUIRE(::mkdir((scratch / "directory").c_str(), 0700) == 0);
               BOOST_REQUIRE(::symlink("/dev/zero", (scratch / "zero").c_str()) == 0);
               BOOST_REQUIRE(::symlink("loop", (scratch / "loop").c_str()) == 0);
               for (const std::string name : {"fifo", "directory", "zero", "loop"}) {
                 const std::string text = must_fail(read_file(scratch.open(), name, 1 << 20));
                 BOOST_TEST(text.find(name) != std::string::npos);
               }
             }) == 0);
}

BOOST_AUTO_TEST_CASE(everything_is_written_however_small_the_pipe) {
  int ends[2];
  BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  ::fcntl(writer.get(), F_SETPIPE_SZ, 4096);
  const std::string data(300'000, 'd');
  const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
  if (child.pid == 0) {
    reader.reset();
    ::_exit(write_all(writer, data) ? 0 : 1);
  }
  writer.reset();
  BOOST_TEST(must(sys::read_all(reader, 1 << 20)).size() == data.size());
  BOOST_TEST(must(wait_for_child(child.pid)) == 0);
}

BOOST_AUTO_TEST_CASE(a_device_without_room_is_an_error) {
  const UniqueFd full = must(sys::open("/dev/full", O_WRONLY));
  BOOST_TEST(write_all(full, "x").error().number() == ENOSPC);
  BOOST_TEST(write_all(full, "").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(directory_entries)

BOOST_AUTO_TEST_CASE(each_entry_comes_once_with_its_type_as_often_as_one_asks) {
  const Scratch scratch;
  scratch.file("a", "");
  BOOST_REQUIRE(::mkdir((scratch / "b").c_str(), 0700) == 0);
  const UniqueFd directory(::open(scratch.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> seen;
    must(for_each_entry(directory, [&](std::string_view name, unsigned char type) -> Result<void> {
      seen.push_back(fmt::format("{}{}", name, type == DT_DIR ? "/" : ""));
      return {};
    }));
    std::ranges::sort(seen);
    BOOST_TEST(seen == (std::vector<std::string>{"a", "b/"}), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(an_error_of_the_visitor_ends_the_walk) {
  const Scratch scratch;
  scratch.file("a", "");
  scratch.file("b", "");
  int visits = 0;
  const auto outcome =
      for_each_entry(scratch.open(), [&](const char*, unsigned char) -> Result<void> {
        ++visits;
        return refuse("enough");
      });
  BOOST_TEST(must_fail(outcome) == "enough");
  BOOST_TEST(visits == 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_directory_is_an_error_and_one_that_is_gone_is_empty) {
  const Scratch scratch;
  const UniqueFd file(::open(scratch.file("a", "").c_str(), O_RDONLY | O_CLOEXEC));
  const auto ignore = [](const char*, unsigned char) -> Result<void> { return {}; };
  BOOST_TEST(must_fail(for_each_entry(file, ignore)).ends_with("not a directory"));
  BOOST_REQUIRE(::mkdir((scratch / "b").c_str(), 0700) == 0);
  const UniqueFd gone(::open((scratch / "b").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  BOOST_REQUIRE(::rmdir((scratch / "b").c_str()) == 0);
  must(for_each_entry(gone, ignore));
}

BOOST_AUTO_TEST_CASE(a_value_is_read_to_its_end_and_at_most_to_the_limit) {
  const Scratch scratch;
  for (const std::size_t size : {0UZ, 1UZ, 4095UZ, 4096UZ, 4097UZ, 10000UZ}) {
    const std::string text(size, 'v');
    const std::string path = scratch.file("value", text);
    const auto open = [&] { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); };
    BOOST_TEST(must(sys::read_value(open(), size)) == text);
    BOOST_TEST(must(sys::read_all(open(), size)) == text);
    if (size == 0) continue;
    BOOST_TEST(must_fail(sys::read_value(open(), size - 1)).contains("more than"));
    BOOST_TEST(must_fail(sys::read_all(open(), size - 1)).contains("more than"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
