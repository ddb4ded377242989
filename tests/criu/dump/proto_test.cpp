// The numbers that ocirun knows of CRIU's messages are CRIU's: data/criu_proto.txt has them.

#include "criu/dump/proto.hpp"

#include <boost/test/unit_test.hpp>
#include <map>
#include <sstream>
#include <string>

#include "tests/must.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

std::map<std::string, std::uint32_t> read_data() {
  std::istringstream text(slurp(OCIRUN_TEST_DATA "/criu_proto.txt"));
  std::map<std::string, std::uint32_t> numbers;
  std::string line;
  std::getline(text, line);  // a comment
  std::uint32_t number = 0;
  for (std::string name; text >> name >> number;) numbers.emplace(name, number);
  return numbers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proto_numbers)

BOOST_AUTO_TEST_CASE(each_number_is_that_of_criu) {
  const auto numbers = read_data();
  BOOST_TEST(numbers.size() > std::size(kProtoNumbers));
  for (const auto& [name, number] : kProtoNumbers) {
    const auto found = numbers.find(std::string(name));
    BOOST_TEST_REQUIRE((found != numbers.end()), name);
    BOOST_TEST(found->second == number, name);
  }
}

BOOST_AUTO_TEST_CASE(no_name_is_there_twice) {
  for (const ProtoNumber& one : kProtoNumbers)
    BOOST_TEST(std::ranges::count(kProtoNumbers, one.name, &ProtoNumber::name) == 1, one.name);
}

BOOST_AUTO_TEST_SUITE_END()
