#include "bundle/documents/state.hpp"
#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(records)

namespace {

cgroups::Record cgroup() {
  return {.path = "/ocirun/web1",
          .directories = {{"cpu,cpuacct", "/sys/fs/cgroup/cpu/ocirun/web1"},
                          {"", "/sys/fs/cgroup/unified/ocirun/web1"}},
          .created_parents = {"/sys/fs/cgroup/cpu/ocirun"}};
}

ContainerRecord record() {
  ContainerRecord record;
  record.id = "web1";
  record.oci_version = "1.0.2-dev";
  record.bundle = "/bundles/ü \"1\"";
  record.rootfs = "/bundles/web1/rootfs";
  record.created = "2026-01-02T03:04:05.000000006Z";
  record.owner_uid = 4294967294;
  record.init_pid = 4711;
  record.init_start_time = ~0ULL;
  record.init_image = "22:7";
  record.boot_id = "b";
  record.cgroup = cgroup();
  record.cgroup_manager = cgroups::Manager::kCgroupfs;
  record.cgroup_mark = "web1 8:1 12 ";
  record.has_poststart = true;
  record.own_pid_namespace = true;
  record.mounts_on_host = true;
  record.rootfs_mount = 0xffffffff12345678;
  record.has_process = true;
  record.stop_signal = "SIGQUIT";
  record.attendant_pid = 4710;
  record.attendant_start_time = ~0ULL;
  record.resctrl = linux::ResctrlGroups{"/sys/fs/resctrl/web1", ""};
  record.annotations = {{"k", "v\n"}};
  return record;
}

IntentRecord intent() {
  IntentRecord intent;
  intent.record = record();
  intent.runtime_pid = 99;
  intent.runtime_start_time = 12345;
  return intent;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_container_record_comes_back_as_it_was) {
  const auto back = parse_record(record_text(record()));
  BOOST_TEST_REQUIRE(back.has_value());
  BOOST_TEST(record_text(*back) == record_text(record()));
  BOOST_TEST(back->bundle == record().bundle);
  BOOST_TEST(back->init_start_time == ~0ULL);
  BOOST_TEST((back->cgroup == cgroup()));
  BOOST_TEST(back->resctrl->clos_path == "/sys/fs/resctrl/web1");
  BOOST_TEST(back->cgroup_mark == "web1 8:1 12 ");
  BOOST_TEST(back->has_poststart);
  BOOST_TEST(!back->has_poststop);
  BOOST_TEST(back->mounts_on_host);
  BOOST_TEST((back->rootfs_mount == record().rootfs_mount));
  BOOST_TEST((back->annotations == record().annotations));
  ContainerRecord plain = record();
  plain.resctrl.reset();
  plain.cgroup = {};
  const auto plain_back = parse_record(record_text(plain));
  BOOST_TEST_REQUIRE(plain_back.has_value());
  BOOST_TEST(!plain_back->resctrl.has_value());
}

BOOST_AUTO_TEST_CASE(a_cgroup_comes_back_from_its_mark_as_it_was) {
  cgroups::Record scope = cgroup();
  scope.unit = "web1.scope";
  scope.user_instance = true;
  for (const cgroups::Record& record : {cgroup(), scope}) {
    const auto back = parse_cgroup(cgroup_text(record));
    BOOST_TEST_REQUIRE(back.has_value());
    BOOST_TEST((*back == record));
  }
  BOOST_TEST(parse_cgroup("{").error().message().starts_with("cgroup's mark: "));
}

BOOST_AUTO_TEST_CASE(an_intent_comes_back_as_it_was) {
  const auto back = parse_intent(intent_text(intent()));
  BOOST_TEST_REQUIRE(back.has_value());
  BOOST_TEST(intent_text(*back) == intent_text(intent()));
  BOOST_TEST(record_text(back->record) == record_text(record()));
  BOOST_TEST(back->runtime_pid == 99);
  BOOST_TEST(back->runtime_start_time == 12345U);
  const auto wrong =
      parse_intent(R"({"record": {"format": 1}, "runtimePid": 1, "runtimeStartTime": 1})");
  BOOST_TEST(wrong.error().message().starts_with("intent record: /record/id: is missing"));
}

BOOST_AUTO_TEST_CASE(a_record_with_anything_wrong_is_refused_by_name) {
  const auto message = [](std::string_view patch) {
    auto json = nlohmann::ordered_json::parse(record_text(record()));
    json.merge_patch(nlohmann::ordered_json::parse(patch));
    const auto parsed = parse_record(json.dump());
    BOOST_TEST_REQUIRE(!parsed.has_value(), patch);
    return parsed.error().message();
  };
  BOOST_TEST(message(R"({"format": 0})") ==
             "state record: /format: must be a whole number from 1 to 1, not 0");
  BOOST_TEST(message(R"({"id": null})") == "state record: /id: is missing, it is required");
  BOOST_TEST(message(R"({"id": ""})") == "state record: /id: must not be empty");
  BOOST_TEST(message(R"({"extra": 1})").contains("/extra: unknown name (known: format, id, "));
  BOOST_TEST(message(R"({"initPid": -1})").contains("/initPid: must be a whole number"));
  BOOST_TEST(message(R"({"ownerUid": 4294967296})").contains("/ownerUid: "));
  BOOST_TEST(message(R"({"cgroup": {"directories": [{"controllers": "", "directory": "x"}]}})")
                 .contains("/cgroup/directories/0/directory: must be an absolute path"));
  BOOST_TEST(message(R"({"annotations": {"a": 1}})").contains("/annotations/a: must be a string"));
}

BOOST_AUTO_TEST_CASE(a_record_of_a_newer_version_is_refused_with_a_sentence) {
  auto json = nlohmann::ordered_json::parse(record_text(record()));
  json["format"] = 2;
  json["inventedLater"] = 1;
  BOOST_TEST(parse_record(json.dump()).error().message() ==
             "state record: /format: is 2, and this version of ocirun reads formats up to 1: a "
             "newer version wrote this record, and can still use it");
}

BOOST_AUTO_TEST_CASE(no_part_of_a_record_passes_for_a_whole_one) {  // state_half_written
  for (const std::string& text : {record_text(record()), intent_text(intent())})
    for (std::size_t length = 0; length < text.size(); ++length) {
      BOOST_TEST(!parse_record(std::string_view(text).substr(0, length)).has_value());
      BOOST_TEST(!parse_intent(std::string_view(text).substr(0, length)).has_value());
    }
}

BOOST_AUTO_TEST_CASE(garbage_is_an_error_and_never_a_crash) {
  const std::string deep(100000, '[');
  const std::string_view garbage[] = {"null",
                                      "[]",
                                      "0",
                                      "\"\"",
                                      "{}",
                                      deep,
                                      {"\0\0\0\0", 4},
                                      R"({"format":99999999999999999999999999})"};
  for (const std::string_view text : garbage) {
    BOOST_TEST(!parse_record(text).has_value());
    BOOST_TEST(!parse_intent(text).has_value());
  }
  // A good record with one byte replaced: every byte in turn.
  const std::string good = record_text(record());
  for (std::size_t i = 0; i < good.size(); ++i)
    for (const char c : {'\0', '"', '}', '9', '\xff'}) {
      std::string bad = good;
      bad[i] = c;
      const auto parsed = parse_record(bad);
      BOOST_TEST((parsed.has_value() || !parsed.error().message().empty()));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
