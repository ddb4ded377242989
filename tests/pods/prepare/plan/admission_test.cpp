// Whether a machine has what a pod requires.

#include "pods/prepare/plan/admission.hpp"

#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

constexpr std::uint64_t kMib = 1U << 20;

/// A capacity that is enough for full_oam().
Capacity enough() {
  Capacity capacity;
  capacity.cpus = 2;
  capacity.memory = 128 * kMib;
  capacity.extended = {{"ext.example.com/v1.MotionSensor", "1"}};
  return capacity;
}

std::string shortages(const std::string& document, const Capacity& capacity) {
  const Workload workload = read_workload("f", document);
  BOOST_TEST(lines(workload.problems) == "");
  std::string out;
  for (const Shortage& shortage : find_shortages(workload.pod, capacity))
    out += workload.at(shortage.place) + ": " + shortage.sentence + '\n';
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(admission)

BOOST_AUTO_TEST_CASE(what_there_is_satisfies_a_pod) {
  BOOST_TEST(shortages(full_oam(), enough()) == "");
}

BOOST_AUTO_TEST_CASE(the_containers_share_what_there_is) {  // OAM-12, OAM-30, OAM-31
  Capacity capacity = enough();
  capacity.cpus = 1.5;
  capacity.memory = 64 * kMib + 1024;
  BOOST_TEST(shortages(full_oam(), capacity) == "");
  capacity.cpus = 1;
  BOOST_TEST(shortages(full_oam(), capacity)
                 .contains("/spec/containers/1/resources: CPUs cannot be had: the containers up to "
                           "\"side\" need 1.5, and there is 1\n"));
  capacity.memory = 64 * kMib;
  BOOST_TEST(shortages(full_oam(), capacity)
                 .contains("/spec/containers/1/resources: memory cannot be had: the containers up "
                           "to \"side\" need 64 MiB, and there is 64 MiB\n"));
  capacity.memory = kMib;
  BOOST_TEST(shortages(full_oam(), capacity)
                 .contains("the containers up to \"Web.1_a-b\" need 64 MiB, and there is 1 MiB\n"));
}

BOOST_AUTO_TEST_CASE(a_petabyte_is_not_there) {  // OAM-12: the specification's own example
  BOOST_TEST(shortages(with(full_oam(), "\"64M\"", "\"1P\""), enough())
                 .contains("need 1 PiB, and there is 128 MiB"));
}

BOOST_AUTO_TEST_CASE(
    an_extended_resource_is_there_only_with_the_value_that_is_required) {  // OAM-37
  Capacity capacity = enough();
  capacity.extended["ext.example.com/v1.MotionSensor"] = "2";
  BOOST_TEST(shortages(full_oam(), capacity)
                 .contains("/extended/0: the extended resource ext.example.com/v1.MotionSensor is "
                           "\"2\", and \"1\" is required\n"));
  capacity.extended.clear();
  BOOST_TEST(shortages(full_oam(), capacity) == "");  // it may be a CDI device
  BOOST_TEST(shortages(with(full_oam(), "\"required\": \"1\"", "\"required\": \"fast\""), capacity)
                 .contains("is not available: --extended ext.example.com/v1.MotionSensor=fast"));
}

BOOST_AUTO_TEST_CASE(an_init_container_runs_alone) {  // RX-12
  Pod pod = good(full_radius());
  pod.init_containers[0].resources.requests = {.cpus = 4, .memory = kMib};
  pod.containers[1].resources.requests = {.cpus = 1, .memory = 64 * kMib};
  const Amounts amounts = needed(pod);
  BOOST_TEST((amounts.cpus == 4.0 && amounts.memory == 128 * kMib));
  Capacity capacity;
  capacity.cpus = 4;
  capacity.memory = 128 * kMib;
  BOOST_TEST(find_shortages(pod, capacity).empty());
  capacity.cpus = 3;
  BOOST_TEST(find_shortages(pod, capacity).size() == 1U);
}

BOOST_AUTO_TEST_CASE(amounts_are_told_in_units) {
  BOOST_TEST(bytes_text(1) == "1 byte");
  BOOST_TEST(bytes_text(1023) == "1023 bytes");
  BOOST_TEST(bytes_text(1024) == "1 KiB");
  BOOST_TEST(bytes_text(1536 * kMib) == "1.5 GiB");
  BOOST_TEST(bytes_text(9ULL << 60) == "9216 PiB");
}

BOOST_AUTO_TEST_SUITE_END()
