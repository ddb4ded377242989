#include "runtime/commands/events.hpp"

#include "runtime/cli/commands.hpp"
#include "runtime/cli/size.hpp"

namespace ocirun::runtime::cli {
namespace {

Result<void> print_line(const std::string& event) { return print(event + "\n"); }

}  // namespace

Result<int> run_events(const Invocation& invocation) {
  const Arguments& arguments = invocation.arguments;
  TRY_ASSIGN(const std::chrono::nanoseconds interval,
             within(parse_duration(arguments.value("interval").value_or("5s")), "--interval"));
  TRY_ASSIGN(const ContainerId id, arguments.id());
  TRY_ASSIGN(const Container container, Container::load(invocation.options, id));
  if (container.status() == Status::kStopped)
    return refuse("container with id {} is not running", id.string());
  if (arguments.has("stats")) {
    TRY_ASSIGN(const bundle::ContainerStats stats, read_container_stats(container));
    TRY(print_line(bundle::stats_event(id.string(), stats)));
    return 0;
  }
  TRY(follow_container(container, interval, invocation.log, print_line));
  return 0;
}

}  // namespace ocirun::runtime::cli
