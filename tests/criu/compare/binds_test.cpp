#include "criu/compare/binds.hpp"

#include <sys/stat.h>

#include "linux/namespaces/id_map.hpp"
#include "tests/linux/mounts/scene.hpp"

// The files lie in a tmpfs of the test's own mount namespace: /tmp/source, whose directory "below"
// is a mount of its own, is bound on /tmp/box, which stands for the container.

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;
namespace fs = std::filesystem;

namespace {

constexpr char kSource[] = "/tmp/source";
constexpr char kBelow[] = "/tmp/source/below";
constexpr char kPoint[] = "/tmp/box/data";
constexpr char kPointBelow[] = "/tmp/box/data/below";

const linux::IdMap kWide{.uids = {{0, 100000, 10}}, .gids = {{0, 200000, 10}}};

struct Binds {
  Binds() {
    ::umask(0);
    must(linux::sys::mount("tmpfs", "/tmp", "tmpfs", 0, nullptr));
    for (const char* path : {kBelow, kPoint, "/tmp/other/below"}) fs::create_directories(path);
    must(linux::sys::mount("tmpfs", kBelow, "tmpfs", MS_NOSUID | MS_NODEV, nullptr));
  }

  Result<void> try_bind(const std::string& source, const std::string& target,
                        const linux::IdMap* map) const {
    const auto tree = must(linux::DetachedMount::clone_of(
        must(linux::sys::open(source.c_str(), O_PATH)), linux::Recursion::kTop));
    UniqueFd user_namespace;
    if (map != nullptr) {
      user_namespace = must(linux::make_user_namespace(procfs.fd(), *map));
      mount_attr attributes{};
      attributes.attr_set = MOUNT_ATTR_IDMAP;
      attributes.userns_fd = static_cast<unsigned long long>(user_namespace.get());
      OCIRUN_TRY(linux::sys::mount_setattr(tree.fd(), 0, attributes));
    }
    return tree.attach(must(linux::sys::open(target.c_str(), O_PATH)));
  }
  /// Mounts as CRIU does, perhaps something else than the document wants.
  void bind(const std::string& source, const std::string& target,
            const linux::IdMap* map = nullptr) const {
    must(try_bind(source, target, map));
  }
  bool has_id_mapped_mounts() const {
    fs::create_directories("/tmp/tried");
    const auto tried = try_bind(kSource, "/tmp/tried", &kWide);
    if (!tried) BOOST_TEST_MESSAGE("skipped: tmpfs has id-mapped mounts since Linux 6.3");
    return tried.has_value();
  }

  /// Adds an entry to /mounts of the document.
  linux::Mount& want(const std::string& options, const std::string& source = kSource,
                     const std::string& destination = kPoint) {
    sources.push_back(must(linux::sys::open(source.c_str(), O_PATH)));
    return config.mounts.emplace_back(bind_of(destination, source, options));
  }
  /// That with an id map, and with the mount in the images.
  void want_mapped(const std::string& options, const linux::IdMap& map = kWide) {
    want(options).id_map = map;
    images = {{.point = "/", .root = "/", .type = {}, .external = {}},
              {.point = kPoint, .root = "/", .type = {}, .external = kPoint}};
  }

  std::string problem(std::size_t index = 0) const {
    return with_root([&](const BindComparison& comparison, const ContainerRoot& root) {
      const auto found = must(root.find(config.mounts[index].destination));
      BOOST_TEST_REQUIRE(found.has_value());
      return comparison.compare(*found, index);
    });
  }
  std::string problem_below(const std::string& point = kPointBelow) const {
    return with_root([&](const BindComparison& comparison, const ContainerRoot&) {
      return comparison.compare_below(point);
    });
  }

  template <typename Callable>
  std::string with_root(Callable&& compare) const {
    const ContainerRoot root = must(ContainerRoot::open(procfs));
    const auto compared = compare(BindComparison{.config = config,
                                                 .sources = sources,
                                                 .images = images,
                                                 .root = root,
                                                 .host = must(HostMounts::read(procfs)),
                                                 .procfs = procfs},
                                  root);
    return compared ? "" : compared.error().message();
  }

