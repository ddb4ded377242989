#pragma once

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/seccomp/compile.hpp"
#include "linux/seccomp/program.hpp"
#include "tests/sanitizers.hpp"

namespace ocirun::test {

using LibseccompContext = std::unique_ptr<void, decltype(&::seccomp_release)>;

inline scmp_compare comparison(linux::SeccompOperator op) {
  switch (op) {
    case linux::SeccompOperator::kNotEqual:
      return SCMP_CMP_NE;
    case linux::SeccompOperator::kLess:
      return SCMP_CMP_LT;
    case linux::SeccompOperator::kLessEqual:
      return SCMP_CMP_LE;
    case linux::SeccompOperator::kEqual:
      return SCMP_CMP_EQ;
    case linux::SeccompOperator::kGreaterEqual:
      return SCMP_CMP_GE;
    case linux::SeccompOperator::kGreater:
      return SCMP_CMP_GT;
    case linux::SeccompOperator::kMaskedEqual:
      return SCMP_CMP_MASKED_EQ;
  }
  return SCMP_CMP_EQ;
}

// For SCMP_CMP_MASKED_EQ, `value` is the mask, and `valueTwo` the expected value after masking.
inline scmp_arg_cmp condition(const linux::SeccompArgument& argument) {
  return {.arg = argument.index,
          .op = comparison(argument.op),
          .datum_a = argument.value,
          .datum_b = argument.op == linux::SeccompOperator::kMaskedEqual ? argument.value_two : 0};
}

inline Result<void> add_rule(const LibseccompContext& context, const linux::PreparedRule& rule,
                             const std::string& name) {
  const int syscall = ::seccomp_syscall_resolve_name(name.c_str());
  for (const auto& arguments : rule.alternatives) {
    std::vector<scmp_arg_cmp> conditions;
    for (const linux::SeccompArgument& argument : arguments)
      conditions.push_back(condition(argument));
    const int error =
        ::seccomp_rule_add_array(context.get(), rule.answer, syscall,
                                 static_cast<unsigned>(conditions.size()), conditions.data());
    // Of two rules without args, libseccomp silently keeps the first; engines rely on that.
    if (error == -EEXIST)
      return refuse(
          "/linux/seccomp/syscalls/{}: contradicts an earlier rule for {} with the same"
          " args; remove one of them",
          rule.index, name);
    if (error < 0)
      return fail(-error, "/linux/seccomp/syscalls/{}: add the rule for {}", rule.index, name);
  }
  return {};
}

// Through a file, because libseccomp 2.5 can write a filter only to a descriptor.
inline Result<linux::Program> export_program(const LibseccompContext& context) {
  const UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) return fail(errno, "make a file in memory for the seccomp filter");
  if (const int error = ::seccomp_export_bpf(context.get(), file.get()); error < 0)
    return fail(-error, "generate the seccomp filter");
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno, "measure the seccomp filter");
  linux::Program program(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  const std::size_t bytes = program.size() * sizeof(sock_filter);
  if (::pread(file.get(), program.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail(EIO, "read the seccomp filter");
  return program;
}

/// libseccomp's filter for one architecture (SCMP_ARCH_*), to compare ours with. It kills on the
/// token of any other architecture. No rule may have the default answer. On some profiles
/// libseccomp 2.5 loops without end. Errors name the rule.
inline Result<linux::Program> libseccomp_program(std::uint32_t architecture,
                                                 const linux::PreparedProfile& profile) {
  const LeaksAreExpected of_libseccomp_2_5;
  const LibseccompContext context(::seccomp_init(profile.default_answer), ::seccomp_release);
  if (!context) return fail(ENOMEM, "/linux/seccomp: libseccomp cannot start a filter");
  // A binary tree instead of a list. libseccomp 2.5's lists never load the number, and so never
  // match, when the first rule is for a call that the architecture lacks.
  ignore(::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  if (const std::uint32_t native = ::seccomp_arch_native(); architecture != native) {
    int error = ::seccomp_arch_add(context.get(), architecture);
    if (error == 0) error = ::seccomp_arch_remove(context.get(), native);
    if (error < 0) return fail(-error, "/linux/seccomp/architectures: choose {:#x}", architecture);
  }
  for (const linux::PreparedRule& rule : profile.rules)
    for (const std::string* name : rule.names) OCIRUN_TRY(add_rule(context, rule, *name));
  return export_program(context);
}

}  // namespace ocirun::test
