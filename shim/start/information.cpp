#include "shim/start/information.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "linux/base/file_io.hpp"
#include "linux/base/syscalls.hpp"
#include "linux/process/spawn.hpp"
#include "linux/programs/program.hpp"
#include "shim/options/runtime_options.hpp"
#include "shim/options/runtime_program.hpp"
#include "shim/start/input.hpp"
#include "shim/start/start_messages.hpp"

namespace ocirun::shim {
namespace {

constexpr char kName[] = "io.containerd.ocirun.v2";
constexpr char kFeaturesType[] =
    "types.containerd.io/opencontainers/runtime-spec/1/features/Features";
constexpr std::size_t kMostFeatures = std::size_t{1} << 20;

/// The JSON that `RUNTIME features` prints.
Result<std::string> read_features(const std::string& runtime) {
  const std::array<std::string, 2> words{runtime, "features"};
  OCIRUN_TRY_ASSIGN(linux::Pipe output, linux::make_pipe());
  OCIRUN_TRY_ASSIGN(linux::Child child,
                    linux::start_program(words, {.out = output.writer, .err = Fd{-1}}));
  output.writer.reset();
  OCIRUN_TRY_ASSIGN(linux::ProgramEnd end, linux::await_program(std::move(child), output.reader,
                                                                kMostFeatures + 1, runtime));
  if (!WIFEXITED(end.status) || WEXITSTATUS(end.status) != 0)
    return refuse("{} features {}", runtime, linux::describe_end(end.status));
  if (end.output.size() > kMostFeatures)
    return refuse("{} features prints more than {} bytes", runtime, kMostFeatures);
  return std::move(end.output);
}

std::string information(const Shim__Any* options, const std::string* features) {
  const std::string name = kName, version = OCIRUN_VERSION, commit = OCIRUN_COMMIT,
                    features_type = kFeaturesType;
  auto version_message = new_message<Shimstart__RuntimeVersion>();
  version_message.version = in_message(version);
  version_message.revision = in_message(commit);
  auto features_any = new_message<Shim__Any>();
  auto info = new_message<Shimstart__RuntimeInfo>();
  info.name = in_message(name);
  info.version = &version_message;
  info.options = const_cast<Shim__Any*>(options);  // packing reads it
  if (features != nullptr) {
    features_any.type_url = in_message(features_type);
    features_any.value = data_in_message(*features);
    info.features = &features_any;
  }
  return bytes_of(info);
}

}  // namespace

std::string version_text() {
  return fmt::format("containerd-shim-ocirun-v2 version {}\ncommit: {}\n", OCIRUN_VERSION,
                     OCIRUN_COMMIT);
}

Result<void> print_information() {
  OCIRUN_TRY_ASSIGN(const std::string bytes,
                    within(linux::sys::read_all(Fd{STDIN_FILENO}, kMostInput), "standard input"));
  const auto any = Received<Shim__Any>::read(bytes);
  if (!any)
    return refuse("standard input: the {} bytes are no options (google.protobuf.Any)",
                  bytes.size());
  OCIRUN_TRY_ASSIGN(const RuntimeOptions options,
                    parse_options((*any)->type_url, bytes_of((*any)->value)));
  OCIRUN_TRY_ASSIGN(const std::string runtime, find_runtime(options.binary_name));
  const auto features = read_features(runtime);
  return linux::write_all(Fd{STDOUT_FILENO}, information(bytes.empty() ? nullptr : &**any,
                                                         features ? &*features : nullptr));
}

}  // namespace ocirun::shim
