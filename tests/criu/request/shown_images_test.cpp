#include "criu/request/shown_images.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "linux/base/syscalls.hpp"
#include "tests/linux/mounts/scene.hpp"
#include "tests/scratch.hpp"

// The images lie in a tmpfs on /tmp, the view is made in a tmpfs of a mebibyte on /tmp/place.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kRootUser = 100000;
constexpr std::uint32_t kRootGroup = 200000;
constexpr std::size_t kMebibyte = 1 << 20;

struct View {
  View() {
    ::umask(022);
    must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
    fs::create_directories("/tmp/images");
    fs::create_directories("/tmp/place");
    must(linux::sys::mount("tmpfs", "/tmp/place", "tmpfs", 0, "size=1m,mode=0755"));
  }

  void write(const std::string& name, std::size_t size) const {
    Scene::write("/tmp/images/" + name, std::string(size, 'x'));
    fs::permissions("/tmp/images/" + name, fs::perms::owner_read | fs::perms::owner_write);
  }
  Result<UniqueFd> show(ImageAccess access = ImageAccess::kRead) const {
    const UniqueFd images = must(linux::sys::open("/tmp/images", O_RDONLY | O_DIRECTORY));
    return show_images(
        {.place = place, .images = images, .id_map = id_map, .procfs = procfs, .access = access});
  }

  std::string place = "/tmp/place";
  linux::IdMap id_map{.uids = {{0, kRootUser, 10}}, .gids = {{0, kRootGroup, 10}}};
  linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
};

struct stat status_of(const std::string& path) {
  struct stat status{};
  BOOST_TEST_REQUIRE(::lstat(path.c_str(), &status) == 0, path);
  return status;
}

/// Whether this user can open the file. Runs in a child.
bool can_open(std::uint32_t user, std::uint32_t group, const std::string& path, int flags) {
  const int pid = ::fork();
  if (pid == 0) {
    const bool is_user = ::setresgid(group, group, group) == 0 &&
                         ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
                         ::setresuid(user, user, user) == 0;
    ::_exit(is_user && ::open(path.c_str(), flags | O_CLOEXEC) >= 0 ? 0 : 1);
  }
  int status = 0;
  BOOST_TEST_REQUIRE(::waitpid(pid, &status, 0) == pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
bool root_can_open(const std::string& path, int flags) {
  return can_open(kRootUser, kRootGroup, path, flags);
}

constexpr char kSmall[] = "/tmp/place/images/core-1.img";
constexpr char kPages[] = "/tmp/place/images/pages-1.img";

/// No file system of the child has id-mapped mounts.
void refuse_id_mapped_mounts() { refuse_system_calls({SYS_mount_setattr}); }

/// Whether a mount lies on kPages: the file system of /tmp has id-mapped mounts.
bool is_bound() {
  if (is_mounted(kPages)) return true;
  BOOST_TEST_MESSAGE("skipped: tmpfs has id-mapped mounts since Linux 6.3");
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shown_images)

OCIRUN_CHILD_TEST(images_are_shown_to_root_of_the_user_namespace_alone, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 10);
  view.write("pages-1.img", 20);
  const UniqueFd shown = must(view.show());
  BOOST_TEST(must(linux::sys::is_same_file(
      shown, must(linux::sys::open("/tmp/place/images", O_RDONLY | O_DIRECTORY)))));
  BOOST_TEST(slurp(kSmall) == std::string(10, 'x'));
  BOOST_TEST(slurp(kPages) == std::string(20, 'x'));
  for (const char* path : {kSmall, kPages}) {
    BOOST_TEST(root_can_open(path, O_RDONLY), path);
    BOOST_TEST(!can_open(4711, 4711, path, O_RDONLY), path);
  }
  const struct stat directory = status_of("/tmp/place/images");
  BOOST_TEST((directory.st_mode & 07777U) == 0750U);
  BOOST_TEST(directory.st_uid == 0U);
  BOOST_TEST(directory.st_gid == kRootGroup);
}

OCIRUN_CHILD_TEST(images_to_read_are_shown_read_only, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 10);
  view.write("pages-1.img", 20);
  must(view.show());
  BOOST_TEST(mode_of(kSmall) == 0640);
  BOOST_TEST(!root_can_open(kSmall, O_RDWR));
  BOOST_TEST(!root_can_open(kPages, O_RDWR));
  if (!is_bound()) return;
  BOOST_TEST(mount_at(kPages).has("ro"));
  BOOST_TEST(::open(kPages, O_RDWR | O_CLOEXEC) == -1);  // for the host's root too
  for (const char* option : {"nosuid", "nodev", "noexec", "idmapped"})
    BOOST_TEST(mount_at(kPages).has(option), option);
}

