// The text of units: what systemd reads must be what ocirun means.

#include "pods/run/units/units.hpp"

#include <boost/test/unit_test.hpp>

#include "pods/run/units/unit_words.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

UnitPlan plan_of(std::string document = "/srv/web.yaml") {
  UnitPlan plan;
  plan.pod = "web";
  plan.command = {"/usr/sbin/ocirun", "pod", "run", "--", document};
  plan.paths = {document, "/var/lib/ocirun"};
  plan.document = std::move(document);
  plan.start_limit = std::chrono::seconds(600);
  plan.stop_limit = std::chrono::seconds(90);
  return plan;
}

Forward forward(std::uint16_t host, std::uint16_t pod, std::string address = "",
                Protocol protocol = Protocol::kTcp) {
  return {.address = std::move(address),
          .host_port = host,
          .pod_port = pod,
          .protocol = protocol,
          .place = nullptr};
}

bool has_line(const UnitFile& unit, const std::string& line) {
  return ("\n" + unit.text).contains("\n" + line + "\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(units)

BOOST_AUTO_TEST_CASE(words_are_quoted_by_the_rules_of_systemd) {
  const UnitWords words;
  const auto word = [&](std::string_view text) {
    return must(words.write(text, UnitText::kCommandWord));
  };
  BOOST_TEST(word("--data=/var/lib/a-b_c.d") == "--data=/var/lib/a-b_c.d");
  BOOST_TEST(word("") == R"("")");
  BOOST_TEST(word("a b") == R"("a b")");
  BOOST_TEST(word("a\tb") == "\"a\tb\"");
  BOOST_TEST(word("it's") == R"("it's")");
  BOOST_TEST(word(R"(say "x")") == R"("say \"x\"")");
  BOOST_TEST(word(R"(a\n)") == R"("a\\n")");
  BOOST_TEST(word("50%") == "50%%");
  BOOST_TEST(word("$HOME ${X}") == R"("$$HOME $${X}")");
  BOOST_TEST(word(";") == R"(";")");
  BOOST_TEST(word("#x") == R"("#x")");
  BOOST_TEST(word("größe") == R"("größe")");
}

BOOST_AUTO_TEST_CASE(paths_keep_a_dollar_and_sentences_have_no_quotes) {
  const UnitWords words;
  BOOST_TEST(must(words.write("/a $b%", UnitText::kPath)) == R"("/a $b%%")");
  BOOST_TEST(must(words.write(R"(a "b" $c% \)", UnitText::kSentence)) == R"(a "b" $c%% \)");
  BOOST_TEST(must(words.write_all(std::vector<std::string>{"/a", "/b c"}, UnitText::kPath)) ==
             R"(/a "/b c")");
}

BOOST_AUTO_TEST_CASE(line_breaks_and_other_controls_are_refused) {
  const UnitWords words;
  for (const char* text : {"a\nExecStart=/bin/sh", "a\r", "\x1b[m", "a\x7f", "\xff"})
    for (const UnitText kind : {UnitText::kCommandWord, UnitText::kPath, UnitText::kSentence})
      BOOST_TEST(must_fail(words.write(text, kind)).contains("cannot stand in a unit of systemd"));
  BOOST_TEST(must_fail(words.write("a\nb", UnitText::kPath)).starts_with("\"a\\x0ab\""));
}

BOOST_AUTO_TEST_CASE(the_home_directory_of_a_user_is_a_specifier) {
  const UnitWords words("/users/ann");
  const auto word = [&](std::string_view text) {
    return must(words.write(text, UnitText::kCommandWord));
  };
  BOOST_TEST(word("/users/ann/x%") == "%h/x%%");
  BOOST_TEST(word("--data=/users/ann/x y") == R"("--data=%h/x y")");
  BOOST_TEST(word("--volume=a=/users/ann") == "--volume=a=%h");
  BOOST_TEST(word("/users/anna/x") == "/users/anna/x");
  BOOST_TEST(word("/srv/users/ann/x") == "/srv/users/ann/x");
  BOOST_TEST(must(words.write("/users/ann/x", UnitText::kSentence)) == "/users/ann/x");
}

BOOST_AUTO_TEST_CASE(a_service_has_what_the_document_says) {
  const std::vector<UnitFile> files = must(units_of(plan_of("/srv/my web$%.yaml")));
  BOOST_REQUIRE(files.size() == 1U);
  const UnitFile& unit = files.front();
  BOOST_TEST(unit.name == "ocirun-web.service");
  BOOST_TEST(unit.text.starts_with("# ocirun-web.service, written by `ocirun pod unit`"));
  for (const char* line :
       {"Description=Pod web (/srv/my web$%%.yaml)",
        "RequiresMountsFor=\"/srv/my web$%%.yaml\" /var/lib/ocirun", "Type=notify",
        "NotifyAccess=main", "Delegate=yes", "KillMode=mixed", "TimeoutStartSec=600",
        "TimeoutStopSec=90", "Restart=on-abnormal", "After=network-online.target",
        "ExecStart=/usr/sbin/ocirun pod run -- \"/srv/my web$$%%.yaml\"",
        "WantedBy=multi-user.target"})
    BOOST_TEST(has_line(unit, line), line);
  BOOST_TEST(!unit.text.contains("StopWhenUnneeded"));
}

BOOST_AUTO_TEST_CASE(a_start_without_limit_and_a_user) {
  UnitPlan plan = plan_of("/users/ann/web.yaml");
  plan.start_limit = std::nullopt;
  plan.is_of_user = true;
  plan.home = "/users/ann";
  const UnitFile unit = must(units_of(plan)).front();
  BOOST_TEST(has_line(unit, "TimeoutStartSec=infinity"));
  BOOST_TEST(has_line(unit, "WantedBy=default.target"));
  BOOST_TEST(has_line(unit, "ExecStart=/usr/sbin/ocirun pod run -- %h/web.yaml"));
  BOOST_TEST(unit.text.contains("loginctl enable-linger"));
  BOOST_TEST(!unit.text.contains("network-online.target"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_a_unit_is_refused) {
  BOOST_TEST(must_fail(units_of(plan_of("/srv/a\nb"))).contains("cannot stand in a unit"));
  UnitPlan plan = plan_of();
  plan.command.front() = "/opt/my programs/ocirun";
  BOOST_TEST(must_fail(units_of(plan)).starts_with("/opt/my programs/ocirun: systemd takes"));
}

BOOST_AUTO_TEST_CASE(each_port_has_a_socket_and_a_proxy) {
  UnitPlan plan = plan_of();
  plan.entries = must(entries_of("web", 0, {forward(80, 8080), forward(81, 8081, "::1")}));
  plan.idle = std::chrono::seconds(45);
  plan.proxy = "/usr/lib/systemd/systemd-socket-proxyd";
  const std::vector<UnitFile> files = must(units_of(plan));
  BOOST_REQUIRE(files.size() == 5U);
  BOOST_TEST(has_line(files[0], "StopWhenUnneeded=yes"));
  BOOST_TEST(!files[0].text.contains("[Install]"));
  BOOST_TEST(files[1].name == "ocirun-web@80.socket");
  BOOST_TEST(has_line(files[1], "ListenStream=80"));
  BOOST_TEST(has_line(files[1], "WantedBy=sockets.target"));
  BOOST_TEST(files[2].name == "ocirun-web@80.service");
  BOOST_TEST(has_line(files[2], "BindsTo=ocirun-web.service"));
  BOOST_TEST(has_line(files[2], "After=ocirun-web.service"));
  BOOST_TEST(has_line(files[2],
                      "ExecStart=/usr/lib/systemd/systemd-socket-proxyd "
                      "--exit-idle-time=45s " +
                          plan.entries[0].inner_address + ":61000"));
  BOOST_TEST(has_line(files[3], "ListenStream=[::1]:81"));
  BOOST_TEST(has_line(files[3], "FreeBind=yes"));
  BOOST_TEST(files[4].text.contains(":61001\n"));
}

BOOST_AUTO_TEST_CASE(pods_have_loopback_addresses_of_their_own) {
  const auto address = [](const std::string& pod, unsigned user) {
    return must(entries_of(pod, user, {forward(80, 80)})).front().inner_address;
  };
  BOOST_TEST(address("web", 0).starts_with("127."));
  BOOST_TEST(address("web", 0) == address("web", 0));
  BOOST_TEST(address("web", 0) != address("web", 1000));
  BOOST_TEST(address("web", 0) != address("shop", 0));
  BOOST_TEST(must_fail(entries_of("web", 0, {})).starts_with("the document has no port"));
  BOOST_TEST(must_fail(entries_of("web", 0, {forward(53, 53, "", Protocol::kUdp)}))
                 .starts_with("port 53/udp of the host"));
}

BOOST_AUTO_TEST_SUITE_END()
