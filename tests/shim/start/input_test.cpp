#include "shim/start/input.hpp"

#include <array>
#include <boost/test/unit_test.hpp>

#include "shim/start/answer.hpp"
#include "shim/start/start_messages.hpp"
#include "tests/must.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

const std::string kRuncType(kRuncOptions);

/// The options of runc with a name of the binary.
struct OptionsAny {
  explicit OptionsAny(const std::string& binary, std::string of_type = kRuncType)
      : type(std::move(of_type)) {
    auto options = new_message<Shim__Options>();
    options.binary_name = in_message(binary);
    value = bytes_of(options);
    any.type_url = in_message(type);
    any.value = data_in_message(value);
  }
  std::string type, value;
  Shim__Any any = new_message<Shim__Any>();
};

struct BootstrapScene {
  Arguments arguments{.action = Action::kStart,
                      .container_namespace = "k8s.io",
                      .id = "web1",
                      .address = "/run/flag.sock",
                      .publish_binary = "",
                      .bundle = "",
                      .debug = false};
  StartEnvironment environment{.ttrpc_address = "/run/c.sock.ttrpc", .is_of_1_7 = true};
  std::string id = arguments.id, space = arguments.container_namespace, version = "v2.3.4",
              ttrpc = "unix:///run/p.sock.ttrpc", grpc = "/run/p.sock", directory = "/run/s";
  Shimstart__BootstrapParams params = new_message<Shimstart__BootstrapParams>();

  BootstrapScene() {
    params.instance_id = in_message(id);
    params.namespace_ = in_message(space);
    params.containerd_version = in_message(version);
    params.containerd_ttrpc_address = in_message(ttrpc);
    params.containerd_grpc_address = in_message(grpc);
    params.socket_dir = in_message(directory);
  }
  Result<StartInput> parse(std::string_view bytes) const {
    return parse_start_input(bytes, arguments, environment);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(start_input, BootstrapScene)

BOOST_AUTO_TEST_CASE(an_any_holds_the_options) {
  const StartInput input = must(parse(bytes_of(OptionsAny("crun").any)));
  BOOST_TEST((input.answer == AnswerForm::kJson));
  BOOST_TEST(input.options.binary_name == "crun");
  BOOST_TEST(input.address == "/run/flag.sock");
  BOOST_TEST(input.events_address == "/run/c.sock.ttrpc");
  BOOST_TEST(input.socket_directory == "");
  BOOST_TEST(!input.debug);
}

BOOST_AUTO_TEST_CASE(nothing_is_an_any_without_options) {
  environment.is_of_1_7 = false;
  const StartInput input = must(parse(""));
  BOOST_TEST((input.answer == AnswerForm::kPlain));
  BOOST_TEST(input.options.binary_name == "");
}

BOOST_AUTO_TEST_CASE(bootstrap_parameters_are_told_by_id_and_namespace) {
  OptionsAny other("other", "some.other.Type"), options("crun");
  auto first = new_message<Shimstart__Extension>(), second = new_message<Shimstart__Extension>();
  first.value = &other.any;
  second.value = &options.any;
  std::array<Shimstart__Extension*, 2> extensions{&first, &second};
  params.extensions = extensions.data();
  params.n_extensions = extensions.size();
  params.log_level = -4;
  const StartInput input = must(parse(bytes_of(params)));
  BOOST_TEST((input.answer == AnswerForm::kMessage));
  BOOST_TEST(input.options.binary_name == "crun");
  BOOST_TEST(input.address == "/run/p.sock");
  BOOST_TEST(input.events_address == "/run/p.sock.ttrpc");
  BOOST_TEST(input.socket_directory == "/run/s");
  BOOST_TEST(input.debug);
}

BOOST_AUTO_TEST_CASE(bootstrap_parameters_without_options_give_the_defaults) {
  const StartInput input = must(parse(bytes_of(params)));
  BOOST_TEST((input.answer == AnswerForm::kMessage));
  BOOST_TEST(input.options.binary_name == "");
  BOOST_TEST(!input.debug);
}

BOOST_AUTO_TEST_CASE(parameters_of_another_container_are_options_of_an_unknown_type) {
  arguments.id = "web2";
  BOOST_TEST(must_fail(parse(bytes_of(params))).starts_with("options of the type \"web1\": "));
  arguments.id = "web1";
  arguments.container_namespace = "moby";
  BOOST_TEST(must_fail(parse(bytes_of(params))).starts_with("options of the type \"web1\": "));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_neither_are_an_error) {
  BOOST_TEST(must_fail(parse("no message")) ==
             "standard input: the 10 bytes are neither options (google.protobuf.Any) nor "
             "BootstrapParams of containerd");
}

BOOST_AUTO_TEST_CASE(each_version_of_containerd_gets_its_answer) {
  const std::string socket = "/run/containerd/s/abc";
  BOOST_TEST(answer_text(AnswerForm::kPlain, socket) == "unix:///run/containerd/s/abc");
  BOOST_TEST(answer_text(AnswerForm::kJson, socket) ==
             R"({"version":2,"address":"unix:///run/containerd/s/abc","protocol":"ttrpc"})");
  const std::string bytes = answer_text(AnswerForm::kMessage, socket);
  BOOST_TEST(bytes == "\x08\x03\x12\x1cunix:///run/containerd/s/abc\x1a\x05ttrpc");
}

BOOST_AUTO_TEST_CASE(a_text_never_reads_as_the_message) {  // containerd 2.3 tries the message first
  for (const auto form : {AnswerForm::kPlain, AnswerForm::kJson})
    BOOST_TEST(!Received<Shimstart__BootstrapResult>::read(answer_text(form, "/run/s/abc")));
}

BOOST_AUTO_TEST_SUITE_END()
