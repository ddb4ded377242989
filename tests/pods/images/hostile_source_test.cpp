// Image sources that shall make their reader work, or fill its memory or disk, for ever.

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "pods/images/layout.hpp"
#include "tests/child_test.hpp"
#include "tests/pods/images/layout_scene.hpp"
#include "tests/pods/images/text.hpp"
#include "tests/pods/images/text_range.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr std::size_t kPlenty = std::size_t{64} << 20;

/// The files of a scene; counts how often each is opened.
class CountingFiles : public SourceFiles {
 public:
  explicit CountingFiles(const LayoutScene& scene) : files_(scene.files) {}
  Result<FileRange> open(const std::string& name) const override {
    const auto found = files_.find(name);
    if (found == files_.end()) return fail(ENOENT, "open {}", name);
    ++opened[name];
    return range_of(found->second);
  }
  int most() const {
    int most = 0;
    for (const auto& [name, count] : opened) most = std::max(most, count);
    return most;
  }
  mutable std::map<std::string, int> opened;

 private:
  const std::map<std::string, std::string>& files_;
};

std::string repeated(const std::string& descriptor, int times) {
  std::string list = descriptor;
  for (int i = 1; i < times; ++i) list += "," + descriptor;
  return list;
}

SourceOptions with_limits(const SourceLimits& limits, const std::string& temporary) {
  return {.limits = limits, .temporary = HostPath(temporary)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_sources)

BOOST_AUTO_TEST_CASE(an_index_that_is_listed_many_times_is_read_and_searched_once) {
  LayoutScene scene;
  const std::string inner = scene.blob(LayoutScene::index(scene.image({"1"})), kIndexType);
  const std::string outer = scene.blob(LayoutScene::index(repeated(inner, 1000)), kIndexType);
  scene.set_index(repeated(outer, 1000));
  const CountingFiles files(scene);
  must(find_in_layout(DocumentReader(files, kPlenty), {}));
  BOOST_TEST(files.most() == 1);
  BOOST_TEST(must(list_layout(DocumentReader(files, kPlenty))).size() == 1u);
}

BOOST_AUTO_TEST_CASE(an_index_under_two_names_is_listed_under_both_and_read_once) {
  LayoutScene scene;
  const std::string index = LayoutScene::index(scene.image({"1"}));
  scene.set_index(scene.blob(index, kIndexType, LayoutScene::named("a")) + "," +
                  scene.blob(index, kIndexType, LayoutScene::named("b")));
  const CountingFiles files(scene);
  const auto images = must(list_layout(DocumentReader(files, kPlenty)));
  BOOST_TEST(images.size() == 2u);
  BOOST_TEST(images.at(0).names == std::vector<std::string>{"a"});
  BOOST_TEST(images.at(1).names == std::vector<std::string>{"b"});
  BOOST_TEST(files.most() == 1);
}

BOOST_AUTO_TEST_CASE(many_ways_to_documents_are_an_error) {
  LayoutScene scene;
  // None of the manifests is wanted, so that only the ways count.
  const std::string index =
      LayoutScene::index(repeated(scene.blob("{}", "application/x-other"), 2000));
  std::string descriptors;
  for (int i = 0; i < 60; ++i)
    descriptors += (i == 0 ? "" : ",") +
                   scene.blob(index, kIndexType, LayoutScene::named("n" + std::to_string(i)));
  scene.set_index(descriptors);
  const CountingFiles files(scene);
  BOOST_TEST(has(must_fail(list_layout(DocumentReader(files, kPlenty))),
                 "lead to more than 100000 documents"));
  BOOST_TEST(files.most() == 1);
}

BOOST_AUTO_TEST_CASE(the_documents_of_one_search_are_limited_together) {
  LayoutScene scene;
  scene.set_index(scene.image({"1"}));
  SourceLimits limits;
  limits.document_bytes = scene.files["index.json"].size() + 10;
  const auto source =
      must(ImageSource::open(HostPath(scene.directory()), with_limits(limits, "/tmp")));
  BOOST_TEST(must(source.list()).size() == 1u);
  BOOST_TEST(has(must_fail(source.find({})), "configurations have more than"));
  BOOST_TEST(must(source.list()).size() == 1u);  // each search begins anew
}

BOOST_AUTO_TEST_CASE(a_configuration_of_many_saved_images_is_read_once) {
  LayoutScene scene;
  const std::string image = R"({"Config":"c.json","RepoTags":[],"Layers":[]})";
  scene.files = {{"c.json", LayoutScene::config({})},
                 {"manifest.json", "[" + repeated(image, 1000) + "]"}};
  const CountingFiles files(scene);
  BOOST_TEST(must(list_docker_archive(DocumentReader(files, kPlenty))).size() == 1000u);
  BOOST_TEST(files.most() == 1);
}

BOOST_AUTO_TEST_CASE(a_file_of_an_archive_is_opened_without_a_scan_from_its_beginning) {
  LayoutScene scene;
  const Scratch temporary;
  for (const auto compression : {Compression::kNone, Compression::kGzip, Compression::kZstd}) {
    const std::string path = scene.archive(compression, {file("zz", "content")});
    const auto files =
        must(open_source_files(HostPath(path), with_limits(SourceLimits(), temporary.path())));
    // A scan would meet a damaged header now; nothing but the last entry is left.
    const UniqueFd archive(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    BOOST_TEST(::pwrite(archive.get(), std::string(512, 'x').data(), 512, 0) == 512);
    const auto read = [&](const char* name) {
      FileRange range = must(files->open(name));
      return must(read_whole(range, 100));
    };
    BOOST_TEST(read("zz") == "content");
    BOOST_TEST(read("oci-layout") == scene.files.at("oci-layout"));
    BOOST_TEST(temporary.names().empty());
  }
}

BOOST_AUTO_TEST_CASE(bytes_and_entries_of_an_archive_are_limited) {
  LayoutScene scene;
  const std::vector<TarItem> more{file("zeros", std::string(1 << 20, '\0')), directory("d")};
  for (const auto compression : {Compression::kNone, Compression::kGzip}) {
    const HostPath path(scene.archive(compression, more));
    SourceLimits limits;
    limits.archive_entries = 3;  // oci-layout, zeros, d
    must(open_source_files(path, with_limits(limits, "/tmp")));
    limits.archive_entries = 2;
    BOOST_TEST(has(must_fail(open_source_files(path, with_limits(limits, "/tmp"))),
                   "more than 2 entries"));
    limits = SourceLimits();
    limits.archive_bytes = 1 << 20;
    BOOST_TEST(has(must_fail(open_source_files(path, with_limits(limits, "/tmp"))),
                   "more than 1048576 bytes"));
  }
}

BOOST_AUTO_TEST_CASE(a_missing_temporary_directory_is_named) {
  LayoutScene scene;
  BOOST_TEST(has(must_fail(open_source_files(HostPath(scene.archive(Compression::kGzip)),
                                             with_limits(SourceLimits(), "/nowhere"))),
                 "temporary file in /nowhere"));
}

OCIRUN_CHILD_TEST(a_full_temporary_directory_is_named, CLONE_NEWNS) {
  const Scratch scratch;
  const std::string small = scratch / "small";
  ::mkdir(small.c_str(), 0700);
  BOOST_REQUIRE(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=16k") == 0);
  const std::string archive =
      scratch.file("archive", tar_of({file("f", std::string(1 << 20, 'x'))}, Compression::kGzip));
  BOOST_TEST(must_fail(open_source_files(HostPath(archive), with_limits(SourceLimits(), small))) ==
             archive + ": temporary file in " + small + ": write: no space left on device");
  ::umount(small.c_str());
}

BOOST_AUTO_TEST_SUITE_END()
