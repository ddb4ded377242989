#include "pods/prepare/new_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/directories.hpp"
#include "linux/files/safe_dir.hpp"
#include "linux/process/exec.hpp"
#include "linux/sealed/own_program.hpp"

namespace ocirun::pods {
namespace {

namespace sys = linux::sys;

constexpr std::string_view kMade = "made", kKeep = "keep";

/// What the keeper does. Writes kMade or the lines of an error to `answer`, then waits for the end
/// of `life`.
void keep_directory(Fd parent, const std::string& name, UniqueFd answer, Fd life) {
  ::setsid();  // the signals of the terminal are for the caller
  linux::close_descriptors_but(std::array{parent, Fd(answer), life});
  const auto made = sys::mkdirat(parent, name.c_str(), 0700);
  ignore(linux::write_all(answer, made ? std::string(kMade) : linux::error_lines(made.error())));
  answer.reset();
  const auto word = sys::read_all(life, kKeep.size());
  if (made && (!word || *word != kKeep)) ignore(linux::remove_tree(parent, name.c_str()));
}

}  // namespace

Result<NewDirectory> NewDirectory::make(const HostPath& path) {
  OCIRUN_TRY_ASSIGN(const UniqueFd parent, linux::open_parent(path));
  OCIRUN_TRY_ASSIGN(const auto split, linux::SafeDir::split(RootfsPath(path.string())));
  const std::string& name = split.second;
  OCIRUN_TRY_ASSIGN(linux::Pipe life, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Pipe answer, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child keeper, linux::clone_process(0, Fd{-1}, linux::Parentage::kMine));
  if (keeper.pid == 0) {
    life.writer.reset();
    keep_directory(parent, name, std::move(answer.writer), life.reader);
    ::_exit(0);
  }
  NewDirectory made({}, path.string(), std::move(keeper), std::move(life.writer));
  life.reader.reset();
  answer.writer.reset();
  constexpr std::size_t kMostError = std::size_t{1} << 20;
  OCIRUN_TRY_ASSIGN(const std::string text, sys::read_all(answer.reader, kMostError));
  if (text != kMade) {
    Error error = linux::parse_error_lines(text, "make the directory");
    if (error.number() != EEXIST) return std::unexpected(std::move(error));
    return refuse("{} exists: the bundles are written into a new directory", path.string());
  }
  OCIRUN_TRY_ASSIGN(made.directory_,
                    sys::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  return made;
}

NewDirectory::~NewDirectory() {
  if (keeper_.pid == 0) return;
  life_.reset();
  ignore(linux::wait_for_child(keeper_.pid));
}

void NewDirectory::keep() { ignore(linux::write_all(life_, kKeep)); }

}  // namespace ocirun::pods
