#include "bundle/documents/added_mounts.hpp"

#include "bundle/json/record.hpp"

namespace ocirun::bundle {
namespace {

constexpr std::size_t kMostMountBytes = std::size_t{1} << 20;

constexpr auto kAddedMount =
    exact_fields<AddedMount>(required("id", &AddedMount::id, whole_number),
                             required("number", &AddedMount::number, whole_number),
                             required("mount", &AddedMount::document, nonempty_text));

constexpr auto kMountTable = exact_fields<AddedMounts>(
    required("format", &AddedMounts::format, RecordFormat{1}),
    required("mountNamespace", &AddedMounts::mount_namespace, whole_number),
    required("mounts", &AddedMounts::mounts, list_of(kAddedMount)));

}  // namespace

Result<void> write_added_mounts(Fd directory, const AddedMounts& added) {
  constexpr std::size_t kMostEscapes = 2;  // a character of JSON in a text of JSON: \"
  constexpr std::size_t kMostNumbers = 100;
  std::size_t bytes = kMostNumbers;
  for (const AddedMount& mount : added.mounts)
    bytes += mount.document.size() * kMostEscapes + kMostNumbers;
  if (bytes > kMostMountBytes)
    return refuse("the container would have too many added mounts: {} would have more than 1 MiB",
                  kAddedMounts);
  return replace_record(directory, kAddedMounts, kMountTable, added);
}

Result<AddedMounts> read_added_mounts(Fd directory) {
  auto read = read_record(directory, kAddedMounts, kMostMountBytes, kMountTable);
  if (is_missing(read)) return AddedMounts();
  return read;
}

}  // namespace ocirun::bundle
