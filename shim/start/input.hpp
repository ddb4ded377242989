#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "shim/options/runtime_options.hpp"
#include "shim/start/arguments.hpp"

namespace ocirun::shim {

/// The most bytes that are read from standard input: as many as a message of ttrpc may have.
inline constexpr std::size_t kMostInput = std::size_t{4} << 20;

/// The form of the answer of `start`: which of them containerd understands depends on its version.
enum class AnswerForm : std::uint8_t {
  kPlain,    // 1.6
  kJson,     // 1.7 to 2.2
  kMessage,  // 2.3 on
};

/// What `start` reads: from standard input, from the arguments, and from the environment.
struct StartInput {
  AnswerForm answer = AnswerForm::kPlain;
  RuntimeOptions options;
  std::string address;           // of containerd's gRPC socket
  std::string events_address;    // the path of containerd's ttrpc socket
  std::string socket_directory;  // "": the default
  bool debug = false;
};

/// The variables of the environment that containerd sets, "" for one that is absent.
struct StartEnvironment {
  std::string ttrpc_address;  // TTRPC_ADDRESS
  bool is_of_1_7 = false;     // GRPC_ADDRESS or MAX_SHIM_VERSION are set: from 1.7 on
};
StartEnvironment read_start_environment();

/// Reads `bytes`, what containerd has written to standard input: nothing, an Any with the options
/// (up to 2.2), or BootstrapParams (2.3 on). The fields 1 and 2 of both messages are a text and
/// bytes, so that each message can be read as the other. Only in BootstrapParams, these two fields
/// are equal to the arguments -id and -namespace. Errors: `bytes` are neither; those of
/// parse_options().
Result<StartInput> parse_start_input(std::string_view bytes, const Arguments& arguments,
                                     const StartEnvironment& environment);

}  // namespace ocirun::shim
