// The process that a layer is unpacked in. Where a test looks around in the process or breaks it,
// the process is a fork of the test that reads a stream of the test, otherwise the program
// ocirun-unpack.

#include "pods/images/unpack_process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <array>

#include "linux/base/file_io.hpp"
#include "linux/process/capabilities.hpp"
#include "pods/images/unpack/confinement.hpp"
#include "tests/linux/confined/confined.hpp"
#include "tests/pods/images/text_range.hpp"
#include "tests/pods/images/unpack/layer_scene.hpp"
#include "tests/sanitizers.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

#if defined(__SANITIZE_ADDRESS__) || OCIRUN_CLANG_SANITIZES
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

/// Calls `look` when it is read, and then fails with the text that `look` gives.
class Spy : public ByteStream {
 public:
  explicit Spy(std::function<std::string()> look) : look_(std::move(look)) {}
  Result<std::size_t> read(char*, std::size_t) override { return refuse("{}", look_()); }

 private:
  std::function<std::string()> look_;
};

/// A tar archive with one file, in GNU's format 1.0 for sparse files, whose map has `entries`
/// entries of four bytes.
class SparseBomb : public ByteStream {
 public:
  explicit SparseBomb(std::size_t entries) {
    const std::string count = std::to_string(entries) + "\n";
    const std::size_t size = count.size() + 4 * entries;
    const std::string records =
        "22 GNU.sparse.major=1\n22 GNU.sparse.minor=0\n28 GNU.sparse.realsize=4096\n";
    char octal[12], length[12];
    std::snprintf(octal, sizeof octal, "%011zo", size);
    std::snprintf(length, sizeof length, "%011zo", records.size());
    start_ = raw_header("pax", 'x', length) + padded(records) + raw_header("f", '0', octal) + count;
    left_ = 4 * entries;
  }
  Result<std::size_t> read(char* to, std::size_t size) override {
    if (!start_.empty()) {
      const std::size_t got = start_.copy(to, size);
      start_.erase(0, got);
      return got;
    }
    const std::size_t got = std::min(size, left_) / 4 * 4;
    for (std::size_t i = 0; i < got; ++i) to[i] = i % 2 == 0 ? '0' : '\n';
    left_ -= got;
    return got;
  }

 private:
  std::string start_;
  std::size_t left_;
};

LayerBlob layer_named(const char* name) {
  LayerBlob layer;
  layer.file = name;
  layer.diff_id = digest_of("");
  return layer;
}

