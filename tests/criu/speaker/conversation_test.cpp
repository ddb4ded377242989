// ocirun-criu's conversation with a criu that a forked child plays, and with the caller.

#include "criu/speaker/conversation.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <csignal>
#include <functional>
#include <string>
#include <vector>

#include "criu/launch/criu_program.hpp"
#include "criu/speaker/options.hpp"
#include "criu/speaker/rpc.hpp"
#include "linux/process/clone.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::linux;
using namespace ocirun::test;

namespace {

using Words = std::vector<std::string_view>;

std::vector<std::uint8_t> read_packet(Fd socket) {
  std::vector<std::uint8_t> bytes(kMaxCriuAnswer);
  const ssize_t count = ::recv(socket.value, bytes.data(), bytes.size(), 0);
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

// The criu that the tests play: exits with status 1 where it hears anything unexpected.
struct FakeCriu {
  Fd socket;

  Criu__Request* hear(Criu__Action wanted) const {
    const auto bytes = read_packet(socket);
    Criu__Request* request = criu__request__unpack(nullptr, bytes.size(), bytes.data());
    if (request == nullptr || request->type != wanted) ::_exit(1);
    return request;
  }
  void say(const Criu__Response& response) const {
    std::vector<std::uint8_t> bytes(criu__response__get_packed_size(&response));
    criu__response__pack(&response, bytes.data());
    if (::send(socket.value, bytes.data(), bytes.size(), MSG_NOSIGNAL) < 0) ::_exit(1);
  }
  void tell_version(int major, int minor) const {
    hear(CRIU__ACTION__VERSION);
    Criu__Version version = CRIU__VERSION__INIT;
    version.major_number = major;
    version.minor_number = minor;
    Criu__Response response = CRIU__RESPONSE__INIT;
    response.type = CRIU__ACTION__VERSION;
    response.success = 1;
    response.version = &version;
    say(response);
  }
  bool reach(const char* stage, int pid) const {
    Criu__Notification notification = CRIU__NOTIFICATION__INIT;
    std::string name = stage;
    notification.script = name.data();
    notification.has_pid = pid != 0 ? 1 : 0;
    notification.pid = pid;
    Criu__Response response = CRIU__RESPONSE__INIT;
    response.type = CRIU__ACTION__NOTIFY;
    response.success = 1;
    response.notify = &notification;
    say(response);
    return hear(CRIU__ACTION__NOTIFY)->notify_success != 0;
  }
  void end(Criu__Action type, bool success, int restored) const {
    Criu__Restored message = CRIU__RESTORED__INIT;
    message.pid = restored;
    Criu__Response response = CRIU__RESPONSE__INIT;
    response.type = type;
    response.success = success ? 1 : 0;
    if (restored != 0) response.restore = &message;
    say(response);
  }
};

// Plays criu in a child, answers the stages by `may_go_on`, and returns what converse() returns.
struct Scene {
  std::vector<std::string> heard;
  int criu_status = -1;

  Result<int> play(const Words& words, const std::function<void(const FakeCriu&)>& criu,
                   const std::function<bool(const std::string&)>& may_go_on = nullptr) {
    std::array<int, 2> ends{};
    BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    UniqueFd ours(ends[0]), theirs(ends[1]);
    const Child child = must(clone_process(0, Fd{}, Parentage::kMine));
    if (child.pid == 0) {
      ours.reset();
      criu(FakeCriu{theirs});
      ::_exit(0);
    }
    theirs.reset();
    auto conversation = must(MessageSocket::make_pair());
    const Child caller = must(clone_process(0, Fd{}, Parentage::kMine));
    if (caller.pid == 0) {
      conversation.second.close();
      for (;;) {
        const auto packet = conversation.first.receive();
        if (!packet || packet->end_of_stream) ::_exit(0);
        if (static_cast<CriuWord>(packet->tag) != CriuWord::kStage) continue;
        const bool goes_on = !may_go_on || may_go_on(packet->payload);
        if (!conversation.first.send(
                static_cast<std::uint8_t>(goes_on ? CriuWord::kGoOn : CriuWord::kStop)))
          ::_exit(1);
      }
    }
    conversation.first.close();
    auto outcome = converse(words, ours, conversation.second);
    conversation.second.close();
    ours.reset();
    must(wait_for_child(caller.pid));
    criu_status = must(wait_for_child(child.pid));
    return outcome;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(criu_conversation)

BOOST_AUTO_TEST_CASE(the_options_reach_criu) {
  Scene scene;
  const auto outcome =
      scene.play({"dump", "images=7", "pid=42", "leave-running=1", "external=net[5]:key",
                  "external-mount=/a\n/b", "cgroup-root=\n/x", "inherit=pipe:[1]\n2",
                  "manage-cgroups-mode=soft", "page-server=10.0.0.1:80"},
                 [](const FakeCriu& criu) {
                   criu.tell_version(3, 17);
                   const Criu__Options* options = criu.hear(CRIU__ACTION__DUMP)->opts;
                   const bool is_right =
                       options != nullptr && options->images_dir_fd == 7 && options->pid == 42 &&
                       options->leave_running == 1 && options->n_external == 1 &&
                       options->external[0] == std::string("net[5]:key") &&
                       options->n_ext_mnt == 1 && options->ext_mnt[0]->val == std::string("/b") &&
                       options->n_cg_root == 1 && options->cg_root[0]->ctrl == nullptr &&
                       options->n_inherit_fd == 1 && options->inherit_fd[0]->fd == 2 &&
                       options->manage_cgroups_mode == CRIU__CGROUP_MODE__SOFT &&
                       options->ps != nullptr && options->ps->port == 80;
                   if (!is_right) ::_exit(2);
                   criu.end(CRIU__ACTION__DUMP, true, 0);
                 });
  BOOST_TEST(must(outcome) == 0);
  BOOST_TEST(scene.criu_status == 0);
}

BOOST_AUTO_TEST_CASE(stages_wait_for_the_caller_and_the_restored_process_is_returned) {
  Scene scene;
  const auto outcome = scene.play(
      {"restore", "images=7"},
      [](const FakeCriu& criu) {
        criu.tell_version(3, 17);
        criu.hear(CRIU__ACTION__RESTORE);
        if (!criu.reach("setup-namespaces", 77) || !criu.reach("pre-resume", 0)) ::_exit(2);
        criu.end(CRIU__ACTION__RESTORE, true, 77);
      },
      [](const std::string& stage) {
        return stage == "setup-namespaces 77" || stage == "pre-resume 77";
      });
  BOOST_TEST(must(outcome) == 77);
  BOOST_TEST(scene.criu_status == 0);
}

BOOST_AUTO_TEST_CASE(a_refused_stage_is_refused_to_criu_and_pre_resume_kills_the_process) {
  const Child victim = must(clone_process(0, Fd{}, Parentage::kMine));
  if (victim.pid == 0)
    for (;;) ::pause();
  Scene scene;
  const auto outcome = scene.play(
      {"restore", "images=7"},
      [&](const FakeCriu& criu) {
        criu.tell_version(3, 17);
        criu.hear(CRIU__ACTION__RESTORE);
        if (!criu.reach("post-restore", victim.pid) || criu.reach("pre-resume", 0)) ::_exit(2);
        criu.end(CRIU__ACTION__RESTORE, false, 0);
      },
      [](const std::string& stage) { return stage.starts_with("post-restore"); });
  BOOST_TEST(!outcome);
  BOOST_TEST(scene.criu_status == 0);
  const int status = must(wait_for_child(victim.pid));
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
}

BOOST_AUTO_TEST_CASE(an_old_criu_is_refused_with_the_version_that_has_the_option) {
  Scene scene;
  auto outcome =
      scene.play({"dump", "images=7"}, [](const FakeCriu& criu) { criu.tell_version(3, 10); });
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().message() == "criu 3.10 is too old: ocirun needs 3.11 or newer");
  outcome = scene.play({"dump", "images=7", "network-lock=nftables"},
                       [](const FakeCriu& criu) { criu.tell_version(3, 16); });
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().message() ==
             "--network-lock: criu 3.16 does not have this option: it came with 3.17");
}

BOOST_AUTO_TEST_CASE(a_kernel_that_cannot_track_memory_is_refused_before_the_dump) {
  Scene scene;
  const auto outcome =
      scene.play({"pre-dump", "images=7", "track-memory=1"}, [](const FakeCriu& criu) {
        criu.tell_version(3, 17);
        criu.hear(CRIU__ACTION__FEATURE_CHECK);
        criu.end(CRIU__ACTION__FEATURE_CHECK, true, 0);
      });
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().message().find("CONFIG_MEM_SOFT_DIRTY") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_criu_that_ends_or_talks_nonsense_is_an_error) {
  Scene scene;
  auto outcome = scene.play({"dump", "images=7"}, [](const FakeCriu&) {});
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().number() == EPIPE);
  outcome = scene.play({"dump", "images=7"}, [](const FakeCriu& criu) {
    criu.hear(CRIU__ACTION__VERSION);
    ::send(criu.socket.value, "\xff\xff\xff", 3, MSG_NOSIGNAL);
  });
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().number() == EBADMSG);
  outcome = scene.play({"restore", "images=7"}, [](const FakeCriu& criu) {
    criu.tell_version(4, 1);
    criu.hear(CRIU__ACTION__RESTORE);
    criu.end(CRIU__ACTION__RESTORE, true, 0);
  });
  BOOST_REQUIRE(!outcome);
  BOOST_TEST(outcome.error().number() == EBADMSG);
}

BOOST_AUTO_TEST_CASE(a_check_asks_for_nothing_but_version_and_features) {
  Scene scene;
  const auto outcome = scene.play({"check", "images=7", "tcp-established=1"},
                                  [](const FakeCriu& criu) { criu.tell_version(3, 17); });
  BOOST_TEST((outcome && *outcome == 0));
  BOOST_TEST(scene.criu_status == 0);
  const auto refused = scene.play({"check", "images=7", "network-lock=skip"},
                                  [](const FakeCriu& criu) { criu.tell_version(3, 16); });
  BOOST_REQUIRE(!refused);
  BOOST_TEST(refused.error().message().find("--network-lock: criu 3.16") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(words_that_are_no_options_are_refused) {
  for (const char* word : {"images", "nosuch=1", "images=-1", "images=x", "pid=", "notify=2",
                           "manage-cgroups-mode=hard", "network-lock=no", "page-server=80",
                           "page-server=a:0", "inherit=key\nx", "join=ipc", "cgroup-root=a\nb"}) {
    const std::array<std::string_view, 1> words{word};
    BOOST_CHECK_MESSAGE(!CriuOptions::parse(words), word);
  }
}

BOOST_AUTO_TEST_SUITE_END()
