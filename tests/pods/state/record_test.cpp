#include "pods/state/record.hpp"

#include <boost/test/unit_test.hpp>

#include "pods/state/pod_directory.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

namespace ocirun::pods {
namespace {

using test::must;
using test::must_fail;
using test::Scratch;

BOOST_AUTO_TEST_SUITE(pod_records)

PodRecord full_record() {
  PodRecord record;
  record.name = "shop";
  record.kind = "OAM ContainerizedWorkload";
  record.status = PodStatus::kRunning;
  record.is_stopping = true;
  record.reason = "degraded";
  record.runtime = {"/usr/sbin/ocirun", "--root", "/run/x"};
  record.boot_id = "boot";
  record.supervisor = {.pid = 7, .start_time = 8};
  record.holder = {.pid = 9, .start_time = 10};
  record.forwarder = {.pid = 11, .start_time = 12};
  record.metadata = {.pid = 15, .start_time = 16};
  record.cgroup = "/ocirun.slice/ocirun-shop.slice";
  record.slice = "ocirun-shop.slice";
  record.log_directory = "/var/log/shop";
  record.images = {"sha256:abc"};
  record.grace = std::chrono::seconds(45);
  ContainerRecord container;
  container.name = "web";
  container.id = "shop.web";
  container.is_init = true;
  container.is_claimed = true;
  container.status = ContainerStatus::kExited;
  container.pid = 13;
  container.ready = true;
  container.restarts = 14;
  container.exit_code = 137;
  container.oom_killed = true;
  container.started_at = "2026-11-25T01:02:03.000000000Z";
  container.finished_at = "2026-11-25T01:02:04.000000000Z";
  container.next_start = "2026-11-25T01:02:05.000000000Z";
  container.reason = "was killed";
  record.containers = {container};
  return record;
}

BOOST_AUTO_TEST_CASE(each_field_is_read_as_it_was_written) {
  const std::string text = record_text(full_record());
  const PodRecord read = must(parse_record(text));
  BOOST_TEST(record_text(read) == text);
  BOOST_TEST((read == full_record()));
  BOOST_TEST(read.containers.at(0).exit_code.value() == 137);
  BOOST_TEST((read.containers.at(0).status == ContainerStatus::kExited));
  BOOST_TEST(read.forwarder.pid == 11);
  BOOST_TEST(read.metadata.pid == 15);
  BOOST_TEST(read.slice == "ocirun-shop.slice");
  BOOST_TEST(read.containers.at(0).is_claimed);
}

BOOST_AUTO_TEST_CASE(a_pod_that_was_asked_to_end_is_stopping) {
  PodRecord record = full_record();
  BOOST_TEST(shown_status(record) == "stopping");
  record.is_stopping = false;
  BOOST_TEST(shown_status(record) == "running");
}

BOOST_AUTO_TEST_CASE(a_record_of_another_version) {
  const std::string text = record_text(full_record());
  const std::string line = "  \"format\": 1,\n";
  const std::size_t at = text.find(line);
  BOOST_TEST_REQUIRE(at != std::string::npos);
  std::string older = text;  // the first records had no format
  older.erase(at, line.size());
  BOOST_TEST((must(parse_record(older)) == full_record()));
  std::string newer = text;
  newer.replace(at, line.size(), "  \"format\": 2,\n  \"inventedLater\": 1,\n");
  BOOST_TEST(
      must_fail(parse_record(newer))
          .contains(
              "/format: is 2, and this version of ocirun reads formats up to 1: a newer version"));
}

BOOST_AUTO_TEST_CASE(a_reason_with_any_bytes_can_be_read_again) {
  PodRecord record = full_record();
  record.containers[0].reason = std::string("a\0b\xff\n", 5) + std::string(2000, 'x');
  const PodRecord read = must(parse_record(record_text(record)));
  BOOST_TEST(read.containers.at(0).reason.starts_with("a\\x00b"));
  BOOST_TEST(read.containers.at(0).reason.size() < 1000);
}

BOOST_AUTO_TEST_CASE(a_record_that_is_damaged_is_an_error) {
  BOOST_TEST(must_fail(parse_record("")).starts_with("pod.json: "));
  std::string text = record_text(full_record());
  text.replace(text.find("exited"), 6, "asleep");
  BOOST_TEST(must_fail(parse_record(text)) ==
             "pod.json: /containers/0/status: unknown status \"asleep\" (known: waiting, running, "
             "exited)");
}

BOOST_AUTO_TEST_CASE(a_pod_directory_is_made_once_locked_once_and_removed) {
  const Scratch scratch;
  const PodsDirectory pods = must(PodsDirectory::open(HostPath(scratch.path() + "/data")));
  const PodDirectory pod = must(pods.make_pod("shop"));
  BOOST_TEST(must_fail(pods.make_pod("shop")).find("a pod \"shop\" exists") != std::string::npos);
  const UniqueFd lock = must(pod.lock());
  BOOST_TEST(must(pods.open_pod("shop")).lock().error().number() == EAGAIN);
  BOOST_TEST((must(pods.names()) == std::vector<std::string>{"shop"}));
  must(pod.remove());
  BOOST_TEST(must(pods.names()).empty());
  BOOST_TEST(pods.open_pod("shop").error().number() == ENOENT);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_no_name_of_a_pod_is_refused) {
  for (const char* name : {"", ".", "..", "a/b", "-a", "a-", "a b", "a\n"})
    BOOST_TEST(!check_pod_name(name));
  BOOST_TEST(!check_pod_name(std::string(64, 'a')));
  BOOST_TEST(check_pod_name("Web.1_a-b").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
