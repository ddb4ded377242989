#include "runtime/parent/child_link.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <functional>

#include "runtime/base/signals.hpp"
#include "tests/child_test.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

using Script = std::function<void(const linux::MessageSocket&)>;

/// The parent's side of a link to a child that runs `script` and then exits with status 5.
class Link final : public ChildLink {
 public:
  explicit Link(const Script& script) {
    auto ends = must(linux::MessageSocket::make_pair());
    child_ = must(linux::clone_process(0, Fd{}, linux::Parentage::kMine));
    if (child_.pid == 0) {
      ends.first.close();
      script(ends.second);
      ::_exit(5);
    }
    socket_ = std::move(ends.first);
  }
  ~Link() override { kill(); }

  std::vector<std::string> heard;
  Result<void> refusal;  // what answer() returns

 protected:
  Result<void> answer(const linux::Packet& packet) override {
    heard.emplace_back(message_name(static_cast<Message>(packet.tag)));
    if (static_cast<Message>(packet.tag) == Message::kOpenMount) OCIRUN_TRY(send_tree(Fd{0}));
    return refusal;
  }
  Result<void> hear_nothing(std::chrono::seconds) override { return {}; }
  std::string cause_of_death() const override { return " (of old age)"; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(child_link)

BOOST_AUTO_TEST_CASE(a_birth_goes_from_the_id_maps_to_execve) {
  Link link([](const linux::MessageSocket& parent) {
    const bool asked = ask(parent, Message::kMapIds) && ask(parent, Message::kRunHooks) &&
                       ask(parent, Message::kSetLimits) && ask(parent, Message::kReady) &&
                       tell(parent, Message::kDetached);
    if (asked) ::execl("/bin/sleep", "sleep", "978", nullptr);
  });
  must(link.serve());
  const std::vector<std::string> expected{"MapIds", "RunHooks", "SetLimits"};
  BOOST_TEST(link.heard == expected, boost::test_tools::per_element());
  must(link.detach());
  must(link.await_exec());  // the child's end of the socket is close-on-exec
  BOOST_TEST(slurp("/proc/" + std::to_string(link.pid()) + "/comm") == "sleep\n");
  link.kill();
  BOOST_TEST(link.pid() == 0);
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(a_mount_is_answered_with_its_tree_and_not_with_go) {
  Link link([](const linux::MessageSocket& parent) {
    for (int i = 0; i < 3; ++i) {
      const auto answer = ask(parent, Message::kOpenMount, "0");
      if (!answer || answer->descriptors.size() != 1) ::_exit(6);
    }
    ignore(ask(parent, Message::kReady));
  });
  must(link.serve());
  BOOST_TEST(link.heard.size() == 3u);
}

BOOST_AUTO_TEST_CASE(the_childs_own_error_arrives_with_its_frames) {
  Link link([](const linux::MessageSocket& parent) {
    ignore(tell(parent, Message::kFailed,
                error_bytes(Error(EACCES, std::vector<std::string>{"exec: \"/etc/passwd\""}))));
  });
  BOOST_TEST(must_fail(link.serve()) == "exec: \"/etc/passwd\": permission denied");
}

BOOST_AUTO_TEST_CASE(the_error_for_a_dead_child_names_its_status_and_its_step) {
  {
    Link link([](const linux::MessageSocket&) {});
    const std::string text = must_fail(link.serve());
    BOOST_TEST(text.find("status 5") != std::string::npos);
    BOOST_TEST(text.contains("while it was started"), text);
    BOOST_TEST(text.find("(of old age)") != std::string::npos);
    BOOST_TEST(link.pid() == 0);  // the child was waited for
  }
  Link link([](const linux::MessageSocket& parent) {
    ignore(ask(parent, Message::kRunHooks));
    ::raise(SIGKILL);
  });
  const std::string text = must_fail(link.serve());
  BOOST_TEST(text.contains("signal 9 (SIGKILL) while its root was entered"), text);
}

BOOST_AUTO_TEST_CASE(a_child_that_speaks_out_of_turn_is_an_error) {
  for (const Message second : {Message::kMapIds, Message::kGo, Message::kCommitted,
                               static_cast<Message>(0), static_cast<Message>(200)}) {
    Link link([second](const linux::MessageSocket& parent) {
      ignore(ask(parent, Message::kRunHooks));
      ignore(tell(parent, second));
      for (;;) ::pause();
    });
    const auto served = link.serve();
    BOOST_REQUIRE(!served);
    BOOST_TEST(served.error().number() == EPROTO);
    link.kill();
  }
}

BOOST_AUTO_TEST_CASE(an_answer_that_fails_ends_the_service) {
  Link link([](const linux::MessageSocket& parent) {
    ignore(ask(parent, Message::kRunHooks));
    for (;;) ::pause();
  });
  link.refusal = refuse("hook");
  BOOST_TEST(must_fail(link.serve()) == "hook");
  link.kill();
  link.kill();  // the child is dead already: no error
}

BOOST_AUTO_TEST_CASE(a_stage_is_collected_and_the_process_that_it_cloned_takes_its_place) {
  Link link([](const linux::MessageSocket& parent) {
    const auto init = linux::clone_process(0, Fd{}, linux::Parentage::kOfMyParent);
    if (!init) return;
    if (init->pid != 0) {
      ignore(tell(parent, Message::kForked, std::to_string(init->pid)));
      ::_exit(0);
    }
    const auto go = parent.receive();
    if (!go || static_cast<Message>(go->tag) != Message::kGo) ::_exit(8);
    ignore(ask(parent, Message::kReady));
    for (;;) ::pause();
  });
  const int stage = link.pid();
  must(link.serve());
  BOOST_TEST(link.pid() != stage);
  BOOST_TEST(link.child().pidfd.get() >= 0);
  BOOST_TEST(::waitpid(stage, nullptr, 0) == -1);
  link.kill();
  BOOST_TEST(children_of_this_process().empty());
}

BOOST_AUTO_TEST_CASE(a_signal_that_ends_us_ends_the_wait_and_others_do_not) {
  BOOST_TEST(run_in_child(0, [] {
               must(Signals::capture());
               keep_descriptors();
               Link link([](const linux::MessageSocket& parent) {
                 ::kill(::getppid(), SIGWINCH);
                 ::usleep(50'000);
                 ignore(ask(parent, Message::kRunHooks));
                 ::usleep(50'000);
                 ::kill(::getppid(), SIGTERM);
                 for (;;) ::pause();
               });
               const auto served = link.serve();
               BOOST_REQUIRE(!served);
               BOOST_TEST(served.error().number() == EINTR);
               BOOST_TEST(served.error().message().find("15") != std::string::npos);
               BOOST_TEST(link.heard.size() == 1u);
             }) == 0);
}

BOOST_AUTO_TEST_CASE(an_error_in_place_of_execve_is_the_childs) {
  Link link([](const linux::MessageSocket& parent) {
    ignore(ask(parent, Message::kReady) && tell(parent, Message::kDetached) &&
           tell(parent, Message::kFailed, error_bytes(Error(ENOENT, "exec /run.sh"))));
  });
  must(link.serve());
  must(link.detach());
  BOOST_TEST(must_fail(link.await_exec()) == "exec /run.sh: no such file or directory");
}

BOOST_AUTO_TEST_SUITE_END()
