#include "shim/start/information.hpp"

#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "linux/base/syscalls.hpp"
#include "shim/options/runtime_options.hpp"
#include "shim/start/start_messages.hpp"
#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::shim;
using namespace ocirun::test;

namespace {

using Info = Received<Shimstart__RuntimeInfo>;

struct InformationScene {
  Scratch scratch;
  std::string type{kRuncOptions};

  std::string options(const std::string& binary) const {
    auto message = new_message<Shim__Options>();
    message.binary_name = in_message(binary);
    const std::string value = bytes_of(message);
    auto any = new_message<Shim__Any>();
    any.type_url = in_message(type);
    any.value = data_in_message(value);
    return bytes_of(any);
  }
  /// What print_information() prints for `input`.
  Info ask(const std::string& input) const {
    const UniqueFd in = must(linux::sys::open(scratch.file("in", input).c_str(), O_RDONLY));
    const UniqueFd out =
        must(linux::sys::open((scratch / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    const UniqueFd own_in(::dup(STDIN_FILENO)), own_out(::dup(STDOUT_FILENO));
    ::dup2(in.get(), STDIN_FILENO);
    ::dup2(out.get(), STDOUT_FILENO);
    const auto done = print_information();
    ::dup2(own_in.get(), STDIN_FILENO);
    ::dup2(own_out.get(), STDOUT_FILENO);
    must(done);
    auto info = Info::read(slurp(scratch / "out"));
    BOOST_REQUIRE(info.has_value());
    return *std::move(info);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shim_information, InformationScene)

BOOST_AUTO_TEST_CASE(the_version_is_told) {
  BOOST_TEST(version_text().starts_with("containerd-shim-ocirun-v2 version "));
  BOOST_TEST(version_text().contains("\ncommit: "));
}

BOOST_AUTO_TEST_CASE(the_features_are_those_of_the_runtime_in_the_options) {
  const std::string given = options(scratch.script("runtime", "echo \"{ $@ }\""));
  const Info info = ask(given);
  BOOST_TEST(std::string(info->name) == "io.containerd.ocirun.v2");
  BOOST_REQUIRE(info->version != nullptr);
  BOOST_TEST(version_text().contains(std::string("version ") + info->version->version));
  BOOST_REQUIRE(info->options != nullptr);
  BOOST_TEST(bytes_of(*info->options) == given);
  BOOST_REQUIRE(info->features != nullptr);
  BOOST_TEST(std::string(info->features->type_url) ==
             "types.containerd.io/opencontainers/runtime-spec/1/features/Features");
  BOOST_TEST(bytes_of(info->features->value) == "{ features }\n");
}

BOOST_AUTO_TEST_CASE(a_runtime_that_does_not_tell_its_features_has_none) {
  for (const auto* script : {"echo '{}'; exit 1", "head -c 1048577 /dev/zero"})
    BOOST_TEST(ask(options(scratch.script("runtime", script)))->features == nullptr);
  BOOST_TEST(ask(options(scratch / "absent"))->features == nullptr);
  const Info info = ask(options(scratch.script("runtime", "head -c 1048576 /dev/zero")));
  BOOST_REQUIRE(info->features != nullptr);
  BOOST_TEST(info->features->value.len == 1048576u);
}

BOOST_AUTO_TEST_SUITE_END()
