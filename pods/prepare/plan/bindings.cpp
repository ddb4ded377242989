#include "pods/prepare/plan/bindings.hpp"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"

namespace ocirun::pods {

namespace {

constexpr std::size_t kMostBytesOfKey = 1024 * 1024;

using Values = std::map<std::string, std::string>;

/// How an error about a secret or a config map begins.
std::string frame_of(const std::string& secret) {
  if (!secret.starts_with(kConfigMapPrefix)) return fmt::format("secret \"{}\"", secret);
  return fmt::format("config map \"{}\"", secret.substr(kConfigMapPrefix.size()));
}

std::unexpected<Error> not_given(const std::string& secret) {
  return refuse("the {} is not given: --secret {}=DIR", frame_of(secret), secret);
}

Result<UniqueFd> open_secret(const HostPath& directory) {
  return linux::sys::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
}

Result<std::string> read_key(Fd directory, const std::string& key) {
  if (key.empty() || key.contains('/') || key == "." || key == "..")
    return refuse("the key \"{}\" is no name of a file", key);
  return linux::read_file(directory, key, kMostBytesOfKey);
}

Result<void> check_variable(const std::string& key, const std::string& value) {
  if (!value.contains('\0')) return {};
  return refuse("{}: a variable cannot hold NUL", key);
}

/// Kubernetes keeps the files of a secret in directories whose names begin with "..".
Result<Values> read_directory(const HostPath& path) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_secret(path));
  Values values;
  const auto read = [&](const char* name, unsigned char type) -> Result<void> {
    const std::string key(name);
    if (type == DT_DIR || key.starts_with("..")) return {};
    OCIRUN_TRY_ASSIGN(values[key], read_key(directory, key));
    return {};
  };
  OCIRUN_TRY(linux::for_each_entry(directory, read));
  return values;
}

}  // namespace

bool Secrets::have(const std::string& secret) const {
  return bindings.secrets.contains(secret) || pod.key_documents.contains(secret);
}

Result<std::optional<std::string>> Secrets::variable(const SecretKey& key) const {
  if (!have(key.secret)) {
    if (key.is_optional) return std::nullopt;
    return not_given(key.secret);
  }
  const auto given = bindings.secrets.find(key.secret);
  const auto document = pod.key_documents.find(key.secret);
  auto found = [&]() -> Result<std::optional<std::string>> {
    std::string value;
    if (given != bindings.secrets.end()) {
      OCIRUN_TRY_ASSIGN(const UniqueFd directory, open_secret(given->second));
      auto read = read_key(directory, key.key);
      if (!read && read.error().number() == ENOENT && key.is_optional) return std::nullopt;
      OCIRUN_TRY_ASSIGN(value, std::move(read));
    } else {
      const auto kept = document->second.keys.find(key.key);
      const bool is_there = kept != document->second.keys.end() && !kept->second.is_binary;
      if (!is_there && key.is_optional) return std::nullopt;
      if (!is_there) return refuse("the document has no key \"{}\" for a variable", key.key);
      value = kept->second.bytes;
    }
    OCIRUN_TRY(check_variable(key.key, value));
    return value;
  }();
  return within(std::move(found), frame_of(key.secret));
}

Result<Values> Secrets::variables(const EnvSource& source) const {
  if (!have(source.secret) && source.is_optional) return Values{};
  OCIRUN_TRY_ASSIGN(Values values, files(source.secret));
  const auto document = pod.key_documents.find(source.secret);
  const bool is_given = bindings.secrets.contains(source.secret);
  std::erase_if(values, [&](const auto& value) {
    return value.first.contains('=') ||
           (!is_given && document->second.keys.at(value.first).is_binary);
  });
  for (const auto& [key, value] : values)
    OCIRUN_TRY(within(check_variable(key, value), frame_of(source.secret)));
  return values;
}

Result<Values> Secrets::files(const std::string& secret) const {
  if (const auto given = bindings.secrets.find(secret); given != bindings.secrets.end())
    return within(read_directory(given->second), frame_of(secret));
  const auto document = pod.key_documents.find(secret);
  if (document == pod.key_documents.end()) return not_given(secret);
  Values values;
  for (const auto& [key, value] : document->second.keys) values.emplace(key, value.bytes);
  return values;
}

Result<std::string> expand(std::string_view text, const Variables& variables, std::size_t most,
                           Unknown unknown) {
  std::string out;
  const auto add = [&](std::string_view part) -> Result<void> {
    if (part.size() > most - out.size()) return fail(E2BIG, "more than {} bytes", most);
    out += part;
    return {};
  };
  const std::size_t last = text.rfind(')');  // behind it begins no reference
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t sign = std::min(text.find('$', at), text.size());
    OCIRUN_TRY(add(text.substr(at, sign - at)));
    if (sign == text.size()) break;
    const std::string_view rest = text.substr(sign);
    const bool is_reference = rest.starts_with("$(") && last != text.npos && last > sign;
    if (!is_reference) {
      OCIRUN_TRY(add("$"));
      at = sign + (rest.starts_with("$$") ? 2 : 1);
      continue;
    }
    const std::size_t end = rest.find(')');
    const auto variable = variables.find(rest.substr(2, end - 2));
    if (variable != variables.end())
      OCIRUN_TRY(add(variable->second));
    else if (unknown == Unknown::kKept)
      OCIRUN_TRY(add(rest.substr(0, end + 1)));
    at = sign + end + 1;
  }
  return out;
}

}  // namespace ocirun::pods
