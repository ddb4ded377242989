#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

// The timeline of one command and of the processes that it clones. Without a timeline a Span costs
// one branch.
namespace ocirun::linux::timeline {

/// kStep: a part of a process's work; the steps of one process do not overlap. kCall: a system
/// call. kWait: the process waits for another one. kProgram: the life of a program.
enum class Kind : std::uint8_t { kStep, kCall, kWait, kProgram };

struct Entry {
  static constexpr std::int64_t kOpen = 0;
  std::int64_t begin, end;  // ns of CLOCK_REALTIME, which is the same in all time namespaces
  std::uint32_t faults;     // page faults, of a step that is not open
  Kind kind;
  char lane[64];     // the process: "ocirun", "init"
  char name[48];     // C strings; a longer text is cut off
  char object[112];  // the file, mount or program that `name` is about; ""
};

/// Begins a timeline in memory that this process and its clones share until execve(2). A system
/// call shorter than kShortest gets no entry. Errors: ENOMEM.
Result<void> begin();
inline constexpr std::int64_t kShortest = 50'000;  // ns

/// The entries so far, in the order in which they were written. Leaves out what no process of the
/// command can have written: a program that may trace a process of the command can write to its
/// memory.
std::vector<Entry> entries();
/// The number of entries for which there was no room.
std::size_t lost();

/// The lane of the command's own process.
inline constexpr char kFirstLane[] = "ocirun";
/// Called in a clone, which makes no entries before: names the lane of this process. The text must
/// live as long as the process.
void name_lane(const char* lane);
/// Called at the begin of each clone. From here on the process makes no entries.
void mute();
/// Called before a seccomp filter is loaded that may refuse the calls of an entry. Enters the step
/// `name`, which stays open, and makes no entries from here on.
void leave(const char* name);

struct Board;
extern Board* board;  // nullptr: this process makes no entries
inline bool is_on() { return board != nullptr; }

/// Ends the step of this process that was entered last, and enters the next.
void enter_step(const char* name, std::string_view object);
inline void step(const char* name, std::string_view object = "") {
  if (is_on()) [[unlikely]]
    enter_step(name, object);
}
void end_step();

/// A lane beside that of the process, for work that the process only watches, such as the start of
/// one of several containers. The steps of a lane do not overlap.
class Lane {
 public:
  explicit Lane(std::string_view name) : name_(name) {}

  /// Ends the last step, and begins the next.
  void step(const char* name) {
    if (is_on()) [[unlikely]]
      enter(name);
  }
  void end();

 private:
  void enter(const char* name);

  std::string name_;
  Entry* present_ = nullptr;
};

/// An entry from the construction to the destruction. The texts must live as long.
class Span {
 public:
  template <typename Text>
  Span(Kind kind, const char* name, const Text& object) {
    if (is_on()) [[unlikely]]
      begin(kind, name, object);
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() {
    if (begin_ != 0) [[unlikely]]
      end();
  }
  /// What is known only later.
  void set_object(std::string_view object) { object_ = object; }

 private:
  void begin(Kind kind, const char* name, std::string_view object);
  void end() const;

  std::int64_t begin_ = 0;
  Kind kind_ = Kind::kCall;
  const char* name_ = nullptr;
  std::string_view object_;
};

struct Call : Span {
  template <typename Text = const char*>
  explicit Call(const char* name, const Text& object = "") : Span(Kind::kCall, name, object) {}
};
struct Wait : Span {
  template <typename Text = const char*>
  explicit Wait(const char* name, const Text& object = "") : Span(Kind::kWait, name, object) {}
};
struct ProgramSpan : Span {
  template <typename Text = const char*>
  explicit ProgramSpan(const char* name, const Text& object = "")
      : Span(Kind::kProgram, name, object) {}
};

}  // namespace ocirun::linux::timeline
