#include "pods/prepare/plan/seccomp.hpp"

#include <linux/personality.h>
#include <linux/sched.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "bundle/config/sections.hpp"
#include "pods/documents/model/scalars.hpp"
#include "pods/prepare/plan/system_calls.hpp"

namespace ocirun::pods {
namespace {

using bundle::JsonWriter;
using CallNames = std::vector<std::string_view>;

constexpr std::string_view kAllow = "SCMP_ACT_ALLOW";

/// The architecture of this machine, and those whose programs it can also run. Without this list a
/// filter would know only the runtime's own architecture.
#if defined(__x86_64__)
constexpr auto kArchitectures =
    std::to_array<std::string_view>({"SCMP_ARCH_X86_64", "SCMP_ARCH_X86"});
#elif defined(__aarch64__)
constexpr auto kArchitectures =
    std::to_array<std::string_view>({"SCMP_ARCH_AARCH64", "SCMP_ARCH_ARM"});
#elif defined(__s390x__)
constexpr auto kArchitectures =
    std::to_array<std::string_view>({"SCMP_ARCH_S390X", "SCMP_ARCH_S390"});
#else
constexpr std::array<std::string_view, 0> kArchitectures{};
#endif

/// The argument of clone(2) that holds the flags.
#if defined(__s390__)
constexpr unsigned kCloneFlags = 1;
#else
constexpr unsigned kCloneFlags = 0;
#endif

constexpr std::uint64_t kCloneNewTime = 0x80;  // of unshare(2); clone(2) reads a signal there
constexpr auto kNamespaces =
    std::to_array<std::uint64_t>({CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC,
                                  CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET});

/// Families of sockets that programs in containers need. The kernel itself demands CAP_NET_RAW for
/// AF_PACKET.
constexpr auto kFamilies =
    std::to_array<std::uint64_t>({AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET});
/// Families that belong to no network namespace, or whose modules any program could make the kernel
/// load.
constexpr auto kRefusedFamilies = std::to_array<std::uint64_t>(
    {AF_AX25,  AF_IPX,     AF_APPLETALK, AF_NETROM,     AF_ATMPVC, AF_X25, AF_ROSE, AF_KEY,
     AF_RDS,   AF_PPPOX,   AF_LLC,       AF_IB,         AF_MPLS,   AF_CAN, AF_TIPC, AF_BLUETOOTH,
     AF_RXRPC, AF_ISDN,    AF_PHONET,    AF_IEEE802154, AF_CAIF,   AF_ALG, AF_NFC,  AF_VSOCK,
     AF_KCM,   AF_QIPCRTR, AF_SMC,       AF_XDP,        AF_MCTP});

constexpr std::uint64_t kAsk = 0xFFFFFFFF;  // personality(2) with this value changes nothing
constexpr std::uint64_t kLinux32WithOldName = std::uint64_t{PER_LINUX32} | UNAME26;
constexpr auto kPersonalities =
    std::to_array<std::uint64_t>({PER_LINUX, PER_LINUX32, UNAME26, kLinux32WithOldName, kAsk});

/// The condition that bits of an argument have a value. A filter sees 64 bits of these arguments,
/// of which the kernel takes the lower 32.
struct Bits {
  std::uint64_t mask;
  std::uint64_t value;
};
constexpr std::uint64_t kAllBits = 0xFFFFFFFF;

/// The members of linux.seccomp.syscalls.
class Rules {
 public:
  explicit Rules(JsonWriter& out) : out_(out) {}

  void allow(const CallNames& names) { write(names, kAllow, {}, 0, {}); }
  void refuse(const CallNames& names, int error) { write(names, "SCMP_ACT_ERRNO", error, 0, {}); }
  void allow_if(std::string_view name, unsigned argument, Bits bits) {
    write({name}, kAllow, {}, argument, {bits});
  }
  /// Several conditions on one argument: any of them is enough.
  void refuse_if(std::string_view name, int error, unsigned argument,
                 const std::vector<Bits>& any) {
    write({name}, "SCMP_ACT_ERRNO", error, argument, any);
  }

