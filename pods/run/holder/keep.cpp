#include "pods/run/holder/keep.hpp"

#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr int kRequests = STDOUT_FILENO;
constexpr int kFirstSlot = 10;  // the kernel gives lower numbers to received descriptors
constexpr int kMostDescriptors = 2;

struct Request {
  char tag;
  unsigned char slot[2];
};

void give_up_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct none[2]{};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  ::syscall(SYS_capset, &header, none);
}

void take_request() {
  Request request{};
  iovec bytes{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMostDescriptors)];
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(kRequests, &header, 0);
  if (size < 0) return;
  const bool is_whole = size == sizeof request;
  unsigned short slot = 0;
  ::memcpy(&slot, request.slot, sizeof slot);
  const bool is_slot = is_whole && slot >= kFirstSlot;
  const cmsghdr* rights = CMSG_FIRSTHDR(&header);
  if (rights == nullptr) {
    if (is_slot) ::close(slot);
    return;
  }
  const unsigned long count = (rights->cmsg_len - CMSG_LEN(0)) / sizeof(int);
  int received[kMostDescriptors];
  ::memcpy(received, CMSG_DATA(rights), count * sizeof(int));
  for (unsigned long i = 0; i < count; ++i) {
    if (is_slot) ::dup2(received[i], slot + static_cast<int>(i));
    ::close(received[i]);
  }
}

/// Slots of a pod with many containers have large numbers.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

void keep_descriptors() {
  raise_descriptor_limit();
  give_up_capabilities();
  for (;;) take_request();
}
