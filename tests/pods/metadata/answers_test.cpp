// AC-22: the answers of the metadata service, without a connection.

#include "pods/metadata/answers.hpp"

#include <boost/test/unit_test.hpp>

namespace ocirun::pods {
namespace {

constexpr std::string_view kText = "text/plain; charset=us-ascii";

struct Fixture {
  Answers answers{Content{.token = "secret",
                          .uuid = "u",
                          .key = std::string(131, '\xaa'),
                          .resources = {{"pod/uuid", std::string(kText), "u"},
                                        {"pod/manifest", "application/json", "{}"}}}};

  /// The status of a posted form. `fields`: names and values by turns.
  Response post(Target target, const std::vector<std::string_view>& fields) const {
    Form form = answers.begin_form();
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) form.add(fields[i], 0, fields[i + 1]);
    return answers.answer_form(target, form);
  }
};

BOOST_FIXTURE_TEST_SUITE(metadata_answers, Fixture)

BOOST_AUTO_TEST_CASE(a_resource_is_read_below_the_token) {  // AC-22
  const Response uuid = answers.answer("/secret/acMetadata/v1/pod/uuid", "GET");
  BOOST_TEST(uuid.status == 200U);
  BOOST_TEST(uuid.media_type == kText);
  BOOST_TEST(uuid.content() == "u");
  BOOST_TEST(answers.answer("/secret/acMetadata/v1/pod/manifest", "HEAD").media_type ==
             "application/json");
}

BOOST_AUTO_TEST_CASE(a_path_without_the_whole_token_is_nothing) {  // AC-22
  for (const std::string_view path :
       {"", "/", "/secret", "/secret/", "/secre/acMetadata/v1/pod/uuid", "//acMetadata/v1/pod/uuid",
        "/secrets/acMetadata/v1/pod/uuid", "/SECRET/acMetadata/v1/pod/uuid",
        "/acMetadata/v1/pod/uuid", "secret/acMetadata/v1/pod/uuid", "/secret/acMetadata/v1/",
        "/secret/acMetadata/v1/pod", "/secret/acMetadata/v1/pod/uuid/",
        "/secret/acMetadata/v2/pod/uuid", "/x/acMetadata/v1/pod/hmac/sign"})
    for (const std::string_view method : {"GET", "POST", "PUT"}) {
      BOOST_TEST(answers.answer(path, method).status == 404U, path);
      BOOST_TEST(!answers.wants_form(path, method), path);
    }
}

BOOST_AUTO_TEST_CASE(another_method_is_refused_with_those_that_are_allowed) {  // AC-22
  const Response posted = answers.answer("/secret/acMetadata/v1/pod/uuid", "POST");
  BOOST_TEST(posted.status == 405U);
  BOOST_TEST(posted.allow == "GET, HEAD");
  for (const std::string_view name : {"sign", "verify"}) {
    const std::string path = fmt::format("/secret/acMetadata/v1/pod/hmac/{}", name);
    BOOST_TEST(answers.wants_form(path, "POST"));
    BOOST_TEST(answers.answer(path, "GET").status == 405U);
    BOOST_TEST(answers.answer(path, "GET").allow == "POST");
  }
  BOOST_TEST(!answers.wants_form("/secret/acMetadata/v1/pod/uuid", "POST"));
}

BOOST_AUTO_TEST_CASE(a_signature_is_that_of_rfc_4231) {  // AC-22; its test case 6
  const Response answer =
      post(Target::kSign, {"content", "Test Using Larger Than Block-Size Key - Hash Key First"});
  BOOST_TEST(answer.status == 200U);
  BOOST_TEST(answer.media_type == kText);
  BOOST_TEST(answer.content() ==
             "gLJCY8fBo+u3FJPB3XvotJtG0fQbSu7BEhsBN4P481JrVtA34F8lmL0P0iFdah5SleZPc/Y/"
             "CuyLkVqYXXhlmA==");
}

BOOST_AUTO_TEST_CASE(the_pieces_of_a_field_are_one_text) {  // AC-22
  const std::string whole(post(Target::kSign, {"content", "one two"}).content());
  Form form = answers.begin_form();
  form.add("content", 0, "one ");
  form.add("other", 0, "ignored");
  form.add("content", 4, "two");
  BOOST_TEST(answers.answer_form(Target::kSign, form).content() == whole);
  BOOST_TEST(post(Target::kSign, {"content", "one twO"}).content() != whole);
}

BOOST_AUTO_TEST_CASE(a_signature_is_verified) {  // AC-22
  const std::string signature(post(Target::kSign, {"content", "c"}).content());
  const auto verified = [&](std::string_view content, std::string_view uuid,
                            std::string_view claim) {
    return post(Target::kVerify, {"content", content, "uuid", uuid, "signature", claim}).status;
  };
  BOOST_TEST(verified("c", "u", signature) == 200U);
  BOOST_TEST(verified("d", "u", signature) == 403U);
  BOOST_TEST(verified("c", "v", signature) == 403U);
  BOOST_TEST(verified("c", "u", "") == 403U);
  BOOST_TEST(verified("c", "u", signature.substr(1)) == 403U);
  std::string changed = signature;
  changed[5] = changed[5] == 'a' ? 'b' : 'a';
  BOOST_TEST(verified("c", "u", changed) == 403U);
}

BOOST_AUTO_TEST_CASE(a_form_that_is_not_whole_is_refused) {  // AC-22
  BOOST_TEST(post(Target::kSign, {}).status == 400U);
  BOOST_TEST(post(Target::kSign, {"Content", "c"}).status == 400U);
  BOOST_TEST(post(Target::kSign, {"content", ""}).status == 200U);
  BOOST_TEST(post(Target::kSign, {"content", "a", "content", "b"}).status == 400U);
  BOOST_TEST(post(Target::kVerify, {"content", "c"}).status == 400U);
  BOOST_TEST(post(Target::kVerify, {"content", "c", "uuid", "u"}).status == 400U);
  BOOST_TEST(post(Target::kVerify, {"content", "c", "signature", "s"}).status == 400U);
  const std::string long_field(300, 'x');
  BOOST_TEST(post(Target::kVerify, {"content", "c", "uuid", "u", "signature", long_field}).status ==
             400U);
  BOOST_TEST(
      post(Target::kVerify, {"content", "c", "uuid", "u", "uuid", "u", "signature", "s"}).status ==
      400U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace ocirun::pods
