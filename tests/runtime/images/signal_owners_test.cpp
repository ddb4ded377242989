#include "runtime/images/signal_owners.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/linux/mounts/scene.hpp"
#include "tests/runtime/images/image_text.hpp"
#include "tests/scratch.hpp"

using namespace ocirun;
using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// The error for an open file of a type, the field `file`, with the receiver `pid` in the field
/// `owner`; "" for none.
std::string refusal(unsigned file, unsigned owner, std::uint32_t pid) {
  const Scratch scratch;
  const std::string sender = text(owner, number(3, 9) + number(4, 1) + number(5, pid));
  scratch.file("files.img", image(ImageKind::kFiles, {number(2, 1) + text(file, sender)}), 0600);
  const std::vector<ImageProcess> processes{{.pid = 7, .threads = {7, 8}}, {.pid = 9}};
  const UniqueFd directory = scratch.open();
  const auto checked = check_signal_owners(directory, processes);
  return checked ? "" : checked.error().message();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(signal_owners)

BOOST_AUTO_TEST_CASE(files_send_signals_to_processes_and_threads_of_the_images) {
  for (const std::uint32_t pid : {0U, 7U, 8U, 9U}) BOOST_TEST(refusal(3, 5, pid) == "");
}

BOOST_AUTO_TEST_CASE(files_of_no_type_send_signals_to_others) {
  constexpr std::pair<unsigned, unsigned> kTypes[] = {
      {3, 5},  {4, 13}, {6, 6},  {7, 11}, {8, 3},  {9, 3},  {10, 3}, {12, 3}, {13, 4},
      {14, 3}, {15, 5}, {16, 9}, {18, 4}, {19, 4}, {20, 4}, {21, 4}, {22, 5}};
  for (const auto& [file, owner] : kTypes)
    check_text(refusal(file, owner, 1),
               "files.img: an open file sends signals to process 1, which the images do not have");
}

BOOST_AUTO_TEST_CASE(images_without_files_have_no_owners) {
  const Scratch scratch;
  const UniqueFd directory = scratch.open();
  BOOST_TEST(check_signal_owners(directory, {}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
