#include "runtime/protocol/protocol.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "tests/child_test.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// The child's messages in the order of the picture in protocol.hpp.
constexpr std::array kPicture{Message::kMapIds,    Message::kForked,   Message::kRootMount,
                              Message::kOpenMount, Message::kRunHooks, Message::kHookLasts,
                              Message::kHooksRan,  Message::kTerminal, Message::kWantFilter,
                              Message::kSetLimits, Message::kListener, Message::kReady,
                              Message::kDetached};
constexpr std::array kAnswers{Message::kGo, Message::kMountTree, Message::kFilter,
                              Message::kCommitted, Message::kFailed};

struct Talk {
  linux::MessageSocket parent, child;
};
Talk talk() {
  auto pair = must(linux::MessageSocket::make_pair());
  return {std::move(pair.first), std::move(pair.second)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(protocol)

BOOST_AUTO_TEST_CASE(the_table_has_every_message_of_the_picture_once_and_in_its_order) {
  BOOST_REQUIRE(kExchanges.size() == kPicture.size());
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kPicture.size(); ++i) {
    BOOST_TEST((kExchanges[i].question == kPicture[i]));
    BOOST_TEST(names.insert(message_name(kPicture[i])).second);
  }
  for (const Message answer : kAnswers) BOOST_TEST(!names.contains(message_name(answer)));
}

BOOST_AUTO_TEST_CASE(what_the_child_does_is_told_without_the_names_of_messages) {
  BOOST_TEST(!Conversation{}.activity().empty());
  for (const Message message : kPicture) {
    Conversation conversation;
    must(conversation.hear(message));
    BOOST_TEST(!conversation.activity().empty());
    BOOST_TEST(!conversation.activity().contains(message_name(message)));
  }
}

BOOST_AUTO_TEST_CASE(every_pair_of_messages_is_legal_only_in_the_order_of_the_picture) {
  for (std::size_t first = 0; first < kPicture.size(); ++first)
    for (std::size_t second = 0; second < kPicture.size(); ++second) {
      Conversation conversation;
      BOOST_REQUIRE(conversation.hear(kPicture[first]).has_value());
      const bool repeats = first == second && (kPicture[first] == Message::kOpenMount ||
                                               kPicture[first] == Message::kHookLasts);
      const auto heard = conversation.hear(kPicture[second]);
      BOOST_TEST_CONTEXT(message_name(kPicture[first]) << ", " << message_name(kPicture[second])) {
        BOOST_TEST(heard.has_value() == (second > first || repeats));
        if (!heard) {
          BOOST_TEST(heard.error().number() == EPROTO);
          BOOST_TEST(heard.error().message().find(message_name(kPicture[second])) !=
                     std::string::npos);
          BOOST_TEST(conversation.last() == message_name(kPicture[first]));
        }
      }
    }
}

BOOST_AUTO_TEST_CASE(any_subset_in_order_is_a_conversation) {
  for (unsigned subset = 0; subset < (1u << kPicture.size()); ++subset) {
    Conversation conversation;
    bool heard_all = true;
    for (std::size_t i = 0; i < kPicture.size(); ++i)
      if ((subset >> i) & 1u) heard_all &= conversation.hear(kPicture[i]).has_value();
    if (!heard_all) BOOST_ERROR("subset " << subset);
  }
}

BOOST_AUTO_TEST_CASE(mounts_are_asked_for_again_and_again_until_something_later_came) {
  Conversation conversation;
  for (int i = 0; i < 1000; ++i) must(conversation.hear(Message::kOpenMount));
  must(conversation.hear(Message::kRunHooks));
  BOOST_TEST(!conversation.hear(Message::kOpenMount));
  BOOST_TEST(!conversation.hear(Message::kRunHooks));
  must(conversation.hear(Message::kReady));  // a refused message changes nothing
}

BOOST_AUTO_TEST_CASE(answers_and_unknown_tags_are_no_messages_of_the_childs) {
  for (const Message answer : kAnswers) {
    Conversation conversation;
    BOOST_TEST(!conversation.hear(answer));
  }
  for (const int tag : {0, 17, 100, 255}) {
    Conversation conversation;
    BOOST_TEST(conversation.hear(static_cast<Message>(tag)).error().number() == EPROTO);
    BOOST_TEST(!message_name(static_cast<Message>(tag)).empty());
  }
  BOOST_TEST(!Conversation{}.last().empty());
}

BOOST_AUTO_TEST_CASE(a_question_gets_its_own_answer) {
  for (const Exchange& row : kExchanges) {
    const Talk talking = talk();
    must(tell(talking.parent, row.answer, "payload"));
    const linux::Packet answer = must(ask(talking.child, row.question, "question"));
    BOOST_TEST(answer.payload == "payload");
    const linux::Packet question = must(talking.parent.receive());
    BOOST_TEST((static_cast<Message>(question.tag) == row.question));
    BOOST_TEST(question.payload == "question");
  }
}

BOOST_AUTO_TEST_CASE(any_other_answer_is_an_error_of_the_protocol) {
  for (const Exchange& row : kExchanges)
    for (int tag = 0; tag < 20; ++tag) {
      const Message other = static_cast<Message>(tag);
      if (other == row.answer || other == Message::kFailed) continue;
      const Talk talking = talk();
      must(tell(talking.parent, other));
      const auto answer = ask(talking.child, row.question);
      BOOST_REQUIRE(!answer);
      BOOST_TEST(answer.error().number() == EPROTO);
    }
  const Talk talking = talk();
  must(tell(talking.parent, Message::kGo));
  BOOST_TEST(!ask(talking.child, Message::kGo));  // not a question
}

BOOST_AUTO_TEST_CASE(a_parent_that_is_gone_is_epipe_for_the_child_that_asks) {
  Talk talking = talk();
  talking.parent.close();
  BOOST_TEST(ask(talking.child, Message::kReady).error().number() == EPIPE);
  Talk dying = talk();
  const pid_t pid = ::fork();
  if (pid == 0) {
    [[maybe_unused]] const auto packet = dying.parent.receive();  // hears the question, then dies
    ::_exit(0);
  }
  dying.parent.close();
  BOOST_TEST(ask(dying.child, Message::kReady).error().number() == EPIPE);
  ::waitpid(pid, nullptr, 0);
}

BOOST_AUTO_TEST_CASE(numbers_in_payloads_are_read_whole) {
  BOOST_TEST(must(parse_number("0")) == 0);
  BOOST_TEST(must(parse_number("4194304")) == 4194304);
  BOOST_TEST(must(parse_number("-1")) == kRootfsIndex);
  for (const std::string_view bad : {"", " 1", "1 ", "1x", "x", "+1", "99999999999", "1\n", "--1"})
    BOOST_TEST(parse_number(bad).error().number() == EPROTO);
}

BOOST_AUTO_TEST_CASE(an_error_crosses_the_socket_with_its_errno_and_frames) {
  for (const int number : {0, ENOENT, 133, -5}) {
    const Error error(number, std::vector<std::string>{"outer", "", "inner: with ünïcode", "x"});
    const Error back = parse_error_bytes(error_bytes(error));
    BOOST_TEST(back.number() == number);
    BOOST_TEST(back.frames() == error.frames(), boost::test_tools::per_element());
    BOOST_TEST(back.message() == error.message());
  }
}

BOOST_AUTO_TEST_CASE(an_error_is_cut_to_what_a_packet_holds) {
  std::vector<std::string> frames{"error running createContainer hook #0 (/h)",
                                  std::string(64 * 1024, 'x')};
  const std::string bytes = error_bytes(Error(EIO, frames));
  BOOST_TEST(bytes.size() <= linux::MessageSocket::kMaxPayload);
  const Talk talking = talk();
  must(tell(talking.child, Message::kFailed, bytes));
  const Error back = parse_error_bytes(must(talking.parent.receive()).payload);
  BOOST_TEST(back.number() == EIO);
  BOOST_TEST(back.frames().at(0) == frames[0]);
  BOOST_TEST(back.frames().at(1).starts_with("xxx"));
}

BOOST_AUTO_TEST_CASE(invalid_error_bytes_give_an_error_with_a_text) {
  for (const std::string& bytes :
       {std::string(), std::string("x"), std::string("xyz"), std::string(4, '\0'),
        std::string(4, '\xff'), std::string(5, '\0'), std::string("\2\0\0\0no end", 10),
        std::string(100'000, '\0'), std::string(100'000, '\xff')}) {
    const Error error = parse_error_bytes(bytes);
    BOOST_TEST(!error.frames().empty());
    BOOST_TEST(error.frames().size() <= bytes.size() + 1);
  }
  BOOST_TEST(parse_error_bytes(std::string("\2\0\0\0no end", 10)).message() ==
             "no end: no such file or directory");
}

BOOST_AUTO_TEST_CASE(a_nul_in_a_frame_does_not_split_the_frame) {
  const Error error(0, std::vector<std::string>{std::string("a\0b", 3), "c"});
  const Error back = parse_error_bytes(error_bytes(error));
  BOOST_REQUIRE(back.frames().size() == 2u);
  BOOST_TEST(back.frames()[0].starts_with('a'));
  BOOST_TEST(back.frames()[1] == "c");
}

BOOST_AUTO_TEST_SUITE_END()
