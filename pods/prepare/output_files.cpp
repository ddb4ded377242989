#include "pods/prepare/output_files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

Result<void> write_files(Fd directory, std::span<const OutputFile> files, mode_t mode) {
  std::vector<std::string> made;
  const auto write = [&]() -> Result<void> {
    for (const OutputFile& file : files) {
      const bool is_new = !linux::sys::openat(directory, file.name.c_str(), O_PATH | O_NOFOLLOW);
      TRY(within(linux::replace_file(directory, file.name, file.text, mode), file.name));
      if (is_new) made.push_back(file.name);
    }
    return {};
  };
  auto written = write();
  if (!written)
    for (const std::string& name : made)
      static_cast<void>(linux::sys::unlinkat(directory, name.c_str(), 0));
  return written;
}

Result<void> check_own_file(Fd directory, const std::string& name, std::string_view first_words,
                            std::string_view writer) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  const auto text = linux::read_file(directory, name, kMost, O_NOFOLLOW);
  if (!text && text.error().number() == ENOENT) return {};
  if (text && text->starts_with(first_words)) return {};
  if (!text) return within(Result<void>(std::unexpected(text.error())), name);
  return fail(EEXIST, "{} was not written by `ocirun pod {}`", name, writer);
}

}  // namespace ocirun::pods
