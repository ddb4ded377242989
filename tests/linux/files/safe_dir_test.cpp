#include "linux/files/safe_dir.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/linux/mounts/scene.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

/// A directory with a rootfs in it and a secret beside it.
class Tree {
 public:
  Tree() {
    char path[] = "/tmp/ocirun-safe-dir-XXXXXX";
    top_ = ::mkdtemp(path);
    fs::create_directories(root());
    fs::create_directories(top_ / "secret");
    write(top_ / "secret/file", "host");
    write(root() / "inside", "container");
  }
  ~Tree() { fs::remove_all(top_); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  fs::path root() const { return top_ / "rootfs"; }
  fs::path secret() const { return top_ / "secret"; }
  SafeDir open() const { return must(SafeDir::open_root(HostPath(root()))); }
  std::size_t secrets() const {
    return static_cast<std::size_t>(std::distance(fs::recursive_directory_iterator(secret()),
                                                  fs::recursive_directory_iterator()));
  }

  static void write(const fs::path& path, std::string_view text) { std::ofstream(path) << text; }

 private:
  fs::path top_;
};

std::string text_of(Fd fd) { return must(sys::read_all(fd, 4096)); }
RootfsPath path(std::string text) { return RootfsPath(std::move(text)); }
/// What openat2(2) says; a rename or mount of anybody in the system lets it answer EAGAIN.
Result<UniqueFd> ask_kernel(const SafeDir& root, const std::string& name, int flags) {
  for (;;) {
    auto answer =
        sys::openat2(root.fd(), name.c_str(), flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
    if (answer || answer.error().number() != EAGAIN) return answer;
  }
}
ino_t inode(Fd fd) { return must(sys::fstat(fd)).st_ino; }

}  // namespace

BOOST_AUTO_TEST_SUITE(safe_dir)

BOOST_AUTO_TEST_CASE(a_path_with_and_without_a_leading_slash_is_the_same) {
  const Tree tree;
  const SafeDir root = tree.open();
  BOOST_TEST(text_of(must(root.open(path("/inside"), O_RDONLY))) == "container");
  BOOST_TEST(text_of(must(root.open(path("inside"), O_RDONLY))) == "container");
  BOOST_TEST(inode(must(root.open(path(""), O_PATH))) == inode(root.fd()));
  BOOST_TEST(inode(must(root.open(path("/"), O_PATH))) == inode(root.fd()));
}

BOOST_AUTO_TEST_CASE(
    symlinks_and_dots_stay_inside) {  // CVE-2019-18837, CVE-2021-30465: static forms
  const Tree tree;
  fs::create_symlink("/../../../../../../../../../../../inside", tree.root() / "absolute");
  fs::create_symlink("../../../../../../../../../../../../inside", tree.root() / "relative");
  fs::create_symlink(tree.secret() / "file", tree.root() / "out");
  const SafeDir root = tree.open();
  for (const bool walk : {false, true}) {
    const auto open = [&](const char* name, int flags) {
      return walk ? root.open_by_walk(path(name), flags) : root.open(path(name), flags);
    };
    BOOST_TEST(text_of(must(open("absolute", O_RDONLY))) == "container");
    BOOST_TEST(text_of(must(open("relative", O_RDONLY))) == "container");
    BOOST_TEST(text_of(must(open("/../../inside", O_RDONLY))) == "container");
    BOOST_TEST(open("out", O_RDONLY).error().number() == ENOENT);
  }
}

BOOST_AUTO_TEST_CASE(symlinks_can_be_refused_altogether) {
  const Tree tree;
  fs::create_directory(tree.root() / "real");
  fs::create_symlink("real", tree.root() / "link");
  const SafeDir root = tree.open();
  for (const bool walk : {false, true}) {
    const auto open = [&](const char* name) {
      constexpr auto kRefuse = SafeDir::Symlinks::kRefuse;
      return walk ? root.open_by_walk(path(name), O_PATH, kRefuse)
                  : root.open(path(name), O_PATH, kRefuse);
    };
    BOOST_TEST(open("real").has_value());
    BOOST_TEST(open("link").error().number() == ELOOP);
    BOOST_TEST(open("link/").error().number() == ELOOP);
  }
}

BOOST_AUTO_TEST_CASE(a_magic_link_is_never_followed,
                     *needs_root()) {  // CVE-2024-21626: /proc/self/fd/N
  const SafeDir root = must(SafeDir::open_root(HostPath("/")));
  for (const char* name : {"/proc/self/cwd", "/proc/self/root/etc", "/proc/self/fd/0"}) {
    BOOST_TEST(root.open(path(name), O_PATH).error().number() == ELOOP, name);
    BOOST_TEST(root.open_by_walk(path(name), O_PATH).error().number() == ELOOP, name);
  }
  BOOST_TEST(root.open_by_walk(path("/proc/self/status"), O_RDONLY).has_value());
}

BOOST_AUTO_TEST_CASE(directories_are_made_through_dangling_symlinks_inside_the_root) {
  const Tree tree;
  fs::create_symlink("/new/place", tree.root() / "dangling");
  const std::size_t secrets = tree.secrets();
  const UniqueFd made = must(tree.open().make_directories(path("/dangling/a/b")));
  BOOST_TEST(inode(made) == inode(must(tree.open().open(path("/new/place/a/b"), O_PATH))));
  BOOST_TEST(tree.secrets() == secrets);
}

BOOST_AUTO_TEST_CASE(absent_directories_are_made_where_the_path_leads) {
  const Tree tree;
  fs::create_symlink("/new/place", tree.root() / "dangling");
  fs::create_symlink((tree.secret() / "planted").string(), tree.root() / "escape");
  const std::size_t secrets = tree.secrets();
  const SafeDir root = tree.open();
  for (const auto& [asked, place] :
       std::vector<std::pair<const char*, const char*>>{{"/one", "one"},
                                                        {"/one/two//", "one/two"},
                                                        {"/three/four/five", "three/four/five"},
                                                        {"/one/../six", "six"},
                                                        {"/seven/..", "."},
                                                        {"/dangling", "new/place"},
                                                        {"/dangling/a", "new/place/a"},
                                                        {"/one", "one"}}) {  // exists by now
    const UniqueFd made = must(root.make_directories(path(asked)));
    BOOST_TEST(inode(made) == inode(must(root.open(path(place), O_PATH | O_DIRECTORY))), asked);
  }
  struct stat status{};
  const UniqueFd closed = must(root.make_directories(path("/closed"), 0700));
  BOOST_REQUIRE(::fstat(closed.get(), &status) == 0);
  BOOST_TEST((status.st_mode & 07777) == 0700U);
  must(root.make_directories(path("/escape")));
  BOOST_TEST(tree.secrets() == secrets);
}

BOOST_AUTO_TEST_CASE(a_file_is_made_through_a_dangling_symlink_inside_the_root) {  // CVE-2024-45310
  const Tree tree;
  const std::string target = (tree.secret() / "planted").string();
  fs::create_symlink(target, tree.root() / "resolv.conf");
  const UniqueFd made = must(tree.open().make_file(path("/resolv.conf")));
  BOOST_TEST(!fs::exists(target));
  BOOST_TEST(fs::is_regular_file(tree.root().string() + target));
  BOOST_TEST(inode(made) == inode(must(tree.open().open(path("/resolv.conf"), O_PATH))));
}

BOOST_AUTO_TEST_CASE(a_file_that_exists_is_opened_as_it_is) {
  const Tree tree;
  BOOST_TEST(inode(must(tree.open().make_file(path("inside")))) ==
             inode(must(tree.open().open(path("inside"), O_PATH))));
  BOOST_TEST(fs::file_size(tree.root() / "inside") == 9u);
}

BOOST_AUTO_TEST_CASE(a_file_in_the_way_of_directories_is_an_error) {
  const Tree tree;
  BOOST_TEST(tree.open().make_directories(path("inside/below")).error().number() == ENOTDIR);
  BOOST_TEST(tree.open().make_directories(path("inside")).error().number() == ENOTDIR);
}

BOOST_AUTO_TEST_CASE(an_entry_is_a_parent_and_one_plain_name) {
  const Tree tree;
  const SafeDir::Entry entry = must(tree.open().entry(path("/a/b/c//")));
  BOOST_TEST(entry.name == "c");
  BOOST_TEST(inode(entry.parent) == inode(must(tree.open().open(path("a/b"), O_PATH))));
  for (const char* bad : {"", "/", "a/..", "a/.", ".."})
    BOOST_TEST(tree.open().entry(path(bad)).error().number() == EINVAL, bad);
}

OCIRUN_CHILD_TEST(renames_elsewhere_that_never_end_are_no_error, 0) {
  const Tree tree;
  fs::create_symlink("../../inside", tree.root() / "link");
  const SafeDir root = tree.open();
  refuse_system_calls({SYS_openat2}, EAGAIN);
  BOOST_TEST(text_of(must(root.open(path("link"), O_RDONLY))) == "container");
  BOOST_TEST(root.open(path("none"), O_PATH).error().number() == ENOENT);
  BOOST_TEST(root.open(path("link"), O_PATH, SafeDir::Symlinks::kRefuse).error().number() == ELOOP);
}

BOOST_AUTO_TEST_CASE(a_path_with_a_nul_is_refused) {  // D-8
  const Tree tree;
  BOOST_TEST(!tree.open().open(path(std::string("in\0side", 7)), O_PATH));
  BOOST_TEST(!tree.open().make_file(path(std::string("in\0side", 7))));
}

// The oracle: over random trees full of symlinks both resolvers answer alike.
BOOST_AUTO_TEST_CASE(the_walk_answers_what_openat2_answers) {
  std::mt19937 random(20260821);
  const auto pick = [&](std::initializer_list<const char*> words) {
    return std::string(*(words.begin() + random() % words.size()));
  };
  const auto random_path = [&] {
    std::string text = pick({"", "", "/"});
    const std::size_t parts = 1 + random() % 5;
    for (std::size_t i = 0; i < parts; ++i)
      text += pick({"a", "b", "c", "d", "e", "..", ".", "a", "b"}) + pick({"/", "/", "//", "/"});
    if (random() % 3 != 0) text.pop_back();
    return text;
  };
  unsigned found = 0;
  for (int round = 0; round < 40; ++round) {
    const Tree tree;
    const SafeDir root = tree.open();
    std::vector<fs::path> directories = {tree.root()};
    for (int i = 0; i < 40; ++i) {
      const fs::path where =
          directories[random() % directories.size()] / pick({"a", "b", "c", "d"});
      std::error_code ignored;
      if (fs::exists(fs::symlink_status(where, ignored))) continue;
      switch (random() % 5) {
        case 0:
        case 1:
          fs::create_directory(where);
          directories.push_back(where);
          break;
        case 2:
        case 3:
          fs::create_symlink(random_path(), where);
          break;
        default:
          Tree::write(where, "x");
      }
    }
    for (int i = 0; i < 200; ++i) {
      const std::string name = random_path();
      constexpr int kFlags[] = {O_PATH,
                                O_RDONLY,
                                O_PATH | O_NOFOLLOW,
                                O_RDONLY | O_NOFOLLOW,
                                O_PATH | O_DIRECTORY,
                                O_RDONLY | O_DIRECTORY | O_NOFOLLOW,
                                O_PATH | O_DIRECTORY | O_NOFOLLOW};
      const int flags = kFlags[random() % std::size(kFlags)];
      const auto expected = ask_kernel(root, name, flags);
      const auto walked = root.open_by_walk(path(name), flags);
      BOOST_TEST_CONTEXT(name << " flags " << flags) {
        BOOST_REQUIRE(expected.has_value() == walked.has_value());
        if (expected) {
          BOOST_REQUIRE(inode(*expected) == inode(*walked));
          ++found;
        } else {
          BOOST_REQUIRE(errno_text(expected.error().number()) ==
                        errno_text(walked.error().number()));
        }
      }
    }
  }
  BOOST_TEST(found > 500u);  // the oracle was not asked about nothing
}

// CVE-2021-30465, CVE-2024-45310: another process swaps a directory with a symlink to the host.
BOOST_AUTO_TEST_CASE(a_swapped_component_never_leads_out) {
  const Tree tree;
  fs::create_directories(tree.root() / "volume/dir");
  fs::create_symlink(tree.secret(), tree.root() / "volume/link");
  // The child dies when the other end of the pipe is closed.
  int alive[2];
  BOOST_REQUIRE(::pipe2(alive, O_CLOEXEC | O_NONBLOCK) == 0);
  const pid_t swapper = ::fork();
  if (swapper == 0) {
    ::close(alive[1]);
    const std::string left = (tree.root() / "volume/dir").string();
    const std::string right = (tree.root() / "volume/link").string();
    char end;
    while (::read(alive[0], &end, 1) != 0)
      ::renameat2(AT_FDCWD, left.c_str(), AT_FDCWD, right.c_str(), RENAME_EXCHANGE);
    ::_exit(0);
  }
  ::close(alive[0]);
  const std::size_t secrets = tree.secrets();
  const SafeDir root = tree.open();
  unsigned made = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto file = root.make_file(path("/volume/dir/file" + std::to_string(i % 7)));
    const auto directory =
        root.make_directories(path("/volume/dir/d" + std::to_string(i % 5) + "/e"));
    const auto secret = root.open_by_walk(path("/volume/dir/file"), O_RDONLY);
    if (secret) BOOST_REQUIRE(text_of(*secret) != "host");
    if (file || directory) ++made;
  }
  ::close(alive[1]);
  ::waitpid(swapper, nullptr, 0);
  BOOST_TEST(made > 0u);
  BOOST_TEST(tree.secrets() == secrets);
}

BOOST_AUTO_TEST_SUITE_END()