 private:
  void write(const CallNames& names, std::string_view action, std::optional<int> error,
             unsigned argument, const std::vector<Bits>& conditions) {
    if (names.empty()) return;
    out_.begin_object().member("names", names).member("action", action);
    if (error) out_.member("errnoRet", *error);
    if (!conditions.empty()) out_.key("args").begin_array();
    for (const Bits& bits : conditions) {
      out_.begin_object().member("index", argument).member("value", bits.mask);
      out_.member("valueTwo", bits.value).member("op", "SCMP_CMP_MASKED_EQ").end_object();
    }
    if (!conditions.empty()) out_.end_array();
    out_.end_object();
  }

  JsonWriter& out_;
};

bool has(std::span<const std::string> capabilities, std::string_view name) {
  return std::ranges::find(capabilities, name) != capabilities.end();
}

/// The calls of calls_by_capability() that these capabilities allow, and the others.
struct ByCapability {
  CallNames allowed, refused;
};
ByCapability judge(std::span<const std::string> capabilities) {
  ByCapability judged;
  for (const auto& [capability, calls] : calls_by_capability())
    if (has(capabilities, capability))
      judged.allowed.insert(judged.allowed.end(), calls.begin(), calls.end());
  for (const auto& [capability, calls] : calls_by_capability())
    for (const std::string_view call : calls)
      if (std::ranges::find(judged.allowed, call) == judged.allowed.end())
        judged.refused.push_back(call);
  for (CallNames* names : {&judged.allowed, &judged.refused}) {
    std::ranges::sort(*names);
    names->erase(std::ranges::unique(*names).begin(), names->end());
  }
  return judged;
}

/// A new user namespace gives all capabilities in it, and with them most of the kernel. So only a
/// container that has CAP_SYS_ADMIN anyway may make namespaces.
void write_namespace_rules(Rules& rules, bool is_admin) {
  if (is_admin) return rules.allow({"clone", "clone3", "unshare"});
  std::uint64_t mask = 0;
  std::vector<Bits> each;
  for (const std::uint64_t flag : kNamespaces) {
    mask |= flag;
    each.push_back({flag, flag});
  }
  rules.allow_if("clone", kCloneFlags, {mask, 0});
  rules.refuse_if("clone", EPERM, kCloneFlags, each);
  each.push_back({kCloneNewTime, kCloneNewTime});
  rules.allow_if("unshare", 0, {mask | kCloneNewTime, 0});
  rules.refuse_if("unshare", EPERM, 0, each);
  // The flags are in memory, which a filter does not see. The C library falls back to clone(2).
  rules.refuse({"clone3"}, ENOSYS);
}

void write_argument_rules(Rules& rules) {
  std::vector<Bits> refused;
  for (const std::uint64_t family : kRefusedFamilies) refused.push_back({kAllBits, family});
  // socketpair(2) makes the kernel load the module of a family too.
  for (const char* call : {"socket", "socketpair"}) {
    for (const std::uint64_t family : kFamilies) rules.allow_if(call, 0, {kAllBits, family});
    rules.refuse_if(call, EAFNOSUPPORT, 0, refused);
  }
  for (const std::uint64_t value : kPersonalities)
    rules.allow_if("personality", 0, {kAllBits, value});
}

}  // namespace

void write_default_seccomp(JsonWriter& out, std::span<const std::string> capabilities) {
  out.begin_object().member("defaultAction", "SCMP_ACT_ERRNO").member("defaultErrnoRet", ENOSYS);
  if (!kArchitectures.empty())
    out.member("architectures", CallNames(kArchitectures.begin(), kArchitectures.end()));
  out.key("syscalls").begin_array();
  Rules rules(out);
  const ByCapability judged = judge(capabilities);
  rules.allow(CallNames(calls_for_all().begin(), calls_for_all().end()));
  rules.allow(judged.allowed);
  rules.refuse(judged.refused, EPERM);
  rules.refuse(CallNames(refused_calls().begin(), refused_calls().end()), EPERM);
  write_namespace_rules(rules, has(capabilities, "CAP_SYS_ADMIN"));
  write_argument_rules(rules);
  out.end_array().end_object();
}

namespace {

/// The filter that a document asks for (AC-18).
Result<void> write_isolator(bundle::JsonWriter& out, const Security::SystemCalls& calls) {
  std::vector<std::string> names;
  for (const std::string& name : calls.names) {
    if (!name.starts_with('@')) {
      names.push_back(name);
      continue;
    }
    const bool all = name == "@appc.io/all";
    if (!all && name != "@appc.io/empty")
      return refuse("unknown set of system calls \"{}\" (known: @appc.io/all, @appc.io/empty)",
                    name);
    if (all && calls.allowed) return {};  // no filter
    if (all) return refuse("\"{}\": a program cannot run without any system call", name);
  }
  std::string action = "SCMP_ACT_KILL_PROCESS";
  std::optional<int> error;
  if (!calls.errno_name.empty()) {
    error = find_errno(calls.errno_name);
    if (!error) return refuse("unknown error \"{}\"", calls.errno_name);
    action = "SCMP_ACT_ERRNO";
  }
  out.key("seccomp").begin_object();
  out.member("defaultAction", calls.allowed ? std::string_view(action) : "SCMP_ACT_ALLOW");
  if (calls.allowed && error) out.member("defaultErrnoRet", *error);
  out.key("syscalls").begin_array();
  if (!names.empty()) {
    out.begin_object().member("names", names);
    out.member("action", calls.allowed ? "SCMP_ACT_ALLOW" : action.c_str());
    if (!calls.allowed && error) out.member("errnoRet", *error);
    out.end_object();
  }
  out.end_array().end_object();
  return {};
}

/// Reports unknown members as problems, but not unknown system calls: a profile may be newer than
/// libseccomp.
void refuse_unknown_names(bundle::Report& report) {
  const std::vector<std::string>& warnings = report.warnings();
  for (std::size_t i = 0; i < warnings.size(); ++i) {
    const bundle::Node* node = report.nodes_of_warnings()[i];
    if (node != nullptr && node->parent != nullptr && node->parent->is_object())
      report.problem(warnings[i], node);
  }
}

}  // namespace

Result<SeccompChoice> read_seccomp_profile(std::string text) {
  bundle::Document document;
  bundle::Report report(bundle::UnknownNames::kTold);
  linux::SeccompProfile profile;
  if (document.parse(text, report))
    bundle::read_seccomp(bundle::Value(*document.root(), report), profile);
  refuse_unknown_names(report);
  if (!report.ok())
    return refuse("the profile must be an object of the form of linux.seccomp in config.json: {}",
                  report.first_problem());
  return SeccompChoice{.kind = SeccompChoice::Kind::kProfile, .profile = std::move(text)};
}

Result<void> write_seccomp(bundle::JsonWriter& out, const Security& security,
                           std::span<const std::string> capabilities, const SeccompChoice& choice) {
  if (security.system_calls) return write_isolator(out, *security.system_calls);
  switch (choice.kind) {
    case SeccompChoice::Kind::kUnconfined:
      return {};
    case SeccompChoice::Kind::kDefault:
      write_default_seccomp(out.key("seccomp"), capabilities);
      return {};
    case SeccompChoice::Kind::kProfile:
      break;
  }
  bundle::Document document;
  bundle::Report report;
  if (!document.parse(choice.profile, report))
    return refuse("the seccomp profile: {}", report.problems().front());
  out.key("seccomp").value(*document.root());
  return {};
}

}  // namespace ocirun::pods