class Apart {
 public:
  Apart() : into_(scratch_.open()) {}
  Result<UnpackedLayer> unpack(std::string_view tar) {
    return unpack_layer_apart(range_of(tar), blob_of(tar, tar), into_, {}, options);
  }
  /// Unpacks in a fork of the test.
  Result<UnpackedLayer> unpack_from(ByteStream& stream, std::span<const Fd> keep = {}) {
    linux::Pipe pipe = must(linux::make_pipe());
    const linux::Child child = must(linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
    const LayerBlob layer = layer_named("layer.tar");
    if (child.pid == 0) {
      const LayerJob job{.layer = layer, .options = options, .below = {}};
      ::_exit(serve(job, stream, {.into = into_, .below = {}}, pipe.writer, keep));
    }
    pipe.writer.reset();
    return outcome_of(child, std::move(pipe.reader), layer, {});
  }
  /// What `look` says in a process that is confined as that which unpacks, but may make any call.
  std::string sees(const std::function<std::string()>& look) {
    return say_confined(
               [this](Fd report) {
                 LayerPlaces places{.into = into_, .below = below};
                 return confine_to(places, options.mark, report, {});
               },
               look)
        .text;
  }
  const Scratch& scratch() const { return scratch_; }
  UnpackOptions options;
  std::optional<Fd> below;  // for sees()

 private:
  Scratch scratch_;
  UniqueFd into_;
};

/// An archive with many files, and as many zeros after its end as a processor hashes in minutes.
FileRange long_archive() {
  std::vector<TarItem> items;
  for (int i = 0; i < 100; ++i) items.push_back(file(std::to_string(i)));
  FileRange range = range_of(tar_of(items));
  BOOST_REQUIRE(::ftruncate(range.file().value, off_t{60} << 30) == 0);
  return range;
}

std::string permitted() {
  return fmt::format("{}", must(linux::grantable_capabilities({})).permitted.bits());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_processes, *needs_root())

BOOST_AUTO_TEST_CASE(a_layer_comes_through_with_its_sums_and_progress) {
  Apart apart;
  std::uint64_t told = 0;
  apart.options.progress = [&](std::uint64_t bytes) { told = bytes; };
  apart.options.devices = DeviceNodes::kLeaveOut;
  TarItem item = file("d/f", "text", 04755);
  item.uid = 7, item.mtime = 77;
  item.xattrs = {{"user.mine", "m"}, {"trusted.theirs", "t"}};
  const std::string tar =
      tar_of({item, symlink_to("s", "d/f"), hard_link("h", "d/f"), file("o/.wh..wh..opq"),
              device("p", AE_IFIFO, 0, 0), device("null", AE_IFCHR, 1, 3)});
  const UnpackedLayer unpacked = must(apart.unpack(tar));
  BOOST_TEST(unpacked.entries == 8u);
  BOOST_TEST(unpacked.bytes == 4u);
  BOOST_TEST(unpacked.devices_left_out == 1u);
  BOOST_TEST(unpacked.attributes_left_out == 1u);
  BOOST_TEST(told == tar.size());
  BOOST_TEST(slurp(apart.scratch() / "h") == "text");
  BOOST_TEST(mode_of(apart.scratch() / "d/f") == 04755);
  char value[8];
  BOOST_TEST(::lgetxattr((apart.scratch() / "o").c_str(), "trusted.overlay.opaque", value, 8) == 1);
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(the_layers_below_are_looked_at) {
  const Scratch lower, upper;
  ::mkdir((lower / "first").c_str(), 0755);
  ::mkdir((lower / "first/d").c_str(), 0755);
  ::chmod((lower / "first/d").c_str(), 0711);
  const std::string tar = tar_of({file("d/f")});
  const UniqueFd into = upper.open(), directory = lower.open();
  must(unpack_layer_apart(range_of(tar), blob_of(tar, tar), into, {directory, {"first"}}, {}));
  BOOST_TEST(mode_of(upper / "d") == 0711);
}

BOOST_AUTO_TEST_CASE(an_error_comes_through_with_its_number_and_frames) {
  Apart apart;
  const std::string tar = tar_of({file("a\n/../b")});
  BOOST_TEST(has(must_fail(apart.unpack(tar)), ": entry \"a\\n/../b\": its name contains \"..\""));
}

// libarchive would warn of the name last, if it did not know that the name is UTF-8.
BOOST_AUTO_TEST_CASE(a_name_of_other_characters_hides_no_fault_of_its_header) {
  const std::string name = "11 path=\u00fc\n", acl = "40 SCHILY.acl.access=user::rw-,nonsense\n";
  const auto tar_with = [](const std::string& records) {
    char length[12];
    std::snprintf(length, sizeof length, "%011zo", records.size());
    return raw_header("pax", 'x', length) + padded(records) + raw_header("f", '0', "00000000000") +
           std::string(1024, '\0');
  };
  Apart apart;
  must(apart.unpack(tar_with(name)));
  BOOST_TEST((apart.scratch().names() == std::vector<std::string>{"\u00fc"}));
  Apart another;
  BOOST_TEST(has(must_fail(another.unpack(tar_with(name + acl))), "SCHILY.acl.access"));
  Apart third;  // this name is no UTF-8
  must(third.unpack(tar_with("10 path=\xfc\n")));
  BOOST_TEST((third.scratch().names() == std::vector<std::string>{"\xfc"}));
}

BOOST_AUTO_TEST_CASE(what_was_unpacked_of_a_bad_layer_is_removed_without_proc) {
  Apart apart;
  const std::string tar = tar_of({directory("d", 0), file("d/e/f"), file("../g")});
  const std::string message = must_fail(apart.unpack(tar));
  BOOST_TEST(!message.contains("remains"), message);
  BOOST_TEST(apart.scratch().names().empty());
}

BOOST_AUTO_TEST_CASE(the_process_has_few_capabilities_and_gets_no_more) {
  Apart apart;
  for (const bool trusted : {false, true}) {
    apart.options.mark = trusted ? OpaqueMark::kTrusted : OpaqueMark::kUser;
    // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, MKNOD, SETFCAP, and SYS_ADMIN.
    std::uint64_t wanted = 1U << 0 | 1U << 1 | 1U << 3 | 1U << 4 | 1U << 27 | 1U << 31;
    if (trusted) wanted |= 1U << 21;
    wanted &= std::stoull(permitted());
    BOOST_TEST(apart.sees(permitted) == std::to_string(wanted));
    BOOST_TEST(apart.sees([] {
      int bounding = 0;
      for (unsigned long c = 0; ::prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; ++c)
        bounding += ::prctl(PR_CAPBSET_READ, c, 0, 0, 0);
      return fmt::format("{} {}", bounding <= 7, ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
    }) == "true 1");
  }
}

BOOST_AUTO_TEST_CASE(the_process_sees_its_own_directory_alone) {
  Apart apart;
  apart.scratch().file("inside", "x");
  const std::string beside = apart.scratch().path();
  BOOST_TEST(apart.sees([&] {
    std::string seen;
    for (const std::string& path : {std::string("/inside"), std::string("/../inside"), beside,
                                    std::string("/proc/self"), std::string("../../../../tmp")})
      seen += ::access(path.c_str(), F_OK) == 0 ? "y" : "n";
    return seen;
  }) == "yynnn");
}

BOOST_AUTO_TEST_CASE(no_descriptor_leads_out_of_the_directories_of_the_process) {
  const Scratch outside;
  outside.file("secret", "host");
  const UniqueFd forgotten = outside.open();
  Apart apart;
  struct stat theirs{};
  ::fstat(forgotten.get(), &theirs);
  BOOST_TEST(apart.sees([&] {
    std::string seen = "closed";
    for (int fd = 3; fd < 64; ++fd) {
      struct stat own{};
      if (::fstat(fd, &own) == 0 && own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev)
        seen = "open";
      for (const char* path : {"../../etc/passwd", "../../../etc/passwd"})
        if (::faccessat(fd, path, F_OK, 0) == 0) seen += fmt::format(" {}", fd);
    }
    return seen;
  }) == "closed");
}

BOOST_AUTO_TEST_CASE(both_directories_are_mounts_of_their_own_and_the_layers_below_are_read_only) {
  const Scratch lower;
  const UniqueFd opened = lower.open();
  Apart apart;
  apart.below = opened;
  const std::string seen = apart.sees([] {
    std::vector<std::string> found;
    for (int fd = 3; fd < 64; ++fd) {
      struct stat here{}, above{};
      if (::fstat(fd, &here) != 0 || !S_ISDIR(here.st_mode)) continue;
      ::fstatat(fd, "..", &above, 0);
      const bool is_top = here.st_ino == above.st_ino && here.st_dev == above.st_dev;
      const bool is_read_only = ::mkdirat(fd, "made", 0700) != 0 && errno == EROFS;
      found.push_back(fmt::format("{}{}", is_top ? "top" : "leads out", is_read_only ? ",ro" : ""));
    }
    std::ranges::sort(found);
    return fmt::format("{}", fmt::join(found, " "));
  });
  BOOST_TEST(seen == "top top,ro");
}

BOOST_AUTO_TEST_CASE(the_process_leaves_no_core_and_has_little_memory) {
  Apart apart;
  BOOST_TEST(apart.sees([] {
    rlimit core{}, size{};
    ::getrlimit(RLIMIT_CORE, &core);
    ::getrlimit(RLIMIT_AS, &size);
    return fmt::format("{} {}", core.rlim_max, size.rlim_max != RLIM_INFINITY);
  }) == (kLimitsMemory ? "0 true" : "0 false"));
}

BOOST_AUTO_TEST_CASE(who_needs_more_memory_is_told_so) {
  if (!kLimitsMemory) return;
  Apart apart;
  Spy greedy([] { return std::string(std::size_t{1} << 30, 'x'); });
  BOOST_TEST(must_fail(apart.unpack_from(greedy)) ==
             "layer \"layer.tar\": the process that unpacks it needs more than 512 MiB of memory");
}

BOOST_AUTO_TEST_CASE(a_map_of_a_sparse_file_that_needs_all_memory_is_an_error_of_the_layer) {
  if (!kLimitsMemory) return;
  Apart apart;
  SparseBomb bomb(24'000'000);
  // libarchive returns an error or ends the process, by the allocation that fails.
  const std::string message = must_fail(apart.unpack_from(bomb));
  BOOST_TEST(
      (message == "layer \"layer.tar\": read the tar archive: Out of memory" ||
       message ==
           "layer \"layer.tar\": the process that unpacks it needs more than 512 MiB of memory"),
      message);
}

BOOST_AUTO_TEST_CASE(a_process_that_is_killed_is_an_error_that_names_the_layer) {
  Apart apart;
  Spy suicidal([] {
    ::raise(SIGKILL);
    return std::string();
  });
  BOOST_TEST(must_fail(apart.unpack_from(suicidal)) ==
             "layer \"layer.tar\": the process that unpacks it was killed by signal 9 (SIGKILL)");
  Spy silent([]() -> std::string { ::_exit(0); });
  BOOST_TEST(must_fail(apart.unpack_from(silent)) ==
             "layer \"layer.tar\": the process that unpacks it reported nothing");
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(a_process_that_somebody_has_taken_over_cannot_mount) {
  Apart apart;
  Spy taken_over(
      [&] { return fmt::format("mounts: {}", ::mount("none", "/", "tmpfs", 0, nullptr) == 0); });
  BOOST_TEST(
      must_fail(apart.unpack_from(taken_over)) ==
      "layer \"layer.tar\": the process that unpacks it was killed, because it made a system "
      "call that reading an archive does not take");
}

BOOST_AUTO_TEST_CASE(the_process_is_in_no_namespace_of_its_caller_but_that_of_its_user) {
  const auto kinds = {"mnt", "pid", "net", "ipc", "user"};
  const Scratch scratch;
  std::string seen;
  UnpackOptions options;
  options.progress = [&](std::uint64_t) {
    const std::string child = children_of_this_process();
    const std::string pid = child.substr(0, child.find(' '));
    for (const char* const kind : kinds)
      if (seen.size() < kinds.size())
        seen += std::filesystem::read_symlink(fmt::format("/proc/{}/ns/{}", pid, kind)) ==
                        std::filesystem::read_symlink(fmt::format("/proc/self/ns/{}", kind))
                    ? "="
                    : "x";
    ::kill(std::stoi(pid), SIGKILL);
  };
  const UniqueFd into = scratch.open();
  BOOST_TEST(must_fail(unpack_layer_apart(long_archive(), layer_named("f"), into, {}, options)) ==
             "layer \"f\": the process that unpacks it was killed by signal 9 (SIGKILL)");
  BOOST_TEST(seen == "xxxx=");
}

BOOST_AUTO_TEST_CASE(a_process_whose_parent_is_killed_ends_too) {
  int ends[2];
  BOOST_REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t parent = ::fork();
  if (parent == 0) {
    const Scratch scratch;
    const Fd keep[] = {Fd{ends[1]}};
    UnpackOptions options;
    options.progress = [&](std::uint64_t) { ignore(!::write(ends[1], "x", 1)); };
    ignore(unpack_layer_apart(long_archive(), layer_named("f"), scratch.open(), {}, options, keep));
    ::_exit(0);
  }
  ::close(ends[1]);
  char byte = 0;
  BOOST_TEST(::read(ends[0], &byte, 1) == 1);  // the process has begun
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  pollfd end{ends[0], POLLIN, 0};
  BOOST_TEST(::poll(&end, 1, kHangSeconds * 1000) == 1);
  BOOST_TEST(::read(ends[0], &byte, 1) == 0);  // and nobody has the lock any more
  ::close(ends[0]);
}

BOOST_AUTO_TEST_SUITE_END()
