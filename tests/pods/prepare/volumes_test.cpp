// The volumes of a pod: made, mounted in the pod's own mount namespace, locked.

#include "pods/prepare/volumes.hpp"

#include <sys/stat.h>
#include <sys/statfs.h>

#include "linux/programs/program.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

constexpr long kTmpfs = 0x01021994;
constexpr long kExt4 = 0xEF53;

long filesystem_of(const std::string& path) {
  struct statfs info{};
  return ::statfs(path.c_str(), &info) == 0 ? static_cast<long>(info.f_type) : -1;
}
struct stat look(const std::string& path) {
  struct stat info{};
  BOOST_REQUIRE(::stat(path.c_str(), &info) == 0);
  return info;
}

/// A pod with one volume, which a test changes.
struct VolumesScene {
  Scratch scratch;
  Workload workload;
  bundle::Node place_in_document;
  Given given;
  VolumesScene() {
    for (const char* name : {"pod", "host"}) ::mkdir((scratch / name).c_str(), 0755);
    workload.file = "f";
    workload.source = std::make_unique<Source>();
    workload.pod.volumes.emplace_back();
    volume().name = "v";
    volume().place = &place_in_document;
    volume().uid = must(Uid::make(7));
    volume().gid = must(Gid::make(8));
    volume().mode = 01770;
  }
  Volume& volume() { return workload.pod.volumes[0]; }
  void give(const char* name, const std::string& path, bool read_only = false) {
    given.volumes[name] = {.directory = HostPath(path), .read_only = read_only};
  }
  Result<Volumes> prepare(Reach reach, const std::string& locks = "") const {
    const UniqueFd pod(::open((scratch / "pod").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return prepare_volumes(workload, given, {.fd = pod, .path = scratch / "pod"}, reach, locks);
  }
  std::string source(Reach reach) const { return must(prepare(reach)).by_name.at("v").source; }
  /// A second pod beside the first.
  void begin_anew() const {
    std::filesystem::remove_all(scratch / "pod");
    ::mkdir((scratch / "pod").c_str(), 0755);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(volumes)

OCIRUN_CHILD_TEST(an_empty_directory_has_its_mode_and_owner, CLONE_NEWNS) {
  for (const Reach reach : {Reach::kByPath, Reach::kMounted}) {
    const VolumesScene scene;
    const std::string source = scene.source(reach);
    BOOST_TEST(source == scene.scratch / "pod/volumes/0");
    BOOST_TEST((look(source).st_mode & 07777) == 01770u);
    BOOST_TEST((look(source).st_uid == 7u && look(source).st_gid == 8u));
  }
}

OCIRUN_CHILD_TEST(a_directory_in_memory_has_a_size_mode_and_owner, CLONE_NEWNS) {
  VolumesScene scene;
  scene.volume().in_memory = true;
  scene.volume().most_bytes = 1U << 20;
  const std::string source = scene.source(Reach::kMounted);
  BOOST_TEST(filesystem_of(source) == kTmpfs);
  struct statfs info{};
  BOOST_REQUIRE(::statfs(source.c_str(), &info) == 0);
  BOOST_TEST(static_cast<std::uint64_t>(info.f_blocks) * static_cast<std::uint64_t>(info.f_bsize) ==
             1U << 20);
  BOOST_TEST((look(source).st_mode & 07777) == 01770u);
  BOOST_TEST(look(source).st_uid == 7u);
}

OCIRUN_CHILD_TEST(a_directory_on_disk_with_a_limit_is_an_empty_filesystem_of_that_size,
                  CLONE_NEWNS) {
  if (linux::find_program("mkfs.ext4").empty() || ::access("/dev/loop-control", W_OK) != 0) {
    BOOST_TEST_MESSAGE("skipped: needs e2fsprogs and loop devices");
    return;
  }
  VolumesScene scene;
  scene.volume().most_bytes = 4U << 20;
  const std::string source = scene.source(Reach::kMounted);
  BOOST_TEST(filesystem_of(source) == kExt4);
  BOOST_TEST(std::filesystem::is_empty(source));
  BOOST_TEST((look(source).st_mode & 07777) == 01770u);
  BOOST_TEST(look(source).st_gid == 8u);
  const std::string text(64 << 10, 'x');
  int error = 0;
  std::size_t written = 0;
  {
    const UniqueFd file(::open((source + "/big").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (error == 0) {
      const ssize_t count = ::write(file.get(), text.data(), text.size());
      if (count < 0) error = errno;
      if (count > 0) written += static_cast<std::size_t>(count);
      if (written > std::size_t{8} << 20) break;
    }
  }
  BOOST_TEST(error == ENOSPC);
  BOOST_TEST((written > std::size_t{3} << 20 && written < std::size_t{4} << 20));
}

BOOST_AUTO_TEST_CASE(a_limit_on_disk_that_cannot_be_kept_is_refused) {
  VolumesScene scene;
  scene.volume().most_bytes = 4U << 20;
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath))
                 .contains("a bundle cannot limit a directory on disk to 4 MiB"));
  scene.begin_anew();
  scene.volume().most_bytes = 1U << 19;
  BOOST_TEST(must_fail(scene.prepare(Reach::kMounted))
                 .contains("a limit on disk must be at least 1 MiB, not 512 KiB"));
}

BOOST_AUTO_TEST_CASE(a_bundle_names_a_directory_of_the_host_by_its_path) {
  VolumesScene scene;
  scene.volume().kind = Volume::Source::kOperator;
  scene.give("v", scene.scratch / "host", true);
  const Volumes volumes = must(scene.prepare(Reach::kByPath));
  BOOST_TEST(volumes.by_name.at("v").source == scene.scratch / "host");
  BOOST_TEST(volumes.by_name.at("v").read_only);
}

OCIRUN_CHILD_TEST(a_directory_of_the_host_stays_the_same_one_whatever_is_renamed, CLONE_NEWNS) {
  VolumesScene scene;
  scene.volume().kind = Volume::Source::kHost;
  scene.volume().source = scene.scratch / "host";
  scene.scratch.file("host/file", "good");
  const std::string source = scene.source(Reach::kMounted);
  BOOST_TEST(source == scene.scratch / "pod/volumes/0");
  std::filesystem::rename(scene.scratch / "host", scene.scratch / "old");
  std::filesystem::create_directory(scene.scratch / "host");
  BOOST_TEST(slurp(source + "/file") == "good");
}

OCIRUN_CHILD_TEST(mounts_below_a_directory_are_shown_if_the_document_says_so, CLONE_NEWNS) {
  VolumesScene scene;
  ::mkdir((scene.scratch / "host/below").c_str(), 0755);
  BOOST_REQUIRE(::syscall(SYS_mount, "none", (scene.scratch / "host/below").c_str(), "tmpfs", 0UL,
                          nullptr) == 0);
  scene.volume().kind = Volume::Source::kHost;
  scene.volume().source = scene.scratch / "host";
  BOOST_TEST(filesystem_of(scene.source(Reach::kMounted) + "/below") == kTmpfs);
  VolumesScene flat;
  flat.volume() = scene.volume();
  flat.volume().place = &flat.place_in_document;
  flat.volume().recursive = false;
  const std::string below = flat.source(Reach::kMounted) + "/below";
  BOOST_TEST(look(below).st_dev == look(flat.scratch.path()).st_dev);
}

BOOST_AUTO_TEST_CASE(a_path_of_the_host_that_is_absent_or_another_file_is_an_error_with_its_place) {
  VolumesScene scene;
  scene.volume().kind = Volume::Source::kHost;
  scene.volume().source = scene.scratch / "absent";
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath)).contains("volume \"v\": "));
  scene.begin_anew();
  scene.volume().source = scene.scratch.file("file", "");
  scene.volume().host_type = HostType::kDirectory;
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath))
                 .ends_with("/file: is a file, and not what \"type: Directory\" asks for: write "
                            "\"type: File\""));
}

