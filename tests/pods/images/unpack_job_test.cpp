// What ocirun-pod and ocirun-unpack tell each other.

#include "pods/images/unpack_job.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/must.hpp"
#include "tests/pods/images/text_range.hpp"

using namespace ocirun;
using namespace ocirun::pods;
using namespace ocirun::test;

namespace {

Result<UnpackReport> report_of(std::string_view text, std::vector<ArchiveMember>* members = {}) {
  const FileRange file = range_of(text);
  BOOST_REQUIRE(::lseek(file.file().value, 0, SEEK_SET) == 0);
  return read_report(file.file(), {}, [&](const ArchiveMember& member) -> Result<void> {
    if (members != nullptr) members->push_back(member);
    return {};
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unpack_jobs)

BOOST_AUTO_TEST_CASE(a_layers_job_is_the_same_after_its_way_through_words) {
  LayerJob job;
  job.layer.file = "blobs/a b";
  job.layer.digest = digest_of("blob");
  job.layer.compression = Compression::kZstd;
  job.layer.diff_id = digest_of("tar", Digest::Algorithm::kSha512);
  job.offset = 512, job.size = UINT64_MAX;
  job.options.mark = OpaqueMark::kUser;
  job.options.devices = DeviceNodes::kLeaveOut;
  job.options.limits.names.depth = 7;
  job.options.before.bytes = 99;
  job.reports_progress = true;
  job.below = {"x", ""};
  const std::vector<std::string> words = words_of(job);
  const auto parsed = parse_layer_job(words);
  BOOST_REQUIRE(parsed.has_value());
  BOOST_TEST((words_of(*parsed) == words));
  BOOST_TEST(parsed->size == UINT64_MAX);
  BOOST_TEST((parsed->options.mark == OpaqueMark::kUser));
  BOOST_TEST((parsed->layer.compression == Compression::kZstd));
  BOOST_TEST(parsed->options.limits.names.depth == 7u);
  BOOST_TEST((parsed->below == job.below));
  job.layer.digest.reset();
  job.layer.compression.reset();
  const auto without = parse_layer_job(words_of(job));
  BOOST_REQUIRE(without.has_value());
  BOOST_TEST(!without->layer.digest.has_value());
  BOOST_TEST(!without->layer.compression.has_value());
}

BOOST_AUTO_TEST_CASE(words_that_are_no_job_are_refused) {
  std::vector<std::string> words = words_of(IndexJob{});
  BOOST_TEST(parse_index_job(words).has_value());
  BOOST_TEST(!parse_layer_job(words).has_value());
  words.emplace_back("more");
  BOOST_TEST(!parse_index_job(words).has_value());
  words = {"index", "0", "x", "0"};
  BOOST_TEST(!parse_index_job(words).has_value());
  BOOST_TEST(!parse_layer_job({}).has_value());
}

BOOST_AUTO_TEST_CASE(members_keep_names_that_look_like_messages) {
  const ArchiveMember link{.kind = ArchiveMember::Kind::kSymlink,
                           .name = "done 1 2 3 4\nfailed ",
                           .target = "member 0",
                           .offset = 3,
                           .size = 4};
  std::vector<ArchiveMember> members;
  const UnpackReport report = must(report_of(member_message(link) + done_message({}), &members));
  BOOST_REQUIRE(members.size() == 1u);
  BOOST_TEST(members[0].name == link.name);
  BOOST_TEST(members[0].target == link.target);
  BOOST_TEST(members[0].size == 4u);
  BOOST_TEST(report.done.has_value());
}

BOOST_AUTO_TEST_CASE(a_report_that_is_damaged_is_an_error_or_says_nothing) {
  using namespace std::string_literals;
  BOOST_TEST(!must(report_of("done 1 2 3\0"s)).done.has_value());
  BOOST_TEST(!must(report_of("done 1 2 3 4")).done.has_value());  // cut off
  for (const std::string& text : {"member 0 0 0 9 short\0"s, "member 9 0 0 1 x\0"s, "member \0"s})
    BOOST_TEST(must_fail(report_of(text)) == "the report of ocirun-unpack is damaged");
  const UnpackReport report = must(report_of(failed_message(Error(ENOSPC, "write \x1b[2J"))));
  BOOST_REQUIRE(report.error.has_value());
  BOOST_TEST(report.error->number() == ENOSPC);
  BOOST_TEST(report.error->message() == "write \\x1b[2J: no space left on device");
}

BOOST_AUTO_TEST_CASE(a_long_error_keeps_its_number_and_both_its_ends) {
  constexpr std::size_t kMost = std::size_t{64} << 10;
  const std::string name(std::size_t{2} << 20, 'n');
  const Error error(EINVAL, "entry " + name + " has no end");
  BOOST_TEST(failed_message(error).size() <= kMost + 16);
  // Whoever has taken the program over does not cut off.
  const std::string whole = "failed 22\nentry " + name + " has no end" + '\0';
  for (const std::string& text : {failed_message(error), whole}) {
    const UnpackReport report = must(report_of(text));
    BOOST_REQUIRE(report.error.has_value());
    BOOST_TEST(report.error->number() == EINVAL);
    BOOST_TEST(report.error->message().starts_with("entry nnn"));
    BOOST_TEST(report.error->message().ends_with("nnn has no end: invalid argument"));
    BOOST_TEST(report.error->message().size() <= kMost + 100);
  }
}

BOOST_AUTO_TEST_SUITE_END()
