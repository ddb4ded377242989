#include "pods/plan/bindings.hpp"

#include <dirent.h>
#include <fcntl.h>

#include "linux/base/directory_entries.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {
namespace {

constexpr std::size_t kMostBytes = 1024 * 1024;

Result<UniqueFd> open_secret(const Bindings& bindings, const std::string& secret) {
  const auto directory = bindings.secrets.find(secret);
  if (directory == bindings.secrets.end())
    return refuse("the secret \"{0}\" is not given: --secret {0}=DIR", secret);
  return linux::sys::open(directory->second.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

Result<std::string> read_key(Fd directory, const std::string& key) {
  if (key.empty() || key.contains('/') || key == "." || key == "..")
    return refuse("the key \"{}\" is no name of a file", key);
  TRY_ASSIGN(std::string value, linux::read_file(directory, key, kMostBytes));
  if (value.contains('\0')) return refuse("{}: a variable cannot hold NUL", key);
  return value;
}

}  // namespace

Result<std::string> read_secret(const Bindings& bindings, const SecretKey& key) {
  TRY_ASSIGN(const UniqueFd directory, open_secret(bindings, key.secret));
  return within(read_key(directory, key.key), fmt::format("secret \"{}\"", key.secret));
}

Result<std::map<std::string, std::string>> read_secrets(const Bindings& bindings,
                                                        const std::string& secret) {
  TRY_ASSIGN(const UniqueFd directory, open_secret(bindings, secret));
  std::map<std::string, std::string> values;
  const auto read = [&](const char* name, unsigned char type) -> Result<void> {
    const std::string key(name);
    // Kubernetes keeps the files of a secret in directories whose names begin with "..".
    if (type == DT_DIR || key.starts_with("..") || key.contains('=')) return {};
    TRY_ASSIGN(values[key], read_key(directory, key));
    return {};
  };
  TRY(within(linux::for_each_entry(directory, read), fmt::format("secret \"{}\"", secret)));
  return values;
}

}  // namespace ocirun::pods
