#include "pods/documents/model/digest.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

BOOST_AUTO_TEST_SUITE(digests)

BOOST_AUTO_TEST_CASE(the_digests_of_known_texts_are_those_of_the_standard) {
  BOOST_TEST(digest_of("abc").text() ==
             "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  BOOST_TEST(digest_of("", Digest::Algorithm::kSha512).hex().starts_with("cf83e1357eefb8bd"));
  BOOST_TEST(digest_of("", Digest::Algorithm::kSha512).hex().size() == 128u);
}

BOOST_AUTO_TEST_CASE(pieces_give_the_same_digest_as_the_whole) {
  Hasher hasher(Digest::Algorithm::kSha256);
  hasher.update("a", 1);
  hasher.update("", 0);
  hasher.update("bc", 2);
  BOOST_TEST((hasher.finish() == digest_of("abc")));
}

BOOST_AUTO_TEST_CASE(a_digest_is_read_as_it_was_written) {
  for (const auto algorithm : {Digest::Algorithm::kSha256, Digest::Algorithm::kSha512}) {
    const Digest digest = digest_of("x", algorithm);
    BOOST_TEST((must(Digest::parse(digest.text())) == digest));
  }
}

BOOST_AUTO_TEST_CASE(the_error_of_a_bad_digest_says_what_is_allowed) {
  const std::string good = digest_of("x").hex();
  BOOST_TEST(must_fail(Digest::parse("md5:12")) ==
             "digest \"md5:12\": must begin with sha256: or sha512:");
  BOOST_TEST(must_fail(Digest::parse("sha256")).ends_with("must begin with sha256: or sha512:"));
  for (const std::string& hex : {good.substr(1), good + "0", "A" + good.substr(1), std::string(),
                                 "/" + good.substr(1), good + "\n"})
    BOOST_TEST(must_fail(Digest::parse("sha256:" + hex))
                   .ends_with("64 hexadecimal digits in lower case must follow sha256:"));
}

BOOST_AUTO_TEST_CASE(a_digest_without_digits_equals_nothing) {
  const Digest none;
  BOOST_TEST((none != Digest()));
  BOOST_TEST((none != digest_of("x")));
}

BOOST_AUTO_TEST_SUITE_END()
