#include <sys/file.h>

#include <fstream>

#include "linux/base/unique_fd.hpp"
#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

/// Disables the controllers that tests have enabled at the root of the unified hierarchy: crun
/// refuses such a hybrid host. integration/lib/sandbox does the same, and explains the file and its
/// lock.
struct UnifiedRoot {
  UnifiedRoot() {
    if (::geteuid() != 0) return;
    for (const Hierarchy& hierarchy : host_layout().hierarchies)
      if (hierarchy.unified && !host_layout().pure_v2()) path = hierarchy.mount_point.string();
    if (path.empty()) return;
    users = UniqueFd(::open(kUsers, O_RDONLY | O_CREAT | O_CLOEXEC, 0644));
    if (::flock(users.get(), LOCK_EX | LOCK_NB) == 0)
      std::ofstream(kUsers) << must(Directory::open(path)).read_or_empty(kFile);
    BOOST_REQUIRE(::flock(users.get(), LOCK_SH) == 0);
  }
  ~UnifiedRoot() {
    if (path.empty() || ::flock(users.get(), LOCK_EX | LOCK_NB) != 0) return;
    const Directory root = must(Directory::open(path));
    std::string before;
    std::getline(std::ifstream(kUsers), before);
    std::istringstream now(root.read_or_empty(kFile));
    for (std::string controller; now >> controller;)
      if (!before.contains(controller)) std::ignore = root.write(kFile, "-" + controller);
  }
  static constexpr const char* kFile = "cgroup.subtree_control";
  static constexpr const char* kUsers = "/run/ocirun-test.controllers";
  std::string path;
  UniqueFd users;
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(UnifiedRoot);