  linux::Procfs procfs = must(linux::Procfs::open(linux::Procfs::Subset::kProcesses));
  bundle::Config config;
  std::vector<UniqueFd> sources;
  std::vector<ImageMount> images;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(compare_binds)

OCIRUN_CHILD_TEST(a_bind_shows_its_source, CLONE_NEWNS) {
  Binds binds;
  binds.want("bind");
  binds.bind(kSource, kPoint);
  BOOST_TEST(binds.problem() == "");
  binds.bind("/tmp/other", kPoint);
  BOOST_TEST(binds.problem() ==
             "/tmp/box/data does not show /tmp/source, which config.json binds there");
}

OCIRUN_CHILD_TEST(a_bind_is_id_mapped_if_the_document_says_so, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  binds.want("bind");
  binds.want("bind,idmap").id_map = kWide;
  binds.bind(kSource, kPoint);
  BOOST_TEST(binds.problem(0) == "");
  BOOST_TEST(binds.problem(1) == "/tmp/box/data is not id-mapped");
  binds.bind(kSource, kPoint, &kWide);
  BOOST_TEST(binds.problem(0) == "/tmp/box/data is id-mapped");
}

OCIRUN_CHILD_TEST(the_map_is_that_of_the_entry_or_of_the_container, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  binds.want_mapped("bind,idmap");
  binds.bind(kSource, kPoint, &kWide);
  BOOST_TEST(binds.problem() == "");
  binds.config.mounts[0].id_map = {};
  BOOST_TEST(binds.problem() == "/tmp/box/data has another id map");
  binds.config.id_map = kWide;
  BOOST_TEST(binds.problem() == "");
  for (const bool is_user : {false, true}) {
    linux::IdMap other = kWide;
    (is_user ? other.uids : other.gids)[0].host_id = 300000;
    binds.config.mounts[0].id_map = other;
    BOOST_TEST(binds.problem() == "/tmp/box/data has another id map", is_user);
  }
}

OCIRUN_CHILD_TEST(an_owner_that_the_map_does_not_have_is_nobody, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  BOOST_TEST_REQUIRE(::chown(kSource, 10, 10) == 0);
  binds.want_mapped("bind,idmap");
  binds.bind(kSource, kPoint, &kWide);
  BOOST_TEST(binds.problem() == "");
  linux::IdMap wider = kWide;
  wider.uids[0].size = 11;
  binds.config.mounts[0].id_map = wider;
  BOOST_TEST(binds.problem() == "/tmp/box/data has another id map");
}

OCIRUN_CHILD_TEST(an_id_mapped_mount_is_not_covered_by_another, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  binds.want_mapped("bind,idmap");
  const linux::IdMap narrow{.uids = {{0, 100000, 1}}, .gids = {{0, 200000, 1}}};
  binds.bind(kSource, kPoint, &kWide);
  binds.bind(kSource, kPoint, &narrow);
  BOOST_TEST(binds.problem() == "/tmp/box/data is covered by another mount");
}

OCIRUN_CHILD_TEST(the_images_mount_the_source_of_an_id_mapped_bind_in_its_place_alone,
                  CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  binds.want_mapped("bind,idmap");
  binds.bind(kSource, kPoint, &kWide);
  const std::vector<ImageMount> good = binds.images;
  const auto with = [&](const std::string& point, const std::string& external) {
    binds.images = good;
    binds.images.push_back({.point = point, .root = "/", .type = {}, .external = external});
    return binds.problem();
  };
  BOOST_TEST(with("/elsewhere", "/elsewhere") == "");
  check_text(with("/elsewhere", kPoint), "the images mount \"/tmp/box/data\" on /elsewhere");
  check_text(with(kPoint, "/other"), "the images mount \"/other\" on /tmp/box/data");
  check_text(with("/tmp/box//data", kPoint), "a mount on \"/tmp/box//data\", which is no plain");
  check_text(with("/tmp/../x", ""), "a mount on \"/tmp/../x\", which is no plain path");
  binds.images = {good.front()};
  check_text(binds.problem(), "has another id map: the images have no mount on /tmp/box/data");
}

OCIRUN_CHILD_TEST(below_a_recursive_bind_lies_what_lies_below_its_source, CLONE_NEWNS) {
  Binds binds;
  binds.bind(kSource, kPoint);
  binds.bind(kBelow, kPointBelow);
  const std::string refusal = " is not mounted below the source of a recursive bind";
  BOOST_TEST(binds.problem_below() == "what is mounted on /tmp/box/data/below" + refusal);
  binds.want("bind");
  BOOST_TEST(binds.problem_below() == "what is mounted on /tmp/box/data/below" + refusal);
  binds.want("rbind", "/tmp/other");
  BOOST_TEST(binds.problem_below() == "what is mounted on /tmp/box/data/below" + refusal);
  binds.want("rbind");
  BOOST_TEST(binds.problem_below() == "");
  for (const char* point : {kPoint, "/tmp/box/missing", "/tmp/box", "/tmp/other/below"})
    BOOST_TEST(binds.problem_below(point) == std::string("what is mounted on ") + point + refusal);
  fs::create_directories("/tmp/third");
  binds.bind("/tmp/third", kPointBelow);
  BOOST_TEST(binds.problem_below() == "what is mounted on /tmp/box/data/below" + refusal);
}

OCIRUN_CHILD_TEST(no_symlink_of_the_source_leads_to_what_is_mounted, CLONE_NEWNS) {
  Binds binds;
  fs::create_directory_symlink(kBelow, "/tmp/other/link");
  fs::create_directories("/tmp/box/data/link");
  binds.want("rbind", "/tmp/other");
  binds.bind(kBelow, "/tmp/box/data/link");
  check_text(binds.problem_below("/tmp/box/data/link"), "is not mounted below the source");
}

OCIRUN_CHILD_TEST(a_mount_below_has_the_options_of_the_host_and_of_the_document, CLONE_NEWNS) {
  Binds binds;
  binds.bind(kSource, kPoint);
  binds.bind(kBelow, kPointBelow);
  const auto remount = [](unsigned long flags) {
    must(linux::sys::mount("none", kPointBelow, nullptr, MS_BIND | MS_REMOUNT | flags, nullptr));
  };
  binds.want("rbind");
  remount(MS_NOSUID);
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below lacks nodev");
  remount(MS_NODEV);
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below lacks nosuid");
  remount(MS_NODEV | MS_NOSUID | MS_RDONLY);
  BOOST_TEST(binds.problem_below() == "");
  remount(MS_NODEV | MS_NOSUID);
  for (const char* options : {"rbind,ro,noexec", "rbind,rro,rnoexec"}) {
    binds.config.mounts[0] = bind_of(kPoint, kSource, options);
    BOOST_TEST(binds.problem_below() == (binds.config.mounts[0].recursive_attributes.empty()
                                             ? ""
                                             : "/tmp/box/data/below lacks ro, noexec"));
  }
  // A later entry of the same destination changes them, one of another does not.
  linux::Mount& later = binds.want("remount,bind,rrw", kSource, "/tmp/box");
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below lacks ro, noexec");
  later.destination = RootfsPath("/tmp/box//data/");
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below lacks noexec");
}

OCIRUN_CHILD_TEST(a_mount_below_shows_the_owner_that_it_shall, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  const std::string refusal = "/tmp/box/data/below has another id map";
  binds.want_mapped("rbind,idmap");  // maps the top alone
  binds.bind(kSource, kPoint, &kWide);
  binds.bind(kBelow, kPointBelow);
  BOOST_TEST(binds.problem_below() == "");
  binds.config.mounts[0].id_map_kind = linux::IdMapKind::kRecursive;
  BOOST_TEST(binds.problem_below() == refusal);
  binds.bind(kBelow, kPointBelow, &kWide);
  BOOST_TEST(binds.problem_below() == "");
  binds.config.mounts[0].id_map_kind = linux::IdMapKind::kMount;
  BOOST_TEST(binds.problem_below() == refusal);
  const linux::IdMap other{.uids = kWide.uids, .gids = {{0, 300000, 10}}};
  binds.config.mounts[0].id_map_kind = linux::IdMapKind::kRecursive;
  binds.config.mounts[0].id_map = other;
  BOOST_TEST(binds.problem_below() == refusal);
}

OCIRUN_CHILD_TEST(a_mount_below_is_id_mapped_even_if_its_owner_would_be_the_same, CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  const linux::IdMap same{.uids = {{0, 0, 1}}, .gids = {{0, 0, 1}}};
  binds.want_mapped("rbind,ridmap", same);
  binds.bind(kSource, kPoint, &same);
  binds.bind(kBelow, kPointBelow);
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below has another id map");
  binds.bind(kBelow, kPointBelow, &same);
  BOOST_TEST(binds.problem_below() == "");
}

OCIRUN_CHILD_TEST(a_mount_below_is_not_id_mapped_unless_the_document_or_the_host_says_so,
                  CLONE_NEWNS) {
  Binds binds;
  if (!binds.has_id_mapped_mounts()) return;
  const linux::IdMap same{.uids = {{0, 0, 1}}, .gids = {{0, 0, 1}}};  // the owner fits
  binds.want("rbind");
  binds.bind(kSource, kPoint);
  binds.bind(kBelow, kPointBelow);
  binds.bind(kBelow, kBelow, &same);  // of the host
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below has another id map");
  binds.bind(kBelow, kPointBelow);  // the bind of an id-mapped mount is id-mapped
  BOOST_TEST(binds.problem_below() == "");
  must(linux::sys::unmount(kBelow, linux::sys::kDetach));
  BOOST_TEST(binds.problem_below() == "/tmp/box/data/below has another id map");
}

BOOST_AUTO_TEST_SUITE_END()
