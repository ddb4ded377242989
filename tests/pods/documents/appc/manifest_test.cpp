// App Container pod manifest: docs/requirements.md.

#include <algorithm>
#include <cerrno>

#include "pods/documents/model/scalars.hpp"
#include "pods/documents/needs.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

std::string after(std::string_view from, std::string_view to) {
  return problems(with(full_appc(), from, to));
}

/// The sentences of what a document needs from the operator.
std::string needs(std::string_view text) {
  const Workload workload = read_workload("f", text);
  std::string out = lines(workload.problems);
  for (const Need& need : needs_of(workload.pod))
    out += (need.is_fault ? "fault: " : "") + workload.at(need.place) + ": " + need.sentence + '\n';
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(appc)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_appc());
  BOOST_TEST(warnings(full_appc()) == "");
  BOOST_TEST(needs(full_appc()) == "");
  BOOST_TEST(
      (pod.kind == Kind::kAppc && pod.restart == Restart::kNever && pod.shares_pids));  // AC-3
  BOOST_REQUIRE(pod.containers.size() == 1U);
  const Container& app = pod.containers[0];
  BOOST_TEST(
      (app.name == "worker" && app.image == "sha512-" + std::string(128, 'a')));  // AC-4, AC-5
  BOOST_TEST((app.image_name == "example.com/worker" &&
              app.image_labels.at("version") == "1.0.0"));                                  // AC-6
  BOOST_TEST((app.command == std::vector<std::string>{"/bin/worker", "-v"} && !app.args));  // AC-7
  BOOST_TEST((app.user == "0" && app.group == "wheel" && app.working_directory == "/tmp"));
  BOOST_TEST((app.extra_groups.size() == 1 && app.extra_groups[0].value() == 7));
  BOOST_TEST((app.env.size() == 1 && app.env[0].name == "A" &&
              std::get<std::string>(app.env[0].value) == "b"));
  BOOST_TEST((app.mount_points.size() == 1 && app.mount_points[0].path == "/work" &&
              app.mount_points[0].read_only));  // AC-8
  BOOST_TEST((app.ports.size() == 1 && app.ports[0].number == 21 &&
              app.ports[0].protocol == Protocol::kTcp));
  BOOST_TEST(app.read_only_root);  // AC-9
  BOOST_REQUIRE(app.mounts.size() == 2U);
  BOOST_TEST((app.mounts[0].volume == "data" && app.mounts[0].path == "/work" &&
              app.mounts[0].read_only));                                             // AC-10, AC-13
  BOOST_TEST((app.mounts[1].volume == "worker/own#2" && !app.mounts[1].read_only));  // AC-11
  BOOST_TEST(app.annotations.at("appc.foo") == "baz");                               // AC-12
  BOOST_TEST(pod.metadata.annotations.at("appc.owner") == "me");                     // AC-19
  BOOST_TEST((pod.limits.memory == 4'000'000'000U && pod.limits.cpus == 2.0));       // AC-18
  BOOST_REQUIRE(pod.host_ports.size() == 1U);                                        // AC-20
  BOOST_TEST((pod.host_ports[0].number == 2121 && pod.host_ports[0].address == "203.0.113.23" &&
              pod.host_ports[0].pod_port->number == 21));
}

BOOST_AUTO_TEST_CASE(volumes_have_their_attributes) {  // AC-13 … AC-17
  const Pod pod = good(full_appc());
  BOOST_REQUIRE(pod.volumes.size() == 3U);
  const Volume& own = pod.volumes[0];
  BOOST_TEST(
      (own.name == "worker/own#2" && own.kind == Volume::Source::kEmpty && own.mode == 01777));
  const Volume& data = pod.volumes[1];
  BOOST_TEST((data.kind == Volume::Source::kHost && data.source == "/srv/data" && data.read_only &&
              !data.recursive));
  const Volume& tmp = pod.volumes[2];
  BOOST_TEST((tmp.mode == 0700 && tmp.uid.value() == 1 && tmp.gid.value() == 2 && tmp.recursive &&
              !tmp.read_only));
  BOOST_TEST(after("\"kind\": \"host\"", "\"kind\": \"nfs\"")
                 .contains("unknown kind of volume \"nfs\" (known: empty, host)"));
  BOOST_TEST(after("\"source\": \"/srv/data\", ", "")
                 .contains("/volumes/0/source: is missing, the kind host needs it"));
  BOOST_TEST(after("/srv/data", "srv").contains("must be an absolute path"));
  BOOST_TEST(after("\"0700\"", "\"0799\"").contains("must be octal digits up to 7777"));
  BOOST_TEST(after("\"0700\"", "700").contains("must be a string, not 700"));
  BOOST_TEST(after("\"name\": \"tmp\"", "\"name\": \"data\"")
                 .contains("/volumes/1/name: \"data\" is given twice"));
  BOOST_TEST(
      warnings(with(full_appc(), "\"mode\": \"0700\"", "\"recursive\": true, \"mode\": \"0700\""))
          .contains("/volumes/1/recursive: has no effect: only a volume of the kind host has it"));
  BOOST_TEST(
      warnings(with(full_appc(), "\"recursive\": false", "\"uid\": 1"))
          .contains("/volumes/0/uid: has no effect: only a volume of the kind empty has it"));
}

BOOST_AUTO_TEST_CASE(isolators_are_read_or_refused_by_name) {  // AC-18
  const Pod pod = good(full_appc());
  const Container& app = pod.containers[0];
  BOOST_TEST((app.resources.requests.memory == 512'000'000U &&
              app.resources.limits.memory == 1'000'000'000U));
  BOOST_TEST((app.resources.limits.cpus == 0.5 && !app.resources.requests.cpus));
  const Security& security = app.security;
  BOOST_TEST((security.retained_capabilities == std::vector<std::string>{"CAP_CHOWN"}));
  BOOST_TEST((!security.system_calls->allowed &&
              security.system_calls->names == std::vector<std::string>{"ptrace"} &&
              security.system_calls->errno_name == "EPERM"));
  BOOST_TEST((security.no_new_privileges == true && security.oom_score_adj == -5 &&
              security.cpu_shares == 512U));
  BOOST_TEST((security.apparmor_profile == "p" && security.selinux_label == "u:r:t:s0"));
  BOOST_TEST(after("os/linux/cpu-shares", "resource/block-iops")
                 .contains("/isolators/6/name: is not supported: nothing here keeps this isolator "
                           "(--ignore resource/block-iops leaves it out)"));
  BOOST_TEST(after("os/linux/cpu-shares", "os/linux/cpu-share")
                 .contains("did you mean os/linux/cpu-shares?"));
  BOOST_TEST(after("os/linux/cpu-shares", "os/linux/oom-score-adj").contains("is given twice"));
  BOOST_TEST(
      after(
          "os/linux/seccomp-remove-set\", \"value\": {\"set\": [\"ptrace\"], \"errno\": \"EPERM\"}",
          "os/linux/capabilities-remove-set\", \"value\": {\"set\": [\"CAP_KILL\"]}")
          .contains("a retain set and a remove set of capabilities exclude each other"));
  BOOST_TEST(after("\"resource/cpu\", \"value\": {\"limit\": 2}",
                   "\"os/linux/oom-score-adj\", \"value\": 1")
                 .contains("/isolators/1/name: is an isolator of an app"));
  BOOST_TEST(after("\"request\": \"512M\"", "\"request\": \"2G\"")
                 .contains("/limit: must not be below the request"));
  BOOST_TEST(after("\"request\": \"512M\", \"limit\": \"1G\"", "")
                 .contains("must have a limit or a request"));
  BOOST_TEST(after("\"CAP_CHOWN\"", "\"chown\"").contains("must be a capability such as"));
}

BOOST_AUTO_TEST_CASE(versions_and_names_are_checked) {  // AC-1, AC-2, AC-4
  for (const char* good_version : {"0.5.0", "0.7.4", "0.8.11+git", "0.8.0-dev", "1.30.0"})
    BOOST_CHECK_MESSAGE(after("0.8.11", good_version) == "", good_version);
  for (const char* bad : {"0.8", "2.0.0", "1.30", "0.4.9", "0.9.0", "x", ""})
    BOOST_CHECK_MESSAGE(after("0.8.11", bad).contains("/acVersion: must be a version"), bad);
  BOOST_TEST(after("PodManifest", "ImageManifest").contains("/acKind: must be PodManifest"));
  for (const char* bad : {"", "A", "a_b", "-a", "a-", "a--b", "a.b"})
    BOOST_CHECK_MESSAGE(after("\"name\": \"worker\"", std::string("\"name\": \"") + bad + "\"")
                            .contains("/apps/0/name: must be an AC Name"),
                        bad);
  BOOST_TEST(problems(R"({"acVersion": "0.8.0", "acKind": "PodManifest", "apps": []})")
                 .contains("/apps: must have at least one app"));
  BOOST_TEST(
      problems(
          R"({"acVersion": "0.8.0", "acKind": "PodManifest", "apps": [{"name": "a", "image": {"id": "x"}},
      {"name": "a", "image": {"id": "x"}}]})")
          .contains("/apps/1/name: \"a\" is given twice"));
}

BOOST_AUTO_TEST_CASE(a_manifest_that_is_not_reified_needs_the_operator) {  // AC-5, AC-8
  BOOST_TEST(needs(with(full_appc(), "sha512-" + std::string(128, 'a'), "sha512-...")) ==
             "fault: f:5:51: /apps/0/image/id: not reified: \"sha512-...\" is no hash of an image: "
             "--image worker=SOURCE names the image of the app \"worker\"\n");
  BOOST_TEST(needs(with(full_appc(), "\"volume\": \"data\", \"path\": \"/work\"",
                        "\"volume\": \"data\", \"path\": \"/else\""))
                 .contains("/mountPoints/0: not reified: no mount satisfies the mount point "
                           "\"work\": --volume work=HOSTPATH"));
}

BOOST_AUTO_TEST_CASE(mounts_and_ports_refer_to_what_is_there) {  // AC-10, AC-11, AC-20
  BOOST_TEST(after("\"volume\": \"data\"", "\"volume\": \"date\"")
                 .contains("/mounts/0/volume: \"date\" is none of the volumes"));
  BOOST_TEST(after("\"hostIP\": \"203.0.113.23\"", "\"hostIP\": \"203.0.113\"")
                 .contains("must be an IPv4 address"));
  BOOST_TEST(after("\"hostIP\": \"203.0.113.23\"", "\"hostIP\": \"203.0.113.023\"")
                 .contains("must be an IPv4 address"));
  BOOST_TEST(after("\"hostPort\": 2121, ", "").contains("/ports/0/hostPort: is missing"));
}

BOOST_AUTO_TEST_CASE(what_is_not_supported_is_refused) {  // AC-7, AC-21
  BOOST_TEST(after("\"eventHandlers\": []",
                   "\"eventHandlers\": [{\"name\": \"pre-start\", \"exec\": [\"/a\"]}]")
                 .contains("/eventHandlers: is not supported"));
  BOOST_TEST(
      after("\"socketActivated\": false", "\"socketActivated\": true").contains("must be false"));
  BOOST_TEST(
      after("\"user\": \"0\"", "\"user\": \"/bin/sh\"").contains("must be a number or a name"));
  BOOST_TEST(after("\"l\": \"y\"}\n    }", "\"l\": 1}\n    }").contains("must be a string, not 1"));
  BOOST_TEST(warnings(with(full_appc(), "\"name\": \"owner\"", "\"name\": \"ip-address\""))
                 .contains("ip-address has no effect"));
}

BOOST_AUTO_TEST_CASE(each_app_volume_is_a_volume_of_its_own) {  // AC-11
  const auto app = [](const std::string& name) {
    return R"({"mounts": [{"volume": "v", "path": "/a", "appVolume": {"name": "v", "kind": "host", "source": "/A)" +
           name +
           R"("}}, {"volume": "v", "path": "/b", "appVolume": {"name": "v", "kind": "host", "source": "/B)" +
           name + R"("}}], "name": ")" + name + R"(", "image": {"id": "x"}})";
  };
  const Pod pod = good(R"({"acVersion": "0.8.0", "acKind": "PodManifest", "apps": [)" + app("one") +
                       "," + app("two") + "]}");
  const auto source = [&](std::size_t index, std::size_t mount) {
    const auto volume =
        std::ranges::find(pod.volumes, pod.containers[index].mounts[mount].volume, &Volume::name);
    BOOST_REQUIRE((volume != pod.volumes.end()));
    return volume->source;
  };
  BOOST_TEST(source(0, 0) == "/Aone");
  BOOST_TEST(source(0, 1) == "/Bone");
  BOOST_TEST(source(1, 0) == "/Atwo");
  BOOST_TEST(source(1, 1) == "/Btwo");
}

