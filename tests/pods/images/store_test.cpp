#include "pods/images/store.hpp"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "pods/images/store_locks.hpp"
#include "tests/child_test.hpp"
#include "tests/pods/images/layout_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

/// A layout with one image, and a store beside it.
class StoreScene {
 public:
  explicit StoreScene(const std::vector<std::vector<TarItem>>& layers) {
    std::vector<std::string> tars;
    for (const auto& items : layers) tars.push_back(tar_of(items));
    layout_.set_index(layout_.image(tars));
  }
  Store store() const { return must(Store::open(HostPath(path()))); }
  std::string path() const { return layout_.scratch() / "a/store"; }
  std::string operator/(const StoredLayer& layer) const { return path() + "/" + layer.directory; }
  Result<StoredImage> add(const AddOptions& options = {}) const {
    return store().add(must(ImageSource::open(HostPath(layout_.directory()))), {}, options);
  }
  std::vector<std::string> layers() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path() + "/layers"))
      names.push_back(entry.path().filename());
    return names;
  }
  LayoutScene& layout() { return layout_; }

 private:
  LayoutScene layout_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(image_stores, *needs_root())

BOOST_AUTO_TEST_CASE(the_layers_of_an_image_are_unpacked_once) {
  const StoreScene scene({{directory("d", 0711), file("d/f", "one")}, {file("d/g", "two")}});
  const StoredImage image = must(scene.add());
  BOOST_TEST(image.layers.size() == 2u);
  BOOST_TEST(slurp(scene / image.layers[0] + "/d/f") == "one");
  BOOST_TEST(slurp(scene / image.layers[1] + "/d/g") == "two");
  BOOST_TEST(mode_of(scene / image.layers[1] + "/d") == 0711);  // as the layer below says
  struct stat before{}, after{};
  ::lstat((scene / image.layers[0]).c_str(), &before);
  std::size_t steps = 0;
  AddOptions options;
  options.progress = [&](const AddProgress&) { ++steps; };
  must(scene.add(options));
  ::lstat((scene / image.layers[0]).c_str(), &after);
  BOOST_TEST(before.st_ino == after.st_ino);
  BOOST_TEST(steps == 0u);
  BOOST_TEST(mode_of(scene.path()) == 0700);
}

BOOST_AUTO_TEST_CASE(nobody_else_enters_the_layers_or_writes_to_the_store) {
  const StoreScene scene({{file("f", "one")}});
  must(scene.add());
  ::chmod((scene.path() + "/layers").c_str(), 0755);
  must(scene.add());
  BOOST_TEST(mode_of(scene.path() + "/layers") == 0700);
  ::chmod(scene.path().c_str(), 0777);
  BOOST_TEST(
      must_fail(Store::open(HostPath(scene.path()))).contains("its mode 0777 lets others write"));
  ::chmod(scene.path().c_str(), 0700);
  BOOST_REQUIRE(::chown((scene.path() + "/layers").c_str(), 1000, 1000) == 0);
  BOOST_TEST(must_fail(Store::open(HostPath(scene.path()))).contains("it belongs to user 1000"));
}

BOOST_AUTO_TEST_CASE(progress_counts_layers_and_bytes) {
  const StoreScene scene({{file("f", "one")}, {file("g", "two")}});
  std::vector<std::size_t> indexes;
  AddOptions options;
  options.progress = [&](const AddProgress& progress) {
    indexes.push_back(progress.index);
    BOOST_TEST(progress.count == 2u);
    BOOST_TEST(progress.read == progress.size);
  };
  must(scene.add(options));
  BOOST_TEST(indexes == (std::vector<std::size_t>{0, 1}));
}

BOOST_AUTO_TEST_CASE(a_failed_layer_leaves_the_store_as_it_was) {
  const StoreScene scene({{file("f", "one")}, {file("../g", "two")}});
  BOOST_TEST(must_fail(scene.add()).find("its name contains \"..\"") != std::string::npos);
  BOOST_TEST(scene.layers().empty());  // also the layer below, which was whole
}

