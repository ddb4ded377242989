#include "bundle/documents/life.hpp"

#include "bundle/json/record.hpp"

namespace ocirun::bundle {
namespace {

constexpr std::size_t kMostLifeBytes = 4096;
constexpr Range kStatus = range(0, 255);
constexpr Range kSignal = range(1, 64);

constexpr auto kLifeTable =
    exact_fields<LifeRecord>(required("format", &LifeRecord::format, RecordFormat{1}),
                             field("started", &LifeRecord::started, nonempty_text),
                             field("finished", &LifeRecord::finished, nonempty_text),
                             field("exitStatus", &LifeRecord::exit_status, kStatus),
                             field("exitSignal", &LifeRecord::exit_signal, kSignal),
                             field("oomKilled", &LifeRecord::oom_killed, flag));

}  // namespace

Result<void> write_life(Fd directory, const LifeRecord& life) {
  return replace_record(directory, kLife, kLifeTable, life);
}

Result<LifeRecord> read_life(Fd directory) {
  auto read = read_record(directory, kLife, kMostLifeBytes, kLifeTable);
  if (is_missing(read)) return LifeRecord();
  return read;
}

}  // namespace ocirun::bundle
