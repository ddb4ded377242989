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

}  // namespace

Result<void> serve(Setup setup, const Log& log) {
  OCIRUN_TRY_ASSIGN(Loop loop, Loop::make());
  OCIRUN_TRY_ASSIGN(const auto children, Children::make(loop));
  Publisher publisher(loop, setup.events_address, setup.container_namespace);
  Tasks tasks(loop, *children, publisher,
              {scratch_prefix(setup.socket_path), setup.container_namespace});
  ttrpc::Server server(loop, std::move(setup.socket),
                       [&](std::string service, std::string method, std::string payload) {
                         return answer(tasks, log, std::move(service), std::move(method),
                                       std::move(payload));
                       });
  OCIRUN_TRY(server.start());
  return loop.run();
}

}  // namespace ocirun::shim
