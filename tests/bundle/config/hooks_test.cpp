#include "tests/bundle/config/documents.hpp"

namespace ocirun::bundle {

BOOST_AUTO_TEST_SUITE(hooks_section)

BOOST_AUTO_TEST_CASE(all_six_kinds_arrive_in_order) {  // H-1, H-3, H-4, H-5, H-6
  for (const hooks::Kind kind : hooks::kKinds) {
    const std::string name(config_name(kind));
    const Config config = config_of(fmt::format(
        R"({{"hooks": {{"{}": [{{"path": "/bin/a", "args": ["a", "b"], "env": ["K=v"], "timeout": 5}},
            {{"path": "/bin/b"}}]}}}})",
        name));
    BOOST_TEST_CONTEXT(name) {
      const auto& list = config.hooks.of(kind);
      BOOST_TEST_REQUIRE(list.size() == 2U);
      BOOST_TEST(list[0].path.string() == "/bin/a");
      BOOST_TEST(list[0].args.size() == 2U);
      BOOST_TEST(list[0].env->size() == 1U);
      BOOST_TEST(list[0].timeout->count() == 5);
      BOOST_TEST(list[1].path.string() == "/bin/b");
      BOOST_TEST(list[1].args.empty());
      BOOST_TEST(!list[1].env.has_value());
      BOOST_TEST(!list[1].timeout.has_value());
    }
  }
}

BOOST_AUTO_TEST_CASE(mistakes_in_hooks) {  // H-2, H-5
  constexpr Mistake kMistakes[] = {
      {R"({"hooks": {"prestart": [{}]}})", "/hooks/prestart/0/path", "is missing"},
      {R"({"hooks": {"createRuntime": [{"path": "bin/x"}]}})", "/hooks/createRuntime/0/path",
       "must be an absolute path, not \"bin/x\""},
      {R"({"hooks": {"createContainer": [{"path": "/x", "timeout": 0}]}})",
       "/hooks/createContainer/0/timeout", "from 1 to 2147483647, not 0"},
      {R"({"hooks": {"startContainer": [{"path": "/x", "timeout": -1}]}})",
       "/hooks/startContainer/0/timeout", "not -1"},
      {R"({"hooks": {"poststart": [{"path": "/x"}, {"path": "/y", "env": ["Z"]}]}})",
       "/hooks/poststart/1/env/0", "NAME=value"},
      {R"({"hooks": {"poststop": {"path": "/x"}}})", "/hooks/poststop", "must be a list"},
      {R"({"hooks": {"poststop": [{"path": "/x", "args": "x"}]}})", "/hooks/poststop/0/args",
       "must be a list"},
  };
  check_mistakes(kMistakes);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace ocirun::bundle
