#include "pods/images/source_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "bundle/json/writer.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/images/archive_files.hpp"

namespace ocirun::pods {
namespace {

class DirectoryFiles : public SourceFiles {
 public:
  explicit DirectoryFiles(UniqueFd directory) : directory_(std::move(directory)) {}

  Result<FileRange> open(const std::string& name) const override {
    // O_NONBLOCK: nobody may make this wait with a fifo.
    TRY_ASSIGN(UniqueFd file, directory_.open(RootfsPath(name), O_RDONLY | O_NONBLOCK | O_NOCTTY,
                                              linux::SafeDir::Symlinks::kRefuse));
    TRY_ASSIGN(const struct stat info, linux::sys::fstat(file));
    if (!S_ISREG(info.st_mode))
      return refuse("{}: must be a regular file", bundle::in_quotes(name));
    return FileRange(std::move(file));
  }

 private:
  linux::SafeDir directory_;
};

}  // namespace

Result<std::unique_ptr<SourceFiles>> open_source_files(const HostPath& path,
                                                       const SourceOptions& options) {
  TRY_ASSIGN(UniqueFd opened, linux::sys::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY));
  TRY_ASSIGN(const struct stat info, linux::sys::fstat(opened));
  if (S_ISDIR(info.st_mode))
    return std::unique_ptr<SourceFiles>(std::make_unique<DirectoryFiles>(std::move(opened)));
  if (!S_ISREG(info.st_mode)) return refuse("{}: neither a directory nor a file", path.string());
  return within(open_archive_files(std::move(opened), options), path.string());
}

}  // namespace ocirun::pods
