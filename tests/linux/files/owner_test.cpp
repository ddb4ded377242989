#include "linux/files/owner.hpp"

#include <fcntl.h>
#include <linux/fuse.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "linux/base/syscalls.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

template <typename Answer>
void answer(int device, std::uint64_t unique, const Answer& body) {
  std::array<char, sizeof(fuse_out_header) + sizeof(Answer)> message{};
  const fuse_out_header header{.len = message.size(), .error = 0, .unique = unique};
  std::memcpy(message.data(), &header, sizeof header);
  std::memcpy(message.data() + sizeof header, &body, sizeof body);
  ignore(::write(device, message.data(), message.size()));
}

/// A filesystem whose root says that it belongs to user 0.
[[noreturn]] void serve(int device) {
  std::array<char, 65536> buffer{};
  while (::read(device, buffer.data(), buffer.size()) > 0) {
    fuse_in_header request{};
    std::memcpy(&request, buffer.data(), sizeof request);
    if (request.opcode == FUSE_INIT) {
      fuse_init_out greeting{};
      greeting.major = FUSE_KERNEL_VERSION;
      greeting.minor = 31;
      greeting.max_write = 4096;
      answer(device, request.unique, greeting);
    } else if (request.opcode == FUSE_GETATTR) {
      fuse_attr_out attributes{};
      attributes.attr.ino = 1;
      attributes.attr.mode = S_IFDIR | 0755;
      attributes.attr.nlink = 2;
      answer(device, request.unique, attributes);
    } else if (request.opcode == FUSE_STATFS) {
      answer(device, request.unique, fuse_statfs_out{});
    }
  }
  ::_exit(0);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(owner)

BOOST_AUTO_TEST_CASE(a_directorys_owner_is_its_own) {
  const Scratch scratch;
  BOOST_TEST(must(owner_of(scratch.open())) == ::geteuid());
}

OCIRUN_CHILD_TEST(a_fuse_filesystem_belongs_to_who_serves_it_whatever_it_says, CLONE_NEWNS) {
  const Scratch scratch;
  UniqueFd device(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (!device) return;  // this kernel has none
  const std::string options =
      fmt::format("fd={},rootmode=40000,user_id=12345,group_id=0,allow_other", device.get());
  must(sys::mount("forged", scratch.path().c_str(), "fuse", 0, options.c_str()));
  const pid_t server = ::fork();
  if (server == 0) serve(device.get());
  device.reset();  // who waits for a dead server is freed
  {
    const UniqueFd root = must(sys::open(scratch.path().c_str(), O_PATH | O_DIRECTORY));
    BOOST_TEST(must(sys::fstat(root)).st_uid == 0u);
    BOOST_TEST(must(owner_of(root)) == 12345u);
  }
  must(sys::unmount(scratch.path().c_str(), 0));
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(links_of_root_and_of_the_caller_are_followed_to_the_directory) {
  const Scratch scratch;
  must(sys::mkdirat(scratch.open(), "real", 0700));
  must(sys::symlinkat("real/", scratch.open(), "relative"));
  must(sys::symlinkat((scratch / "relative").c_str(), scratch.open(), "absolute"));
  must(sys::symlinkat("loop", scratch.open(), "loop"));
  const ino_t wanted = must(sys::fstatat(scratch.open(), "real")).st_ino;
  for (const char* path : {"real", "relative", "absolute", "./absolute/", "real/../relative//."})
    BOOST_TEST(must(sys::fstat(must(open_by_own_links(scratch / path)))).st_ino == wanted);
  BOOST_TEST(open_by_own_links(scratch / "none").error().number() == ENOENT);
  BOOST_TEST(open_by_own_links(scratch / "loop").error().number() == ELOOP);
}

BOOST_AUTO_TEST_CASE(another_users_link_is_refused_by_name, *needs_root()) {
  const Scratch scratch;
  must(sys::mkdirat(scratch.open(), "real", 0700));
  must(sys::symlinkat("real", scratch.open(), "theirs"));
  BOOST_REQUIRE(::lchown((scratch / "theirs").c_str(), 12345, 12345) == 0);
  BOOST_TEST(must_fail(open_by_own_links(scratch / "theirs/../real")) ==
             scratch / "theirs/../real" +
                 ": the link theirs belongs to user 12345, who chooses where it leads");
}

BOOST_AUTO_TEST_SUITE_END()
