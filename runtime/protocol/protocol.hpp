#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/message_socket.hpp"

namespace ocirun::runtime {

// clang-format off
// What the parent (create, run, exec) and its child say to each other over one SOCK_SEQPACKET pair.
//
//   parent                      [stage]                        init
//     │── clone3 ──────────────────►│                             │   needs_stage(): whether there is
//     │◄───────────────── MapIds ───│  (new user, time namespace) │   a stage; without a stage, init
//     │── Go ──────────────────────►│                             │   sends MapIds
//     │◄──────── Forked(init pid) ──│── clone3(CLONE_PARENT) ────►│
//     │── Go ────────────────────────────────────────────────────►│
//     │◄──────────────────────────────────── RootMount(mount id) ─│   only without a mount namespace:
//     │   record it in intent.json, for `delete --force`          │   the mount would outlive init
//     │── Go ────────────────────────────────────────────────────►│
//     │◄──────────────────────────────────────── OpenMount(index) │   a bind that must be id-mapped or
//     │── MountTree(fd) ─────────────────────────────────────────►│   locked, or whose source init cannot
//     │                                                           │   reach; no fd: init tries itself
//     │◄──────────────────────────────────────────────── RunHooks │
//     │   move net devices; prestart, createRuntime               │
//     │── Go ────────────────────────────────────────────────────►│
//     │◄───────────────────────────────────────── HookLasts(text) │   a createContainer hook without
//     │   warn                                                    │   timeout, every 10 s
//     │◄───────────────────────────────────────── HooksRan(times) │   createContainer hooks
//     │   record them                                             │
//     │◄────────────────────────────────────────── Terminal(ptmx) │
//     │◄────────────────────────────────────────────── WantFilter │   the parent compiled the filter
//     │── Filter(program) ───────────────────────────────────────►│   while init mounted
//     │◄─────────────────────────────────────────────── SetLimits │   raising a limit wants the
//     │── Go ────────────────────────────────────────────────────►│   host's CAP_SYS_RESOURCE
//     │◄───────────────────────────────────── Listener(fd number) │   the parent takes it by
//     │── Go ────────────────────────────────────────────────────►│   pidfd_getfd
//     │◄─────────────────────────────────────────────────── Ready │
//     │   commit the state                                        │   init stops dying with its
//     │── Committed ─────────────────────────────────────────────►│   parent
//     │◄──────────────────────────────────────────────── Detached │
//     ▼ exits                                                     ▼ waits for `start`
//
//   At any time the child may send Failed(error) and exit. The end of the stream means that the
//   process at the other end is dead.
// clang-format on
enum class Message : std::uint8_t {
  kMapIds = 1,
  kForked,
  kRootMount,
  kOpenMount,
  kRunHooks,
  kHookLasts,
  kHooksRan,
  kTerminal,
  kWantFilter,
  kSetLimits,
  kListener,
  kReady,
  kDetached,
  kFailed,
  kGo,
  kMountTree,
  kFilter,
  kCommitted,
};

/// One message that the child sends, and the parent's answer to it.
struct Exchange {
  Message question;
  std::string_view name;
  std::string_view then;  // what the child does after it, as in "died while …"
  Message answer;         // equal to `question`: the parent sends no answer
  bool repeatable;        // may come more than once
};

inline constexpr std::string_view kFiltered =
    "its seccomp filter was loaded (/linux/seccomp must allow the calls that follow, execve "
    "among them)";

/// The child's messages in the order of a container's life. The child may leave messages out, and
/// may not go back in this order.
inline constexpr std::array kExchanges{
    Exchange{Message::kMapIds, "MapIds", "it entered its namespaces", Message::kGo, false},
    Exchange{Message::kForked, "Forked", "it entered its namespaces", Message::kGo, false},
    Exchange{Message::kRootMount, "RootMount", "its root was mounted", Message::kGo, false},
    Exchange{Message::kOpenMount, "OpenMount", "its mounts were made", Message::kMountTree, true},
    Exchange{Message::kRunHooks, "RunHooks", "its root was entered", Message::kGo, false},
    Exchange{Message::kHookLasts, "HookLasts", "a hook ran", Message::kHookLasts, true},
    Exchange{Message::kHooksRan, "HooksRan", "its hooks had run", Message::kHooksRan, false},
    Exchange{Message::kTerminal, "Terminal", "its terminal was opened", Message::kTerminal, false},
    Exchange{Message::kWantFilter, "WantFilter", kFiltered, Message::kFilter, false},
    Exchange{Message::kSetLimits, "SetLimits", "its limits were set", Message::kGo, false},
    Exchange{Message::kListener, "Listener", kFiltered, Message::kGo, false},
    Exchange{Message::kReady, "Ready", "the runtime recorded it", Message::kCommitted, false},
    Exchange{Message::kDetached, "Detached", "its program was executed", Message::kDetached, false},
};

std::string_view message_name(Message message);

/// The parent's place in the conversation with one child.
class Conversation {
 public:
  /// Errors: EPROTO when `message` may not come now.
  Result<void> hear(Message message);
  /// The name of the last message heard.
  std::string_view last() const { return last_ == nullptr ? "its start" : last_->name; }
  /// The present activity of the child, for the sentence "died while …": "its terminal was opened".
  std::string_view activity() const { return last_ == nullptr ? "it was started" : last_->then; }

 private:
  std::size_t next_ = 0;  // index in kExchanges of the first message that may still come
  const Exchange* last_ = nullptr;
};

/// The child's side: sends `question` and waits for its answer.
/// Errors: EPIPE when the parent is gone; EPROTO for another answer.
Result<linux::Packet> ask(const linux::MessageSocket& parent, Message question,
                          std::string_view payload = {});
/// The child's side: waits for Go. Errors: EPIPE when the parent is gone.
Result<void> await_go(const linux::MessageSocket& parent);
Result<void> tell(const linux::MessageSocket& peer, Message message, std::string_view payload = {},
                  std::span<const Fd> descriptors = {});

/// The payload of OpenMount is an index into the mounts of config.json, or this index for the
/// rootfs.
inline constexpr int kRootfsIndex = -1;
/// Parses a payload that is one decimal number.
Result<int> parse_number(std::string_view payload);

/// The payload of Failed: an Error with its errno and its frames.
std::string error_bytes(const Error& error);
Error parse_error_bytes(std::string_view bytes);

}  // namespace ocirun::runtime
