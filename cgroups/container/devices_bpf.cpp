#include "cgroups/container/devices_bpf.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "cgroups/container/device_program.hpp"

namespace ocirun::cgroups {
namespace {

Result<int> bpf(int command, bpf_attr& attributes, const char* what) {
  const long result = ::syscall(SYS_bpf, command, &attributes, sizeof attributes);
  if (result < 0) return fail(errno, "{}", what);
  return static_cast<int>(result);
}

std::uint64_t address_of(const void* pointer) {
  return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(pointer));
}

Result<UniqueFd> load_program(std::span<const DeviceRule> rules) {
  OCIRUN_TRY_ASSIGN(const std::vector<bpf_insn> program, device_program(rules));
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  attributes.expected_attach_type = BPF_CGROUP_DEVICE;
  attributes.insns = address_of(program.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(program.size());
  attributes.license = address_of("Apache-2.0");  // the program calls no GPL-only helper
  std::memcpy(attributes.prog_name, "ocirun_devices", sizeof "ocirun_devices");
  OCIRUN_TRY_ASSIGN(const int fd, bpf(BPF_PROG_LOAD, attributes, "load the device program"));
  return UniqueFd(fd);
}

/// EFAULT: the verifier has more than 8192 branches left to follow.
bool is_too_long(int error) { return error == E2BIG || error == EFAULT; }

/// The programs that are attached to this cgroup itself, not to its ancestors.
Result<std::vector<UniqueFd>> attached_programs(Fd cgroup) {
  std::array<std::uint32_t, 64> ids{};  // the kernel's limit for one cgroup
  bpf_attr query{};
  query.query.target_fd = static_cast<std::uint32_t>(cgroup.value);
  query.query.attach_type = BPF_CGROUP_DEVICE;
  query.query.prog_ids = address_of(ids.data());
  query.query.prog_cnt = ids.size();
  OCIRUN_TRY(bpf(BPF_PROG_QUERY, query, "query device programs"));
  std::vector<UniqueFd> programs;
  for (std::uint32_t i = 0; i < query.query.prog_cnt; ++i) {
    bpf_attr by_id{};
    by_id.prog_id = ids[i];
    OCIRUN_TRY_ASSIGN(const int fd, bpf(BPF_PROG_GET_FD_BY_ID, by_id, "open a device program"));
    programs.emplace_back(fd);
  }
  return programs;
}

using Tag = std::array<std::uint8_t, BPF_TAG_SIZE>;

Result<Tag> tag_of(Fd program) {
  bpf_prog_info info{};
  bpf_attr attributes{};
  attributes.info.bpf_fd = static_cast<std::uint32_t>(program.value);
  attributes.info.info_len = sizeof info;
  attributes.info.info = address_of(&info);
  OCIRUN_TRY(bpf(BPF_OBJ_GET_INFO_BY_FD, attributes, "look at a device program"));
  Tag tag;
  std::memcpy(tag.data(), info.tag, tag.size());
  return tag;
}

Result<void> attach_program(Fd cgroup, Fd program) {
  OCIRUN_TRY_ASSIGN(const std::vector<UniqueFd> old, attached_programs(cgroup));
  bpf_attr attributes{};
  attributes.target_fd = static_cast<std::uint32_t>(cgroup.value);
  attributes.attach_bpf_fd = static_cast<std::uint32_t>(program.value);
  attributes.attach_type = BPF_CGROUP_DEVICE;
  attributes.attach_flags = BPF_F_ALLOW_MULTI;
  if (old.size() == 1) {  // BPF_F_REPLACE exists since Linux 5.6
    attributes.attach_flags |= BPF_F_REPLACE;
    attributes.replace_bpf_fd = static_cast<std::uint32_t>(old.front().get());
  }
  OCIRUN_TRY(bpf(BPF_PROG_ATTACH, attributes, "attach the device program"));
  // The kernel allows an access only if all attached programs allow the access. The old programs
  // are detached after the new program is attached, so that no forbidden access succeeds meanwhile.
  for (std::size_t i = 0; old.size() > 1 && i < old.size(); ++i) {
    bpf_attr detach{};
    detach.target_fd = static_cast<std::uint32_t>(cgroup.value);
    detach.attach_bpf_fd = static_cast<std::uint32_t>(old[i].get());
    detach.attach_type = BPF_CGROUP_DEVICE;
    OCIRUN_TRY(bpf(BPF_PROG_DETACH, detach, "detach an old device program"));
  }
  return {};
}

}  // namespace

Result<void> attach_device_program(const Directory& cgroup, std::span<const DeviceRule> rules) {
  const auto attach = [&]() -> Result<void> {
    Result<UniqueFd> program = load_program(rules);
    if (!program && is_too_long(program.error().number())) program.error().within("too many rules");
    if (!program) return std::unexpected(std::move(program).error());
    OCIRUN_TRY_ASSIGN(const UniqueFd directory, cgroup.open_file(".", O_RDONLY | O_DIRECTORY));
    return attach_program(directory, *program);
  };
  return within(attach(), "/linux/resources/devices: cgroup {}", cgroup.path());
}

Result<bool> has_device_program(const Directory& cgroup, std::span<const DeviceRule> rules) {
  OCIRUN_TRY_ASSIGN(const UniqueFd directory, cgroup.open_file(".", O_RDONLY | O_DIRECTORY));
  OCIRUN_TRY_ASSIGN(const std::vector<UniqueFd> attached, attached_programs(directory));
  if (attached.size() != 1) return false;
  OCIRUN_TRY_ASSIGN(const UniqueFd expected, load_program(rules));
  OCIRUN_TRY_ASSIGN(const Tag wanted, tag_of(expected));
  OCIRUN_TRY_ASSIGN(const Tag found, tag_of(attached.front()));
  return wanted == found;
}

}  // namespace ocirun::cgroups
