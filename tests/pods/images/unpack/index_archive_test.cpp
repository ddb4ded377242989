// Where the files of an archive are in it: the archive of each test is read at these places.

#include "pods/images/unpack/libarchive.hpp"

#include "pods/images/source_files.hpp"
#include "tests/pods/images/text_range.hpp"
#include "tests/pods/images/unpack/layer_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

Result<TarIndex> index_of(const std::string& tar) {
  TarIndex index;
  FileRange range = range_of(tar);
  OCIRUN_TRY(index_archive(
      range, 1000, [&](const ArchiveMember& member) { return index.add(member, tar.size()); }));
  return index;
}

std::string content_of(const std::string& tar, const std::string& name) {
  const TarIndex::File file = must(must(index_of(tar)).find(name));
  return tar.substr(file.offset, file.size);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(index_archives)

BOOST_AUTO_TEST_CASE(every_content_is_found_whatever_its_size_and_its_headers) {
  const std::string far(3000, 'n');  // a name that needs a pax header
  TarItem with_attribute = file("attribute", "kept");
  with_attribute.xattrs = {{"user.a", std::string(2000, 'v')}};
  std::vector<TarItem> items{directory("d")};
  for (const std::size_t size : {0U, 1U, 511U, 512U, 513U, 1024U, 70'000U})
    items.push_back(file("f" + std::to_string(size), std::string(size, 'c')));
  items.insert(items.end(), {symlink_to("s", "f1"), file(far, "far"), with_attribute,
                             device("p", AE_IFIFO, 0, 0), file("last", "end")});
  const std::string tar = tar_of(items);
  for (const TarItem& item : items)
    if (item.type == AE_IFREG) BOOST_TEST(content_of(tar, item.name) == item.content);
  BOOST_TEST(content_of(tar, "s") == "c");
  BOOST_TEST(has(must_fail(must(index_of(tar)).find("p")), "must be a regular file"));
}

BOOST_AUTO_TEST_CASE(a_file_that_has_no_zeros_behind_it_is_found) {
  const std::string tar = raw_header("a", '0', "00000001000") + std::string(512, 'x');
  BOOST_TEST(content_of(tar, "a") == std::string(512, 'x'));
}

BOOST_AUTO_TEST_CASE(sparse_files_are_refused_by_name) {
  TarItem sparse = file("map", std::string(1 << 20, '\0'));
  sparse.holes = {{0, 512}};
  BOOST_TEST(has(must_fail(must(index_of(tar_of({sparse}))).find("map")), "a sparse file"));
  const std::string records =
      "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n32 GNU.sparse.realsize=99999999\n";
  char length[12];
  std::snprintf(length, sizeof length, "%011zo", records.size());
  const std::string gnu = raw_header("pax", 'x', length) + padded(records) +
                          raw_header("f", '0', "00000001000") + padded("0\n") +
                          std::string(1024, '\0');
  BOOST_TEST(has(must_fail(must(index_of(gnu)).find("f")), "a sparse file"));
}

BOOST_AUTO_TEST_CASE(a_file_whose_headers_contradict_each_other_is_refused_by_name) {
  const auto with = [](const std::string& record, const char* octal, std::size_t stored) {
    char length[12];
    std::snprintf(length, sizeof length, "%011zo", record.size());
    return raw_header("pax", 'x', length) + padded(record) + raw_header("f", '0', octal) +
           padded(std::string(stored, 'x')) + raw_header("g", '0', "00000000003") + padded("ggg") +
           std::string(1024, '\0');
  };
  // The archive holds 1,600 bytes of "f", which shall have 100, and 5,000.
  for (const std::string& record :
       {std::string("23 SCHILY.realsize=100\n"), std::string("27 GNU.sparse.realsize=100\n"),
        std::string("24 GNU.sparse.size=5000\n")}) {
    const std::string tar = with(record, "00000003100", 1600);
    BOOST_TEST(has(must_fail(must(index_of(tar)).find("f")), "a sparse file"), record);
    BOOST_TEST(content_of(tar, "g") == "ggg", record);
  }
  // The size of the pax header counts.
  BOOST_TEST(content_of(with("13 size=1000\n", "00000001130", 600), "f") ==
             std::string(600, 'x') + std::string(400, '\0'));
}

BOOST_AUTO_TEST_CASE(content_beyond_the_end_of_the_archive_is_refused) {
  TarIndex index;
  const ArchiveMember beyond{.kind = ArchiveMember::Kind::kFile,
                             .name = "f",
                             .target = "",
                             .offset = 600,
                             .size = UINT64_MAX - 500};
  BOOST_TEST(must_fail(index.add(beyond, 1000)) == "\"f\": the archive ends before this file does");
}

BOOST_AUTO_TEST_SUITE_END()
