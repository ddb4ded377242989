#include "shim/start/serve.hpp"

#include <utility>

#include "shim/events/publisher.hpp"
#include "shim/loop/children.hpp"
#include "shim/loop/loop.hpp"
#include "shim/tasks/tasks.hpp"
#include "shim/ttrpc/server.hpp"

namespace ocirun::shim {

Result<void> serve(Setup setup) {
  OCIRUN_TRY_ASSIGN(Loop loop, Loop::make());
  OCIRUN_TRY_ASSIGN(const auto children, Children::make(loop));
  Publisher publisher(loop, setup.events_address, setup.container_namespace);
  Tasks tasks(loop, *children, publisher, {setup.socket_path, setup.container_namespace});
  ttrpc::Server server(loop, std::move(setup.socket),
                       [&](std::string service, std::string method, std::string payload) {
                         return tasks.answer(std::move(service), std::move(method),
                                             std::move(payload));
                       });
  OCIRUN_TRY(server.start());
  return loop.run();
}

}  // namespace ocirun::shim