BOOST_AUTO_TEST_CASE(names_in_isolators_are_known_ones) {  // AC-18
  BOOST_TEST(after("\"CAP_CHOWN\"", "\"CAP_FOO\"").contains("must be a capability"));
  BOOST_TEST(after("\"EPERM\"", "\"EFOO\"").contains("must be the name of an error"));
  BOOST_TEST(after("\"ptrace\"", "\"no such call\"").contains("must be the name of a system call"));
  BOOST_TEST(after("\"ptrace\"", "\"@bad/set\"").contains("must be the name of a system call"));
  BOOST_TEST(after("\"ptrace\"", "\"@appc.io/empty\"") == "");
  BOOST_TEST(warnings(with(full_appc(), "\"value\": {\"limit\": 2}",
                           "\"value\": {\"limit\": 2, \"request\": 1}"))
                 .contains("/isolators/1/value/request: has no effect"));
}

BOOST_AUTO_TEST_CASE(a_manifest_that_rkt_has_written_is_valid) {  // AC-1, AC-5, AC-12, AC-18, AC-19
  const std::string manifest = R"({
  "acVersion": "1.30.0", "acKind": "PodManifest",
  "apps": [{
    "name": "etcd",
    "image": {"name": "example.com/etcd", "id": "sha512-)" +
                               std::string(64, 'c') + R"(",
              "labels": [{"name": "os", "value": "linux"}, {"name": "version", "value": "v2.0.10"}]},
    "app": {"exec": ["/etcd"], "user": "0", "group": "0", "environment": null, "mountPoints": null,
            "isolators": [{"name": "resource/memory",
                           "value": {"default": false, "request": "512M", "limit": "1G"}},
                          {"name": "os/linux/seccomp-retain-set",
                           "value": {"errno": "", "set": ["@appc.io/all"]}}]},
    "annotations": [{"name": "example.com/team", "value": "me"}]
  }],
  "volumes": null, "isolators": null, "ports": [],
  "annotations": [{"name": "coreos.com/rkt/stage1/mutable", "value": "false"}]
})";
  const Pod pod = good(manifest);
  BOOST_TEST(warnings(manifest) == "");
  BOOST_TEST(pod.metadata.annotations.at("appc.coreos.com/rkt/stage1/mutable") == "false");
  BOOST_TEST(pod.containers[0].annotations.at("appc.example.com/team") == "me");
  BOOST_TEST(pod.containers[0].security.system_calls->errno_name == "");
  BOOST_TEST(needs(manifest) ==
             "f:5:49: /apps/0/image/id: the image, which only rkt finds by this id: --image "
             "etcd=SOURCE names the image of the app \"etcd\"\n");
  BOOST_TEST(warnings(with(manifest, "\"false\"}]", "\"true\"}]"))
                 .contains("/annotations/0: instructs rkt, and has no effect here"));
  BOOST_TEST(problems(with(manifest, "\"default\": false", "\"default\": true"))
                 .contains("/default: must be false"));
}

