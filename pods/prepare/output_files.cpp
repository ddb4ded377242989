#include "pods/prepare/output_files.hpp"

#include <fcntl.h>

#include <cerrno>
#include <optional>
#include <ranges>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

OutputFiles::~OutputFiles() {
  for (const Made& made : made_ | std::views::reverse)
    ignore(linux::sys::unlinkat(made.parent, made.name.c_str(), made.flags));
}

Result<Fd> OutputFiles::open_or_make(Fd parent, const std::string& name) {
  const auto made = linux::sys::mkdirat(parent, name.c_str(), 0755);
  if (!made && made.error().number() != EEXIST) return std::unexpected(made.error());
  if (made) made_.push_back({.parent = parent, .name = name, .flags = AT_REMOVEDIR});
  // Below a directory of the output, a symlink of somebody else leads to other files.
  const int symlinks = parent.value == AT_FDCWD ? 0 : O_NOFOLLOW;
  OCIRUN_TRY_ASSIGN(
      UniqueFd directory,
      linux::sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | symlinks));
  const Fd kept = directories_.emplace_back(std::move(directory));
  return kept;
}

Result<void> OutputFiles::write(Fd directory, const std::string& name, std::string_view text,
                                mode_t mode) {
  const bool is_new = !linux::sys::openat(directory, name.c_str(), O_PATH | O_NOFOLLOW);
  OCIRUN_TRY(within(linux::replace_file(directory, name, text, mode), name));
  if (is_new) made_.push_back({.parent = directory, .name = name, .flags = 0});
  return {};
}

namespace {

/// The text of the file `name`; nothing if it is absent. Errors: it is no regular file.
Result<std::optional<std::string>> text_of_file(Fd directory, const std::string& name) {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  auto text = linux::read_file(directory, name, kMost, O_NOFOLLOW);
  if (text) return *std::move(text);
  if (text.error().number() == ENOENT) return std::nullopt;
  return within(Result<std::optional<std::string>>(std::unexpected(text.error())), name);
}

}  // namespace

Result<bool> check_own_file(Fd directory, const std::string& name, std::string_view first_words,
                            std::string_view command) {
  OCIRUN_TRY_ASSIGN(const auto text, text_of_file(directory, name));
  if (!text) return false;
  if (text->starts_with(first_words)) return true;
  return fail(EEXIST, "{} was not written by `ocirun pod {}`", name, command);
}

Result<void> check_same_file(Fd directory, const std::string& name, std::string_view text) {
  OCIRUN_TRY_ASSIGN(const auto there, text_of_file(directory, name));
  if (!there || *there == text) return {};
  return fail(EEXIST,
              "{} has another content, and no compose.yaml beside its directory says that `ocirun "
              "pod export` has written it",
              name);
}

}  // namespace ocirun::pods
