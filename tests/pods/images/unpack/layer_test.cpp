// What a layer's entries become, and overlay's form of whiteouts.

#include "pods/images/layer.hpp"

#include "tests/pods/images/unpack/layer_scene.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(layers, *needs_root())

BOOST_AUTO_TEST_CASE(files_directories_and_links_come_through) {
  LayerScene scene;
  const auto unpacked = must(scene.unpack({directory("d", 01777), file("d/f", "text", 04750),
                                           symlink_to("d/s", "/d/f"), hard_link("h", "d/f")}));
  BOOST_TEST(unpacked.entries == 4u);
  BOOST_TEST(unpacked.bytes == 4u);
  BOOST_TEST(slurp(scene / "d/f") == "text");
  BOOST_TEST(mode_of(scene / "d/f") == 04750);
  BOOST_TEST(mode_of(scene / "d") == 01777);
  BOOST_TEST(std::filesystem::read_symlink(scene / "d/s") == "/d/f");
  BOOST_TEST(scene.look("h").st_ino == scene.look("d/f").st_ino);
}

BOOST_AUTO_TEST_CASE(owners_and_times_are_kept_also_those_of_directories) {
  LayerScene scene;
  TarItem dir = directory("d");
  dir.uid = 7, dir.gid = 8, dir.mtime = 5;
  TarItem link = symlink_to("d/s", "x");
  link.uid = 9, link.mtime = 6;
  TarItem root = directory("./", 0711);
  root.mtime = 4;
  must(scene.unpack({root, dir, link, file("d/late")}));
  BOOST_TEST(scene.look("d").st_uid == 7u);
  BOOST_TEST(scene.look("d").st_gid == 8u);
  BOOST_TEST(scene.look("d").st_mtime == 5);
  BOOST_TEST(scene.look("d/s").st_uid == 9u);
  BOOST_TEST(scene.look("d/s").st_mtime == 6);
  BOOST_TEST(scene.look(".").st_mtime == 4);
  BOOST_TEST(mode_of(scene.root()) == 0711);
}

BOOST_AUTO_TEST_CASE(the_umask_changes_nothing) {
  LayerScene scene;
  const mode_t before = ::umask(077);
  must(scene.unpack({directory("d", 0755), file("implied/f", "", 0666)}));
  ::umask(before);
  BOOST_TEST(mode_of(scene / "d") == 0755);
  BOOST_TEST(mode_of(scene / "implied") == 0755);
  BOOST_TEST(mode_of(scene / "implied/f") == 0666);
}

BOOST_AUTO_TEST_CASE(devices_and_fifos_are_made) {
  LayerScene scene;
  must(scene.unpack({device("null", AE_IFCHR, 1, 3), device("disk", AE_IFBLK, 8, 1),
                     device("fifo", AE_IFIFO, 0, 0)}));
  BOOST_TEST(S_ISCHR(scene.look("null").st_mode));
  BOOST_TEST(scene.look("null").st_rdev == makedev(1, 3));
  BOOST_TEST(scene.look("disk").st_rdev == makedev(8, 1));
  BOOST_TEST(S_ISFIFO(scene.look("fifo").st_mode));
  BOOST_TEST(mode_of(scene / "fifo") == 0644);
}

BOOST_AUTO_TEST_CASE(where_nobody_may_make_devices_they_are_left_out_and_counted) {
  LayerScene scene;
  scene.options.devices = DeviceNodes::kLeaveOut;
  const auto unpacked =
      must(scene.unpack({device("null", AE_IFCHR, 1, 3), device("fifo", AE_IFIFO, 0, 0)}));
  BOOST_TEST(unpacked.devices_left_out == 1u);
  BOOST_TEST(scene.names() == std::vector<std::string>{"fifo"});
}

