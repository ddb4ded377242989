#include "pods/cli/commands.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "bundle/json/document.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/options.hpp"

namespace ocirun::pods::cli {
Result<void> print(std::string_view text) {
  return within(linux::write_all(Fd{STDOUT_FILENO}, text), "stdout");
}

void warn(std::string_view sentence) { note(fmt::format("warning: {}", sentence)); }

void note(std::string_view sentence) {
  ignore(linux::write_all(Fd{STDERR_FILENO},
                          fmt::format("ocirun: {}\n", linux::in_one_line(std::string(sentence)))));
}

void print_error(const Command& command, Error error) {
  note(error.within(fmt::format("pod {}", command.name)).message());
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
  OCIRUN_TRY_ASSIGN(const UniqueFd opened,
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
