#include "pods/run/logs/reader.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>
#include <utility>
#include <vector>

#include "linux/base/patience.hpp"
#include "linux/base/syscalls.hpp"
#include "pods/run/logs/writer.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kLongest = 1 << 20;

class Reader {
 public:
  Reader(Fd directory, const std::string& name, const LogQuery& query,
         const std::function<Result<void>(const LogLine&)>& line)
      : directory_(directory), name_(name), query_(query), line_(line) {}

  Result<void> run(const std::function<bool()>& ended) {
    OCIRUN_TRY(advance());
    if (!file_ && !query_.follow) return fail(ENOENT, "open the log {}", log_file_name(name_, 0));
    if (query_.follow) OCIRUN_TRY(end_of_tail());
    linux::Patience patience(std::chrono::hours(1));
    while (query_.follow) {
      const bool is_over = ended && ended();  // asked first: what is read below is all there is
      OCIRUN_TRY_ASSIGN(const bool is_news, advance());
      if (is_over) break;
      if (is_news || !patience.wait()) patience = linux::Patience(std::chrono::hours(1));
    }
    for (auto& waiting : unfinished_)
      if (waiting) OCIRUN_TRY(pass(*std::exchange(waiting, std::nullopt)));
    return end_of_tail();
  }

 private:
  /// Reads the rest of the open file, then the files that are newer. Returns whether lines came.
  Result<bool> advance() {
    // The list is made first: once a newer file exists, nobody writes to the open file any more.
    OCIRUN_TRY_ASSIGN(auto newer, newer_files());
    OCIRUN_TRY_ASSIGN(bool is_news, read_rest());
    for (; !newer.empty(); newer.pop_back()) {
      file_ = std::move(newer.back());
      OCIRUN_TRY_ASSIGN(const bool more, read_rest());
      is_news = is_news || more;
    }
    return is_news;
  }

  /// The files that are newer than the open file, the newest first. A rotation meanwhile moves
  /// files to higher numbers, so a file may be met twice, but is not missed; one number may be
  /// free.
  Result<std::vector<UniqueFd>> newer_files() {
    std::vector<UniqueFd> files;
    unsigned missing = 0;
    for (unsigned age = 0; missing < 2; ++age) {
      auto file = open_log_file(directory_, log_file_name(name_, age), O_RDONLY);
      if (is_missing(file)) {
        ++missing;
        continue;
      }
      if (!file) return std::unexpected(std::move(file).error());
      missing = 0;
      if (file_) {
        OCIRUN_TRY_ASSIGN(const bool is_open, linux::sys::is_same_file(*file, file_));
        if (is_open) break;
      }
      bool is_known = false;
      for (const UniqueFd& other : files) {
        OCIRUN_TRY_ASSIGN(const bool is_same, linux::sys::is_same_file(*file, other));
        is_known = is_known || is_same;
      }
      if (is_known) continue;
      files.push_back(*std::move(file));
    }
    return files;
  }

  Result<bool> read_rest() {
    bool is_news = false;
    std::string buffer(1 << 16, '\0');
    while (file_) {
      const ssize_t got = ::read(file_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return fail(errno, "read the log {}", log_file_name(name_, 0));
      if (got == 0) break;
      const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
      is_news = is_news || bytes.find('\n') != std::string_view::npos;
      OCIRUN_TRY(take(bytes));
    }
    // The writer may take an unfinished line back (a full disk), so the next turn reads that line
    // again.
    const auto unfinished = static_cast<off_t>(rest_.size());
    if (unfinished > 0 && ::lseek(file_.get(), -unfinished, SEEK_CUR) < 0)
      return fail(errno, "go back in the log {}", log_file_name(name_, 0));
    rest_.clear();
    return is_news;
  }

  Result<void> take(std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos;
         bytes.remove_prefix(end + 1)) {
      rest_.append(bytes.substr(0, end));
      if (auto parsed = parse_line(rest_)) OCIRUN_TRY(join(*std::move(parsed)));
      rest_.clear();
    }
    // A foreign line without end must not fill the memory; the rest of such a line is damaged.
    if (rest_.size() > kLongest) rest_.clear();
    rest_.append(bytes);
    return {};
  }

  Result<void> join(LogLine piece) {
    auto& waiting = unfinished_[static_cast<std::size_t>(piece.stream)];
    if (waiting) {
      waiting->text += piece.text;
      waiting->whole = piece.whole;
    } else {
      waiting = std::move(piece);
    }
    if (!waiting->whole && waiting->text.size() < kLongest) return {};
    return pass(*std::exchange(waiting, std::nullopt));
  }

  Result<void> pass(LogLine line) {
    if (query_.since && std::pair(line.time.tv_sec, line.time.tv_nsec) <
                            std::pair(query_.since->tv_sec, query_.since->tv_nsec))
      return {};
    if (!query_.tail) return line_(line);
    last_.push_back(std::move(line));
    if (last_.size() > *query_.tail) last_.pop_front();
    return {};
  }

  Result<void> end_of_tail() {
    query_.tail.reset();
    for (; !last_.empty(); last_.pop_front()) OCIRUN_TRY(line_(last_.front()));
    return {};
  }

  Fd directory_;
  const std::string& name_;
  LogQuery query_;
  const std::function<Result<void>(const LogLine&)>& line_;
  UniqueFd file_;
  std::string rest_;  // of the open file: a line without line break yet
  std::array<std::optional<LogLine>, 2> unfinished_;
  std::deque<LogLine> last_;
};

}  // namespace

Result<void> read_log(Fd directory, const std::string& name, const LogQuery& query,
                      const std::function<Result<void>(const LogLine&)>& line,
                      const std::function<bool()>& ended) {
  return Reader(directory, name, query, line).run(ended);
}

}  // namespace ocirun::pods