BOOST_AUTO_TEST_CASE(extended_attributes_are_kept_unless_they_belong_to_another_machine) {
  LayerScene scene;
  TarItem item = file("f", "x");
  const std::string capability("\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20);
  item.xattrs = {{"security.capability", capability},
                 {"user.mine", "m"},
                 {"trusted.mine", "m"},
                 {"security.selinux", "a:b:c:s0"},
                 {"security.ima", "x"}};
  TarItem link = symlink_to("s", "f");
  link.xattrs = {{"trusted.mine", "m"}};
  BOOST_TEST(must(scene.unpack({item, link})).attributes_left_out == 4u);
  BOOST_TEST(scene.xattr("f", "user.mine") == "m");
  BOOST_TEST(scene.xattr("f", "trusted.mine") == "none");
  BOOST_TEST(scene.xattr("f", "security.ima") == "none");
  BOOST_TEST(scene.xattr("f", "security.capability") == capability);
  BOOST_TEST(scene.xattr("f", "security.selinux") != "a:b:c:s0");
}

BOOST_AUTO_TEST_CASE(names_with_line_breaks_and_other_bytes_stay_as_they_are) {
  LayerScene scene;
  const std::vector<std::string> names{"caf\xc3\xa9", "line\nbreak", "not\xff\xfeutf8"};
  must(scene.unpack({file(names[0]), file(names[1]), symlink_to(names[2], names[2])}));
  BOOST_TEST(scene.names() == names);
  BOOST_TEST(std::filesystem::read_symlink(scene / names[2]) == names[2]);
}

BOOST_AUTO_TEST_CASE(a_sparse_file_keeps_its_holes) {
  LayerScene scene;
  TarItem item = file("sparse", std::string(8 << 20, '\0'));
  item.content.replace(4 << 20, 3, "end");
  item.holes = {{4 << 20, 4096}};
  must(scene.unpack({item}));
  BOOST_TEST(scene.look("sparse").st_size == 8 << 20);
  BOOST_TEST(scene.look("sparse").st_blocks < 1000);
  BOOST_TEST((slurp(scene / "sparse") == item.content));
}

BOOST_AUTO_TEST_CASE(an_empty_layer_is_an_empty_directory) {
  LayerScene scene;
  BOOST_TEST(must(scene.unpack({})).entries == 0u);
  BOOST_TEST(must(scene.unpack_bytes("")).entries == 0u);
  BOOST_TEST(scene.names().empty());
}

BOOST_AUTO_TEST_CASE(the_last_of_entries_with_one_name_counts) {
  LayerScene scene;
  must(scene.unpack({file("f", "1"), file("f", "2"), file("f", "3"), directory("d"),
                     file("d/inner"), file("d", "file now"), file("e"), directory("e"),
                     file("e/inner"), symlink_to("s", "x"), file("s", "no link")}));
  BOOST_TEST(slurp(scene / "f") == "3");
  BOOST_TEST(slurp(scene / "d") == "file now");
  BOOST_TEST(scene.names("e") == std::vector<std::string>{"inner"});
  BOOST_TEST(slurp(scene / "s") == "no link");
  BOOST_TEST(!std::filesystem::exists(scene / "x"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_listed_twice_keeps_its_content) {
  LayerScene scene;
  must(scene.unpack({directory("d", 0700), file("d/f"), directory("d", 0750)}));
  BOOST_TEST(mode_of(scene / "d") == 0750);
  BOOST_TEST(scene.names("d") == std::vector<std::string>{"f"});
  BOOST_TEST(!scene.is_opaque("d"));
}

BOOST_AUTO_TEST_CASE(a_read_only_directory_takes_the_entries_that_follow) {
  LayerScene scene;
  must(scene.unpack({directory("d", 0555), file("d/f"), directory("d/e", 0), file("d/e/g")}));
  BOOST_TEST(mode_of(scene / "d") == 0555);
  BOOST_TEST(mode_of(scene / "d/e") == 0);
  BOOST_TEST(scene.names("d/e") == std::vector<std::string>{"g"});
}

BOOST_AUTO_TEST_CASE(a_whiteout_becomes_a_device_0_0) {
  LayerScene scene;
  must(scene.unpack({file(".wh.a"), file("d/.wh.b"), file(".wh..hidden")}));
  BOOST_TEST(scene.is_whiteout("a"));
  BOOST_TEST(scene.is_whiteout("d/b"));
  BOOST_TEST(scene.is_whiteout(".hidden"));
  BOOST_TEST(scene.names() == (std::vector<std::string>{".hidden", "a", "d"}));
}

BOOST_AUTO_TEST_CASE(a_whiteout_hides_nothing_of_its_own_layer_wherever_it_stands) {
  for (const bool whiteout_first : {false, true}) {
    LayerScene scene;
    std::vector<TarItem> items{directory("d"), file("d/f"), file("g")};
    items.insert(whiteout_first ? items.begin() : items.end(), {file(".wh.d"), file(".wh.g")});
    must(scene.unpack(items));
    BOOST_TEST(scene.names("d") == std::vector<std::string>{"f"});
    BOOST_TEST(scene.is_opaque("d"));  // the layers below do not show through
    BOOST_TEST(S_ISREG(scene.look("g").st_mode));
  }
}

BOOST_AUTO_TEST_CASE(an_archive_may_end_with_the_content_of_its_last_file) {
  const std::string tar = tar_of({file("a"), file("b", "text")});
  const std::size_t end = tar.find("text") + 4;
  LayerScene scene;
  must(scene.unpack_bytes(tar.substr(0, end)));
  BOOST_TEST(slurp(scene / "b") == "text");
  LayerScene damaged;
  BOOST_TEST(has(damaged.failed(damaged.unpack_bytes(tar.substr(0, end - 1))), "runcated"));
}

BOOST_AUTO_TEST_CASE(a_whiteout_below_a_file_of_its_own_layer_has_nothing_to_hide) {
  for (const bool whiteouts_first : {false, true}) {
    LayerScene scene;
    scene.put_below({file("f/x"), file("g/h/y")});
    std::vector<TarItem> items{file("f"), device("g", AE_IFIFO, 0, 0)};
    items.insert(whiteouts_first ? items.begin() : items.end(),
                 {file("f/.wh.x"), file("g/h/.wh.y"), file("g/h/.wh..wh..opq")});
    must(scene.unpack(items));
    BOOST_TEST(S_ISREG(scene.look("f").st_mode));
    BOOST_TEST(S_ISFIFO(scene.look("g").st_mode));
  }
  LayerScene scene;
  BOOST_TEST(has(scene.fails({file("f"), file("f/x")}), "f is no directory in this layer"));
}

BOOST_AUTO_TEST_CASE(an_entry_below_a_whiteout_makes_an_opaque_directory) {
  LayerScene scene;
  must(scene.unpack({file(".wh.d"), file("d/e/f")}));
  BOOST_TEST(scene.is_opaque("d"));
  BOOST_TEST(!scene.is_opaque("d/e"));
}

BOOST_AUTO_TEST_CASE(an_opaque_mark_counts_wherever_it_stands) {
  for (const bool mark_first : {false, true}) {
    LayerScene scene;
    std::vector<TarItem> items{directory("d"), file("d/f")};
    items.insert(mark_first ? items.begin() : items.end(), file("d/.wh..wh..opq"));
    must(scene.unpack(items));
    BOOST_TEST(scene.is_opaque("d"));
    BOOST_TEST(scene.names("d") == std::vector<std::string>{"f"});
  }
  LayerScene scene;
  must(scene.unpack({file(".wh..wh..opq")}));
  BOOST_TEST(scene.is_opaque("."));
}

BOOST_AUTO_TEST_CASE(in_a_user_namespace_the_opaque_mark_is_an_attribute_that_everybody_may_set) {
  LayerScene scene;
  scene.options.mark = OpaqueMark::kUser;
  const auto unpacked = scene.unpack({file("d/.wh..wh..opq"), file(".wh.a")});
  if (!unpacked && unpacked.error().number() == EOPNOTSUPP) return;  // tmpfs before Linux 6.6
  must(unpacked);
  BOOST_TEST(scene.xattr("d", "user.overlay.opaque") == "y");
  BOOST_TEST(scene.is_whiteout("a"));
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_only_implied_looks_as_in_the_layer_below) {
  LayerScene scene;
  TarItem tmp = directory("tmp", 01777);
  tmp.uid = 5, tmp.mtime = 77;
  scene.put_below({directory(".", 0750), tmp});
  must(scene.unpack({file("tmp/f"), file("new/f")}));
  BOOST_TEST(mode_of(scene / "tmp") == 01777);
  BOOST_TEST(scene.look("tmp").st_uid == 5u);
  BOOST_TEST(scene.look("tmp").st_mtime == 77);
  BOOST_TEST(mode_of(scene / "new") == 0755);
  BOOST_TEST(mode_of(scene.root()) == 0750);
}

BOOST_AUTO_TEST_CASE(the_root_looks_as_the_nearest_root_unless_the_archive_lists_it) {
  LayerScene scene;
  scene.put_below({directory(".", 0711)});
  scene.put_below({directory(".", 0750)});
  must(scene.unpack({file("f")}));
  BOOST_TEST(mode_of(scene.root()) == 0750);
}

BOOST_AUTO_TEST_CASE(a_layer_that_hides_a_directory_hides_its_mode_too) {
  // The nearer layer has: a whiteout, an opaque directory above, a file.
  for (const std::vector<TarItem>& nearer :
       {std::vector{file(".wh.d")}, std::vector{directory("d/e"), file("d/e/.wh..wh..opq")},
        std::vector{file("d/.wh.e")}, std::vector{file("d")},
        std::vector{file("d/.wh..wh..opq")}}) {
    LayerScene scene;
    scene.put_below({directory("d", 01777), directory("d/e", 01777), directory("d/e/x", 01777)});
    scene.put_below(nearer);
    must(scene.unpack({file("d/e/x/f")}));
    BOOST_TEST(mode_of(scene / "d/e/x") == 0755);
  }
}

BOOST_AUTO_TEST_CASE(a_directory_that_this_layer_hides_below_itself_inherits_nothing) {
  for (const char* mark : {".wh.d", "d/.wh..wh..opq", "d/.wh.e"})
    for (const bool mark_first : {false, true}) {
      LayerScene scene;
      scene.put_below({directory("d", 01777), directory("d/e", 01777)});
      std::vector<TarItem> items{file("d/e/f")};
      items.insert(mark_first ? items.begin() : items.end(), file(mark));
      must(scene.unpack(items));
      BOOST_TEST(mode_of(scene / "d/e") == 0755);
      // The opaque mark is one of the directory, which therefore is the same as below.
      BOOST_TEST(mode_of(scene / "d") == (std::string_view(mark) == ".wh.d" ? 0755 : 01777));
    }
}

BOOST_AUTO_TEST_CASE(the_nearest_layer_alone_says_which_attributes_an_implied_directory_has) {
  LayerScene scene;
  TarItem far = directory("d"), near = directory("d");
  far.xattrs = {{"user.far", "1"}};
  near.xattrs = {{"user.near", "1"}};
  scene.put_below({far});
  scene.put_below({near});
  must(scene.unpack({file("d/f")}));
  BOOST_TEST(scene.xattr("d", "user.near") == "1");
  BOOST_TEST(scene.xattr("d", "user.far") == "none");
}

BOOST_AUTO_TEST_CASE(a_directory_that_is_listed_has_only_the_attributes_of_its_last_entry) {
  LayerScene scene;
  TarItem lower = directory("d"), first = directory("d"), last = directory("d", 0700);
  lower.xattrs = {{"user.lower", "1"}};
  first.xattrs = {{"user.first", "1"}};
  last.xattrs = {{"user.last", "1"}};
  scene.put_below({lower});
  must(scene.unpack({file("d/f"), first, last}));
  BOOST_TEST(scene.xattr("d", "user.last") == "1");
  BOOST_TEST(scene.xattr("d", "user.first") == "none");
  BOOST_TEST(scene.xattr("d", "user.lower") == "none");
}

BOOST_AUTO_TEST_CASE(a_default_acl_is_kept_and_changes_nothing_of_the_same_archive) {
  // Version 2; the owner, user 7, the group, the mask and others may read, write and execute.
  std::string acl("\x02\0\0\0", 4);
  for (const auto& [tag, id] : {std::pair{1, -1}, {2, 7}, {4, -1}, {16, -1}, {32, -1}})
    for (const int part : {tag | 7 << 16, id})
      for (int shift = 0; shift < 32; shift += 8)
        acl += static_cast<char>(static_cast<unsigned>(part) >> shift);
  LayerScene scene;
  TarItem dir = directory("d", 0755);
  dir.xattrs = {{"system.posix_acl_default", acl}};
  TarItem same = dir;
  same.name = "below";
  scene.put_below({same});
  must(scene.unpack({dir, file("d/f", "", 0640), directory("d/e", 0700),
                     device("d/p", AE_IFIFO, 0, 0), file("d/implied/f"),
                     file("below/f", "", 0640)}));
  BOOST_TEST(scene.xattr("d", "system.posix_acl_default") == acl);
  BOOST_TEST(scene.xattr("below", "system.posix_acl_default") == acl);
  for (const char* name : {"d/f", "d/e", "d/p", "d/implied", "d/implied/f", "below/f"}) {
    BOOST_TEST(scene.xattr(name, "system.posix_acl_access") == "none", name);
    BOOST_TEST(scene.xattr(name, "system.posix_acl_default") == "none", name);
  }
  BOOST_TEST(mode_of(scene / "d/f") == 0640);
  BOOST_TEST(mode_of(scene / "d/e") == 0700);
  BOOST_TEST(mode_of(scene / "below/f") == 0640);
}

BOOST_AUTO_TEST_CASE(a_hard_link_to_a_file_of_a_layer_below_brings_that_file_up) {
  LayerScene scene;
  TarItem item = file("d/f", std::string(3 << 20, '\0'), 04750);
  item.content.replace(1 << 20, 4, "text");
  item.holes = {{1 << 20, 4096}};
  item.uid = 7, item.mtime = 77;
  item.xattrs = {{"user.mine", "m"}};
  TarItem link = symlink_to("d/s", "../secret");
  link.uid = 8;
  scene.put_below({directory("d", 01777), item, link, device("d/p", AE_IFIFO, 0, 0)});
  scene.put_below({file("other")});
  const auto unpacked = must(scene.unpack({hard_link("h", "d/f"), hard_link("i", "d/f"),
                                           hard_link("s", "d/s"), hard_link("p", "d/p")}));
  BOOST_TEST(unpacked.bytes == 3u << 20);
  BOOST_TEST(unpacked.entries == 8u);  // four links, their three files and the directory of these
  BOOST_TEST((slurp(scene / "h") == item.content));
  BOOST_TEST(scene.look("h").st_blocks < 1000);
  BOOST_TEST(scene.look("h").st_nlink == 3u);
  BOOST_TEST(scene.look("h").st_ino == scene.look("d/f").st_ino);
  BOOST_TEST(scene.look("h").st_uid == 7u);
  BOOST_TEST(scene.look("h").st_mtime == 77);
  BOOST_TEST(mode_of(scene / "h") == 04750);
  BOOST_TEST(scene.xattr("h", "user.mine") == "m");
  BOOST_TEST(mode_of(scene / "d") == 01777);
  BOOST_TEST(std::filesystem::read_symlink(scene / "s") == "../secret");
  BOOST_TEST(scene.look("s").st_uid == 8u);
  BOOST_TEST(S_ISFIFO(scene.look("p").st_mode));
  scene.check_secret();
}

BOOST_AUTO_TEST_CASE(a_hard_link_leads_to_no_file_that_a_layer_hides) {
  for (const std::vector<TarItem>& nearer :
       {std::vector{file("d/.wh.f")}, std::vector{file(".wh.d")},
        std::vector{file("d/.wh..wh..opq")}, std::vector{symlink_to("d", "e")}}) {
    LayerScene scene;
    scene.put_below({file("d/f"), file("e/f")});
    scene.put_below(nearer);
    BOOST_TEST(has(scene.fails({hard_link("h", "d/f")}), "hard link to d/f"));
    LayerScene same;
    same.put_below({file("d/f"), file("e/f")});
    std::vector<TarItem> items = nearer;
    items.push_back(hard_link("h", "d/f"));
    BOOST_TEST(has(same.fails(items), "hard link to d/f"));
  }
}

BOOST_AUTO_TEST_CASE(a_device_that_is_left_out_still_hides_the_name_below) {
  LayerScene scene;
  scene.options.devices = DeviceNodes::kLeaveOut;
  scene.put_below({file("d/null")});
  scene.put_below({file("unrelated")});
  const auto unpacked =
      must(scene.unpack({device("d/null", AE_IFCHR, 1, 3), device("d/zero", AE_IFCHR, 1, 5)}));
  BOOST_TEST(unpacked.devices_left_out == 2u);
  BOOST_TEST(scene.is_whiteout("d/null"));
  BOOST_TEST(scene.names("d") == std::vector<std::string>{"null"});
}

BOOST_AUTO_TEST_CASE(a_tree_that_is_deeper_than_the_longest_path_keeps_its_times) {
  LayerScene scene;
  scene.options.limits.names.depth = 1'100;
  std::string part = "x";
  for (int level = 0; level < 1'000; ++level) part += "/x";
  TarItem late = directory("l1/y");
  late.mtime = 7;
  must(scene.unpack({directory("a/" + part), symlink_to("l0", "a/" + part), directory("l0/" + part),
                     symlink_to("l1", "l0/" + part), directory("l1/" + part), late,
                     file("l1/y/f")}));
  BOOST_TEST(scene.look("l1/y").st_mtime == 7);
}

BOOST_AUTO_TEST_CASE(compressed_layers_are_the_same_as_plain_ones) {
  const std::vector<TarItem> items{file("f", std::string(200'000, 'x'))};
  const std::string plain = tar_of(items);
  for (const Compression compression : {Compression::kGzip, Compression::kZstd}) {
    const std::string packed = tar_of(items, compression);
    LayerBlob layer = blob_of(packed, plain);
    for (const bool told : {false, true}) {
      LayerScene scene;
      if (told) layer.compression = compression;
      must(scene.unpack_blob(packed, layer));
      BOOST_TEST(slurp(scene / "f").size() == 200'000u);
    }
  }
}

BOOST_AUTO_TEST_CASE(progress_is_told_up_to_the_blobs_size) {
  LayerScene scene;
  std::uint64_t told = 0;
  scene.options.progress = [&](std::uint64_t bytes) { told = bytes; };
  const std::string tar = tar_of({file("f", "x")});
  must(scene.unpack_bytes(tar));
  BOOST_TEST(told == tar.size());
}

BOOST_AUTO_TEST_SUITE_END()
