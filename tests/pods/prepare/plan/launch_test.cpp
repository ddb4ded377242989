// The image's configuration and the document's container to a process: image-spec, conversion.md.

#include "pods/prepare/plan/launch.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

using Words = std::vector<std::string>;

struct LaunchFixture {
  Scratch scratch;
  Pod pod;
  Container container;
  ImageConfig image;
  Bindings bindings;

  LaunchFixture() {
    pod.kind = Kind::kRadius;
    container.name = "web";
    image.platform = {"linux", "amd64", ""};
    image.config.entrypoint = {"/entry", "-e"};
    image.config.cmd = {"cmd"};
    ::mkdir((scratch / "etc").c_str(), 0755);
    scratch.file("etc/passwd",
                 "root:x:0:0:root:/root:/bin/sh\nbroken line\nweb:x:33:34:,,:/srv:/bin/false\n");
    scratch.file("etc/group", "root:x:0:\nwheel:x:10:root,web\nwww:x:34:web\ndata:x:50:web\n");
  }

  Result<Launch> merge() const {
    return merge_launch(pod, container, image, bindings,
                        must(linux::SafeDir::open_root(HostPath(scratch.path()))));
  }
  std::string error() const { return must_fail(merge()); }
  Words args() const { return must(merge()).args; }
  Account account() const { return must(merge()).account; }
  std::string variable(std::string_view name) const {
    for (const std::string& entry : must(merge()).env)
      if (entry.starts_with(name) && entry[name.size()] == '=')
        return entry.substr(name.size() + 1);
    return "(not set)";
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(launch, LaunchFixture)

BOOST_AUTO_TEST_CASE(the_properties_of_a_connection_become_variables) {  // RX-16
  pod.connections = {
      {.name = "cache", .source = "/redis", .sets_variables = true, .place = nullptr},
      {.name = "db", .source = "/db", .sets_variables = false, .place = nullptr}};
  bindings.parameters = {{"cache.host", "h"}, {"cache.tls-port", "6380"}, {"db.host", "x"}};
  BOOST_TEST(variable("CONNECTION_CACHE_HOST") == "h");
  BOOST_TEST(variable("CONNECTION_CACHE_TLS_PORT") == "6380");
  BOOST_TEST(variable("CONNECTION_DB_HOST") == "(not set)");
}

BOOST_AUTO_TEST_CASE(
    the_address_of_the_metadata_service_is_stronger_than_other_variables) {  // AC-22
  image.config.env = {"AC_METADATA_URL=image"};
  BOOST_TEST(variable("AC_METADATA_URL") == "image");
  container.env = {{.name = "AC_METADATA_URL", .value = std::string("document"), .place = nullptr}};
  BOOST_TEST(variable("AC_METADATA_URL") == "document");
  pod.metadata_url = "http://127.0.0.1:1/token";
  BOOST_TEST(variable("AC_METADATA_URL") == "http://127.0.0.1:1/token");
}

BOOST_AUTO_TEST_CASE(the_document_replaces_entrypoint_and_cmd) {  // OAM-13, RX-4, AC-7
  BOOST_TEST((args() == Words{"/entry", "-e", "cmd"}));
  container.args = Words{"a"};
  BOOST_TEST((args() == Words{"/entry", "-e", "a"}));
  container.args = Words{};
  BOOST_TEST((args() == Words{"/entry", "-e"}));
  container.command = Words{"/other"};
  container.args = Words{"a"};
  BOOST_TEST((args() == Words{"/other", "a"}));
  container.args.reset();
  BOOST_TEST((args() == Words{"/other"}));
}

BOOST_AUTO_TEST_CASE(a_command_replaces_cmd_in_oam_too) {  // OAM-13, OAM-14
  pod.kind = Kind::kOam;
  container.command = Words{"/other"};
  BOOST_TEST((args() == Words{"/other"}));
  container.command.reset();
  BOOST_TEST((args() == Words{"/entry", "-e", "cmd"}));
}

BOOST_AUTO_TEST_CASE(references_to_variables_are_those_of_kubernetes) {
  const auto set = [&] {
    container.env = {
        {.name = "EARLY", .value = std::string("e-$(LATE)-$(PATH)"), .place = nullptr},
        {.name = "LATE", .value = std::string("l-$(EARLY)"), .place = nullptr},
        {.name = "KEY", .value = SecretKey{.secret = "s", .key = "k"}, .place = nullptr},
        {.name = "URL", .value = std::string("$(P_k)@$(KEY)"), .place = nullptr}};
    container.env_sources = {{.secret = "s", .prefix = "P_", .place = nullptr}};
    pod.key_documents["s"].keys["k"] = {.bytes = "v$(LATE)"};
    container.command = Words{"/bin/$(KEY)", "$$(KEY)"};
    container.args = Words{"$(LATE)", "$(PORT)", "$(HOME)"};
  };
  image.config.entrypoint = {"$(LATE)"};
  set();
  for (const Kind kind : {Kind::kRadius, Kind::kKnative}) {
    pod.kind = kind;
    BOOST_TEST(variable("EARLY") == "e-$(LATE)-$(PATH)");  // neither later ones nor the image's
    BOOST_TEST(variable("LATE") == "l-e-$(LATE)-$(PATH)");
    BOOST_TEST(variable("URL") == "v$(LATE)@v$(LATE)");  // a value that is taken is not read
    BOOST_TEST(
        (args() == Words{"/bin/v$(LATE)", "$(KEY)", "l-e-$(LATE)-$(PATH)", "$(PORT)", "$(HOME)"}));
  }
  container.ports = {{.name = "", .number = 8080}};
  pod.knative.emplace();
  BOOST_TEST(args()[3] == "8080");
  container.command.reset();
  BOOST_TEST(args()[0] == "$(LATE)");  // the image's stays as it is
  for (const Kind kind : {Kind::kOam, Kind::kAppc}) {
    pod.kind = kind;
    set();
    BOOST_TEST(variable("LATE") == "l-$(EARLY)");
    BOOST_TEST(args()[1] == "$$(KEY)");
  }
}

BOOST_AUTO_TEST_CASE(keys_come_from_the_operator_else_from_a_document) {
  scratch.file("k", "given");
  pod.key_documents["s"].keys["k"] = {.bytes = "document"};
  pod.key_documents["s"].keys["b"] = {.bytes = "binary", .is_binary = true};
  const auto from = [&](const char* secret, const char* key, bool is_optional) {
    container.env = {{.name = "V",
                      .value = SecretKey{.secret = secret, .key = key, .is_optional = is_optional},
                      .place = nullptr}};
  };
  from("s", "k", false);
  BOOST_TEST(variable("V") == "document");
  from("s", "none", false);
  BOOST_TEST(error() == "secret \"s\": the document has no key \"none\" for a variable");
  from("configmap/m", "k", false);
  BOOST_TEST(error() == "the config map \"m\" is not given: --secret configmap/m=DIR");
  for (const auto& [secret, key] :
       {std::pair{"s", "none"}, std::pair{"s", "b"}, std::pair{"t", "k"}}) {
    from(secret, key, true);
    BOOST_TEST(variable("V") == "(not set)");
  }
  from("s", "k", false);
  bindings.secrets.emplace("s", HostPath(scratch.path()));
  BOOST_TEST(variable("V") == "given");
  from("s", "none", true);
  BOOST_TEST(variable("V") == "(not set)");
  container.env.clear();
  container.env_sources = {{.secret = "t", .prefix = "", .is_optional = true, .place = nullptr},
                           {.secret = "s", .prefix = "P_", .place = nullptr}};
  BOOST_TEST(variable("P_k") == "given");
  bindings.secrets.clear();
  BOOST_TEST((variable("P_k") == "document" && variable("P_b") == "(not set)"));
}

BOOST_AUTO_TEST_CASE(a_container_without_a_program_is_refused) {  // AC-7
  image.config.entrypoint.clear();
  image.config.cmd.clear();
  BOOST_TEST(error().starts_with("there is no program: "));
}

BOOST_AUTO_TEST_CASE(variables_of_the_document_are_stronger) {
  image.config.env = {"PATH=/bin", "A=image", "B=image"};
  container.env = {{"A", "document"}, {"EMPTY", ""}};
  BOOST_TEST(variable("PATH") == "/bin");
  BOOST_TEST(variable("A") == "document");
  BOOST_TEST(variable("B") == "image");
  BOOST_TEST(variable("EMPTY") == "");
  image.config.env = {"A"};
  BOOST_TEST(error() == "the image's variable \"A\" does not have the form NAME=value");
}

BOOST_AUTO_TEST_CASE(path_and_home_have_defaults) {  // AC-23
  BOOST_TEST(variable("PATH") == "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
  BOOST_TEST(variable("HOME") == "/root");
  image.config.user = "web";
  BOOST_TEST(variable("HOME") == "/srv");
  image.config.user = "4000";
  BOOST_TEST(variable("HOME") == "/");
}

BOOST_AUTO_TEST_CASE(secrets_are_files) {  // RX-6
  ::mkdir((scratch / "secret").c_str(), 0700);
  ::mkdir((scratch / "secret/..data").c_str(), 0700);
  scratch.file("secret/password", "pass=word\n");
  scratch.file("secret/user", "me");
  container.env = {{"P", SecretKey{"db", "password"}}};
  BOOST_TEST(error() == "the secret \"db\" is not given: --secret db=DIR");
  bindings.secrets.emplace("db", HostPath(scratch / "secret"));
  BOOST_TEST(variable("P") == "pass=word\n");
  container.env[0].value = SecretKey{"db", "none"};
  BOOST_TEST(error().starts_with("secret \"db\": "));
  for (const char* bad : {"../etc/passwd", "..", ""}) {
    container.env[0].value = SecretKey{"db", bad};
    BOOST_TEST(error().contains("is no name of a file"));
  }
  container.env = {{"S_user", "document"}};
  container.env_sources = {{"db", "S_"}};
  BOOST_TEST(variable("S_password") == "pass=word\n");
  BOOST_TEST(variable("S_user") == "document");
}

BOOST_AUTO_TEST_CASE(the_platform_sets_its_variables_last) {  // KN-1, KN-2, AC-23
  image.config.env = {"PORT=1"};
  pod.kind = Kind::kKnative;
  pod.knative = KnativeNames{"s", "", "r"};
  container.ports.emplace_back().number = 9000;
  BOOST_TEST(variable("PORT") == "9000");
  BOOST_TEST(variable("K_SERVICE") == "s");
  BOOST_TEST(variable("K_REVISION") == "r");
  BOOST_TEST(variable("K_CONFIGURATION") == "(not set)");
  pod.knative.reset();
  pod.kind = Kind::kAppc;
  BOOST_TEST(variable("AC_APP_NAME") == "web");
}

BOOST_AUTO_TEST_CASE(a_user_is_found_by_name_and_by_number) {
  BOOST_TEST((account().uid.value() == 0 && account().gid.value() == 0));
  image.config.user = "web";
  BOOST_TEST((account().uid.value() == 33 && account().gid.value() == 34));
  BOOST_TEST(
      (account().additional_gids == std::vector<Gid>{must(Gid::make(10)), must(Gid::make(50))}));
  image.config.user = "33";
  BOOST_TEST((account().gid.value() == 34 && account().additional_gids.size() == 2));
  image.config.user = "4000";
  BOOST_TEST((account().uid.value() == 4000 && account().gid.value() == 0 &&
              account().additional_gids.empty()));
  image.config.user = "web:data";
  BOOST_TEST((account().gid.value() == 50 && account().additional_gids.empty()));
  image.config.user = "web:7";
  BOOST_TEST(account().gid.value() == 7);
  image.config.user = "nobody";
  BOOST_TEST(error() == "the user \"nobody\" is not in /etc/passwd of the image");
  image.config.user = "web:nogroup";
  BOOST_TEST(error() == "the group \"nogroup\" is not in /etc/group of the image");
  image.config.user = "4294967295";
  BOOST_TEST(error().contains("is not in /etc/passwd"));
}

BOOST_AUTO_TEST_CASE(the_primary_group_is_the_first_supplementary_group) {  // CVE-2022-36109
  const auto groups = [&](SetGroups rule = SetGroups::kAllowed) {
    std::vector<std::uint32_t> numbers;
    for (const Gid gid : supplementary_groups(account(), rule)) numbers.push_back(gid.value());
    return numbers;
  };
  using Numbers = std::vector<std::uint32_t>;
  const std::pair<const char*, Numbers> users[] = {
      {"", {0, 10}}, {"web", {34, 10, 50}}, {"33", {34, 10, 50}}, {"4000", {0}},
      {"33:7", {7}}, {"web:data", {50}},    {"root", {0, 10}}};
  for (const auto& [user, wanted] : users) {
    image.config.user = user;
    BOOST_CHECK_MESSAGE(groups() == wanted, user);
  }
  container.user = "web";
  container.group = "www";
  container.extra_groups = {must(Gid::make(7)), must(Gid::make(34)), must(Gid::make(7))};
  BOOST_TEST((groups() == Numbers{34, 7}));
  BOOST_TEST((groups(SetGroups::kDenied) == Numbers{34, 7}));  // the runtime refuses them by name
  container.extra_groups.clear();
  BOOST_TEST((groups(SetGroups::kDenied) == Numbers{}));
}

BOOST_AUTO_TEST_CASE(the_document_s_user_replaces_the_image_s_and_its_group) {  // KN-16, AC-7
  image.config.user = "web:data";
  container.user = "1000";
  BOOST_TEST((account().uid.value() == 1000 && account().gid.value() == 0));
  container.group = "wheel";
  container.extra_groups = {must(Gid::make(7))};
  BOOST_TEST((account().gid.value() == 10 &&
              account().additional_gids == std::vector<Gid>{must(Gid::make(7))}));
  container.forbid_root = true;
  BOOST_TEST(account().uid.value() == 1000);
  container.user = "root";
  BOOST_TEST(error() == "the program would run as root, which runAsNonRoot forbids");
}

BOOST_AUTO_TEST_CASE(a_link_in_the_image_does_not_lead_to_the_host_s_accounts) {
  ::unlink((scratch / "etc/passwd").c_str());
  BOOST_REQUIRE(::symlink("../../../../../../etc/passwd", (scratch / "etc/passwd").c_str()) == 0);
  image.config.user = "root";
  BOOST_CHECK(!merge());  // the link is resolved inside the image, where it leads to itself
  ::unlink((scratch / "etc/passwd").c_str());
  image.config.user = "root";
  BOOST_TEST(error() == "the user \"root\" is not in /etc/passwd of the image");
  ::mkfifo((scratch / "etc/passwd").c_str(), 0600);
  BOOST_TEST(error() == "/etc/passwd of the image is no regular file");
}

BOOST_AUTO_TEST_CASE(annotations_of_labels_and_of_the_document_are_stronger) {
  image.author = "a";
  image.created = "2026-01-01T00:00:00Z";
  image.config.stop_signal = "SIGQUIT";
  image.config.exposed_ports = {"80/tcp", "53/udp"};
  image.config.labels = {{"org.opencontainers.image.author", "label"}, {"maintainer", "label"}};
  pod.metadata.annotations = {{"maintainer", "pod"}, {"y", "pod"}};
  container.annotations = {{"y", "container"}};
  const auto annotations = must(merge()).annotations;
  const std::map<std::string, std::string> wanted{
      {"org.opencontainers.image.os", "linux"},
      {"org.opencontainers.image.architecture", "amd64"},
      {"org.opencontainers.image.author", "label"},
      {"org.opencontainers.image.created", "2026-01-01T00:00:00Z"},
      {"org.opencontainers.image.stopSignal", "SIGQUIT"},
      {"org.opencontainers.image.exposedPorts", "80/tcp,53/udp"},
      {"maintainer", "pod"},
      {"y", "container"}};
  BOOST_TEST((annotations == wanted));
  BOOST_TEST(must(merge()).stop_signal == "SIGQUIT");
  for (const char* signal : {"", "SIGNOPE", "0"}) {
    image.config.stop_signal = signal;
    BOOST_TEST(!must(merge()).annotations.contains("org.opencontainers.image.stopSignal"), signal);
  }
}

BOOST_AUTO_TEST_CASE(only_labels_that_describe_an_image_become_annotations) {
  const char* const left_out[] = {"bundle",  // of runc's state
                                  "com.example.team",
                                  "dev.gvisor.spec.mount.m.type",
                                  "io.katacontainers.config.hypervisor.path",
                                  "krun.cpus",
                                  "module.wasm.image/variant",
                                  "org.opencontainers.imagecreated",
                                  "org.opencontainers.image.hook",
                                  "org.systemd.property.MemoryMax",
                                  "run.oci.hooks.stdout"};
  for (const char* label : left_out) image.config.labels[label] = "v";
  image.config.labels["org.opencontainers.image.version"] = "1";
  image.config.labels["maintainer"] = "me";
  image.config.labels["org.ocirun.landlock.execute"] = "/";
  const Launch launch = must(merge());
  BOOST_TEST(launch.annotations.at("org.opencontainers.image.version") == "1");
  BOOST_TEST(launch.annotations.at("maintainer") == "me");
  for (const char* label : left_out)
    BOOST_CHECK_MESSAGE(!launch.annotations.contains(label), label);
  BOOST_TEST(!launch.annotations.contains("org.ocirun.landlock.execute"));
  BOOST_TEST((launch.left_out_labels == std::vector<std::string>{"org.ocirun.landlock.execute"}));
  container.annotations = {{"run.oci.hooks.stdout", "/log"}};  // the document's author may
  BOOST_TEST(must(merge()).annotations.at("run.oci.hooks.stdout") == "/log");
}

BOOST_AUTO_TEST_CASE(a_volume_of_an_image_is_a_directory_of_its_own) {
  for (const char* bad :
       {"", "/", "//", "data", "/a/../../etc", "/./a", "/proc", "/proc/x", "/sys", "/dev/shm"}) {
    image.config.volumes = {bad};
    BOOST_CHECK_MESSAGE(error().starts_with("the image's volume "), bad);
  }
  image.config.volumes = {"/var/lib/data", "/procs"};
  BOOST_TEST(must(merge()).volumes.size() == 2U);
}

BOOST_AUTO_TEST_CASE(the_working_directory_is_absolute) {  // RX-17
  BOOST_TEST(must(merge()).cwd == "/");
  image.config.working_dir = "/srv";
  BOOST_TEST(must(merge()).cwd == "/srv");
  container.working_directory = "/tmp";
  BOOST_TEST(must(merge()).cwd == "/tmp");
  container.working_directory.clear();
  image.config.working_dir = "srv";
  BOOST_TEST(error() == "the image's WorkingDir \"srv\" is not absolute");
  image.config.working_dir.clear();
  image.config.volumes = {"/data"};
  BOOST_TEST((must(merge()).volumes == Words{"/data"}));
}

BOOST_AUTO_TEST_SUITE_END()
