#include "pods/cli/commands.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "bundle/json/document.hpp"
#include "bundle/json/report.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"

namespace ocirun::pods::cli {
namespace {

Error unknown_option(std::string_view word, std::span<const Option> options) {
  std::vector<std::string_view> names;
  for (const Option& option : options) names.push_back(option.name);
  const std::string_view near =
      bundle::nearest(word.substr(std::min(word.find_first_not_of('-'), word.size())), names);
  if (near.empty()) return Error(0, fmt::format("unknown option {}; see --help", word));
  return Error(0, fmt::format("unknown option {} (did you mean --{}?); see --help", word, near));
}

}  // namespace

Result<Arguments> Arguments::parse(std::span<const std::string> words,
                                   std::span<const Option> options, bool stops) {
  Arguments arguments;
  bool only_operands = false;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string_view word = words[index];
    if (only_operands || word.size() < 2 || word.front() != '-') {
      arguments.operands_.emplace_back(word);
      only_operands = only_operands || stops;
      continue;
    }
    if (word == "--") {
      only_operands = true;
      continue;
    }
    const std::string_view written = word.substr(0, word.find('='));
    const auto option = std::ranges::find_if(options, [&](const Option& row) {
      return written.starts_with("--") ? written.substr(2) == row.name
                                       : written.size() == 2 && written[1] == row.letter;
    });
    if (option == options.end()) return std::unexpected(unknown_option(written, options));
    const bool has_value = written.size() != word.size();
    const bool may_lack_value = option->value.starts_with('[');
    if (option->value.empty() && has_value) return refuse("{}: takes no value", written);
    if (has_value) {
      arguments.values_.emplace(option->name, word.substr(written.size() + 1));
    } else if (option->value.empty() || may_lack_value) {
      arguments.values_.emplace(option->name, "");
    } else if (index + 1 < words.size()) {
      arguments.values_.emplace(option->name, words[++index]);
    } else {
      return refuse("{}: a value ({}) is missing", written, option->value);
    }
  }
  return arguments;
}

void Arguments::set_default(std::string_view option, std::string value) {
  if (!has(option)) values_.emplace(option, std::move(value));
}

std::vector<std::string> Arguments::values(std::string_view option) const {
  std::vector<std::string> all;
  const auto [begin, end] = values_.equal_range(option);
  for (auto value = begin; value != end; ++value) all.push_back(value->second);
  return all;
}

std::optional<std::string> Arguments::value(std::string_view option) const {
  const auto [begin, end] = values_.equal_range(option);
  if (begin == end) return std::nullopt;
  return std::prev(end)->second;
}

std::vector<std::string> Arguments::words_but(std::span<const Option> options,
                                              std::span<const std::string_view> left_out) const {
  std::vector<std::string> words;
  for (const Option& option : options) {
    if (std::ranges::find(left_out, option.name) != left_out.end()) continue;
    const bool may_lack_value = option.value.empty() || option.value.starts_with('[');
    for (const std::string& value : values(option.name))
      words.push_back(value.empty() && may_lack_value ? fmt::format("--{}", option.name)
                                                      : fmt::format("--{}={}", option.name, value));
  }
  return words;
}

Result<void> print(std::string_view text) {
  return within(linux::write_all(Fd{STDOUT_FILENO}, text), "stdout");
}

void warn(std::string_view sentence) {
  static_cast<void>(linux::write_all(
      Fd{STDERR_FILENO},
      fmt::format("ocirun: warning: {}\n", linux::in_one_line(std::string(sentence)))));
}

void note(std::string_view sentence) {
  static_cast<void>(linux::write_all(
      Fd{STDERR_FILENO}, fmt::format("ocirun: {}\n", linux::in_one_line(std::string(sentence)))));
}

void print_error(const Command& command, Error error) {
  error.within(fmt::format("pod {}", command.name));
  static_cast<void>(linux::write_all(
      Fd{STDERR_FILENO}, fmt::format("ocirun: {}\n", linux::in_one_line(error.message()))));
}

Result<std::vector<std::string>> read_ignored(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& text : arguments.values(kIgnoreOption.name))
    for (const std::string_view name : linux::split(text, ',')) {
      if (name.empty()) return refuse("--ignore {}: must be names with commas between them", text);
      names.emplace_back(name);
    }
  return names;
}

std::string unused_ignored(std::string_view name) {
  return fmt::format("--ignore {}: nothing of this name is refused", name);
}

HostPath data_of(const Arguments& arguments) {
  return HostPath(arguments.value(kDataOption.name).value_or(""));
}

Result<std::string> read_document(const std::string& file) {
  if (file == "-") return linux::sys::read_all(Fd{STDIN_FILENO}, bundle::Document::kMaxSize);
  TRY_ASSIGN(const UniqueFd opened,
             linux::sys::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  return linux::sys::read_all(opened, bundle::Document::kMaxSize);
}

std::string shown_name(const std::string& file) { return file == "-" ? "standard input" : file; }

Result<bool> wants_json(const Arguments& arguments) {
  const std::string format = arguments.value("format").value_or("text");
  if (format == "json") return true;
  if (format == "text" || format == "table") return false;
  return refuse("--format {}: must be json or text", format);
}

}  // namespace ocirun::pods::cli
