#include "shim/options/runtime_record.hpp"

#include <fcntl.h>

#include "bundle/json/record.hpp"
#include "linux/base/syscalls.hpp"
#include "shim/options/runtime_program.hpp"

namespace ocirun::shim {
namespace {

constexpr char kRecordFile[] = "shim.json";
constexpr std::size_t kMostRecord = 65536;
constexpr int kRecordFormat = 1;

constexpr auto kRecord = bundle::exact_fields<RuntimeRecord>(
    bundle::required("format", &RuntimeRecord::format, bundle::RecordFormat{kRecordFormat}),
    bundle::required("runtime", &RuntimeRecord::runtime, bundle::absolute_path),
    bundle::required("root", &RuntimeRecord::root, bundle::absolute_path),
    bundle::required("systemdCgroup", &RuntimeRecord::systemd_cgroup, bundle::flag));

}  // namespace

Result<RuntimeRecord> choose_runtime(const RuntimeOptions& options,
                                     const std::string& container_namespace) {
  RuntimeRecord record;
  OCIRUN_TRY_ASSIGN(record.runtime, find_runtime(options.binary_name));
  record.root = runtime_root(options.root, container_namespace);
  record.systemd_cgroup = options.systemd_cgroup;
  return record;
}

Result<void> write_runtime_record(const std::string& bundle, const RuntimeRecord& record) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory,
                    linux::sys::open(bundle.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return bundle::replace_record(directory, kRecordFile, kRecord, record);
}

Result<RuntimeRecord> read_runtime_record(Fd bundle, const std::string& container_namespace) {
  auto record = bundle.value < 0 ? Result<RuntimeRecord>(fail(ENOENT, "{}", kRecordFile))
                                 : bundle::read_record(bundle, kRecordFile, kMostRecord, kRecord);
  return is_missing(record) ? choose_runtime({}, container_namespace) : record;
}

}  // namespace ocirun::shim