BOOST_AUTO_TEST_CASE(a_volume_may_require_free_space) {  // OAM-36
  VolumesScene scene;
  scene.volume().least_bytes = 1;
  must(scene.prepare(Reach::kByPath));
  scene.begin_anew();
  scene.volume().least_bytes = std::uint64_t{1} << 60;
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath)).contains("the volume requires 1024 PiB"));
}

BOOST_AUTO_TEST_CASE(an_exclusive_volume_belongs_to_one_pod) {  // OAM-35
  VolumesScene scene;
  scene.volume().kind = Volume::Source::kOperator;
  scene.volume().exclusive = true;
  scene.give("v", scene.scratch / "host");
  const std::string locks = scene.scratch / "locks";
  const auto second = [&](bool exclusive) {
    scene.begin_anew();
    scene.volume().exclusive = exclusive;
    return scene.prepare(Reach::kByPath, locks);
  };
  {
    const Volumes first = must(scene.prepare(Reach::kByPath, locks));
    BOOST_TEST(must_fail(second(true)).contains("another pod uses the volume"));
    BOOST_TEST(must_fail(second(false)).contains("has the volume for itself alone"));
  }
  const Volumes shared = must(second(false));
  must(second(false));
  BOOST_TEST(must_fail(second(true)).contains("another pod uses the volume"));
}

