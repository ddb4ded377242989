#include "pods/run/exec_process.hpp"

#include <cstdint>
#include <utility>

#include "bundle/json/writer.hpp"

namespace ocirun::pods {
namespace {

Result<void> check_utf8(std::string_view what, std::string_view text) {
  if (bundle::is_utf8(text)) return {};
  return refuse(
      "the {} \"{}\" is not UTF-8: --user, --env and --workdir want the whole command line in "
      "UTF-8",
      what, bundle::escaped(text));
}

Result<void> check_utf8(const ExecutedProgram& program) {
  for (const std::string& argument : program.arguments)
    OCIRUN_TRY(check_utf8("argument", argument));
  if (program.directory) OCIRUN_TRY(check_utf8("directory", *program.directory));
  for (const auto& [name, value] : program.variables.variables()) {
    OCIRUN_TRY(check_utf8("variable", name));
    if (!bundle::is_utf8(value))  // which may be a secret
      return refuse("the value of the variable {} is not UTF-8", bundle::escaped(name));
  }
  return {};
}

/// The home of an account, or "/" where JSON or a variable cannot hold it.
std::string home_of(const Account& account) {
  const bool is_text = bundle::is_utf8(account.home) && !account.home.contains('\0');
  return is_text ? account.home : "/";
}

std::uint64_t own_uid(const bundle::Node& process) {
  const bundle::Node* user = process.find("user");
  const bundle::Node* uid = user == nullptr ? nullptr : user->find("uid");
  return uid == nullptr ? 0 : uid->number;
}

}  // namespace

Result<ExecProcess> ExecProcess::parse(std::string_view config) {
  auto document = std::make_unique<bundle::Document>();
  bundle::Report report;
  if (!document->parse(config, report)) return refuse("config.json is no JSON");
  bundle::Node* process = bundle::member_of(document->root(), "process");
  if (process == nullptr || !process->is_object()) return refuse("config.json has no process");
  ExecProcess found(std::move(document));
  found.process_ = process;
  const bundle::Node* env = process->find("env");
  for (const bundle::Node* entry = env == nullptr ? nullptr : env->first; entry != nullptr;
       entry = entry->next)
    found.env_.set_entry(entry->text);
  return found;
}

bool ExecProcess::has_variable(std::string_view name) const {
  return env_.variables().contains(std::string(name));
}

Result<void> ExecProcess::set_user(const linux::SafeDir& root, const std::string& user,
                                   const std::string& group, SetGroups rule) {
  constexpr std::string_view kWhose = "container";
  const std::uint64_t before = own_uid(*process_);
  OCIRUN_TRY_ASSIGN(const Account own, find_account(root, fmt::format("{}", before), "", kWhose));
  OCIRUN_TRY_ASSIGN(const Account account, find_account(root, user, group, kWhose));

  bundle::Node* ids = editor_.object_in(process_, "user");
  editor_.set(ids, "uid", editor_.number(account.uid.value()));
  editor_.set(ids, "gid", editor_.number(account.gid.value()));
  bundle::Node* groups = editor_.array();
  for (const Gid gid : supplementary_groups(account, rule))
    bundle::append(groups, editor_.number(gid.value()), "");
  editor_.set(ids, "additionalGids", groups);

  const bool keeps_capabilities = account.uid.value() == 0 || account.uid.value() == before;
  if (bundle::Node* sets = bundle::member_of(process_, "capabilities"); !keeps_capabilities)
    for (const char* set : {"effective", "permitted", "inheritable", "ambient"})
      if (sets != nullptr && sets->is_object()) bundle::Editor::remove(sets, set);

  const auto home = env_.variables().find("HOME");
  if (home == env_.variables().end() || home->second.empty() || home->second == home_of(own))
    env_.set("HOME", home_of(account));
  return {};
}

Result<std::string> ExecProcess::text_for(const ExecutedProgram& program) {
  OCIRUN_TRY(check_utf8(program));
  const auto list = [&](const std::vector<std::string>& texts) {
    bundle::Node* array = editor_.array();
    for (const std::string& text : texts) bundle::append(array, editor_.text(text), "");
    return array;
  };
  Environment env = env_;
  env.set_all(program.variables);
  editor_.set(process_, "args", list(program.arguments));
  editor_.set(process_, "env", list(env.entries()));
  if (program.directory) editor_.set(process_, "cwd", editor_.text(*program.directory));
  editor_.set(process_, "terminal", editor_.boolean(program.has_terminal));
  // The size of the terminal is the caller's. The OOM score is what the runtime gives to programs
  // whose process does not have one: an ordinary user may not lower it once more.
  for (const char* name : {"consoleSize", "oomScoreAdj"}) bundle::Editor::remove(process_, name);
  bundle::JsonWriter out(bundle::JsonWriter::Layout::kOneLine);
  out.value(*process_);
  return std::move(out).take();
}

}  // namespace ocirun::pods
