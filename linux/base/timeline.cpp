#include "linux/base/timeline.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace ocirun::linux::timeline {

namespace {

constexpr std::size_t kMostEntries = 8192;

}  // namespace

// The memory comes from mmap(2), which fills it with zeros.
struct Board {
  std::size_t used;  // atomic; may pass kMostEntries: the rest is lost
  Entry entries[kMostEntries];
};

Board* board = nullptr;

namespace {

Board* whole = nullptr;  // the board, also of a process that makes no entries
const char* lane = kFirstLane;
Entry* present_step = nullptr;
std::uint32_t faults_before_step = 0;

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::uint32_t faults_so_far() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::uint32_t>(usage.ru_minflt + usage.ru_majflt);
}

template <std::size_t size>
void copy(char (&to)[size], std::string_view text) {
  const std::size_t count = std::min(text.size(), size - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

/// Writes the next entry. `begin` is stored last: an entry without is not written yet. nullptr:
/// there is no room.
Entry* add(std::string_view to_lane, Kind kind, std::string_view name, std::string_view object,
           std::int64_t begin, std::int64_t end) {
  const std::size_t index = std::atomic_ref(board->used).fetch_add(1);
  if (index >= kMostEntries) return nullptr;
  Entry& entry = board->entries[index];
  entry.end = end;
  entry.kind = kind;
  copy(entry.lane, to_lane);
  copy(entry.name, name);
  copy(entry.object, object);
  std::atomic_ref(entry.begin).store(begin);
  return &entry;
}

bool is_sound(const Entry& entry, std::int64_t present) {
  return entry.begin > 0 && entry.begin <= present && entry.kind <= Kind::kProgram &&
         (entry.end == Entry::kOpen || (entry.end >= entry.begin && entry.end <= present));
}

}  // namespace

Result<void> begin() {
  // MAP_POPULATE: the pages are accounted to this process, and cost no page faults of a step.
  void* const memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return fail(errno, "memory for the timeline");
  board = whole = static_cast<Board*>(memory);
  return {};
}

std::vector<Entry> entries() {
  std::vector<Entry> list;
  if (whole == nullptr) return list;
  const std::size_t used = std::min(std::atomic_ref(whole->used).load(), kMostEntries);
  const std::int64_t present = now();
  for (std::size_t index = 0; index < used; ++index) {
    Entry& written = whole->entries[index];
    if (std::atomic_ref(written.begin).load() == 0) continue;
    Entry entry = written;
    entry.lane[sizeof entry.lane - 1] = '\0';
    entry.name[sizeof entry.name - 1] = '\0';
    entry.object[sizeof entry.object - 1] = '\0';
    if (is_sound(entry, present)) list.push_back(entry);
  }
  return list;
}

std::size_t lost() {
  if (whole == nullptr) return 0;
  return std::max(std::atomic_ref(whole->used).load(), kMostEntries) - kMostEntries;
}

void name_lane(const char* name) {
  lane = name;
  board = whole;
}

void mute() {
  board = nullptr;
  present_step = nullptr;  // the clone must not end the step of the process that it is a copy of
}

void leave(const char* name) {
  step(name);
  mute();
}

void enter_step(const char* name, std::string_view object) {
  end_step();
  faults_before_step = faults_so_far();
  present_step = add(lane, Kind::kStep, name, object, now(), Entry::kOpen);
}

void end_step() {
  if (present_step == nullptr) return;
  present_step->faults = faults_so_far() - faults_before_step;
  std::atomic_ref(present_step->end).store(now());
  present_step = nullptr;
}

void Lane::enter(const char* name) {
  end();
  present_ = add(name_, Kind::kStep, name, "", now(), Entry::kOpen);
}

void Lane::end() {
  if (present_ != nullptr) std::atomic_ref(present_->end).store(now());
  present_ = nullptr;
}

void Span::begin(Kind kind, const char* name, std::string_view object) {
  begin_ = now();
  kind_ = kind;
  name_ = name;
  object_ = object;
}

void Span::end() const {
  if (!is_on()) return;
  const std::int64_t end = now();
  if (kind_ != Kind::kCall || end - begin_ >= kShortest)
    add(lane, kind_, name_, object_, begin_, end);
}

}  // namespace ocirun::linux::timeline