BOOST_AUTO_TEST_CASE(mounts_are_those_of_the_document_and_of_mount_points) {  // AC-8
  VolumesScene scene;
  scene.workload.pod.containers.emplace_back();
  Container& container = scene.workload.pod.containers[0];
  container.mounts = {
      {.volume = "v", .path = "/a", .read_only = true, .place = &scene.place_in_document}};
  container.mount_points = {{.name = "v", .path = "/a", .read_only = false, .place = nullptr},
                            {.name = "point", .path = "/b", .read_only = true, .place = nullptr},
                            {.name = "nobody", .path = "/c", .read_only = true, .place = nullptr}};
  scene.give("point", scene.scratch / "host");
  const Volumes volumes = must(scene.prepare(Reach::kByPath));
  const UniqueFd directory = scene.scratch.open();
  const auto mounts = [&] {
    return mounts_of(container, scene.workload, volumes, directory, scene.scratch.path());
  };
  const auto bound = must(mounts()).bound;
  BOOST_REQUIRE(bound.size() == 2u);
  BOOST_TEST((bound[0].destination == "/a" && bound[0].read_only));
  BOOST_TEST((bound[1].destination == "/b" && bound[1].read_only));
  BOOST_TEST(bound[1].source == scene.scratch / "host");
  container.mounts[0].read_only = false;
  BOOST_TEST(!must(mounts()).bound[0].read_only);
  container.mount_points[0].read_only = true;
  BOOST_TEST(must(mounts()).bound[0].read_only);
  container.mounts[0].volume = "w";
  BOOST_TEST(must_fail(mounts()).contains("there is no volume \"w\""));
}

OCIRUN_CHILD_TEST(keys_of_a_document_are_files_in_memory, CLONE_NEWNS) {
  for (const Reach reach : {Reach::kByPath, Reach::kMounted}) {
    VolumesScene scene;
    scene.volume().kind = Volume::Source::kSecret;
    scene.volume().source = "s";
    scene.workload.pod.key_documents["s"].keys = {{"a", {.bytes = std::string("x\0y", 3)}},
                                                  {"b", {.bytes = "b", .is_binary = true}}};
    const ReadyVolume all = must(scene.prepare(reach)).by_name.at("v");
    BOOST_TEST(all.read_only);
    const bool is_mount = look(all.source).st_dev != look(scene.scratch.path()).st_dev;
    BOOST_TEST(is_mount == (reach == Reach::kMounted));
    BOOST_TEST((!is_mount || filesystem_of(all.source) == kTmpfs));
    BOOST_TEST(slurp(all.source + "/a") == std::string("x\0y", 3));
    BOOST_TEST((look(all.source + "/b").st_mode & 07777) == 0644u);
    BOOST_TEST((look(all.source).st_mode & 07777) == 0755u);
  }
}

BOOST_AUTO_TEST_CASE(items_have_paths_and_modes) {
  VolumesScene scene;
  scene.volume().kind = Volume::Source::kSecret;
  scene.volume().source = "s";
  scene.volume().file_mode = 0400;
  scene.volume().items = {{.key = "a", .path = "d/e/one", .mode = {}, .place = nullptr},
                          {.key = "a", .path = "d/two", .mode = 0666, .place = nullptr}};
  scene.scratch.file("host/a", "given");
  scene.scratch.file("host/b", "");
  scene.given.bindings.secrets.emplace("s", HostPath(scene.scratch / "host"));
  const std::string source = scene.source(Reach::kByPath);
  BOOST_TEST(slurp(source + "/d/e/one") == "given");
  BOOST_TEST((look(source + "/d/e/one").st_mode & 07777) == 0400u);
  BOOST_TEST((look(source + "/d/two").st_mode & 07777) == 0666u);
  BOOST_TEST(!std::filesystem::exists(source + "/b"));
  scene.volume().items->push_back({.key = "none", .path = "n", .mode = {}, .place = nullptr});
  scene.begin_anew();
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath))
                 .contains("there is no key \"none\" for the file \"n\""));
  scene.volume().is_optional = true;
  scene.begin_anew();
  BOOST_TEST(!std::filesystem::exists(scene.source(Reach::kByPath) + "/n"));
  scene.given.bindings.secrets.clear();
  scene.begin_anew();
  BOOST_TEST(std::filesystem::is_empty(scene.source(Reach::kByPath)));
}

