// Layers that want out of their directory, or lie.

#include "linux/files/directories.hpp"
#include "pods/images/layer.hpp"
#include "tests/pods/images/unpack/layer_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(hostile_layers, *needs_root())

BOOST_AUTO_TEST_CASE(a_name_with_dots_is_an_error_and_nothing_remains) {
  LayerScene scene;
  for (const char* name : {"../secret", "d/../../secret", "..", "/../secret", "d/.."})
    BOOST_TEST(has(scene.fails({file("before"), file(name, "evil")}), "its name contains \"..\""));
}

BOOST_AUTO_TEST_CASE(an_absolute_name_is_relative_to_the_layer) {
  LayerScene scene;
  must(scene.unpack({file("/etc/x", "in"), file("//y", "in"), file("./z", "in")}));
  BOOST_TEST(scene.names() == (std::vector<std::string>{"etc", "y", "z"}));
  scene.check_secret();
}

BOOST_AUTO_TEST_CASE(a_symlink_to_outside_leads_an_entry_nowhere_else_than_inside) {
  LayerScene scene;
  must(scene.unpack({directory("d"), symlink_to("up", ".."), file("up/a", "in"),
                     symlink_to("abs", "/d"), file("abs/b", "in"),
                     symlink_to("d/far", "../../../../.."), file("d/far/c", "in"),
                     symlink_to("new", "/made/here"), file("new/e", "in")}));
  BOOST_TEST(scene.names() ==
             (std::vector<std::string>{"a", "abs", "c", "d", "made", "new", "up"}));
  BOOST_TEST(slurp(scene / "d/b") == "in");
  BOOST_TEST(slurp(scene / "made/here/e") == "in");
  scene.check_secret();
}

BOOST_AUTO_TEST_CASE(a_symlink_in_the_last_place_is_replaced_and_not_followed) {
  LayerScene scene;
  const std::string secret = scene.root() + "/../secret";
  must(scene.unpack({symlink_to("s", "../secret"), file("s", "evil"), symlink_to("t", secret),
                     directory("t"), symlink_to("u", secret), device("u", AE_IFIFO, 0, 0)}));
  BOOST_TEST(slurp(scene / "s") == "evil");
  BOOST_TEST(S_ISDIR(scene.look("t").st_mode));
  scene.check_secret();
}

BOOST_AUTO_TEST_CASE(a_loop_of_symlinks_is_an_error) {
  LayerScene scene;
  BOOST_TEST(has(scene.fails({symlink_to("a", "b"), symlink_to("b", "a"), file("a/f")}),
                 "too many levels of symbolic links"));
}

BOOST_AUTO_TEST_CASE(a_hard_link_leads_only_to_files_of_the_layer) {
  LayerScene scene;
  BOOST_TEST(has(scene.fails({hard_link("h", "../secret")}), "contains \"..\""));
  BOOST_TEST(has(scene.fails({hard_link("h", "absent")}),
                 "which neither this layer nor one below it has"));
  BOOST_TEST(
      has(scene.fails({symlink_to("up", ".."), hard_link("h", "up/secret")}), "through a symlink"));
  BOOST_TEST(has(scene.fails({directory("d"), hard_link("h", "d")}), "a directory"));
  BOOST_TEST(has(scene.fails({file(".wh.w"), hard_link("h", "w")}), "which neither this layer"));
  BOOST_TEST(has(scene.fails({hard_link("h", "/")}), "no file"));
  BOOST_TEST(has(scene.fails({hard_link("h", "no/such")}), "no such file"));
}

BOOST_AUTO_TEST_CASE(a_hard_link_to_a_symlink_links_the_symlink_itself) {
  LayerScene scene;
  must(scene.unpack({symlink_to("s", "../secret"), hard_link("h", "s"), hard_link("h", "h")}));
  BOOST_TEST(S_ISLNK(scene.look("h").st_mode));
  BOOST_TEST(scene.look("h").st_nlink == 2u);
  scene.check_secret();
}

BOOST_AUTO_TEST_CASE(a_file_is_no_directory) {
  LayerScene scene;
  BOOST_TEST(has(scene.fails({file("f"), file("f/g")}), "f is no directory in this layer"));
}

