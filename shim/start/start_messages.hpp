#pragma once

// The messages of start.proto, for the functions of message.hpp.

#include <start.pb-c.h>

#include "shim/messages/message.hpp"

namespace ocirun::shim {

#define OCIRUN_START_MESSAGE(Type, name)                                              \
  template <>                                                                         \
  inline constexpr const ProtobufCMessageDescriptor* kDescriptor<Shimstart__##Type> = \
      &shimstart__##name##__descriptor
OCIRUN_START_MESSAGE(BootstrapParams, bootstrap_params);
OCIRUN_START_MESSAGE(Extension, extension);
OCIRUN_START_MESSAGE(BootstrapResult, bootstrap_result);
OCIRUN_START_MESSAGE(RuntimeVersion, runtime_version);
OCIRUN_START_MESSAGE(RuntimeInfo, runtime_info);
#undef OCIRUN_START_MESSAGE

}  // namespace ocirun::shim
