// The jobs of a container: how each one begins, and what its end means.

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "linux/process/pidfd.hpp"
#include "pods/run/container_run.hpp"

namespace ocirun::pods {

Result<bool> ContainerRun::begin(Job job) {
  job_ = job;
  looks_for_rest_ = false;
  if (job == Job::kMake) ++record_.restarts;
  if (job == Job::kMake && !ready_.root) return false;
  if (job == Job::kRemove) {
    // A signal on its way must not reach the next container of this id.
    if (signalling_) signalling_->kill("was killed because the container is removed");
    signalling_.reset();
    // Whoever adopts the pod must not look for a container that is removed.
    ignore(services_.save());
    if (!record_.is_claimed) return false;
  }
  auto begun = in_container([&]() -> Result<Command> {
    switch (job) {
      case Job::kMake:
        return make_root();
      case Job::kClaim:
        return services_.runtime.begin_state(record_.id);
      case Job::kCreate:
        return create();
      case Job::kStart:
        return services_.runtime.begin_start(record_.id);
      case Job::kRemove:
        return services_.runtime.begin_remove(record_.id);
    }
    std::unreachable();
  }());
  if (begun) {
    command_ = *std::move(begun);
    return true;
  }
  error_ = begun.error();
  return std::unexpected(std::move(begun).error());
}

Result<Command> ContainerRun::make_root() {
  OCIRUN_TRY_ASSIGN(Command command, Command::call(
                                         [&]() -> Result<void> {
                                           OCIRUN_TRY(ready_.root->make());
                                           return {};
                                         },
                                         "the process that makes the root filesystem"));
  ready_.root->count_run();
  return command;
}

Result<Command> ContainerRun::create() {
  // Only now, because an init container may have made the parts.
  for (const SubPath& part : ready_.parts) OCIRUN_TRY(show(part));
  OCIRUN_TRY_ASSIGN(const linux::Streams streams, output_.open());
  // Without a keeper the pod cannot be adopted, and its containers go on.
  if (services_.keeper != nullptr)
    ignore(services_.keeper->keep(Keeper::output_slot(index_), output_.readers()));
  auto begun = services_.runtime.begin_create(record_.id, ready_.bundle, streams);
  output_.close_writers();
  return begun;
}

void ContainerRun::abandon() {
  if (command_) command_->kill("was killed because the pod stops");
}

/// A slow command that sends SIGKILL is not replaced by another one.
void ContainerRun::send(int signal) {
  if (signalling_ && signal_ == SIGKILL) return;
  if (signalling_) signalling_->kill("was killed because SIGKILL is due");
  signalling_.reset();
  signal_ = signal;
  auto begun = services_.runtime.begin_kill(record_.id, signal);
  if (begun) signalling_ = *std::move(begun);
}

/// Takes the end of the command of the job, with the status of waitpid(2).
Result<void> ContainerRun::finish(int status) {
  switch (job_) {
    case Job::kClaim:
      return in_container(finish_claim(status));
    case Job::kCreate:
      return finish_create(status);
    case Job::kRemove:
      break;
    default:
      return in_container(command_->outcome(status));
  }
  const auto done = command_->outcome(status);
  // Some runtimes fail if there is nothing to remove.
  const bool is_gone = looks_for_rest_ ? command_->has_refused(status) : done.has_value();
  if (is_gone) {
    record_.is_claimed = false;
    return {};
  }
  if (looks_for_rest_) return in_container<void>(refuse("the runtime could not remove it"));
  OCIRUN_TRY_ASSIGN(command_, services_.runtime.begin_state(record_.id));
  looks_for_rest_ = true;
  return {};
}

/// Marks the id in the record as claimed, if the runtime has no container of this id. Another
/// process may then remove the container that it finds by the id.
Result<void> ContainerRun::finish_claim(int status) {
  if (command_->outcome(status))
    return refuse("the runtime has a container \"{}\" already, which is of somebody else",
                  record_.id);
  if (!command_->has_refused(status)) return command_->outcome(status);
  if (phase() != Phase::kClaiming) return {};
  record_.is_claimed = true;
  return services_.save();
}

Result<void> ContainerRun::finish_create(int status) {
  auto created = command_->outcome(status);
  if (!created) return std::unexpected(explain_create(created.error()));
  OCIRUN_TRY_ASSIGN(record_.pid, in_container(Runtime::read_pid(ready_.bundle)));
  if (services_.keeper != nullptr) keep_program();
  oom_kills_.begin(record_);
  services_.events.add("created", record_.name);
  return {};
}

/// The error that the runtime has written. If the program cannot be executed, adds its place in the
/// document, and records the exit code that a shell would have.
Error ContainerRun::explain_create(const Error& error) {
  const std::string said = output_.take_error();
  const std::string all = fmt::format("{}{}{}", error.message(), said.empty() ? "" : ": ", said);
  Error explained = in_container<void>(refuse("{}", all)).error();
  const auto status = status_of_missing_program(said);
  if (!status) return explained;
  record_.exit_code = status;
  record_.reason = all;
  if (const Place place = place_of_program(*ready_.container, ready_.launch.args.front()))
    explained.within(services_.workload.at(place));
  return explained;
}

/// Without the pidfd the exit status of the program is not known after the end of the supervisor.
void ContainerRun::keep_program() const {
  const auto program = linux::identify_process(record_.pid);
  if (!program) return;
  const auto pidfd = linux::open_pidfd(*program);
  if (pidfd) ignore(services_.keeper->keep(Keeper::program_slot(index_), std::array{Fd(*pidfd)}));
}

}  // namespace ocirun::pods