BOOST_AUTO_TEST_CASE(the_root_is_no_file_and_no_whiteout) {
  LayerScene scene;
  for (const char* name : {".", "./."})
    BOOST_TEST(has(scene.fails({file(name)}), "root must be a directory"));
  BOOST_TEST(has(scene.fails({file(".wh.")}), "without a name"));
  BOOST_TEST(has(scene.fails({file(".wh..")}), "a whiteout cannot hide \".\""));
  BOOST_TEST(has(scene.fails({file("d/.wh...")}), "a whiteout cannot hide \"..\""));
}

BOOST_AUTO_TEST_CASE(a_whiteout_is_an_empty_file_and_in_the_last_place) {
  LayerScene scene;
  BOOST_TEST(has(scene.fails({file(".wh.a", "content")}), "must be an empty file"));
  BOOST_TEST(has(scene.fails({directory(".wh.a")}), "must be an empty file"));
  BOOST_TEST(has(scene.fails({file(".wh.a/b")}), "a whiteout is no directory"));
  BOOST_TEST(has(scene.fails({file(".wh..wh.plnk")}), "AUFS"));
}

BOOST_AUTO_TEST_CASE(what_belongs_to_overlayfs_is_refused) {
  LayerScene scene;
  for (const char* name : {"trusted.overlay.opaque", "user.overlay.redirect"}) {
    TarItem item = directory("d");
    item.xattrs = {{name, "y"}};
    BOOST_TEST(has(scene.fails({item}), "overlayfs' own"));
  }
  BOOST_TEST(has(scene.fails({device("d", AE_IFCHR, 0, 0)}), "overlayfs' own"));
}

BOOST_AUTO_TEST_CASE(an_owner_beyond_32_bits_is_an_error) {
  LayerScene scene;
  for (const long uid : {4294967295L, 4294967296L}) {
    TarItem item = file("f");
    item.uid = uid;
    BOOST_TEST(has(scene.fails({item}), "no pair of ids"));
  }
}

