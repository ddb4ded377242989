#include "linux/seccomp/libseccomp_program.hpp"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {
namespace {

using Context = std::unique_ptr<void, decltype(&::seccomp_release)>;

scmp_compare comparison(SeccompOperator op) {
  switch (op) {
    case SeccompOperator::kNotEqual:
      return SCMP_CMP_NE;
    case SeccompOperator::kLess:
      return SCMP_CMP_LT;
    case SeccompOperator::kLessEqual:
      return SCMP_CMP_LE;
    case SeccompOperator::kEqual:
      return SCMP_CMP_EQ;
    case SeccompOperator::kGreaterEqual:
      return SCMP_CMP_GE;
    case SeccompOperator::kGreater:
      return SCMP_CMP_GT;
    case SeccompOperator::kMaskedEqual:
      return SCMP_CMP_MASKED_EQ;
  }
  return SCMP_CMP_EQ;
}

// For SCMP_CMP_MASKED_EQ, `value` is the mask, and `valueTwo` the expected value after masking.
scmp_arg_cmp condition(const SeccompArgument& argument) {
  return {.arg = argument.index,
          .op = comparison(argument.op),
          .datum_a = argument.value,
          .datum_b = argument.op == SeccompOperator::kMaskedEqual ? argument.value_two : 0};
}

Result<void> add_rule(const Context& context, const PreparedRule& rule, const std::string& name) {
  const int syscall = ::seccomp_syscall_resolve_name(name.c_str());
  for (const auto& arguments : rule.alternatives) {
    std::vector<scmp_arg_cmp> conditions;
    for (const SeccompArgument& argument : arguments) conditions.push_back(condition(argument));
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
Result<Program> export_program(const Context& context) {
  const UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC));
  if (!file) return fail(errno, "make a file in memory for the seccomp filter");
  if (const int error = ::seccomp_export_bpf(context.get(), file.get()); error < 0)
    return fail(-error, "generate the seccomp filter");
  struct stat info{};
  if (::fstat(file.get(), &info) != 0) return fail(errno, "measure the seccomp filter");
  Program program(static_cast<std::size_t>(info.st_size) / sizeof(sock_filter));
  const std::size_t bytes = program.size() * sizeof(sock_filter);
  if (::pread(file.get(), program.data(), bytes, 0) != static_cast<ssize_t>(bytes))
    return fail(EIO, "read the seccomp filter");
  return program;
}

}  // namespace

Result<Program> libseccomp_program(std::uint32_t architecture, const PreparedProfile& profile) {
  const Context context(::seccomp_init(profile.default_answer), ::seccomp_release);
  if (!context) return fail(ENOMEM, "/linux/seccomp: libseccomp cannot start a filter");
  // A binary tree instead of a list. libseccomp 2.5's lists never load the number, and so never
  // match, when the first rule is for a call that the architecture lacks.
  static_cast<void>(::seccomp_attr_set(context.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  if (const std::uint32_t native = ::seccomp_arch_native(); architecture != native) {
    int error = ::seccomp_arch_add(context.get(), architecture);
    if (error == 0) error = ::seccomp_arch_remove(context.get(), native);
    if (error < 0) return fail(-error, "/linux/seccomp/architectures: choose {:#x}", architecture);
  }
  for (const PreparedRule& rule : profile.rules)
    for (const std::string& name : rule.names) TRY(add_rule(context, rule, name));
  return export_program(context);
}

}  // namespace ocirun::linux