BOOST_AUTO_TEST_CASE(an_error_has_each_of_its_names) {  // AC-18: all of POSIX
  for (const char* name : {"E2BIG",
                           "EACCES",
                           "EADDRINUSE",
                           "EADDRNOTAVAIL",
                           "EAFNOSUPPORT",
                           "EAGAIN",
                           "EALREADY",
                           "EBADF",
                           "EBADMSG",
                           "EBUSY",
                           "ECANCELED",
                           "ECHILD",
                           "ECONNABORTED",
                           "ECONNREFUSED",
                           "ECONNRESET",
                           "EDEADLK",
                           "EDESTADDRREQ",
                           "EDOM",
                           "EDQUOT",
                           "EEXIST",
                           "EFAULT",
                           "EFBIG",
                           "EHOSTUNREACH",
                           "EIDRM",
                           "EILSEQ",
                           "EINPROGRESS",
                           "EINTR",
                           "EINVAL",
                           "EIO",
                           "EISCONN",
                           "EISDIR",
                           "ELOOP",
                           "EMFILE",
                           "EMLINK",
                           "EMSGSIZE",
                           "EMULTIHOP",
                           "ENAMETOOLONG",
                           "ENETDOWN",
                           "ENETRESET",
                           "ENETUNREACH",
                           "ENFILE",
                           "ENOBUFS",
                           "ENODATA",
                           "ENODEV",
                           "ENOENT",
                           "ENOEXEC",
                           "ENOLCK",
                           "ENOLINK",
                           "ENOMEM",
                           "ENOMSG",
                           "ENOPROTOOPT",
                           "ENOSPC",
                           "ENOSR",
                           "ENOSTR",
                           "ENOSYS",
                           "ENOTCONN",
                           "ENOTDIR",
                           "ENOTEMPTY",
                           "ENOTRECOVERABLE",
                           "ENOTSOCK",
                           "ENOTSUP",
                           "ENOTTY",
                           "ENXIO",
                           "EOPNOTSUPP",
                           "EOVERFLOW",
                           "EOWNERDEAD",
                           "EPERM",
                           "EPIPE",
                           "EPROTO",
                           "EPROTONOSUPPORT",
                           "EPROTOTYPE",
                           "ERANGE",
                           "EROFS",
                           "ESPIPE",
                           "ESRCH",
                           "ESTALE",
                           "ETIME",
                           "ETIMEDOUT",
                           "ETXTBSY",
                           "EWOULDBLOCK",
                           "EXDEV",
                           "EDEADLOCK",
                           "EHWPOISON",
                           "ERFKILL"})
    BOOST_CHECK_MESSAGE(find_errno(name).has_value(), name);
  BOOST_TEST((find_errno("ENOTSUP") == ENOTSUP && find_errno("EWOULDBLOCK") == EAGAIN &&
              find_errno("EDEADLOCK") == EDEADLOCK));
  BOOST_TEST((!find_errno("") && !find_errno("0") && !find_errno("EFOO")));
  BOOST_TEST(after("\"EPERM\"", "\"ENOTSUP\"") == "");
}

BOOST_AUTO_TEST_CASE(host_ports_are_those_of_the_apps) {  // AC-20
  const std::string second =
      R"("ports": [{"name": "other", "hostPort": 2121, "hostIP": "203.0.113.23"}, {"name": "ftp")";
  const std::string twice =
      with(full_appc(), "\"ports\": [{\"name\": \"ftp\", \"hostPort\"", second + ", \"hostPort\"");
  BOOST_TEST(problems(twice).contains("/ports/1/hostPort: 2121 is given twice, first by item 0"));
  BOOST_TEST(warnings(twice).contains(
      "/ports/0: no app lists a port \"other\": only an image may have it"));
}

BOOST_AUTO_TEST_SUITE_END()
