// Copies of trees, and layers merged into one tree, compared with what the kernel's overlay shows.

#include "pods/images/trees/merge_layers.hpp"

#include <sys/resource.h>
#include <sys/syscall.h>

#include "linux/files/directories.hpp"

#include "tests/pods/images/tree_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// An ACL of version 2 with entries (tag, permissions, id): owner rwx, user 7 r-x, group r-x, mask
/// rwx, others none.
const std::string kAcl(
    "\x02\0\0\0"
    "\x01\0\x07\0\xff\xff\xff\xff"
    "\x02\0\x05\0\x07\0\0\0"
    "\x04\0\x05\0\xff\xff\xff\xff"
    "\x10\0\x07\0\xff\xff\xff\xff"
    "\x20\0\0\0\xff\xff\xff\xff",
    44);

/// Every kind of file, with odd modes, owners, times, names and attributes.
void fill(const Tree& tree) {
  tree.directory("d", 01777);
  tree.directory("closed", 0000);
  tree.file("closed/inside", "x", 0000);
  tree.file("setuid", "program", 0755);
  tree.owner_is("setuid", 7, 8);
  tree.mode_is("setuid", 06711);
  tree.attribute("setuid", "security.capability",
                 std::string("\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20));
  tree.file("d/line\nbreak", "1");
  tree.file("d/not\xff\xfeutf8", "2");
  tree.link("closed/again", "setuid");
  tree.link("d/again", "setuid");
  tree.symlink("d/absolute", "/etc/passwd");
  tree.symlink("up", "../..");
  tree.owner_is("up", 9, 10);
  tree.link("d/up", "up");
  tree.node("fifo", S_IFIFO | 0600);
  tree.node("null", S_IFCHR | 0600, makedev(1, 3));
  tree.node("disk", S_IFBLK | 0600, makedev(8, 1));
  tree.link("d/disk", "disk");
  for (const char* name : {"fifo", "null", "disk"}) tree.mode_is(name, 0622);
  tree.file("acl", "3");
  tree.attribute("acl", "system.posix_acl_access", kAcl);
  tree.directory("inherit", 02755);
  tree.attribute("inherit", "system.posix_acl_default", kAcl);
  tree.file("inherit/plain", "4", 0600);
  tree.attribute("inherit/plain", "user.mine", "m");
  tree.attribute("up", "trusted.link", "t");
  tree.mode_is(".", 0711);
  tree.owner_is(".", 3, 4);
  for (const char* name : {"setuid", "up", "fifo", "d/line\nbreak", "closed", "d", "."})
    tree.times_are(name, 2000, 1000);
}

Result<void> copy(const Tree& from, const Tree& into, const CopyOptions& options = {}) {
  const UniqueFd source = from.open(), copy = into.open();
  return copy_tree(source, copy, options);
}

Result<void> merge(const std::vector<const Tree*>& layers, const Tree& into,
                   OpaqueMark mark = OpaqueMark::kTrusted, const CopyOptions& options = {}) {
  std::vector<UniqueFd> open;
  std::vector<Fd> fds;
  for (const Tree* layer : layers) fds.push_back(open.emplace_back(layer->open()));
  const UniqueFd copy = into.open();
  return merge_layers(fds, mark, copy, options);
}

/// What an overlay of the layers, the base first, shows. Needs a mount namespace of the test's own.
std::vector<std::string> shown_by_overlay(const std::vector<const Tree*>& layers,
                                          const std::string& more = "") {
  std::string data = "lowerdir=";
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer)
    data += (layer == layers.rbegin() ? "" : ":") + (*layer)->path();
  const Scratch at;
  want(::syscall(SYS_mount, "overlay", at.path().c_str(), "overlay", 0UL, (data + more).c_str()) ==
           0,
       data);
  auto lines = description(at.path());
  want(::syscall(SYS_umount2, at.path().c_str(), 0) == 0, "umount");
  return lines;
}

/// Three layers in which names are replaced, hidden, opened again and linked.
struct Layers {
  explicit Layers(const Scratch& scratch)
      : base(scratch / "base"), middle(scratch / "middle"), top(scratch / "top") {}
  std::vector<const Tree*> all() const { return {&base, &middle, &top}; }
  Tree base, middle, top;
};

void fill_base(const Tree& base) {
  for (const char* name : {"keep", "chmod", "opaque", "becomes-file", "gone", "gone-and-back",
                           "file-between", "chmod/deep"})
    base.directory(name);
  for (const char* name :
       {"keep/a", "chmod/a", "chmod/deep/a", "opaque/a", "becomes-file/a", "gone/a",
        "gone-and-back/a", "file-between/a", "becomes-directory", "replaced", "gone-file"})
    base.file(name, std::string("base ") + name);
  base.link("keep/linked", "replaced");
  base.link("opaque/linked", "replaced");
  base.link("chmod/linked", "gone-file");
}

void fill_middle(const Tree& middle, OpaqueMark mark) {
  middle.directory("chmod", 0000);
  middle.whiteout("gone");
  middle.whiteout("gone-file");
  middle.whiteout("gone-and-back");
  middle.whiteout("never-was");
  middle.file("becomes-file", "file", 0600);
  middle.file("file-between", "file");
  middle.directory("becomes-directory", 0750);
  middle.file("becomes-directory/b", "b");
  middle.file("replaced", "middle");
  middle.link("becomes-directory/linked", "replaced");
  middle.directory("opaque", 0711);
  middle.attribute("opaque", attribute_name(mark), "y");
  middle.file("opaque/b", "b");
  middle.directory("keep");
  middle.whiteout("keep/a");
}

void fill_top(const Tree& top) {
  top.directory("chmod", 02711);
  top.directory("chmod/deep", 0500);
  top.directory("gone-and-back");
  top.file("gone-and-back/c", "c");
  top.directory("file-between");
  top.file("file-between/c", "c");
  top.directory("opaque", 0755);
  top.file("opaque/c", "c");
  top.file("replaced", "top");
  top.link("keep", "replaced");
}

bool can_mount_overlay() {
  const std::string text = slurp("/proc/filesystems");
  if (text.find("\toverlay\n") != std::string::npos) return true;
  BOOST_TEST_MESSAGE("skipped: the kernel has no overlayfs");
  return false;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(merged_layers, *needs_root())

BOOST_AUTO_TEST_CASE(a_copy_has_everything_that_the_tree_has) {
  const Scratch scratch;
  const Tree from(scratch / "from"), into(scratch / "into");
  fill(from);
  const mode_t before = ::umask(077);
  must(copy(from, into));
  ::umask(before);
  for (const char* name : {"setuid", "closed", "fifo"})  // description() reads, and so changes them
    BOOST_TEST(into.look(name).st_atim.tv_sec == 2000, name);
  BOOST_TEST(description(into.path()) == description(from.path()),
             boost::test_tools::per_element());
  BOOST_TEST(into.look("setuid").st_nlink == 3u);
  BOOST_TEST(into.look("setuid").st_ino != from.look("setuid").st_ino);
}

BOOST_AUTO_TEST_CASE(an_acl_that_the_destination_inherited_does_not_reach_the_copy) {
  const Scratch scratch;
  const Tree from(scratch / "from"), into(scratch / "into");
  fill(from);
  into.attribute(".", "system.posix_acl_default", kAcl);
  must(copy(from, into));
  BOOST_TEST(description(into.path()) == description(from.path()),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(holes_stay_holes_also_at_both_ends) {
  const Scratch scratch;
  const Tree from(scratch / "from"), into(scratch / "into");
  constexpr off_t kSize = off_t{64} << 20;
  from.file("sparse", "");
  {
    const UniqueFd file(::open((from / "sparse").c_str(), O_WRONLY | O_CLOEXEC));
    want(::pwrite(file.get(), "middle", 6, kSize / 2) == 6, "pwrite");
    want(::ftruncate(file.get(), kSize) == 0, "ftruncate");
  }
  must(copy(from, into));
  BOOST_TEST(slurp(into / "sparse") == slurp(from / "sparse"));
  BOOST_TEST(into.look("sparse").st_size == kSize);
  BOOST_TEST(into.look("sparse").st_blocks < 1000);
}

BOOST_AUTO_TEST_CASE(the_content_comes_through_to_another_filesystem) {
  BOOST_TEST(run_in_child(CLONE_NEWNS, [] {
               const Scratch scratch;
               const Tree from(scratch / "from"), into(scratch / "into");
               want(::syscall(SYS_mount, "t", into.path().c_str(), "tmpfs", 0UL, nullptr) == 0,
                    "tmpfs");
               std::string text;
               for (int i = 0; i < 100'000; ++i) text += std::to_string(i);
               from.file("large", text);
               from.file("empty", "");
               must(copy(from, into));
               BOOST_TEST(description(into.path()) == description(from.path()),
                          boost::test_tools::per_element());
               want(::syscall(SYS_umount2, into.path().c_str(), 0) == 0, "umount");
             }) == 0);
}

BOOST_AUTO_TEST_CASE(sockets_and_unwanted_devices_are_left_out) {
  const Scratch scratch;
  const Tree from(scratch / "from"), into(scratch / "into");
  from.node("socket", S_IFSOCK | 0600);
  from.node("null", S_IFCHR | 0600, makedev(1, 3));
  from.link("null2", "null");
  from.node("fifo", S_IFIFO | 0600);
  must(copy(from, into, {.owners = Owners::kKeep, .devices = DeviceNodes::kLeaveOut}));
  BOOST_TEST(!into.has("socket"));
  BOOST_TEST(!into.has("null"));
  BOOST_TEST(!into.has("null2"));
  BOOST_TEST(into.has("fifo"));
}

BOOST_AUTO_TEST_CASE(an_ordinary_user_gets_everything_as_his_own) {
  const Scratch scratch;
  want(::chmod(scratch.path().c_str(), 0755) == 0, "chmod");
  const Tree base(scratch / "from"), top(scratch / "top"), into(scratch / "into");
  base.directory("d", 0755);
  base.file("d/read-only", "x", 0444);
  base.attribute("d/read-only", "user.mine", "m");
  base.link("again", "d/read-only");
  base.file("d/replaced", "x", 0444);
  base.directory("d/locked", 0555);
  base.file("d/locked/f", "x");
  base.node("null", S_IFCHR | 0666, makedev(1, 3));
  base.mode_is("d", 0555);
  top.directory("d", 0555);
  top.mode_is("d", 0755);
  top.whiteout("d/locked");
  top.file("d/replaced", "y", 0444);
  top.mode_is("d", 0555);
  into.owner_is(".", 1000, 1000);
  BOOST_TEST(run_in_child(0, [&] {
               want(::setresgid(1000, 1000, 1000) == 0 && ::setresuid(1000, 1000, 1000) == 0,
                    "setuid");
               must(merge({&base, &top}, into, OpaqueMark::kUser,
                          {.owners = Owners::kCaller, .devices = DeviceNodes::kLeaveOut}));
             }) == 0);
  BOOST_TEST(into.look("again").st_uid == 1000u);
  BOOST_TEST(into.look("again").st_ino == into.look("d/read-only").st_ino);
  BOOST_TEST(mode_of(into / "d/read-only") == 0444);
  BOOST_TEST(mode_of(into / "d") == 0555);
  BOOST_TEST(attributes_of(into / "d/read-only") == " user.mine=\"m\"");
  BOOST_TEST(slurp(into / "d/replaced") == "y");
  BOOST_TEST(!into.has("d/locked"));
  BOOST_TEST(!into.has("null"));
}

BOOST_AUTO_TEST_CASE(an_error_names_the_file) {
  const Scratch scratch;
  const Tree from(scratch / "from"), into(scratch / "into");
  from.directory("d");
  from.file("d/a\x1b", "x");
  BOOST_TEST(run_in_child(0, [&] {
               want(::setresgid(1000, 1000, 1000) == 0, "setgid");
               into.owner_is(".", 1000, 1000);
               const UniqueFd source = from.open(), copy = into.open();
               want(::setresuid(1000, 1000, 1000) == 0, "setuid");
               const std::string error = must_fail(copy_tree(source, copy, {}));
               BOOST_TEST(error ==
                          "copy /d/a\\u001b: owner 0:0: change owner: operation not permitted");
             }) == 0);
}

// Deeper than the descriptors, a path of 4096 bytes and a stack with a frame for each level reach.
BOOST_AUTO_TEST_CASE(a_tree_of_2100_levels_is_copied_with_few_descriptors) {
  BOOST_TEST(run_in_child(0, [] {
               const Scratch scratch;
               const Tree from(scratch / "from"), into(scratch / "into");
               constexpr int kDepth = 2100;
               {
                 UniqueFd here = from.open();
                 for (int i = 0; i < kDepth; ++i) {
                   // Both are listed before or after the long branch, whatever order the filesystem
                   // has.
                   want(::mkdirat(here.get(), "a", 0755) == 0 &&
                            ::mkdirat(here.get(), "dd", 0755) == 0 &&
                            ::mkdirat(here.get(), "z", 0755) == 0,
                        "mkdirat");
                   UniqueFd next(::openat(here.get(), "dd", O_PATH | O_DIRECTORY | O_CLOEXEC));
                   if (i + 1 == kDepth) {
                     want(::mknodat(next.get(), "end", S_IFREG | 0640, 0) == 0, "mknodat");
                     want(::linkat(next.get(), "end", here.get(), "also", 0) == 0, "linkat");
                     want(::linkat(next.get(), "end", from.open().get(), "top", 0) == 0, "linkat");
                   }
                   here = std::move(next);
                 }
               }
               const rlimit few{128, 128};
               want(::setrlimit(RLIMIT_NOFILE, &few) == 0, "setrlimit");
               must(copy(from, into));
               UniqueFd here = into.open();
               for (int i = 0; i < kDepth; ++i) {
                 struct stat info{};
                 for (const char* name : {"a", "z"})
                   if (::fstatat(here.get(), name, &info, 0) != 0)
                     BOOST_ERROR(name << " is missing");
                 here = UniqueFd(::openat(here.get(), "dd", O_PATH | O_DIRECTORY | O_CLOEXEC));
               }
               struct stat info{};
               want(::fstatat(here.get(), "end", &info, 0) == 0, "end");
               BOOST_TEST((info.st_mode & 07777) == 0640u);
               BOOST_TEST(info.st_nlink == 3u);
               BOOST_TEST(into.look("top").st_ino == info.st_ino);
               here.reset();
               must(linux::remove_content(from.open()));
               must(linux::remove_content(into.open()));
             }) == 0);
}

OCIRUN_CHILD_TEST(merged_layers_are_what_the_kernels_overlay_shows, CLONE_NEWNS) {
  if (!can_mount_overlay()) return;
  const Scratch scratch;
  const Layers layers(scratch);
  fill_base(layers.base);
  fill_middle(layers.middle, OpaqueMark::kTrusted);
  fill_top(layers.top);
  // An attribute of a lower directory does not show through, and a default ACL of it does no harm.
  layers.base.attribute("chmod", "system.posix_acl_default", kAcl);
  layers.base.attribute("chmod", "user.lower", "l");
  layers.top.attribute("chmod", "user.upper", "u");
  layers.middle.times_are("chmod", 1, 2);
  layers.top.times_are("chmod", 3, 4);
  layers.base.times_are("keep/a", 5, 6);
  const auto expected = shown_by_overlay(layers.all());
  BOOST_TEST(expected.size() > 15u);
  const Tree into(scratch / "into");
  must(merge(layers.all(), into));
  BOOST_TEST(description(into.path()) == expected, boost::test_tools::per_element());

  // Every prefix of the layers, too: what the last layer hides is not hidden from the test.
  const Tree two(scratch / "two");
  must(merge({&layers.base, &layers.middle}, two));
  BOOST_TEST(description(two.path()) == shown_by_overlay({&layers.base, &layers.middle}),
             boost::test_tools::per_element());
}

OCIRUN_CHILD_TEST(every_kind_of_file_replaces_every_other_as_in_the_kernels_overlay, CLONE_NEWNS) {
  if (!can_mount_overlay()) return;
  const Scratch scratch;
  const Tree base(scratch / "base"), top(scratch / "top"), into(scratch / "into");
  const std::vector<std::string> kinds{"file", "full", "link", "fifo", "device", "hidden", "none"};
  const auto make = [](const Tree& tree, const std::string& kind, const std::string& name) {
    if (kind == "file") tree.file(name, tree.path().substr(tree.path().size() - 3));
    if (kind == "full") tree.directory(name, 0750), tree.file(name + "/" + kind, "x");
    if (kind == "link") tree.symlink(name, "full-full");
    if (kind == "fifo") tree.node(name, S_IFIFO | 0600);
    if (kind == "device") tree.node(name, S_IFCHR | 0600, makedev(1, 5));
    if (kind == "hidden") tree.whiteout(name);
  };
  for (const std::string& below : kinds)
    for (const std::string& above : kinds) {
      make(base, below, below + "-" + above);
      make(top, above, below + "-" + above);
    }
  must(merge({&base, &top}, into));
  BOOST_TEST(description(into.path()) == shown_by_overlay({&base, &top}),
             boost::test_tools::per_element());
}

OCIRUN_CHILD_TEST(in_a_user_namespace_the_mark_is_a_user_attribute, CLONE_NEWNS | CLONE_NEWUSER) {
  if (!can_mount_overlay()) return;
  const Scratch scratch;
  const Layers layers(scratch);
  fill_base(layers.base);
  fill_middle(layers.middle, OpaqueMark::kUser);
  fill_top(layers.top);
  const Tree into(scratch / "into");
  must(merge(layers.all(), into, OpaqueMark::kUser));
  BOOST_TEST(description(into.path()) == shown_by_overlay(layers.all(), ",userxattr"),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_opaque_root_hides_all_layers_below) {
  const Scratch scratch;
  const Layers layers(scratch);
  layers.base.file("lower", "x");
  layers.middle.attribute(".", "trusted.overlay.opaque", "y");
  layers.middle.file("kept", "x");
  layers.top.file("upper", "x");
  const Tree into(scratch / "into");
  must(merge(layers.all(), into));
  BOOST_TEST(!into.has("lower"));
  BOOST_TEST(into.has("kept"));
  BOOST_TEST(into.has("upper"));
}

BOOST_AUTO_TEST_CASE(a_device_that_cannot_be_made_hides_the_file_below_all_the_same) {
  const Scratch scratch;
  const Tree base(scratch / "base"), top(scratch / "top"), into(scratch / "into");
  base.file("name", "x");
  top.node("name", S_IFCHR | 0600, makedev(1, 3));
  must(merge({&base, &top}, into, OpaqueMark::kTrusted,
             {.owners = Owners::kKeep, .devices = DeviceNodes::kLeaveOut}));
  BOOST_TEST(!into.has("name"));
}

BOOST_AUTO_TEST_SUITE_END()
