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
//     │── clone3 ──────────────────►│                             │   the stage exists only where
//     │◄───────────────── MapIds ───│  (new user namespace)       │   namespaces are joined before
//     │── Go ──────────────────────►│                             │   init can be made; in the
//     │◄──────── Forked(init pid) ──│── clone3(CLONE_PARENT) ────►│   plain case init sends MapIds
//     │── Go ────────────────────────────────────────────────────►│
//     │◄──────────────────────────────────── RootMount(mount id) ─│   no mount namespace: it will
//     │   record it in the intent                                 │   stay on the host if init dies
//     │── Go ────────────────────────────────────────────────────►│
//     │◄──────────────────────────────────────── OpenMount(index) │   a source that the user
//     │── MountTree(fd) ─────────────────────────────────────────►│   namespace may not open, or an
//     │◄──────────────────────────────────────────────── RunHooks │   id-mapped one; no fd: nor may
//     │   prestart, createRuntime                                 │   the parent
//     │── Go ────────────────────────────────────────────────────►│
//     │◄───────────────────────────────────────── HookLasts(text) │   a createContainer hook without
//     │   warn                                                    │   timeout, every 10 s
//     │◄────────────────────────────────────────── Terminal(ptmx) │
//     │◄────────────────────────────────────────────── WantFilter │   compiled while init was
//     │── Filter(program) ───────────────────────────────────────►│   mounting
//     │◄─────────────────────────────────────────────── SetLimits │   raising wants the host's
//     │── Go ────────────────────────────────────────────────────►│   privilege
//     │◄───────────────────────────────────── Listener(fd number) │   the parent takes it by
//     │── Go ────────────────────────────────────────────────────►│   pidfd_getfd
//     │◄─────────────────────────────────────────────────── Ready │
//     │   commit the state                                        │
//     │── Committed ─────────────────────────────────────────────►│   init stops dying with its
//     │◄──────────────────────────────────────────────── Detached │   parent
//     ▼ exits                                                     ▼ waits for `start`
//
//   At any time the child may send Failed(error) and exit; the end of the stream says that the
//   other is dead.
// clang-format on
enum class Message : std::uint8_t {
  kMapIds = 1,
  kForked,
  kRootMount,
  kOpenMount,
  kRunHooks,
  kHookLasts,
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

/// One row a message of the child's: what answers it, and whether it may come more than once.
struct Exchange {
  Message question;
  std::string_view name;
  std::string_view then;  // what the child does afterwards, as in "died while …"
  Message answer;         // kGo, …; the question itself where nothing answers
  bool repeatable;
};

inline constexpr std::string_view kFiltered =
    "its seccomp filter was loaded: does /linux/seccomp allow what follows?";

/// The child's messages in the order of a container's life. One may be left out; none may come
/// after a later one.
inline constexpr std::array kExchanges{
    Exchange{Message::kMapIds, "MapIds", "it entered its namespaces", Message::kGo, false},
    Exchange{Message::kForked, "Forked", "it entered its namespaces", Message::kGo, false},
    Exchange{Message::kRootMount, "RootMount", "its root was mounted", Message::kGo, false},
    Exchange{Message::kOpenMount, "OpenMount", "its mounts were made", Message::kMountTree, true},
    Exchange{Message::kRunHooks, "RunHooks", "its root was entered", Message::kGo, false},
    Exchange{Message::kHookLasts, "HookLasts", "a hook ran", Message::kHookLasts, true},
    Exchange{Message::kTerminal, "Terminal", "its terminal was opened", Message::kTerminal, false},
    Exchange{Message::kWantFilter, "WantFilter", kFiltered, Message::kFilter, false},
    Exchange{Message::kSetLimits, "SetLimits", "its limits were set", Message::kGo, false},
    Exchange{Message::kListener, "Listener", kFiltered, Message::kGo, false},
    Exchange{Message::kReady, "Ready", "the runtime recorded it", Message::kCommitted, false},
    Exchange{Message::kDetached, "Detached", "its program was executed", Message::kDetached, false},
};

std::string_view message_name(Message message);

/// Follows the conversation on the parent's side.
class Conversation {
 public:
  /// Errors: EPROTO when `message` may not come now.
  Result<void> hear(Message message);
  /// The last message heard.
  std::string_view last() const { return last_ == nullptr ? "its start" : last_->name; }
  /// What the child does now, as people understand it: "its terminal was opened".
  std::string_view activity() const { return last_ == nullptr ? "it was started" : last_->then; }

 private:
  std::size_t next_ = 0;  // the first row that may still come
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

/// OpenMount's payload: an index into config.json's mounts, or this one for the rootfs.
inline constexpr int kRootfsIndex = -1;
/// A payload that is one decimal number.
Result<int> parse_number(std::string_view payload);

/// An Error as bytes and back: it crosses the socket with its frames.
std::string error_bytes(const Error& error);
Error parse_error_bytes(std::string_view bytes);

}  // namespace ocirun::runtime
