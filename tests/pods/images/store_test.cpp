#include "pods/images/store.hpp"

#include <sys/stat.h>
#include <sys/wait.h>

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

BOOST_AUTO_TEST_SUITE(image_stores, *boost::unit_test::precondition([](auto) {
                        return boost::test_tools::assertion_result(is_root());
                      }))

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
  BOOST_TEST(scene.layers().size() == 1u);  // the layer below is whole
  BOOST_TEST(must(scene.store().list()).size() == 1u);
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

BOOST_AUTO_TEST_SUITE_END()