BOOST_AUTO_TEST_CASE(a_failed_image_takes_no_layer_away_that_was_there_before) {
  StoreScene scene({{file("f", "one")}});
  must(scene.add());
  scene.layout().set_index(
      scene.layout().image({tar_of({file("f", "one")}), tar_of({file("../g", "two")})}));
  must_fail(scene.add());
  BOOST_TEST(scene.layers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(what_a_killed_process_left_is_removed) {
  const StoreScene scene({{file("f", "one")}});
  const Store store = scene.store();
  std::filesystem::create_directories(scene.path() + "/layers/tmp-1/a/b");
  must(scene.add());
  BOOST_TEST(scene.layers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(layers_below_an_opaque_root_are_left_out) {
  const StoreScene scene(
      {{file("f", "one")}, {file(".wh..wh..opq"), file("g", "two")}, {file("h", "three")}});
  const StoredImage image = must(scene.add());
  BOOST_TEST(image.layers.size() == 2u);
  BOOST_TEST(slurp(scene / image.layers[0] + "/g") == "two");
}

BOOST_AUTO_TEST_CASE(layers_that_nobody_uses_are_pruned) {
  const StoreScene scene({{file("f", "one")}, {file("g", "two")}});
  const StoredImage image = must(scene.add());
  const Store store = scene.store();
  BOOST_TEST(must(store.prune(std::vector{image.layers[0].chain_id})) == 1u);
  BOOST_TEST((must(store.list()) == std::vector{image.layers[0].chain_id}));
  BOOST_TEST(store.open_layer(image.layers[1]).error().number() == ENOENT);
  must(scene.add());
  BOOST_TEST(must(store.prune({})) == 2u);
  BOOST_TEST(scene.layers().empty());
}

BOOST_AUTO_TEST_CASE(a_layer_that_was_unpacked_in_another_way_is_another_directory) {
  const StoreScene scene({{file("f", "one"), device("null", AE_IFCHR, 1, 3)}});
  const std::string plain = must(scene.add()).layers[0].directory;
  AddOptions options;
  options.devices = DeviceNodes::kLeaveOut;
  const StoredImage deviceless = must(scene.add(options));
  BOOST_TEST(deviceless.layers[0].directory == plain + ".nodev");
  BOOST_TEST(!std::filesystem::exists(scene / deviceless.layers[0] + "/null"));
  options.mark = OpaqueMark::kUser;
  BOOST_TEST(must(scene.add(options)).layers[0].directory == plain + ".user.nodev");
  options.devices = DeviceNodes::kMake;
  BOOST_TEST(must(scene.add(options)).layers[0].directory == plain + ".user");
  const Store store = scene.store();
  must(store.open_layer(deviceless.layers[0]));
  BOOST_TEST(must(store.list()).size() == 1u);
  BOOST_TEST(must(store.prune(must(store.list()))) == 0u);
  BOOST_TEST(must(store.prune({})) == 4u);
}

BOOST_AUTO_TEST_CASE(only_directories_of_layers_are_opened_as_layers) {
  const StoreScene scene({{file("f", "one")}});
  StoredLayer layer = must(scene.add()).layers[0];
  const Store store = scene.store();
  must(store.open_layer(layer));
  const std::string name = layer.directory;
  for (const std::string& other :
       {std::string("layers/.."), std::string(".."), std::string(), "layers/../" + name,
        name + "/..", name + ".other", "a" + name}) {
    layer.directory = other;
    BOOST_TEST(must_fail(store.open_layer(layer)).contains("is no directory of the layer sha256:"));
  }
}

BOOST_AUTO_TEST_CASE(the_layers_of_an_image_have_limits_together) {
  const StoreScene scene({{file("f", "one"), file("g")}, {file("h", "two"), file("i")}});
  AddOptions options;
  options.image_limits.entries = 3;
  BOOST_TEST(must_fail(scene.add(options)).contains("the image have more than 3 entries"));
  options.image_limits = {};
  options.image_limits.bytes = 5'120;  // of an archive, too
  must(scene.add(options));
}

BOOST_AUTO_TEST_CASE(many_layers_need_few_descriptors) {
  std::vector<std::vector<TarItem>> layers;
  for (int i = 0; i < 60; ++i) layers.push_back({file("d/f" + std::to_string(i))});
  const StoreScene scene(layers);
  BOOST_TEST(run_in_child(0, [&] {
               const rlimit few{40, 40};
               ::setrlimit(RLIMIT_NOFILE, &few);
               BOOST_TEST(must(scene.add()).layers.size() == 60u);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(who_has_locked_the_store_keeps_its_layers) {
  const StoreScene scene({{file("f", "one")}});
  const Store store = scene.store();
  {
    const UniqueFd mine = must(store.lock());
    const UniqueFd anothers = must(store.lock());
    must(scene.add());
    BOOST_TEST(must_fail(store.prune({}, std::chrono::milliseconds(20)))
                   .contains("have added or used images in the store during the last 20 ms"));
    BOOST_TEST(must(store.list()).size() == 1u);
  }
  BOOST_TEST(must(store.prune({})) == 1u);
}

BOOST_AUTO_TEST_CASE(a_layer_that_another_process_unpacks_is_left_alone) {
  const StoreScene scene({{file("f", "one")}});
  const StoredImage image = must(scene.add());
  const Store store = scene.store();
  must(store.prune({}));
  const std::string temporary =
      scene.path() + "/layers/tmp-sha256-" + image.layers[0].chain_id.hex();
  std::filesystem::create_directories(temporary);
  {
    LayerLocks theirs = must(LayerLocks::open(store.fd()));
    must(theirs.take(image.layers[0].chain_id));
    LayerLocks ours = must(LayerLocks::open(store.fd()));
    BOOST_TEST(!must(ours.try_take(image.layers[0].chain_id)));
    BOOST_TEST(must(ours.try_take(digest_of("another"))));
    // Another image is added meanwhile.
    LayoutScene other;
    other.set_index(other.image({tar_of({file("g", "other")})}));
    must(store.add(must(ImageSource::open(HostPath(other.directory()))), {}));
    BOOST_TEST(std::filesystem::exists(temporary));
  }
  must(scene.add());
  BOOST_TEST(!std::filesystem::exists(temporary));
  BOOST_TEST(scene.layers().size() == 2u);
}

BOOST_AUTO_TEST_CASE(processes_that_add_the_same_image_at_once_unpack_it_once) {
  std::vector<TarItem> items;
  for (int i = 0; i < 500; ++i) items.push_back(file("f" + std::to_string(i), "x"));
  StoreScene scene({items});
  const std::string layout = scene.layout().directory();
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      bool told = false;
      AddOptions options;
      options.progress = [&](const AddProgress&) { told = true; };
      const auto source = ImageSource::open(HostPath(layout));
      const auto store = Store::open(HostPath(scene.path()));
      if (!source || !store || !store->add(*source, {}, options)) ::_exit(1);
      ::_exit(told ? 2 : 0);
    }
    children.push_back(pid);
  }
  int unpackers = 0;
  for (const pid_t pid : children) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    BOOST_TEST((WIFEXITED(status) && WEXITSTATUS(status) != 1));
    if (WEXITSTATUS(status) == 2) ++unpackers;
  }
  BOOST_TEST(unpackers == 1);
  BOOST_TEST(scene.layers().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_store_must_be_a_directory) {
  const Scratch scratch;
  const std::string path = scratch.file("file", "x");
  BOOST_TEST(must_fail(Store::open(HostPath(path))).starts_with("image store " + path));
}

BOOST_AUTO_TEST_CASE(devices_that_are_left_out_are_told_when_the_layer_is_unpacked) {
  const StoreScene scene({{device("a", AE_IFCHR, 1, 3)}, {device("b", AE_IFBLK, 7, 0), file("f")}});
  AddOptions options;
  options.mark = OpaqueMark::kUser;
  options.devices = DeviceNodes::kLeaveOut;
  BOOST_TEST(must(scene.add(options)).devices_left_out == 2u);
  BOOST_TEST(must(scene.add(options)).devices_left_out == 0u);
  BOOST_TEST(must(scene.add()).devices_left_out == 0u);
}

OCIRUN_CHILD_TEST(an_owner_that_a_user_namespace_does_not_have_is_told,
                  CLONE_NEWUSER | CLONE_NEWNS) {
  TarItem item = file("f");
  item.uid = 70000;
  const StoreScene scene({{item}});
  AddOptions options;
  options.mark = OpaqueMark::kUser;
  options.devices = DeviceNodes::kLeaveOut;
  const std::string message = must_fail(scene.add(options));
  BOOST_TEST(message.contains("owner 70000:0 does not exist in this user namespace"), message);
  BOOST_TEST(message.contains("uidmap"), message);
}

BOOST_AUTO_TEST_SUITE_END()
