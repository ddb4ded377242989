#include "shim/start/serve.hpp"

#include <utility>

#include "shim/events/publisher.hpp"
#include "shim/loop/children.hpp"
#include "shim/loop/loop.hpp"
#include "shim/start/socket.hpp"
#include "shim/tasks/tasks.hpp"
#include "shim/ttrpc/server.hpp"

namespace ocirun::shim {
namespace {

Async<ttrpc::Answer> answer(Tasks& tasks, const Log& log, std::string service, std::string method,
                            std::string payload) {
  const auto begun = Loop::Clock::now();
  ttrpc::Answer given = co_await tasks.answer(std::move(service), method, std::move(payload));
  log.call(method, Loop::Clock::now() - begun, given);
  co_return given;
}

/// Stops the loop after `patience` if no client is connected then, and no task was ever made. Asks
/// again after `patience` while a client is connected.
void end_if_idle(Loop& loop, const Tasks& tasks, const ttrpc::Server& server,
                 std::chrono::milliseconds patience) {
  loop.after(patience, [&loop, &tasks, &server, patience] {
    if (tasks.had_any()) return;
    if (!server.has_clients()) return loop.stop();
    end_if_idle(loop, tasks, server, patience);
  });
}

}  // namespace

Result<void> serve(Setup setup, const Log& log) {
  OCIRUN_TRY_ASSIGN(Loop loop, Loop::make());
  OCIRUN_TRY_ASSIGN(const auto children, Children::make(loop));
  Publisher publisher(loop, setup.events_address, setup.container_namespace);
  Tasks tasks(loop, *children, publisher,
              {scratch_prefix(setup.socket_path), setup.container_namespace, setup.id});
  ttrpc::Server server(loop, std::move(setup.socket),
                       [&](std::string service, std::string method, std::string payload) {
                         return answer(tasks, log, std::move(service), std::move(method),
                                       std::move(payload));
                       });
  OCIRUN_TRY(server.start());
  end_if_idle(loop, tasks, server, setup.idle_patience);
  return loop.run();
}

}  // namespace ocirun::shim
