#pragma once

// Builds the messages of metrics.proto.

#include <metrics.pb-c.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <span>
#include <string>

#include "cgroups/statistics/stats.hpp"
#include "shim/messages/message.hpp"

namespace ocirun::shim {

#define OCIRUN_MESSAGE(Type, name)                                                  \
  template <>                                                                       \
  inline constexpr const ProtobufCMessageDescriptor* kDescriptor<Metrics__##Type> = \
      &metrics__##name##__descriptor
OCIRUN_MESSAGE(Pids, pids);
OCIRUN_MESSAGE(RdmaEntry, rdma_entry);
OCIRUN_MESSAGE(Rdma, rdma);
OCIRUN_MESSAGE(V1, v1);
OCIRUN_MESSAGE(V1__Hugetlb, v1__hugetlb);
OCIRUN_MESSAGE(V1__CpuUsage, v1__cpu_usage);
OCIRUN_MESSAGE(V1__Throttling, v1__throttling);
OCIRUN_MESSAGE(V1__Cpu, v1__cpu);
OCIRUN_MESSAGE(V1__Usage, v1__usage);
OCIRUN_MESSAGE(V1__Memory, v1__memory);
OCIRUN_MESSAGE(V1__OomControl, v1__oom_control);
OCIRUN_MESSAGE(V1__BlockIoEntry, v1__block_io_entry);
OCIRUN_MESSAGE(V1__BlockIo, v1__block_io);
OCIRUN_MESSAGE(V2, v2);
OCIRUN_MESSAGE(V2__PressureLine, v2__pressure_line);
OCIRUN_MESSAGE(V2__Pressure, v2__pressure);
OCIRUN_MESSAGE(V2__Cpu, v2__cpu);
OCIRUN_MESSAGE(V2__Memory, v2__memory);
OCIRUN_MESSAGE(V2__MemoryEvents, v2__memory_events);
OCIRUN_MESSAGE(V2__IoEntry, v2__io_entry);
OCIRUN_MESSAGE(V2__Io, v2__io);
OCIRUN_MESSAGE(V2__Hugetlb, v2__hugetlb);
#undef OCIRUN_MESSAGE

/// Owns the parts of a message until it is written. A message of protobuf-c only points to them.
class Parts {
 public:
  template <typename Message>
  Message& add() {
    return *allocator_.new_object<Message>(new_message<Message>());
  }
  /// Gives a message one new part for each element of `range`. `fill` gets the part and the
  /// element.
  template <typename Message, typename Range, typename Fill>
  void add_list(std::size_t& count, Message**& list, const Range& range, Fill fill) {
    count = range.size();
    list = allocator_.allocate_object<Message*>(count);
    std::size_t next = 0;
    for (const auto& element : range) {
      Message& part = add<Message>();
      fill(part, element);
      std::span(list, count)[next++] = &part;
    }
  }

 private:
  std::pmr::monotonic_buffer_resource memory_;
  std::pmr::polymorphic_allocator<> allocator_{&memory_};
};

/// Gives each number of the message the value that `table` has under the number's name.
template <typename Message>
void fill_by_name(Message& message, const std::map<std::string, std::uint64_t>& table) {
  const ProtobufCMessageDescriptor& type = *kDescriptor<Message>;
  for (const ProtobufCFieldDescriptor& field : std::span(type.fields, type.n_fields)) {
    const auto value = table.find(field.name);
    if (value == table.end() || field.type != PROTOBUF_C_TYPE_UINT64) continue;
    std::memcpy(reinterpret_cast<char*>(&message) + field.offset, &value->second,
                sizeof value->second);
  }
}

/// `unlimited` stands for an absent limit.
inline Metrics__Pids* add_pids(Parts& parts, const cgroups::PidsStats& stats,
                               std::uint64_t unlimited) {
  auto& pids = parts.add<Metrics__Pids>();
  pids.current = stats.current;
  pids.limit = stats.limit.value_or(unlimited);
  return &pids;
}

inline Metrics__Rdma* add_rdma(Parts& parts,
                               const std::map<std::string, cgroups::RdmaStats>& devices) {
  auto& rdma = parts.add<Metrics__Rdma>();
  parts.add_list(rdma.n_current, rdma.current, devices, [](auto& entry, const auto& device) {
    entry.device = in_message(device.first);
    entry.handles = device.second.handles;
    entry.objects = device.second.objects;
  });
  parts.add_list(rdma.n_limit, rdma.limit, devices, [](auto& entry, const auto& device) {
    entry.device = in_message(device.first);
    entry.handles = device.second.handle_limit;
    entry.objects = device.second.object_limit;
  });
  return &rdma;
}

}  // namespace ocirun::shim
