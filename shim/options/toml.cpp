#include "shim/options/toml.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "linux/base/letters.hpp"

namespace ocirun::shim {
namespace {

/// One key of the document, and the option that its value is.
template <typename Member>
struct Key {
  std::string_view name;
  Member RuntimeOptions::* member;
};
template <typename Member>
constexpr Key<Member> key(std::string_view name, Member RuntimeOptions::* member) {
  return {name, member};
}
constexpr std::tuple kKeys{key("BinaryName", &RuntimeOptions::binary_name),
                           key("Root", &RuntimeOptions::root),
                           key("SystemdCgroup", &RuntimeOptions::systemd_cgroup),
                           key("NoPivotRoot", &RuntimeOptions::no_pivot_root),
                           key("NoNewKeyring", &RuntimeOptions::no_new_keyring),
                           key("ShimCgroup", &RuntimeOptions::shim_cgroup),
                           key("IoUid", &RuntimeOptions::io_uid),
                           key("IoGid", &RuntimeOptions::io_gid),
                           key("CriuImagePath", &RuntimeOptions::criu_image_path),
                           key("CriuWorkPath", &RuntimeOptions::criu_work_path)};

/// Whether the names differ in the case of letters at most, which containerd ignores in its own
/// configuration.
bool is_name(std::string_view written, std::string_view name) {
  return std::ranges::equal(written, name, {}, linux::lower, linux::lower);
}

// Each read() reads a value of one type into `out`, and returns "". If the value has another type,
// read() returns what the value must be.
std::string_view read(const toml::node& value, bool& out) {
  const auto flag = value.value_exact<bool>();
  if (flag) out = *flag;
  return flag ? "" : "true or false";
}
std::string_view read(const toml::node& value, std::string& out) {
  auto text = value.value_exact<std::string>();
  const bool is_good = text && text->find('\0') == std::string::npos;
  if (is_good) out = *std::move(text);
  return is_good ? "" : "a text in quotes";
}
std::string_view read(const toml::node& value, std::uint32_t& out) {
  const auto number = value.value_exact<std::int64_t>();
  const bool is_good =
      number && *number >= 0 && *number <= std::numeric_limits<std::uint32_t>::max();
  if (is_good) out = static_cast<std::uint32_t>(*number);
  return is_good ? "" : "a whole number from 0 to 4294967295";
}

/// Reads the value into the member of `key` if `written` is the name of `key`.
template <typename Member>
Result<void> read_if(const Key<Member>& key, std::string_view written, const toml::node& value,
                     RuntimeOptions& out, std::string_view where) {
  if (!is_name(written, key.name)) return {};
  const std::string_view wanted = read(value, out.*key.member);
  if (wanted.empty()) return {};
  return refuse("{}, line {}: {}: must be {}", where, value.source().begin.line, key.name, wanted);
}

Result<void> read_table(const toml::table& table, RuntimeOptions& out, std::string_view where) {
  for (const auto& [written, value] : table) {
    Result<void> done;
    std::apply(
        [&](const auto&... keys) {
          static_cast<void>(
              ((done = read_if(keys, written.str(), value, out, where), done.has_value()) && ...));
        },
        kKeys);
    OCIRUN_TRY(std::move(done));
  }
  return {};
}

}  // namespace

Result<RuntimeOptions> parse_toml_options(std::string_view text, std::string_view where) {
  const toml::parse_result document = toml::parse(text);
  if (!document) {
    const toml::parse_error& error = document.error();
    return refuse("{}, line {}: must be TOML: {}", where, error.source().begin.line,
                  error.description());
  }
  RuntimeOptions options;
  OCIRUN_TRY(read_table(document.table(), options, where));
  const toml::node* const inner = document.table().get("options");
  if (inner == nullptr) return options;
  if (!inner->is_table())
    return refuse("{}, line {}: options: must be a table", where, inner->source().begin.line);
  OCIRUN_TRY(read_table(*inner->as_table(), options, where));
  return options;
}

}  // namespace ocirun::shim