BOOST_AUTO_TEST_CASE(an_error_names_the_layer_and_quotes_the_entry) {
  LayerScene scene;
  const std::string message = scene.fails({file("a\n\x1b[31m/../b")});
  BOOST_TEST(has(message, "layer sha256:"));
  BOOST_TEST(has(message, "entry \"a\\n"));
  BOOST_TEST(message.find('\n') == std::string::npos);
  BOOST_TEST(message.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(limits_end_a_bomb) {
  LayerScene scene;
  scene.options.limits.entries = 3;
  BOOST_TEST(has(scene.fails({file("a"), file("b"), file("c"), file("d")}), "more than 3 entries"));
  scene.options.limits = {};
  scene.options.limits.bytes = 100'000;
  TarItem hole = file("hole", std::string(200'000, '\0'));
  hole.holes = {{199'000, 10}};
  BOOST_TEST(has(scene.fails({hole}), "more than 100000 bytes"));
  BOOST_TEST(has(scene.fails({file("f", std::string(200'000, 'x'))}), "more than 100000 bytes"));
  scene.options.limits = {};
  BOOST_TEST(has(scene.fails({file(std::string(256, 'n'))}), "at most 255"));
  scene.options.limits.names.path = 100;
  BOOST_TEST(has(scene.fails({file("a/" + std::string(99, 'n'))}), "at most 100"));
}

BOOST_AUTO_TEST_CASE(directories_that_are_only_implied_count_too) {
  LayerScene scene;
  scene.options.limits.entries = 4;
  BOOST_TEST(must(scene.unpack({file("a/b/c/f")})).entries == 4u);
  LayerScene other;
  other.options.limits.entries = 4;
  BOOST_TEST(has(other.fails({file("a/b/c/d/f")}), "more than 4 entries"));
  BOOST_TEST(has(other.fails({symlink_to("s", "a/b/c"), file("s/f")}), "more than 4 entries"));
}

BOOST_AUTO_TEST_CASE(a_name_has_a_limited_depth) {
  LayerScene scene;
  std::string deep = "f";
  for (int level = 1; level < 255; ++level) deep = "d/" + deep;
  must(scene.unpack({file(deep)}));
  LayerScene other;
  BOOST_TEST(has(other.fails({file("d/" + deep)}), "its name has more than 255 components"));
}

BOOST_AUTO_TEST_CASE(all_layers_of_an_image_have_limits_together) {
  LayerScene scene;
  scene.options.image = {.entries = 10, .bytes = 10'000};
  scene.options.before.entries = 8;
  BOOST_TEST(has(scene.fails({file("a"), file("b"), file("c")}),
                 "the layers of the image have more than 10 entries"));
  scene.options.before.bytes = 9'990;
  BOOST_TEST(has(scene.fails({file("a", "01234567890")}),
                 "the files of the image have more than 10000 bytes"));
  must(scene.unpack({file("a", "0123456789")}));
}

BOOST_AUTO_TEST_CASE(a_dangling_symlink_is_followed_only_so_often) {
  LayerScene scene;
  BOOST_TEST(has(scene.fails({symlink_to("a", "b/x"), symlink_to("b", "a/x"), file("a/f")}),
                 "too many levels of symbolic links"));
}

BOOST_AUTO_TEST_CASE(zeros_behind_the_archives_end_count_too) {
  LayerScene scene;
  scene.options.limits.bytes = 100'000;
  const std::string tar = tar_of({file("a")}) + std::string(200'000, '\0');
  BOOST_TEST(has(scene.failed(scene.unpack_bytes(tar)), "more than 100000 bytes"));
}

BOOST_AUTO_TEST_CASE(another_digest_size_or_diff_id_is_an_error_and_nothing_remains) {
  LayerScene scene;
  const std::string tar = tar_of({file("f", "x")});
  LayerBlob layer = blob_of(tar, tar);
  layer.digest = digest_of("other");
  BOOST_TEST(has(scene.failed(scene.unpack_blob(tar, layer)), "changed or damaged"));
  layer = blob_of(tar, tar);
  layer.size -= 1;
  BOOST_TEST(has(scene.failed(scene.unpack_blob(tar, layer)), "more than"));
  layer.size += 2;
  BOOST_TEST(has(scene.failed(scene.unpack_blob(tar, layer)), "its descriptor says"));
  layer = blob_of(tar, tar);
  layer.diff_id = digest_of("other");
  BOOST_TEST(has(scene.failed(scene.unpack_blob(tar, layer)), "the image's configuration says"));
}

BOOST_AUTO_TEST_CASE(a_media_type_that_lies_about_the_content_is_an_error) {
  LayerScene scene;
  const std::string plain = tar_of({file("f", "x")});
  const std::string packed = tar_of({file("f", "x")}, Compression::kGzip);
  LayerBlob layer = blob_of(packed, plain);
  layer.compression = Compression::kNone;
  BOOST_TEST(
      has(scene.failed(scene.unpack_blob(packed, layer)), "is tar+gzip, its media type says tar"));
  layer.compression = Compression::kZstd;
  BOOST_TEST(has(scene.failed(scene.unpack_blob(packed, layer)), "says tar+zstd"));
  layer = blob_of(plain, plain);
  layer.compression = Compression::kGzip;
  BOOST_TEST(has(scene.failed(scene.unpack_blob(plain, layer)), "says tar+gzip"));
  layer.compression = Compression::kGzip;
  BOOST_TEST(has(scene.failed(scene.unpack_blob("\x1f\x8bgarbage", blob_of("\x1f\x8bgarbage", ""))),
                 "not tar+gzip"));
}

BOOST_AUTO_TEST_CASE(an_archive_that_ends_early_is_an_error) {
  LayerScene scene;
  const std::string tar = tar_of({file("f", std::string(10'000, 'x'))});
  BOOST_TEST(has(scene.failed(scene.unpack_bytes(tar.substr(0, 5'000))), "runcated"));
  const std::string packed = tar_of({file("f", std::string(10'000, 'x'))}, Compression::kGzip);
  BOOST_TEST(
      has(scene.failed(scene.unpack_blob(packed.substr(0, packed.size() - 20),
                                         blob_of(packed.substr(0, packed.size() - 20), tar))),
          "runcated"));
  scene.failed(scene.unpack_bytes(std::string(4096, 'x')));
}

BOOST_AUTO_TEST_CASE(of_two_sizes_that_contradict_each_other_the_pax_headers_is_used) {
  LayerScene scene;
  const std::string record = "10 size=4\n";
  BOOST_TEST(record.size() == 10u);
  const std::string tar = raw_header("pax", 'x', "00000000012") + padded(record) +
                          raw_header("f", '0', "00000000000") + padded("data") +
                          raw_header("g", '0', "00000000000") + std::string(1024, '\0');
  must(scene.unpack_bytes(tar));
  BOOST_TEST(slurp(scene / "f") == "data");
  BOOST_TEST(scene.names() == (std::vector<std::string>{"f", "g"}));
}

BOOST_AUTO_TEST_CASE(an_acl_that_nobody_understands_is_an_error) {
  LayerScene scene;
  const std::string record = "40 SCHILY.acl.access=user::rw-,nonsense\n";
  BOOST_TEST(record.size() == 40u);
  const std::string tar = raw_header("pax", 'x', "00000000050") + padded(record) +
                          raw_header("f", '0', "00000000000") + std::string(1024, '\0');
  BOOST_TEST(has(scene.failed(scene.unpack_bytes(tar)), "SCHILY.acl.access"));
}

BOOST_AUTO_TEST_CASE(a_header_that_is_damaged_or_too_large_is_an_error) {
  LayerScene scene;
  std::string damaged = tar_of({file("f", "x")});
  damaged[0] = 'z';
  scene.failed(scene.unpack_bytes(damaged));
  const std::string large = raw_header("pax", 'x', "00040000000") + std::string(8 << 20, 'x');
  BOOST_TEST(has(scene.failed(scene.unpack_bytes(large)), "read the tar archive"));
  std::string many;
  for (int i = 0; i < 10'000; ++i)
    many += raw_header("pax", 'x', "00000000012") + padded("10 size=0\n");
  scene.failed(scene.unpack_bytes(many));
}

BOOST_AUTO_TEST_CASE(deep_trees_with_odd_modes_are_removed_after_an_error) {
  LayerScene scene;
  std::vector<TarItem> items;
  std::string path;
  for (int level = 0; level < 10; ++level) {
    path += level == 0 ? "d" : "/d";
    items.push_back(directory(path, level % 2 == 0 ? 0 : 01555));
    items.push_back(file(path + "/f", "x", 0));
  }
  items.push_back(file(".."));
  scene.fails(items);
}

BOOST_AUTO_TEST_CASE(the_depth_of_a_tree_does_not_matter_for_its_removal) {
  LayerScene scene;
  scene.options.limits.names.depth = 1'100;
  // A symlink deepens the tree beyond the longest path.
  std::string part = "x";
  for (int level = 0; level < 1'000; ++level) part += "/x";
  std::vector<TarItem> items{directory("a/" + part)};
  for (int i = 0; i < 3; ++i) {
    const std::string from = i == 0 ? "a" : "l" + std::to_string(i - 1);
    items.push_back(symlink_to("l" + std::to_string(i), from + "/" + part));
    items.push_back(directory("l" + std::to_string(i) + "/" + part));
  }
  items.push_back(file(".."));
  scene.fails(items);
}

BOOST_AUTO_TEST_CASE(a_wide_and_deep_tree_is_removed_whatever_names_it_has) {
  const Scratch scratch;
  std::string path = scratch.path();
  for (int level = 0; level < 40; ++level) {
    for (const char* name : {".deeper-0", ".deeper-1", "0", "1"})
      std::filesystem::create_directory(path + "/" + name);
    path += "/.deeper-0";
  }
  for (int i = 0; i < 5'000; ++i) scratch.file("f" + std::to_string(i), "");
  must(linux::remove_content(scratch.open()));
  BOOST_TEST(scratch.names().empty());
}

BOOST_AUTO_TEST_SUITE_END()
