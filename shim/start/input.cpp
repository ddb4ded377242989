#include "shim/start/input.hpp"

#include <cstdlib>
#include <optional>
#include <span>

#include "linux/base/unix_address.hpp"
#include "shim/messages/message.hpp"
#include "shim/start/start_messages.hpp"

namespace ocirun::shim {
namespace {

using Bootstrap = Received<Shimstart__BootstrapParams>;

std::optional<Bootstrap> find_bootstrap(std::string_view bytes, const Arguments& arguments) {
  auto message = Bootstrap::read(bytes);
  if (!message || (*message)->instance_id != arguments.id ||
      (*message)->namespace_ != arguments.container_namespace)
    return std::nullopt;
  return message;
}

/// The options among the extensions of `message`. Extensions of other types are for other shims.
Result<RuntimeOptions> find_options(const Shimstart__BootstrapParams& message) {
  for (const Shimstart__Extension* extension : std::span(message.extensions, message.n_extensions))
    if (const Shim__Any* const any = extension->value;
        any != nullptr && (any->type_url == kRuncOptions || any->type_url == kConfiguredOptions))
      return parse_options(any->type_url, bytes_of(any->value));
  return RuntimeOptions();
}

Result<StartInput> read_bootstrap(const Shimstart__BootstrapParams& message, StartInput input) {
  input.answer = AnswerForm::kMessage;
  OCIRUN_TRY_ASSIGN(input.options, find_options(message));
  if (*message.containerd_grpc_address != '\0') input.address = message.containerd_grpc_address;
  if (*message.containerd_ttrpc_address != '\0')
    input.events_address = linux::without_unix_scheme(message.containerd_ttrpc_address);
  input.socket_directory = message.socket_dir;
  input.debug = input.debug || message.log_level < 0;  // 0: info; debug and trace are below
  return input;
}

}  // namespace

StartEnvironment read_start_environment() {
  const char* const address = std::getenv("TTRPC_ADDRESS");
  return {.ttrpc_address = address == nullptr ? "" : address,
          .is_of_1_7 =
              std::getenv("GRPC_ADDRESS") != nullptr || std::getenv("MAX_SHIM_VERSION") != nullptr};
}

Result<StartInput> parse_start_input(std::string_view bytes, const Arguments& arguments,
                                     const StartEnvironment& environment) {
  StartInput input{
      .answer = environment.is_of_1_7 ? AnswerForm::kJson : AnswerForm::kPlain,
      .options = {},
      .address = arguments.address,
      .events_address = std::string(linux::without_unix_scheme(environment.ttrpc_address)),
      .socket_directory = "",
      .debug = arguments.debug};
  if (const auto bootstrap = find_bootstrap(bytes, arguments))
    return read_bootstrap(**bootstrap, std::move(input));
  const auto any = Received<Shim__Any>::read(bytes);
  if (!any)
    return refuse(
        "standard input: the {} bytes are neither options (google.protobuf.Any) nor "
        "BootstrapParams of containerd",
        bytes.size());
  OCIRUN_TRY_ASSIGN(input.options, parse_options((*any)->type_url, bytes_of((*any)->value)));
  return input;
}

}  // namespace ocirun::shim
