#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/json/document.hpp"
#include "linux/base/error.hpp"
#include "linux/files/safe_dir.hpp"
#include "pods/prepare/plan/accounts.hpp"
#include "pods/prepare/plan/environment.hpp"

namespace ocirun::pods {

/// A program that is executed in a container that runs.
struct ExecutedProgram {
  std::vector<std::string> arguments;
  Environment variables;                 // besides those of the container
  std::optional<std::string> directory;  // absolute; without it, the container's
  bool has_terminal = false;
};

/// The process in a container's config.json, as a pattern for other programs in the container.
class ExecProcess {
 public:
  /// `config`: the text of config.json. Errors: a text without process.
  static Result<ExecProcess> parse(std::string_view config);

  /// Whether the container sets the variable.
  bool has_variable(std::string_view name) const;
  /// Makes `user`, a name or a number below `root`, the user of the process, with the groups of
  /// find_account(). A user other than root and the container's own has no capabilities. HOME
  /// becomes that of the user, unless image or document have set another than that of the
  /// container's own user. `group` may be "". Errors: those of find_account(), which name the
  /// container.
  Result<void> set_user(const linux::SafeDir& root, const std::string& user,
                        const std::string& group, SetGroups rule);
  /// The JSON for `exec --process` of a runtime. Errors: a text of `program` is not UTF-8.
  Result<std::string> text_for(const ExecutedProgram& program);

 private:
  explicit ExecProcess(std::unique_ptr<bundle::Document> document)
      : document_(std::move(document)), editor_(*document_) {}

  std::unique_ptr<bundle::Document> document_;
  bundle::Editor editor_;
  bundle::Node* process_ = nullptr;
  Environment env_;
};

}  // namespace ocirun::pods
