// ocirun-criu speaks CRIU's RPC protocol. It loads protobuf-c, so that the runtime stays static and
// small. `ocirun checkpoint` and `ocirun restore` run ocirun-criu beside a `criu swrk`.
// criu/launch/criu_program.hpp describes the interface.

#include <string_view>
#include <vector>

#include "criu/launch/criu_program.hpp"
#include "criu/speaker/conversation.hpp"
#include "linux/base/message_socket.hpp"
#include "linux/sealed/own_program.hpp"

int main(int argc, char** argv) {
  using namespace ocirun;
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const linux::MessageSocket caller{UniqueFd(linux::kCallerDescriptor)};
  const Result<int> outcome = linux::converse(words, Fd{linux::kCriuDescriptor}, caller);
  const auto word = outcome ? linux::CriuWord::kDone : linux::CriuWord::kFailed;
  const std::string text =
      outcome ? fmt::format("{}", *outcome) : linux::error_lines(outcome.error());
  return caller.send(static_cast<std::uint8_t>(word), text) && outcome ? 0 : 1;
}
