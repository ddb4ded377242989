#include "pods/export/swarm.hpp"

namespace ocirun::pods {
namespace {

const std::vector<std::string>* command_of(const std::optional<Probe>& probe) {
  const auto* exec = probe ? std::get_if<ExecProbe>(&probe->question) : nullptr;
  return exec == nullptr ? nullptr : &exec->command;
}

/// Loses a question over the network, which Swarm does not ask.
void lose_network_question(Translation& translation, const std::optional<Probe>& probe,
                           const Container& container, std::string_view name) {
  std::string question;
  if (!probe) return;
  const auto* port = std::get_if<TcpProbe>(&probe->question);
  if (port != nullptr && probe->place == container.place)  // which no document has: KN-5
    return translation.lose(
        probe->place, "", "requests come before the program listens on port {}: Swarm asks no port",
        port->port);
  if (const auto* http = std::get_if<HttpProbe>(&probe->question))
    question = fmt::format("{}://:{}{}", http->tls ? "https" : "http", http->port, http->path);
  else if (port != nullptr)
    question = fmt::format("the TCP port {}", port->port);
  if (question.empty()) return;
  translation.lose(probe->place, "",
                   "the {} probe asks {}: Swarm only runs a command in the container (exec)", name,
                   question);
}

/// The probe that becomes the health check. Swarm replaces a container that fails its check.
const Probe* choose_check(Translation& translation, const Container& container) {
  const auto* alive = command_of(container.liveness);
  const auto* ready = command_of(container.readiness);
  if (alive == nullptr && ready != nullptr)
    translation.lose(container.readiness->place, "",
                     "Swarm replaces a container that fails its health check, also one that is "
                     "alive and not ready: livenessProbe asks for this");
  if (alive != nullptr && ready != nullptr && *alive != *ready)
    translation.lose(container.readiness->place, "",
                     "a container has one health check, which is the liveness probe");
  return alive != nullptr   ? &*container.liveness
         : ready != nullptr ? &*container.readiness
                            : nullptr;
}

/// Failures in the time of the start do not count. The startup probe gives the time, if it asks the
/// same question.
std::chrono::seconds start_period(Translation& translation, const Container& container,
                                  const Probe& check) {
  std::chrono::seconds time = check.initial_delay;
  const auto* command = command_of(container.startup);
  if (command == nullptr) return time;
  const Probe& startup = *container.startup;
  if (*command == std::get<ExecProbe>(check.question).command)
    return time + startup.initial_delay + startup.period * startup.failure_threshold;
  translation.lose(startup.place, "", "a container has one health check, with one command");
  return time;
}

}  // namespace

void add_swarm_health_check(Translation& translation, const Container& container,
                            YamlPart& service) {
  lose_network_question(translation, container.liveness, container, "liveness");
  lose_network_question(translation, container.readiness, container, "readiness");
  lose_network_question(translation, container.startup, container, "startup");
  const Probe* check = choose_check(translation, container);
  if (check == nullptr) {
    if (command_of(container.startup) != nullptr)
      translation.lose(container.startup->place, "",
                       "the start of a container is watched by its health check, which needs a "
                       "livenessProbe");
    return;
  }
  YamlPart out = service.add_object("healthcheck");
  std::vector<std::string> test{"CMD"};
  const auto& command = std::get<ExecProbe>(check->question).command;
  test.insert(test.end(), command.begin(), command.end());
  out.add("test", test);
  out.add("interval", fmt::format("{}s", check->period.count()));
  out.add("timeout", fmt::format("{}s", check->timeout.count()));
  out.add("retries", check->failure_threshold);
  if (const auto time = start_period(translation, container, *check); time.count() != 0)
    out.add("start_period", fmt::format("{}s", time.count()));
  if (check->success_threshold != 1)
    translation.lose(check->place, "successThreshold",
                     "one success ends the failures of a health check, not {}",
                     check->success_threshold);
  if (check->grace && *check->grace != grace_of(translation.pod()))
    translation.lose(check->place, "terminationGracePeriodSeconds",
                     "a container has {} s to stop whatever the reason, not {}",
                     grace_of(translation.pod()).count(), check->grace->count());
}

}  // namespace ocirun::pods
