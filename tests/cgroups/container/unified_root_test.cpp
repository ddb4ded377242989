#include "tests/cgroups/container/kernel_fixture.hpp"

using namespace ocirun;
using namespace ocirun::cgroups;
using namespace ocirun::cgroups::test;

namespace {

/// Gives the root of the unified hierarchy its controllers back as they were: creating a cgroup
/// there hands them down, and they could not be mounted as v1 any more.
struct UnifiedRoot {
  UnifiedRoot() {
    if (::geteuid() != 0) return;
    for (const Hierarchy& hierarchy : host_layout().hierarchies)
      if (hierarchy.unified && !host_layout().pure_v2()) path = hierarchy.mount_point.string();
    if (!path.empty()) before = must(Directory::open(path)).read_or_empty(kFile);
  }
  ~UnifiedRoot() {
    if (path.empty()) return;
    const Directory root = must(Directory::open(path));
    std::istringstream now(root.read_or_empty(kFile));
    for (std::string controller; now >> controller;)
      if (!before.contains(controller)) must(root.write(kFile, "-" + controller));
  }
  static constexpr const char* kFile = "cgroup.subtree_control";
  std::string path, before;
};

}  // namespace

BOOST_TEST_GLOBAL_FIXTURE(UnifiedRoot);
