// Several documents in a file: a workload, and ConfigMap and Secret beside it.

#include "pods/documents/key_documents.hpp"

#include "pods/documents/needs.hpp"
#include "tests/pods/documents/full.hpp"
#include "tests/pods/documents/read.hpp"

using namespace ocirun;
using namespace ocirun::pods;

namespace {

/// A Revision that takes a variable from the key `key` of the secret "s", with other documents
/// behind it.
std::string file(std::string_view others, std::string_view key = "k") {
  return "apiVersion: serving.knative.dev/v1\nkind: Revision\nmetadata: {name: r}\nspec: "
         "{containers: "
         "[{image: a, env: [{name: V, valueFrom: {secretKeyRef: {name: s, key: " +
         std::string(key) + "}}}]}]}\n---\n" + std::string(others);
}

std::string secret(std::string_view members) {
  return "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n" + std::string(members) + "\n";
}

std::string needs(std::string_view text) {
  const Workload workload = read_workload("f", text);
  std::string out = lines(workload.problems);
  for (const Need& need : needs_of(workload.pod))
    out += (need.is_fault ? "fault: " : "") + workload.at(need.place) + ": " + need.sentence + '\n';
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(documents_beside_a_workload)

BOOST_AUTO_TEST_CASE(every_attribute_reaches_the_pod) {
  const Pod pod = good(full_list());
  BOOST_REQUIRE(pod.key_documents.size() == 2U);
  const auto& map = pod.key_documents.at("configmap/m").keys;
  BOOST_TEST((map.size() == 3 && map.at("k").bytes == "v" && !map.at("k").is_binary));
  BOOST_TEST((map.at("other.txt").bytes == std::string("a\0b", 3)));
  BOOST_TEST((map.at("b").bytes == std::string("\0\1", 2) && map.at("b").is_binary));
  const auto& keys = pod.key_documents.at("s").keys;
  BOOST_TEST((keys.size() == 3 && keys.at("k").bytes == "plain" && keys.at("more").bytes == "m"));
  const std::string told = warnings(full_list());
  for (const char* name : {"namespace", "labels", "annotations"})
    BOOST_CHECK_MESSAGE(told.contains(std::string("/items/0/metadata/") + name + ": has no effect"),
                        name);
}

BOOST_AUTO_TEST_CASE(what_a_document_gives_is_not_needed) {
  const std::string alone = file("");
  BOOST_TEST(
      needs(alone) ==
      "f:4:38: /spec/containers/0/env/0: the secret \"s\": a document of the kind Secret in the "
      "file, or --secret s=DIR, a file for each key\n");
  BOOST_TEST(needs(file(secret("stringData: {k: v}"))) == "");
  BOOST_TEST(
      needs(file(secret("stringData: {l: v}")))
          .contains("fault: f:4:38: /spec/containers/0/env/0: the secret \"s\" in this file has no "
                    "key \"k\": write it there, or --secret s=DIR"));
  BOOST_TEST(needs(file(secret("stringData: {l: v}"), "k, optional: true")) == "");
  BOOST_TEST(needs(file("", "k, optional: true"))
                 .contains("the secret \"s\", which may be absent: a document of the kind Secret"));
  BOOST_TEST(warnings(file(secret("stringData: {k: v}"))) == "");
  BOOST_TEST(
      warnings(file(secret("") + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n"))
          .contains("f:11:1: the document: has no effect: nothing in the workload uses the "
                    "config map \"m\""));
}

BOOST_AUTO_TEST_CASE(keys_and_values_are_checked) {
  const auto told = [](std::string_view members) { return problems(file(secret(members))); };
  BOOST_TEST(told("data: {k: \"%\"}").contains("/data/k: must be base64"));
  BOOST_TEST(told("data: {k: YWI}").contains("/data/k: must be base64"));
  BOOST_TEST(told("data: {k: 12}").contains("/data/k: must be a string, not 12"));
  for (const char* bad : {"a/b", "..", "..a", "a b", "\"\""})
    BOOST_CHECK_MESSAGE(
        told(std::string("stringData: {") + bad + ": v}").contains("the key must be"), bad);
  BOOST_TEST(
      told("type: kubernetes.io/tls").contains("/type: a secret of this type needs the key"));
  BOOST_TEST(told("binaryData: {}").contains("/binaryData: unknown name"));
  BOOST_TEST(told("dta: {}").contains("/dta: unknown name (did you mean data?)"));
  BOOST_TEST(problems(file("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata: {a: x}\n"
                           "binaryData: {a: AAE=}\n"))
                 .contains("/binaryData/a: the key is in data and in binaryData"));
  BOOST_TEST(problems(file("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n"))
                 .contains("/metadata/name: is missing"));
}

BOOST_AUTO_TEST_CASE(a_file_has_one_workload_and_names_once) {
  BOOST_TEST(
      problems(file(secret("") + "---\n" + secret("")))
          .contains("f:11:1: the document: the secret \"s\" is given twice, first at line 6"));
  BOOST_TEST(
      problems(file(file("")))
          .contains(
              "f:6:1: the document: is a second workload, the Revision \"r\"; the first is the "
              "Revision \"r\" at line 1: each is a pod of its own"));
  BOOST_TEST(
      problems(secret("")).starts_with("f:1:1: the file has no workload: a workload document"));
  const std::string other = "apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n";
  BOOST_TEST(problems(file(other))
                 .contains("/kind: Namespace is read beside a workload of Kubernetes only "
                           "(--ignore Namespace leaves it out)"));
  const std::vector<std::string> ignored{"Namespace"};
  const Workload workload = read_workload("f", file(other), ignored);
  BOOST_TEST((workload.problem_count == 0 && workload.unused_ignored.empty()));
  BOOST_TEST(lines(workload.warnings) ==
             "f:6:1: the document: is left out, because of --ignore Namespace\n");
}

BOOST_AUTO_TEST_CASE(the_same_warning_of_two_documents_is_told_of_both) {
  const std::string told =
      warnings(file("apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: n}\n---\n"
                    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m, namespace: n}\n"));
  BOOST_TEST((told.contains("f:8:32: /metadata/namespace: has no effect: ") &&
              told.contains("f:12:32: /metadata/namespace: has no effect: ")));
}

BOOST_AUTO_TEST_SUITE_END()