BOOST_AUTO_TEST_CASE(items_of_one_key_and_mode_are_one_file_and_copies_have_a_limit) {
  VolumesScene scene;
  Volume& volume = scene.volume();
  volume.kind = Volume::Source::kSecret;
  volume.source = "s";
  scene.workload.pod.key_documents["s"].keys["k"].bytes = std::string(1 << 20, 'x');
  volume.items.emplace();
  for (int i = 0; i < 500; ++i)
    volume.items->push_back({.key = "k", .path = fmt::format("d{}/f{}", i % 3, i), .mode = {}});
  const std::string source = scene.source(Reach::kByPath);
  BOOST_TEST(look(source + "/d0/f0").st_ino == look(source + "/d1/f499").st_ino);
  BOOST_TEST(look(source + "/d0/f0").st_nlink == 500U);
  BOOST_TEST((look(source + "/d0/f0").st_mode & 07777) == 0644U);
  for (int i = 0; i < 500; ++i) (*volume.items)[static_cast<std::size_t>(i)].mode = i;
  scene.begin_anew();
  BOOST_TEST(must_fail(scene.prepare(Reach::kByPath)).contains("take more than 64 MiB"));
}

OCIRUN_CHILD_TEST(a_part_of_a_volume_is_what_is_there_at_the_start, CLONE_NEWNS) {
  VolumesScene scene;
  scene.scratch.file("host/file", "one");
  SubPath part{.volume = "v",
               .source = scene.scratch / "host",
               .path = "file",
               .may_make = true,
               .shown_at = scene.scratch / "shown"};
  must(show(part));
  BOOST_TEST(slurp(part.shown_at) == "one");
  std::filesystem::remove(scene.scratch / "host/file");
  BOOST_TEST(slurp(part.shown_at) == "one");
  must(show(part));  // the next start
  BOOST_TEST(std::filesystem::is_directory(part.shown_at));
  scene.scratch.file("host/file/below", "two");
  BOOST_TEST(slurp(part.shown_at + "/below") == "two");
  std::filesystem::remove_all(scene.scratch / "host/file");
  scene.scratch.file("host/file", "three");
  must(show(part));
  BOOST_TEST(slurp(part.shown_at) == "three");
}

// CVE-2017-1002101, CVE-2021-25741
OCIRUN_CHILD_TEST(a_part_of_a_volume_is_never_outside_of_it, CLONE_NEWNS) {
  VolumesScene scene;
  ::mkdir((scene.scratch / "outside").c_str(), 0755);
  scene.scratch.file("outside/secret", "bad");
  SubPath part{.volume = "v",
               .source = scene.scratch / "host",
               .path = "link/secret",
               .may_make = false,
               .shown_at = scene.scratch / "shown"};
  for (const std::string& target : {scene.scratch / "outside", std::string("../outside")}) {
    std::filesystem::remove(scene.scratch / "host/link");
    std::filesystem::create_symlink(target, scene.scratch / "host/link");
    BOOST_TEST(must_fail(show(part)).contains("there is no \"link/secret\""));
    BOOST_TEST(must_fail(check(part)).starts_with("volume \"v\": subPath link/secret: "));
  }
  part.may_make = true;
  must(show(part));
  BOOST_TEST(std::filesystem::is_empty(part.shown_at));
  BOOST_TEST(slurp(scene.scratch / "outside/secret") == "bad");
}

BOOST_AUTO_TEST_CASE(a_bundle_mounts_a_part_by_its_path_where_only_ocirun_writes) {
  VolumesScene scene;
  scene.workload.pod.containers.emplace_back();
  Container& container = scene.workload.pod.containers[0];
  container.mounts = {{.volume = "v", .path = "/a", .place = &scene.place_in_document}};
  container.mounts[0].sub_path = "x/y";
  const Volumes volumes = must(scene.prepare(Reach::kByPath));
  const UniqueFd directory = scene.scratch.open();
  const auto planned = [&] {
    return mounts_of(container, scene.workload, volumes, directory, scene.scratch.path());
  };
  BOOST_TEST(must_fail(planned()).contains("subPath x/y of the volume \"v\" cannot be planned"));
  scene.workload.pod.volumes[0].kind = Volume::Source::kSecret;
  const ContainerMounts mounts = must(planned());
  BOOST_TEST(mounts.parts.empty());
  BOOST_TEST(mounts.bound.at(0).source == scene.scratch / "pod/volumes/0/x/y");
  BOOST_TEST((look(mounts.bound[0].source).st_mode & 07777) == 01770u);  // as the volume
}

BOOST_AUTO_TEST_SUITE_END()
