#include <cstdlib>
#include <map>

#include "bundle/json/writer.hpp"
#include "linux/base/text.hpp"
#include "pods/cli/commands.hpp"

namespace ocirun::pods::cli {
namespace {

using Variable = std::pair<std::string, std::string>;

/// "NAME=VALUE", where the value may be empty, or "NAME" for the value that the variable has in the
/// environment of the caller.
Result<Variable> variable_of(std::string_view text) {
  std::string_view value = text;
  const std::string name(linux::cut(value, '='));
  const bool has_value = text.contains('=');
  if (name.empty() || name.find_first_of(" \t") != std::string::npos)  // the value may be a secret
    return refuse("\"{}{}\": must have the form NAME=VALUE or NAME", linux::in_one_line(name),
                  has_value ? "=..." : "");
  if (text.contains('\0') || !bundle::is_utf8(text))
    return refuse("{}: the value must be UTF-8 without NUL", linux::in_one_line(name));
  if (has_value) return Variable{name, value};
  const char* own = std::getenv(name.c_str());
  if (own == nullptr)
    return refuse("{}: the variable is not set here: {}=VALUE gives the value", name, name);
  return Variable{name, own};
}

/// Variables in the order in which they were first given, with the last value of each name.
class Variables {
 public:
  void set(Variable variable) {
    const auto [place, is_new] = places_.emplace(variable.first, all_.size());
    if (is_new)
      all_.push_back(std::move(variable));
    else
      all_[place->second].second = std::move(variable.second);
  }
  std::vector<Variable> take() { return std::move(all_); }

 private:
  std::vector<Variable> all_;
  std::map<std::string, std::size_t> places_;  // in all_, by name
};

Result<void> add_file(const std::string& file, Variables& variables) {
  OCIRUN_TRY_ASSIGN(const std::string text, read_document(file));
  unsigned number = 0;
  for (std::string_view line : linux::split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || line.starts_with('#')) continue;
    auto variable = variable_of(line);
    if (!variable)
      return std::unexpected(Error(variable.error()).within(fmt::format("line {}", number)));
    variables.set(*std::move(variable));
  }
  return {};
}

}  // namespace

Result<std::vector<Variable>> read_variables(const Arguments& arguments) {
  Variables variables;
  for (const std::string& file : arguments.values("env-file"))
    OCIRUN_TRY(within(add_file(file, variables), "--env-file {}", file));
  for (const std::string& text : arguments.values("env")) {
    OCIRUN_TRY_ASSIGN(Variable variable, within(variable_of(text), "--env"));
    variables.set(std::move(variable));
  }
  return variables.take();
}

}  // namespace ocirun::pods::cli
