// What skopeo is told, and what its messages mean.

#include "pods/images/registry/skopeo.hpp"

#include <boost/test/unit_test.hpp>

#include "pods/images/registry/origin.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

Origin origin_of_text(const std::string& text) { return Origin::of(must(Reference::parse(text))); }

const std::string kDigest = "sha256:" + std::string(64, 'a');

}  // namespace

BOOST_AUTO_TEST_SUITE(skopeo)

BOOST_AUTO_TEST_CASE(a_reference_gets_its_registry_and_a_digest_replaces_the_tag) {
  BOOST_TEST(origin_of_text("nginx").address == "docker://docker.io/library/nginx:latest");
  BOOST_TEST(origin_of_text("host:5000/a/b:1").address == "docker://host:5000/a/b:1");
  const Origin pinned = origin_of_text("nginx:1@" + kDigest);
  BOOST_TEST(pinned.address == "docker://docker.io/library/nginx@" + kDigest);
  BOOST_TEST(pinned.name == "docker.io/library/nginx@" + kDigest);
  const std::string other = "sha256:" + std::string(64, 'b');
  BOOST_TEST(pinned.address_of(must(Digest::parse(other))) ==
             "docker://docker.io/library/nginx@" + other);
}

BOOST_AUTO_TEST_CASE(a_source_is_read_by_skopeo_if_it_has_one_of_its_words) {
  BOOST_TEST(must(Origin::parse("docker://nginx:1"))->name == "docker.io/library/nginx:1");
  BOOST_TEST(!must(Origin::parse("oci:layout")).has_value());
  BOOST_TEST(!must(Origin::parse("docker-archive:file")).has_value());
  BOOST_TEST(must_fail(Origin::parse("docker://Nginx")).contains("\"Nginx\" must be lower-case"));
  const auto daemon = must(Origin::parse("docker-daemon:web:1"));
  BOOST_TEST(daemon->address == "docker-daemon:web:1");
  BOOST_TEST(!daemon->in_registry.has_value());
  // No reference of a document can name it.
  BOOST_TEST(!Reference::parse(daemon->name).has_value());
  BOOST_TEST(!Reference::parse(must(Origin::parse("containers-storage:a/b"))->name).has_value());
}

BOOST_AUTO_TEST_CASE(the_words_name_files_and_no_credentials) {
  BOOST_TEST(joined(inspect_words("docker://a.b/c", {})) ==
             "inspect --raw --retry-times 1 docker://a.b/c");
  const SkopeoAccess access{.auth_file = "/keys", .plain_http = true};
  BOOST_TEST(joined(inspect_words("docker://a.b/c", access)) ==
             "inspect --raw --retry-times 1 --authfile /keys --tls-verify=false docker://a.b/c");
  BOOST_TEST(joined(copy_words("docker://a.b/c", "/p", access, true)) ==
             "--tmpdir /p copy --remove-signatures --retry-times 1 --preserve-digests --authfile "
             "/keys --src-tls-verify=false docker://a.b/c oci:/p:image");
  BOOST_TEST(joined(copy_words("docker-daemon:c", "/p", {}, false)) ==
             "--tmpdir /p copy --remove-signatures --retry-times 1 "
             "--dest-oci-accept-uncompressed-layers docker-daemon:c oci:/p:image");
}

BOOST_AUTO_TEST_CASE(the_reason_is_the_last_message_without_the_address) {
  BOOST_TEST(skopeos_reason("") == "");
  BOOST_TEST(skopeos_reason("no log line\n") == "no log line");
  BOOST_TEST(skopeos_reason("time=\"t\" level=warning msg=first\n"
                            "time=\"t\" level=fatal msg=\"Error parsing image name "
                            "\\\"docker://a.b/c\\\": pinging \\\"a.b\\\"\\n\\x1b\\a\"\n") ==
             "pinging \"a.b\" \x1b?");
  BOOST_TEST(skopeos_reason("time=\"t\" level=fatal msg=\"initializing source docker://a:1/b: "
                            "reading manifest\"\n") == "reading manifest");
  BOOST_TEST(skopeos_reason("time=\"t\" level=warning msg=\"Failed, retrying in 1s ... (1/2). "
                            "Error: slow down\"\n") == "slow down");
  // A message that is cut off.
  BOOST_TEST(skopeos_reason("time=\"t\" level=fatal msg=\"cut \\") == "cut \\");
  BOOST_TEST(skopeos_reason("level=fatal msg=\"" + std::string(5000, 'x')).size() < 1100U);
}

BOOST_AUTO_TEST_CASE(a_known_reason_has_an_advice) {
  BOOST_TEST(advice_for("http: server gave HTTP response to HTTPS client", "a:1")
                 .contains("--plain-http a:1"));
  BOOST_TEST(advice_for("unauthorized: no", "a:1").contains("`skopeo login a:1`"));
  BOOST_TEST(advice_for("x509: certificate", "a:1").contains("/certs.d/a:1/ca.crt"));
  BOOST_TEST(advice_for("something else", "a:1") == "");
}

BOOST_AUTO_TEST_SUITE_END()
