// The root filesystem of a container: an overlay of the image's layers, or a copy of them.

#include "pods/prepare/root.hpp"

#include <sys/statfs.h>

#include "pods/prepare/find_image.hpp"
#include "pods/prepare/mounts.hpp"
#include "tests/child_test.hpp"
#include "tests/pods/images/layout_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr long kOverlay = 0x794C7630;

/// A layout with the image "base" of two layers, and a store.
struct RootScene {
  LayoutScene layout;
  std::string images;
  Given given;
  Workload workload;
  bundle::Node place_in_document;

  RootScene() {
    layout.set_index(layout.image(
        {tar_of({test::directory("etc", 0711), file("etc/a", "one"), file("b", "two")}),
         tar_of({file("etc/a", "changed")})},
        LayoutScene::named("base")));
    images = layout.directory();
    ::mkdir((layout.scratch() / "container").c_str(), 0755);
    workload.file = "f";
    workload.source = std::make_unique<Source>();
    workload.pod.containers.emplace_back();
    container().image_place = &place_in_document;
    container().name = "web";
    container().image = "base";
  }
  Container& container() { return workload.pod.containers[0]; }
  Store store() const { return must(Store::open(HostPath(layout.scratch() / "store"))); }
  Result<StoredImage> find() const {
    return find_image(workload, workload.pod.containers[0], given, store(), {});
  }
  Root root() {
    given.image_directory = images;
    return must(Root::open(store(), must(find()).layers, place(), layout.scratch() / "container"));
  }
  UniqueFd place() const {
    return UniqueFd(
        ::open((layout.scratch() / "container").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
};

bool is_overlay(const std::string& path) {
  struct statfs info{};
  return ::statfs(path.c_str(), &info) == 0 && static_cast<long>(info.f_type) == kOverlay;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(roots, *needs_root())

OCIRUN_CHILD_TEST(a_root_is_an_overlay_that_begins_anew_with_each_run, CLONE_NEWNS) {
  RootScene scene;
  must(enter_own_mount_namespace());
  Root root = scene.root();
  BOOST_TEST((must(root.make()) == RootKind::kOverlay));
  BOOST_TEST(is_overlay(root.path()));
  BOOST_TEST(slurp(root.path() + "/etc/a") == "changed");
  BOOST_TEST(mode_of(root.path() + "/etc") == 0711);
  scene.layout.scratch().file("container/rootfs/b", "written");
  BOOST_TEST((must(root.make()) == RootKind::kOverlay));
  BOOST_TEST(slurp(root.path() + "/b") == "two");
  must(root.unmount());
  BOOST_TEST(!is_overlay(root.path()));
  must(root.unmount());  // nothing is mounted there any more
}

BOOST_AUTO_TEST_CASE(a_copy_is_a_tree_of_its_own) {
  RootScene scene;
  Root root = scene.root();
  BOOST_TEST((must(root.make(RootKind::kCopy)) == RootKind::kCopy));
  BOOST_TEST(!is_overlay(root.path()));
  BOOST_TEST(slurp(root.path() + "/etc/a") == "changed");
  scene.layout.scratch().file("container/rootfs/b", "written");
  must(root.make(RootKind::kCopy));
  BOOST_TEST(slurp(root.path() + "/b") == "two");
}

BOOST_AUTO_TEST_CASE(an_image_is_found_in_the_layout_or_where_the_operator_says) {
  RootScene scene;
  BOOST_TEST(must_fail(scene.find())
                 .contains("container \"web\": pull docker.io/library/base:latest: skopeo is not "
                           "installed"));
  scene.given.pulling.policy = PullPolicy::kNever;
  BOOST_TEST(must_fail(scene.find())
                 .ends_with("`ocirun pod pull docker://docker.io/library/base:latest` fetches it; "
                            "--image web=SOURCE takes the image from an OCI layout or an archive"));
  scene.workload.pod.kind = Kind::kAppc;
  BOOST_TEST(must_fail(scene.find())
                 .ends_with("nothing says where the image \"base\" of the app \"web\" is: --image "
                            "web=SOURCE names an OCI layout or an archive, --images DIR a layout "
                            "that has it"));
  scene.workload.pod.kind = Kind::kOam;
  scene.given.image_directory = scene.images;
  const Digest wanted = must(scene.find()).digest;
  scene.container().image = "absent";
  BOOST_TEST(must_fail(scene.find()).contains("no image \"absent\""));
  scene.given.image_directory.clear();
  // By the name of the image or of the container; with a transport, with a reference, with neither.
  for (const char* name : {"absent", "web"})
    for (const std::string& source :
         {scene.images, "oci:" + scene.images, scene.images + ":base"}) {
      scene.given.images = {{name, source}};
      BOOST_TEST((must(scene.find()).digest == wanted));
    }
  scene.given.images = {{"web", scene.images + ":other"}};
  BOOST_TEST(must_fail(scene.find()).contains("container \"web\": --image "));
}

BOOST_AUTO_TEST_SUITE_END()
