// The mounts of root filesystems, made by the kernel.

#include "shim/tasks/rootfs.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "linux/base/syscalls.hpp"
#include "shim/messages/message.hpp"
#include "tests/child_test.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

/// One mount of a request. The texts live as long as this object.
class GivenMount {
 public:
  GivenMount(std::string type, std::string source, std::vector<std::string> options)
      : texts_(std::move(options)), type_(std::move(type)), source_(std::move(source)) {
    for (std::string& text : texts_) options_.push_back(text.data());
    message_.type = type_.data();
    message_.source = source_.data();
    message_.n_options = options_.size();
    message_.options = options_.data();
  }
  GivenMount(const GivenMount&) = delete;
  GivenMount& operator=(const GivenMount&) = delete;
  Shim__Mount* message() { return &message_; }

 private:
  std::vector<std::string> texts_;
  std::string type_, source_;
  std::vector<char*> options_;
  Shim__Mount message_ = new_message<Shim__Mount>();
};

/// Layers on a tmpfs, because an overlay cannot lie on every file system.
struct RootfsScene {
  Scratch scratch;
  std::string root = scratch / "layers", target = root + "/rootfs";

  RootfsScene() {
    std::filesystem::create_directories(root);
    must(linux::sys::mount("tmpfs", root.c_str(), "tmpfs", 0, nullptr));
    for (const char* name : {"base", "more", "upper", "work", "rootfs"}) directory(name);
    scratch.file("layers/base/file", "base");
    scratch.file("layers/more/file", "more");
  }
  RootfsScene(const RootfsScene&) = delete;
  RootfsScene& operator=(const RootfsScene&) = delete;
  ~RootfsScene() { ::umount2(root.c_str(), MNT_DETACH); }

  std::string directory(const std::string& name) const {
    std::filesystem::create_directories(root + "/" + name);
    return root + "/" + name;
  }
  std::vector<std::string> overlay(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"workdir=" + root + "/work", "upperdir=" + root + "/upper",
                               "lowerdir=" + root + "/more:" + root + "/base"});
    return more;
  }
  Result<void> mount(GivenMount& given) const {
    Shim__Mount* const one = given.message();
    return mount_rootfs({&one, 1}, target);
  }
  Result<void> mount_overlay(std::vector<std::string> options) const {
    GivenMount given("overlay", "overlay", std::move(options));
    return mount(given);
  }
  bool is_mounted() const { return slurp("/proc/self/mountinfo").contains(" " + target + " "); }
  uid_t owner_of(const std::string& name) const {
    struct stat status{};
    BOOST_TEST(::lstat((target + "/" + name).c_str(), &status) == 0);
    return status.st_uid;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rootfs)

OCIRUN_CHILD_TEST(an_overlay_shows_its_layers_and_all_mounts_go, CLONE_NEWNS) {
  const RootfsScene scene;
  must(scene.mount_overlay(scene.overlay()));
  BOOST_TEST(slurp(scene.target + "/file") == "more");
  GivenMount over("bind", scene.root + "/base", {"rbind", "ro"});
  must(scene.mount(over));
  BOOST_TEST(slurp(scene.target + "/file") == "base");
  BOOST_TEST(must_fail(linux::sys::open((scene.target + "/new").c_str(), O_WRONLY | O_CREAT, 0600))
                 .contains("read-only"));
  must(unmount_rootfs(scene.target));
  BOOST_TEST(!scene.is_mounted());
  must(unmount_rootfs(scene.target));
  must(unmount_rootfs(scene.root + "/none"));
}

OCIRUN_CHILD_TEST(options_longer_than_a_page_are_taken, CLONE_NEWNS) {
  const RootfsScene scene;
  std::string lower = "lowerdir=" + scene.root + "/base";
  for (int i = 0; i < 90; ++i) lower += ":" + scene.directory(fmt::format("{:040}", i));
  BOOST_REQUIRE(lower.size() > 4096U);
  must(scene.mount_overlay({lower}));
  BOOST_TEST(slurp(scene.target + "/file") == "base");
}

OCIRUN_CHILD_TEST(the_layers_of_a_user_namespace_are_id_mapped, CLONE_NEWNS) {
  const RootfsScene scene;
  must(scene.mount_overlay(scene.overlay({"uidmap=0:100000:65536", "gidmap=0:100000:65536"})));
  BOOST_TEST(scene.owner_of("file") == 100000U);
  const struct stat lower = [&] {
    struct stat status{};
    ::stat((scene.root + "/more/file").c_str(), &status);
    return status;
  }();
  BOOST_TEST(lower.st_uid == 0U);  // the layers themselves are as before
  must(linux::sys::open((scene.target + "/new").c_str(), O_WRONLY | O_CREAT, 0600));
  BOOST_TEST(std::filesystem::exists(scene.root + "/upper/new"));
}

OCIRUN_CHILD_TEST(what_is_not_supported_is_named_and_nothing_is_mounted, CLONE_NEWNS) {
  const RootfsScene scene;
  const std::string where = "mount the root filesystem (overlay of overlay): ";
  BOOST_TEST(must_fail(scene.mount_overlay(scene.overlay({"loop"}))) ==
             where + "its option \"loop\" is not supported");
  BOOST_TEST(must_fail(scene.mount_overlay(scene.overlay({"uidmap=0:100000"}))) ==
             where + "uidmap: \"0:100000\" is no mapping CONTAINER:HOST:SIZE");
  BOOST_TEST(must_fail(scene.mount_overlay(scene.overlay({"gidmap=0:1:0"}))).contains("gidmap"));
  GivenMount deeper("bind", scene.root + "/base", {"rbind"});
  std::string name = "usr";
  deeper.message()->target = name.data();
  BOOST_TEST(must_fail(scene.mount(deeper)).contains("its target is a directory"));
  GivenMount bound("bind", scene.root + "/base", {"rbind", "uidmap=0:1:1", "gidmap=0:1:1"});
  BOOST_TEST(must_fail(scene.mount(bound)).contains("supported for an overlay alone"));
  BOOST_TEST(must_fail(scene.mount_overlay(scene.overlay({"uidmap=0:1:1"}))) ==
             where + "it has one of the options uidmap and gidmap: both are necessary");
  BOOST_TEST(!scene.is_mounted());
}

OCIRUN_CHILD_TEST(a_second_mount_that_fails_takes_the_first_one_back, CLONE_NEWNS) {
  const RootfsScene scene;
  GivenMount first("bind", scene.root + "/base", {"rbind"});
  GivenMount second("bind", scene.root + "/none", {"rbind"});
  Shim__Mount* const both[] = {first.message(), second.message()};
  BOOST_TEST(must_fail(mount_rootfs(both, scene.target)).contains(scene.root + "/none"));
  BOOST_TEST(!scene.is_mounted());
}

BOOST_AUTO_TEST_SUITE_END()
