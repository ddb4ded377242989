#include "pods/images/unpack_job.hpp"

#include <unistd.h>

#include <cerrno>
#include <type_traits>

#include "linux/base/text.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {
namespace {

constexpr std::string_view kLayerWord = "layer", kIndexWord = "index";  // the first words
constexpr std::size_t kLongestMessage = std::size_t{3} << 20;  // bytes: two names of 1 MiB, or less
constexpr std::size_t kLongestError = std::size_t{64} << 10;   // bytes

// The first words of messages.
constexpr std::string_view kRead = "read", kDone = "done", kMember = "member", kFailed = "failed";

/// Calls `visit` for each number of a job, in the order of the words.
template <typename Job, typename Visit>
  requires std::is_same_v<std::remove_const_t<Job>, LayerJob>
void each_number(Job& job, Visit visit) {
  visit(job.offset);
  visit(job.size);
  visit(job.layer.size);
  visit(job.reports_progress);
  visit(job.options.mark);
  visit(job.options.devices);
  visit(job.options.limits.entries);
  visit(job.options.limits.bytes);
  visit(job.options.limits.names.path);
  visit(job.options.limits.names.component);
  visit(job.options.limits.names.depth);
  visit(job.options.image.entries);
  visit(job.options.image.bytes);
  visit(job.options.before.entries);
  visit(job.options.before.bytes);
}

template <typename Job, typename Visit>
  requires std::is_same_v<std::remove_const_t<Job>, IndexJob>
void each_number(Job& job, Visit visit) {
  visit(job.compression);
  visit(job.most_bytes);
  visit(job.most_entries);
}

template <typename Job>
std::vector<std::string> numbers_of(std::string_view verb, const Job& job) {
  std::vector<std::string> words{std::string(verb)};
  each_number(job, [&](auto value) {
    words.push_back(fmt::format("{}", static_cast<std::uint64_t>(value)));
  });
  return words;
}

/// Removes the first word and the numbers from `words`. Returns nothing if they are not those of
/// the job.
template <typename Job>
std::optional<Job> take_numbers(std::string_view verb, std::span<const std::string>& words) {
  Job job;
  if (words.empty() || words.front() != verb) return std::nullopt;
  words = words.subspan(1);
  bool is_good = true;
  each_number(job, [&](auto& value) {
    const auto given = words.empty() ? std::nullopt : linux::number(words.front());
    is_good = is_good && given.has_value();
    if (!is_good) return;
    value = static_cast<std::remove_reference_t<decltype(value)>>(*given);
    words = words.subspan(1);
  });
  if (!is_good) return std::nullopt;
  return job;
}

std::string message(std::string text) {
  text += '\0';
  return text;
}

/// The text of an error. Cuts the middle out of a long text.
std::string shortened(std::string_view text) {
  constexpr std::string_view kLeftOut = " ... ";
  constexpr std::size_t kHalf = (kLongestError - kLeftOut.size()) / 2;
  if (text.size() <= kLongestError) return std::string(text);
  return fmt::format("{}{}{}", text.substr(0, kHalf), kLeftOut, text.substr(text.size() - kHalf));
}

/// Returns nothing for a text that ocirun-unpack does not write.
std::optional<UnpackedLayer> parse_done(std::string_view rest) {
  UnpackedLayer out;
  for (std::uint64_t* const field :
       {&out.entries, &out.bytes, &out.devices_left_out, &out.attributes_left_out}) {
    const auto value = linux::number(linux::cut(rest, ' '));
    if (!value) return std::nullopt;
    *field = *value;
  }
  return out;
}

std::optional<ArchiveMember> parse_member(std::string_view rest) {
  ArchiveMember out;
  const auto kind = linux::number(linux::cut(rest, ' '));
  const auto offset = linux::number(linux::cut(rest, ' '));
  const auto size = linux::number(linux::cut(rest, ' '));
  const auto length = linux::number<std::size_t>(linux::cut(rest, ' '));
  if (!kind || *kind > static_cast<std::uint64_t>(ArchiveMember::Kind::kOther)) return std::nullopt;
  if (!offset || !size || !length || *length > rest.size()) return std::nullopt;
  out.kind = static_cast<ArchiveMember::Kind>(*kind);
  out.offset = *offset;
  out.size = *size;
  out.name = rest.substr(0, *length);
  out.target = rest.substr(*length);
  return out;
}

}  // namespace

