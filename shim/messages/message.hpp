#pragma once

// Reads and writes the messages of shim.proto with protobuf-c.

#include <shim.pb-c.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ocirun::shim {

/// The descriptor of a message of shim.proto.
template <typename Message>
inline constexpr const ProtobufCMessageDescriptor* kDescriptor = nullptr;

#define OCIRUN_MESSAGE(Type, name)                                               \
  template <>                                                                    \
  inline constexpr const ProtobufCMessageDescriptor* kDescriptor<Shim__##Type> = \
      &shim__##name##__descriptor
OCIRUN_MESSAGE(Any, any);
OCIRUN_MESSAGE(Timestamp, timestamp);
OCIRUN_MESSAGE(KeyValue, key_value);
OCIRUN_MESSAGE(Request, request);
OCIRUN_MESSAGE(Status, status);
OCIRUN_MESSAGE(Response, response);
OCIRUN_MESSAGE(Mount, mount);
OCIRUN_MESSAGE(CreateRequest, create_request);
OCIRUN_MESSAGE(ExecRequest, exec_request);
OCIRUN_MESSAGE(ProcessRequest, process_request);
OCIRUN_MESSAGE(ResizeRequest, resize_request);
OCIRUN_MESSAGE(KillRequest, kill_request);
OCIRUN_MESSAGE(CloseRequest, close_request);
OCIRUN_MESSAGE(CheckpointRequest, checkpoint_request);
OCIRUN_MESSAGE(UpdateRequest, update_request);
OCIRUN_MESSAGE(ShutdownRequest, shutdown_request);
OCIRUN_MESSAGE(PidResponse, pid_response);
OCIRUN_MESSAGE(DeleteResponse, delete_response);
OCIRUN_MESSAGE(StateResponse, state_response);
OCIRUN_MESSAGE(ProcessInfo, process_info);
OCIRUN_MESSAGE(PidsResponse, pids_response);
OCIRUN_MESSAGE(WaitResponse, wait_response);
OCIRUN_MESSAGE(StatsResponse, stats_response);
OCIRUN_MESSAGE(ConnectResponse, connect_response);
OCIRUN_MESSAGE(Options, options);
OCIRUN_MESSAGE(CheckpointOptions, checkpoint_options);
OCIRUN_MESSAGE(ProcessDetails, process_details);
OCIRUN_MESSAGE(TaskIO, task_io);
OCIRUN_MESSAGE(TaskCreate, task_create);
OCIRUN_MESSAGE(TaskStart, task_start);
OCIRUN_MESSAGE(TaskDelete, task_delete);
OCIRUN_MESSAGE(TaskExit, task_exit);
OCIRUN_MESSAGE(TaskOOM, task_oom);
OCIRUN_MESSAGE(TaskExecAdded, task_exec_added);
OCIRUN_MESSAGE(TaskExecStarted, task_exec_started);
OCIRUN_MESSAGE(TaskPaused, task_paused);
OCIRUN_MESSAGE(TaskCheckpointed, task_checkpointed);
OCIRUN_MESSAGE(Envelope, envelope);
OCIRUN_MESSAGE(ForwardRequest, forward_request);
#undef OCIRUN_MESSAGE

/// A message that was read. Texts that the message did not have are "".
template <typename Message>
class Received {
 public:
  /// Nothing if `bytes` are not such a message.
  static std::optional<Received> read(std::string_view bytes) {
    // The cast is safe: unpacking reads bytes.
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    ProtobufCMessage* const message =
        protobuf_c_message_unpack(kDescriptor<Message>, nullptr, bytes.size(), data);
    if (message == nullptr) return std::nullopt;
    return Received(message);
  }
  const Message& operator*() const { return *operator->(); }
  const Message* operator->() const { return reinterpret_cast<const Message*>(message_.get()); }

 private:
  struct Free {
    void operator()(ProtobufCMessage* message) const {
      protobuf_c_message_free_unpacked(message, nullptr);
    }
  };
  explicit Received(ProtobufCMessage* message) : message_(message) {}
  std::unique_ptr<ProtobufCMessage, Free> message_;
};

/// A message without content, to be filled and written. It owns nothing that its pointers point to.
template <typename Message>
Message new_message() {
  Message message;
  protobuf_c_message_init(kDescriptor<Message>, &message);
  return message;
}

/// `text` in a message that is only written: protobuf-c's members are not const.
inline char* in_message(const std::string& text) { return const_cast<char*>(text.c_str()); }
inline ProtobufCBinaryData data_in_message(std::string_view bytes) {
  // The casts are safe: packing reads bytes.
  auto* const data = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
  return {.len = bytes.size(), .data = data};
}
inline std::string_view bytes_of(const ProtobufCBinaryData& data) {
  return {reinterpret_cast<const char*>(data.data), data.len};
}

inline Shim__Timestamp timestamp_of(const timespec& time) {
  auto timestamp = new_message<Shim__Timestamp>();
  timestamp.seconds = time.tv_sec;
  timestamp.nanos = static_cast<std::int32_t>(time.tv_nsec);
  return timestamp;
}

/// The bytes of a message.
template <typename Message>
std::string bytes_of(const Message& message) {
  std::string bytes(protobuf_c_message_get_packed_size(&message.base), '\0');
  protobuf_c_message_pack(&message.base, reinterpret_cast<std::uint8_t*>(bytes.data()));
  return bytes;
}

}  // namespace ocirun::shim
