#include "criu/commands/restore.hpp"

#include <fcntl.h>

#include "criu/commands/checkpoint.hpp"
#include "criu/compare/fit.hpp"
#include "criu/dump/check.hpp"
#include "criu/dump/directory.hpp"
#include "criu/dump/images.hpp"
#include "criu/launch/criu_program.hpp"
#include "criu/request/conversation.hpp"
#include "criu/request/criu_log.hpp"
#include "criu/request/options.hpp"
#include "criu/request/outside.hpp"
#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/base/text.hpp"
#include "runtime/parent/cgroup_choice.hpp"
#include "runtime/parent/preflight.hpp"
#include "runtime/state/container.hpp"

namespace ocirun::runtime {
namespace {

/// The checks of `restore --dry-run`. An obstacle does not end the checks.
class DryRun {
 public:
  DryRun(const GlobalOptions& options, const Log& log, const RestoreRequest& request)
      : options_(options), log_(log), request_(request) {}

  Result<Obstacles> run() {
    OCIRUN_TRY_ASSIGN(const linux::Procfs procfs,
                      linux::Procfs::open(linux::Procfs::Subset::kProcesses));
    read_config();
    look_at_images();
    look_at_criu();
    look_at_state();
    if (config_) {
      compare_document_with_host(*config_, procfs, obstacles_);
      look_at_cgroup();
    }
    if (read_ && config_) {
      compare_with_document(*read_, *config_, procfs, obstacles_);
      compare_with_host(*read_, *config_, obstacles_);
    }
    return std::move(obstacles_);
  }

 private:
  void add(const Error& error) { obstacles_.push_back(error.message()); }

  void read_config() {
    const HostPath& bundle = request_.create.bundle;
    const auto text = bundle::read_config_file(bundle);
    if (!text) return add(text.error());
    bundle::Parsed parsed = bundle::parse_config(*text, bundle);
    for (const std::string& problem : parsed.problems)
      obstacles_.push_back("config.json: " + problem);
    for (const std::string& refusal : parsed.refusals)
      obstacles_.push_back("config.json: " + refusal);
    if (!parsed.problems.empty() || !parsed.config) return;
    config_ = std::move(parsed.config);
    const std::vector<std::string> reasons = why_not_checkpointed(*config_);
    obstacles_.insert(obstacles_.end(), reasons.begin(), reasons.end());
    CreateRequest create = request_.create;
    create.console_socket.reset();  // a dry run sends no terminal
    create.terminal_keeper = TerminalKeeper::kCaller;
    if (const auto checked = check_host(*config_, create, log_); !checked) add(checked.error());
  }

  void look_at_images() {
    auto images = open_images(request_.settings.images, request_.trust);
    if (!images) return add(images.error());
    images_ = *std::move(images);
    auto read = read_images(images_, request_.trust, request_.settings.saved_cgroups());
    if (!read) return add(read.error().within("--image-path " + request_.settings.images.string()));
    read_ = *std::move(read);
    if (!config_) return;
    if (const auto checked = check_saved_network(*read_, *config_, request_.settings, log_);
        !checked)
      add(checked.error());
    if (request_.trust == TrustImages::kYes) return;
    const auto checked =
        check_images(*read_, *config_, request_.settings.saved_cgroups(), obstacles_);
    if (!checked) add(checked.error());
  }

  void look_at_criu() {
    const auto program = linux::find_criu(options_.criu);
    if (!program) return add(program.error());
    ask(*program, {"check"}, "criu does not work under this kernel");
    if (read_ && read_->has_cpu_features)
      ask(*program, {"cpuinfo", "check", "--images-dir", request_.settings.images.string()},
          "the processor lacks what the images need");
    if (!images_) return;
    linux::CriuLaunch launch;
    launch.program = *program;
    launch.images = launch.work = images_;
    std::vector<std::string> words{"check"};
    words.insert(words.end(), request_.settings.words.begin(), request_.settings.words.end());
    Progress none(Fd{}, {}, {});
    const auto fits =
        talk_with_criu(launch, std::move(words), log_, [](auto&) { return Result<void>{}; }, none);
    if (!fits) add(fits.error());
  }

  void ask(const std::string& program, std::vector<std::string> words, std::string_view failure) {
    const auto end = linux::ask_criu(program, std::move(words));
    if (!end) return add(end.error());
    if (end->status == 0) return;
    const std::string errors = last_errors(end->output);
    obstacles_.push_back(fmt::format(
        "{}: {} says \"{}\"", failure, program,
        errors.empty() ? linux::in_one_line(linux::describe_end(end->status)) : errors));
  }

  void look_at_state() {
    const ContainerId& id = request_.create.id;
    const auto store = Store::open(options_.root, MissingRoot::kIsEmpty);
    if (!store) return add(store.error());
    if (!store->find(id)) return;  // the id is free
    const auto container = Container::load(options_, id);
    if (!container) return add(container.error());
    const Status status = container->status();
    has_stopped_container_ = status == Status::kStopped;
    if (status != Status::kStopped)
      obstacles_.push_back(fmt::format("a container {} is there and is {}: choose another id",
                                       id.string(), status_name(status)));
  }

  // `restore` removes a stopped container with this id, and the cgroup of that container. In this
  // case the cgroup may exist.
  void look_at_cgroup() {
    const auto place = choose_place(options_, *config_, request_.create.id.string(), log_);
    if (!place) return add(place.error());
    if (!has_stopped_container_)
      if (const auto is_absent = check_absence(place->cgroup->record(), request_.settings.cgroups);
          !is_absent)
        add(is_absent.error());
    if (const auto free = place->cgroup->check_free(); !free) add(free.error());
  }

  const GlobalOptions& options_;
  const Log& log_;
  const RestoreRequest& request_;
  Obstacles obstacles_;
  bool has_stopped_container_ = false;  // `restore` will remove the stopped container with this id
  std::optional<bundle::Config> config_;
  std::optional<Images> read_;
  UniqueFd images_;
};

}  // namespace

Result<std::vector<std::string>> why_not_restored(const GlobalOptions& options, const Log& log,
                                                  const RestoreRequest& request) {
  OCIRUN_TRY(refuse_ordinary_user());
  return DryRun(options, log, request).run();
}

}  // namespace ocirun::runtime
