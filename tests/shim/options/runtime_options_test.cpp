#include "shim/options/runtime_options.hpp"

#include <options.pb-c.h>

#include <boost/test/unit_test.hpp>

#include "shim/messages/message.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

std::string packed(const Shimoptions__ConfiguredOptions& message) {
  std::string bytes(shimoptions__configured_options__get_packed_size(&message), '\0');
  shimoptions__configured_options__pack(&message, reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

Result<RuntimeOptions> parse_body(std::string_view toml) {
  Shimoptions__ConfiguredOptions message = SHIMOPTIONS__CONFIGURED_OPTIONS__INIT;
  message.config_body = data_in_message(toml);
  return parse_options(kConfiguredOptions, packed(message));
}

Result<RuntimeOptions> parse_path(const std::string& path) {
  Shimoptions__ConfiguredOptions message = SHIMOPTIONS__CONFIGURED_OPTIONS__INIT;
  message.config_path = in_message(path);
  return parse_options(kConfiguredOptions, packed(message));
}

constexpr std::string_view kEveryKey = R"(
  BinaryName = "/usr/sbin/ocirun"
  Root = "/run/other"
  SystemdCgroup = true
  NoPivotRoot = true
  NoNewKeyring = true
  ShimCgroup = "/shims"
  IoUid = 1000
  IoGid = 4294967295
  CriuImagePath = "/images"
  CriuWorkPath = "/work"
)";

void check_every_key(const RuntimeOptions& options) {
  BOOST_TEST(options.binary_name == "/usr/sbin/ocirun");
  BOOST_TEST(options.root == "/run/other");
  BOOST_TEST(options.systemd_cgroup);
  BOOST_TEST(options.no_pivot_root);
  BOOST_TEST(options.no_new_keyring);
  BOOST_TEST(options.shim_cgroup == "/shims");
  BOOST_TEST(options.io_uid == 1000u);
  BOOST_TEST(options.io_gid == 4294967295u);
  BOOST_TEST(options.criu_image_path == "/images");
  BOOST_TEST(options.criu_work_path == "/work");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(runtime_options)

BOOST_AUTO_TEST_CASE(without_a_type_the_defaults_hold) {
  const RuntimeOptions options = must(parse_options("", ""));
  BOOST_TEST(options.binary_name == "");
  BOOST_TEST(!options.systemd_cgroup);
  BOOST_TEST(options.io_uid == 0u);
}

BOOST_AUTO_TEST_CASE(the_options_of_runc_are_a_message) {
  const std::string binary = "/usr/sbin/ocirun", root = "/run/other", cgroup = "/shims",
                    images = "/images", work = "/work";
  auto message = new_message<Shim__Options>();
  message.no_pivot_root = message.no_new_keyring = message.systemd_cgroup = 1;
  message.shim_cgroup = in_message(cgroup);
  message.binary_name = in_message(binary);
  message.root = in_message(root);
  message.io_uid = 1000;
  message.io_gid = 4294967295;
  message.criu_image_path = in_message(images);
  message.criu_work_path = in_message(work);
  check_every_key(must(parse_options(kRuncOptions, bytes_of(message))));
}

BOOST_AUTO_TEST_CASE(other_runtimes_get_their_options_as_toml) {
  check_every_key(must(parse_body(kEveryKey)));
  check_every_key(must(parse_body("[options]" + std::string(kEveryKey))));
  BOOST_TEST(must(parse_body("")).binary_name == "");
}

BOOST_AUTO_TEST_CASE(the_table_of_options_wins_over_the_top_level) {
  const auto options = must(parse_body("Root = '/a'\nBinaryName = 'x'\n[options]\nRoot = '/b'"));
  BOOST_TEST(options.root == "/b");
  BOOST_TEST(options.binary_name == "x");
}

BOOST_AUTO_TEST_CASE(containerds_own_keys_are_ignored) {
  const auto options = must(
      parse_body("runtime_type = 'io.containerd.ocirun.v2'\npod_annotations = ['a']\n[options]\n"
                 "SystemdCgroup = true\n[options.more]\nRoot = 7"));
  BOOST_TEST(options.systemd_cgroup);
  BOOST_TEST(options.root == "");
}

BOOST_AUTO_TEST_CASE(the_case_of_letters_of_a_key_does_not_matter) {
  BOOST_TEST(must(parse_body("systemdCgroup = true")).systemd_cgroup);
  BOOST_TEST(!must(parse_body("systemd_cgroup = true")).systemd_cgroup);
}

BOOST_AUTO_TEST_CASE(the_options_may_be_in_a_file) {
  const Scratch scratch;
  check_every_key(must(parse_path(scratch.file("options.toml", kEveryKey))));
  BOOST_TEST(must_fail(parse_path("options.toml")) ==
             "the runtime's ConfigPath \"options.toml\": must be an absolute path");
  BOOST_TEST(must_fail(parse_path(scratch / "absent")) == "the runtime's ConfigPath: open " +
                                                              scratch / "absent" +
                                                              ": no such file or directory");
  const std::string wrong = scratch.file("wrong.toml", "IoUid = 1\n\nIoUid = 2");
  BOOST_TEST(must_fail(parse_path(wrong)).starts_with(wrong + ", line 3: must be TOML: "));
}

BOOST_AUTO_TEST_CASE(a_value_of_a_wrong_type_is_an_error_with_the_key_and_the_line) {
  const auto said = [](std::string_view toml) { return must_fail(parse_body(toml)); };
  BOOST_TEST(said("\nSystemdCgroup = 'yes'") ==
             "the runtime's options, line 2: SystemdCgroup: must be true or false");
  BOOST_TEST(said("Root = 1") == "the runtime's options, line 1: Root: must be a text in quotes");
  BOOST_TEST(said("Root = \"a\\u0000b\"").ends_with("Root: must be a text in quotes"));
  for (const auto* value : {"-1", "4294967296", "1.0", "'0'"})
    BOOST_TEST(said(fmt::format("IoUid = {}", value))
                   .ends_with("IoUid: must be a whole number from 0 to 4294967295"));
  BOOST_TEST(said("options = 1") == "the runtime's options, line 1: options: must be a table");
  BOOST_TEST(said("Root =").starts_with("the runtime's options, line 1: must be TOML: "));
}

BOOST_AUTO_TEST_CASE(an_unknown_type_is_an_error_that_names_the_known_ones) {
  BOOST_TEST(must_fail(parse_options("containerd.runc.v9.Options", "")) ==
             "options of the type \"containerd.runc.v9.Options\": must be "
             "containerd.runc.v1.Options or runtimeoptions.v1.Options; change the runtime's "
             "options in containerd's configuration");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_message_are_an_error) {
  for (const auto type : {kRuncOptions, kConfiguredOptions})
    BOOST_TEST(must_fail(parse_options(type, "\xff\xff\xff")) ==
               fmt::format("options of the type {}: the 3 bytes are no such message", type));
}

BOOST_AUTO_TEST_SUITE_END()
