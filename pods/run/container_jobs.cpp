// The jobs of a container: how each one begins, and what its end means.

#include <algorithm>
#include <array>
#include <csignal>
#include <utility>

#include "linux/process/pidfd.hpp"
#include "pods/run/container_run.hpp"

namespace ocirun::pods {

namespace {

/// The name of the job in a timeline.
const char* name_of(Job job) {
  switch (job) {
    case Job::kMake:
      return "make the root filesystem";
    case Job::kClaim:
      return "ask whether the id is free";
    case Job::kCreate:
      return "create";
    case Job::kStart:
      return "start";
    case Job::kRemove:
      return "remove";
  }
  std::unreachable();
}

}  // namespace

Result<bool> ContainerRun::begin(Job job) {
  job_ = job;
  is_abandoned_ = false;
  owner_.reset();
  if (job == Job::kMake) {
    ++record_.restarts;
    record_.next_start.clear();
  }
  if (job == Job::kMake && !ready_.root) return false;
  if (job == Job::kRemove) {
    // A signal on its way must not reach the next container of this id.
    if (signalling_) signalling_->kill("was killed because the container is removed");
    signalling_.reset();
    // Saved first: a supervisor that adopts the pod must not look for a container that is removed.
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
        return services_.runtime.begin_state(record_.id);
    }
    std::unreachable();
  }());
  if (begun) {
    lane_.step(name_of(job));
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
  may_exist_ = begun.has_value();
  return begun;
}

void ContainerRun::abandon() {
  is_abandoned_ = true;
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
      return in_container(finish_removal(status));
    default:
      return in_container(command_->outcome(status));
  }
}

/// `state` comes before `delete`: the id may be that of a container with another bundle, which made
/// `create` fail. A container that may be there and was not removed stays claimed.
Result<void> ContainerRun::finish_removal(int status) {
  auto done = command_->outcome(status);
  if (!owner_) {
    if (is_abandoned_) return refuse("the pod stops before the runtime is told to remove it");
    owner_ = Runtime::owner_of(
        done ? Result<std::string>(command_->written()) : std::unexpected(done.error()), record_.id,
        ready_.bundle);
    if (*owner_ == Owner::kUs || (may_exist_ && *owner_ != Owner::kOther)) {
      OCIRUN_TRY_ASSIGN(command_, services_.runtime.begin_remove(record_.id));
      return {};
    }
  } else if (*owner_ != Owner::kNobody) {  // `delete` of some runtimes fails if nobody has the id
    OCIRUN_TRY(done);
  }
  record_.is_claimed = record_.was_free = may_exist_ = false;
  return {};
}

/// Marks the id in the record as claimed, unless `state` tells of a container of somebody else.
/// Another process may then remove the container that it finds by the id, if it has our bundle. If
/// `state` fails for another reason than that the id is free, `create` will fail too.
Result<void> ContainerRun::finish_claim(int status) {
  const auto done = command_->outcome(status);
  const Owner owner = Runtime::owner_of(
      done ? Result<std::string>(command_->written()) : std::unexpected(done.error()), record_.id,
      ready_.bundle);
  if (owner == Owner::kUs) {  // the next step of the container removes it
    record_.is_claimed = may_exist_ = true;
    return refuse("the container of the last run could not be removed yet");
  }
  if (done)
    return refuse("the runtime has a container \"{}\" already, which is of somebody else",
                  record_.id);
  if (!command_->has_refused(status)) return done;
  if (phase() != Phase::kClaiming) return {};
  record_.is_claimed = true;
  record_.was_free = owner == Owner::kNobody;
  return services_.save();
}

Result<void> ContainerRun::finish_create(int status) {
  auto created = command_->outcome(status);
  may_exist_ = !command_->has_refused(status);
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
  const std::string all = failure_text(said, error.message());
  Error explained = in_container<void>(refuse("{}", all)).error();
  record_.reason = all;
  const auto status = status_of_missing_program(said);
  if (!status) return explained;
  record_.exit_code = status;
  if (const Place place = place_of_program(*ready_.container, ready_.launch.args.front()))
    explained.within(services_.workload.at(place));
  return explained;
}

/// Gives the keeper the pidfd of the program. Without it the exit status of the program is not
/// known after the end of the supervisor.
void ContainerRun::keep_program() const {
  const auto program = linux::identify_process(record_.pid);
  if (!program) return;
  const auto pidfd = linux::open_pidfd(*program);
  if (pidfd) ignore(services_.keeper->keep(Keeper::program_slot(index_), std::array{Fd(*pidfd)}));
}

}  // namespace ocirun::pods
