#include "runtime/base/rollback.hpp"

#include "tests/child_test.hpp"

using ocirun::runtime::Rollback;

BOOST_AUTO_TEST_SUITE(rollback)

BOOST_AUTO_TEST_CASE(what_was_not_committed_is_undone_last_first) {
  std::string diary;
  {
    Rollback undo;
    undo.add([&] { diary += 'a'; });
    undo.add([&] { diary += 'b'; });
    undo.add([&] { diary += 'c'; });
    BOOST_TEST(diary.empty());
  }
  BOOST_TEST(diary == "cba");
}

BOOST_AUTO_TEST_CASE(what_was_committed_stays) {
  std::string diary;
  {
    Rollback undo;
    undo.add([&] { diary += 'a'; });
    undo.commit();
    undo.add([&] { diary += 'b'; });  // added after the commit: will be undone
  }
  BOOST_TEST(diary == "b");
}

BOOST_AUTO_TEST_CASE(each_step_is_undone_once) {
  int calls = 0;
  {
    Rollback undo;
    undo.add([&] { ++calls; });
    undo.run();
    BOOST_TEST(calls == 1);
    undo.run();
  }
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(an_error_in_between_undoes_what_was_done_so_far) {
  std::string diary;
  const auto steps = [&]() -> ocirun::Result<void> {
    Rollback undo;
    undo.add([&] { diary += "-1"; });
    diary += "+1";
    undo.add([&] { diary += "-2"; });
    OCIRUN_TRY(ocirun::Result<void>(ocirun::refuse("step two")));
    diary += "+2";
    undo.commit();
    return {};
  };
  BOOST_TEST(!steps());
  BOOST_TEST(diary == "+1-2-1");
}

BOOST_AUTO_TEST_CASE(a_step_may_look_at_what_is_decided_later) {  // as create's poststop does
  bool hooks_have_begun = false;
  int poststop = 0;
  {
    Rollback undo;
    undo.add([&] { poststop += hooks_have_begun ? 1 : 0; });
    undo.add([&] { hooks_have_begun = true; });
  }
  BOOST_TEST(poststop == 1);
}

BOOST_AUTO_TEST_SUITE_END()
