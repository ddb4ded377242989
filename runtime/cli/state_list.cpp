
#include <algorithm>
#include <array>
#include <map>

#include "linux/base/text.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cli/commands.hpp"
#include "runtime/init/executable.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime::cli {
namespace {

/// Names of users; each is looked up once, however many containers are listed.
class UserNames {
 public:
  const std::string& of(std::uint32_t uid) {
    const auto [entry, is_new] = names_.try_emplace(uid);
    if (is_new) {
      const auto lines = find_in_passwd(uid);
      entry->second = lines.empty() ? fmt::format("#{}", uid) : lines.front().name;
    }
    return entry->second;
  }

 private:
  std::map<std::uint32_t, std::string> names_;
};

// A column is as wide as its longest cell and three blanks, at least 12: scripts that were written
// for runc cut such columns.
std::string table_text(const std::vector<bundle::StateDocument>& states) {
  using Row = std::array<std::string, 6>;
  std::vector<Row> rows{{"ID", "PID", "STATUS", "BUNDLE", "CREATED", "OWNER"}};
  for (const bundle::StateDocument& state : states)
    rows.push_back({state.id, fmt::format("{}", state.pid), std::string(status_name(state.status)),
                    linux::in_one_line(state.bundle), linux::in_one_line(state.created),
                    state.owner});
  Row::size_type column = 0;
  std::array<std::size_t, 6> widths{};
  for (std::size_t& width : widths) {
    for (const Row& row : rows) width = std::max(width, row[column].size() + 3);
    width = std::max<std::size_t>(width, 12);
    ++column;
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i)
      text += fmt::format("{:{}}", row[i], widths[i]);
    text += row.back() + "\n";
  }
  return text;
}

}  // namespace

Result<int> run_state(const Invocation& invocation) {
  TRY_ASSIGN(const ContainerId id, invocation.arguments.id());
  TRY_ASSIGN(const Store store, Store::open(invocation.options.root, MissingRoot::kIsEmpty));
  TRY_ASSIGN(const StateDirectory directory, store.find(id));
  const auto container = Container::load(store, id);
  if (container) {
    TRY(print(bundle::state_text(container->state())));
    return 0;
  }
  const bundle::StateDocument unfinished = state_of_unfinished(directory, id);
  if (unfinished.status == Status::kUnknown) return std::unexpected(container.error());
  TRY(print(bundle::state_text(unfinished)));
  return 0;
}

Result<int> run_list(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  const std::string format = arguments.value("format").value_or("table");
  if (format != "table" && format != "json")
    return refuse("--format {}: must be table or json", format);
  const MissingRoot missing =
      invocation.options.root_is_explicit ? MissingRoot::kIsAnError : MissingRoot::kIsEmpty;
  TRY_ASSIGN(const Store store, Store::open(invocation.options.root, missing));
  TRY_ASSIGN(const std::vector<std::string> ids, store.ids());

  std::vector<bundle::StateDocument> states;
  UserNames names;
  std::string quiet;
  for (const std::string& text : ids) {
    quiet += text + "\n";
    if (arguments.has("quiet")) continue;
    TRY_ASSIGN(const ContainerId id, ContainerId::parse(text));
    const auto directory = store.find(id);
    if (!directory) continue;  // deleted meanwhile
    const auto container = Container::load(store, id);
    if (!container && !directory->is_state()) continue;  // not a state directory
    // A shortage of this process. Files of another user may give any error.
    if (!container && is_shortage(container.error().number()) && is_callers(*directory))
      return fail(container.error().number(), "read the state of {}", text);
    states.push_back(container ? container->state() : state_of_unfinished(*directory, id));
    const bool is_believed = container && is_callers(*directory);
    states.back().owner = names.of(is_believed ? container->record().owner_uid
                                               : directory->owner().value_or(::geteuid()));
  }
  if (arguments.has("quiet"))
    TRY(print(quiet));
  else
    TRY(print(format == "json" ? bundle::list_text(states) : table_text(states)));
  return 0;
}

}  // namespace ocirun::runtime::cli