std::vector<std::string> words_of(const LayerJob& job) {
  std::vector<std::string> words = numbers_of(kLayerWord, job);
  const LayerBlob& layer = job.layer;
  words.push_back(layer.file);
  words.push_back(layer.digest ? layer.digest->text() : "");
  words.emplace_back(layer.compression ? compression_name(*layer.compression) : "");
  words.push_back(layer.diff_id.text());
  words.insert(words.end(), job.below.begin(), job.below.end());
  return words;
}

std::vector<std::string> words_of(const IndexJob& job) { return numbers_of(kIndexWord, job); }

std::optional<LayerJob> parse_layer_job(std::span<const std::string> words) {
  auto job = take_numbers<LayerJob>(kLayerWord, words);
  if (!job || words.size() < 4) return std::nullopt;
  LayerBlob& layer = job->layer;
  layer.file = words[0];
  if (!words[1].empty()) {
    auto digest = Digest::parse(words[1]);
    if (!digest) return std::nullopt;
    layer.digest = *std::move(digest);
  }
  for (const Compression known : {Compression::kNone, Compression::kGzip, Compression::kZstd})
    if (words[2] == compression_name(known)) layer.compression = known;
  auto diff_id = Digest::parse(words[3]);
  if (!diff_id) return std::nullopt;
  layer.diff_id = *std::move(diff_id);
  job->below.assign(words.begin() + 4, words.end());
  return job;
}

std::optional<IndexJob> parse_index_job(std::span<const std::string> words) {
  auto job = take_numbers<IndexJob>(kIndexWord, words);
  if (!words.empty()) return std::nullopt;
  return job;
}

std::string progress_message(std::uint64_t bytes) {
  return message(fmt::format("{} {}", kRead, bytes));
}

std::string done_message(const UnpackedLayer& unpacked) {
  return message(fmt::format("{} {} {} {} {}", kDone, unpacked.entries, unpacked.bytes,
                             unpacked.devices_left_out, unpacked.attributes_left_out));
}

std::string member_message(const ArchiveMember& member) {
  return message(fmt::format("{} {} {} {} {} {}{}", kMember, static_cast<int>(member.kind),
                             member.offset, member.size, member.name.size(), member.name,
                             member.target));
}

std::string failed_message(const Error& error) {
  return message(fmt::format("{} {}", kFailed, shortened(linux::error_lines(error))));
}

Result<UnpackReport> read_report(
    Fd from, const std::function<void(std::uint64_t)>& on_progress,
    const std::function<Result<void>(const ArchiveMember&)>& on_member) {
  UnpackReport report;
  const auto take = [&](std::string_view text) -> Result<void> {
    const std::string_view verb = linux::cut(text, ' ');
    if (verb == kDone) report.done = parse_done(text);
    if (verb == kFailed)
      report.error =
          linux::parse_error_lines(linux::without_controls(shortened(text)), "read an archive");
    if (const auto bytes = linux::number(text); verb == kRead && bytes && on_progress)
      on_progress(*bytes);
    if (verb != kMember || !on_member) return {};
    const auto member = parse_member(text);
    if (!member) return refuse("the report of {} is damaged", kUnpackProgram);
    return on_member(*member);
  };
  std::string text;
  char block[16384];
  for (;;) {
    const ssize_t got = ::read(from.value, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(errno, "read the report of {}", kUnpackProgram);
    if (got == 0) return report;
    text.append(block, static_cast<std::size_t>(got));
    std::string_view rest = text;
    for (std::size_t end; (end = rest.find('\0')) != std::string_view::npos;) {
      OCIRUN_TRY(take(rest.substr(0, end)));
      rest.remove_prefix(end + 1);
    }
    text.erase(0, text.size() - rest.size());
    if (text.size() > kLongestMessage)
      return refuse("the report of {} is too long", kUnpackProgram);
  }
}

}  // namespace ocirun::pods