OCIRUN_CHILD_TEST(images_to_write_are_shown_writable, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 10);
  view.write("pages-1.img", 20);
  must(view.show(ImageAccess::kWrite));
  BOOST_TEST(mode_of(kSmall) == 0660);
  BOOST_TEST(root_can_open(kSmall, O_RDWR));
  BOOST_TEST(root_can_open(kPages, O_RDWR));
  if (!is_bound()) return;
  BOOST_TEST(!mount_at(kPages).has("ro"));
  for (const char* option : {"nosuid", "nodev", "noexec", "idmapped"})
    BOOST_TEST(mount_at(kPages).has(option), option);
}

OCIRUN_CHILD_TEST(large_images_and_pages_are_bound_and_need_no_memory, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 4096);
  view.write("files.img", kMebibyte);
  view.write("pages-1.img", 2 * kMebibyte);
  must(view.show());
  if (!is_bound()) return;
  BOOST_TEST(is_mounted("/tmp/place/images/files.img"));
  BOOST_TEST(!is_mounted(kSmall));
}

OCIRUN_CHILD_TEST(images_that_are_too_large_for_copies_are_refused, CLONE_NEWNS) {
  View view;
  view.write("pages-1.img", 3 * kMebibyte);
  refuse_id_mapped_mounts();
  const std::string text = must_fail(view.show());
  check_text(text, "show the images to root of the container's user namespace: pages-1.img: ");
  check_text(text, "the image has 3 MiB, and there is room for 1 MiB more");
  BOOST_TEST(!fs::exists(kPages));  // refused before it fills the memory
}

OCIRUN_CHILD_TEST(the_copies_have_to_fit_together, CLONE_NEWNS) {
  View view;
  view.write("pages-1.img", kMebibyte / 2);
  refuse_id_mapped_mounts();
  must(view.show());
  BOOST_TEST(!is_mounted(kPages));
  BOOST_TEST(fs::file_size(kPages) == kMebibyte / 2);
  BOOST_TEST(root_can_open(kPages, O_RDONLY));
  BOOST_TEST(!root_can_open(kPages, O_RDWR));
  fs::remove_all("/tmp/place/images");
  view.write("pages-2.img", kMebibyte / 2 + 4096);
  check_text(must_fail(view.show()), "a copy of the images must fit into half of the memory");
}

OCIRUN_CHILD_TEST(an_error_that_is_not_about_id_mapped_mounts_is_told, CLONE_NEWNS) {
  View view;
  view.write("pages-1.img", 20);
  refuse_system_calls({SYS_mount_setattr}, ENOMEM);
  BOOST_TEST(view.show().error().number() == ENOMEM);
}

OCIRUN_CHILD_TEST(only_regular_files_are_shown, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 10);
  Scene::write("/tmp/secret", "secret");
  fs::create_symlink("/tmp/secret", "/tmp/images/core-2.img");
  fs::create_directories("/tmp/images/directory");
  BOOST_TEST_REQUIRE(::mkfifo("/tmp/images/pages-1.img", 0600) == 0);
  must(view.show());
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator("/tmp/place/images"))
    names.push_back(entry.path().filename());
  BOOST_TEST(names == std::vector<std::string>{"core-1.img"}, boost::test_tools::per_element());
}

OCIRUN_CHILD_TEST(the_images_of_pre_dumps_are_shown_in_directories, CLONE_NEWNS) {
  View view;
  view.write("core-1.img", 10);
  fs::create_directories("/tmp/first");
  Scene::write("/tmp/first/pages-7.img", "first");
  fs::create_symlink("../first", "/tmp/images/parent");
  must(view.show());
  BOOST_TEST(S_ISDIR(status_of("/tmp/place/images/parent").st_mode));
  BOOST_TEST(slurp("/tmp/place/images/parent/pages-7.img") == "first");
  BOOST_TEST(status_of("/tmp/place/images/parent").st_gid == kRootGroup);
}

OCIRUN_CHILD_TEST(links_in_a_circle_are_refused, CLONE_NEWNS) {
  View view;
  fs::create_symlink(".", "/tmp/images/parent");
  check_text(must_fail(view.show()), "the links named parent lead to more than 1000 directories");
}

OCIRUN_CHILD_TEST(a_map_without_root_is_refused, CLONE_NEWNS) {
  View view;
  view.id_map.uids[0].container_id = 1;
  check_text(must_fail(view.show()), "the user namespace has no user 0 or no group 0");
  view.id_map.uids[0].container_id = 0;
  view.id_map.gids[0].container_id = 1;
  check_text(must_fail(view.show()), "the user namespace has no user 0 or no group 0");
}

BOOST_AUTO_TEST_SUITE_END()
