#include "linux/process/share_out.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <new>
#include <span>

#include "linux/process/scheduling.hpp"

namespace ocirun::linux {
namespace {

constexpr std::size_t kMostShares = 8;
// Not RLIMIT_STACK, by default 8 MiB, which may be more than RLIMIT_AS leaves.
constexpr std::size_t kStack = std::size_t{512} * 1024;

struct Share {
  const std::function<void(std::size_t, std::size_t)>* work = nullptr;
  std::size_t begin = 0, end = 0;
  bool is_done = false;
  pthread_t thread{};
};

void* work_on(void* argument) {
  Share& share = *static_cast<Share*>(argument);
  try {
    (*share.work)(share.begin, share.end);
    share.is_done = true;
  } catch (const std::bad_alloc&) {
    return nullptr;  // share_out() does the share again
  }
  return nullptr;
}

}  // namespace

void share_out(std::size_t count, const std::function<void(std::size_t, std::size_t)>& work) {
  const std::size_t cpus = count_cpus().value_or(1);
  const std::size_t number =
      std::max<std::size_t>(std::min({cpus, kMostShares, count / kLeastShare}), 1);
  std::array<Share, kMostShares> all;
  const std::span shares = std::span(all).first(number);
  for (std::size_t i = 0; i < number; ++i)
    shares[i] = {.work = &work, .begin = count * i / number, .end = count * (i + 1) / number};
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, kStack);
  std::size_t threads = 0;
  for (Share& share : shares.subspan(1)) {
    // Fails with EAGAIN: pids.max, RLIMIT_NPROC, or no memory for the stack.
    if (::pthread_create(&share.thread, &attributes, work_on, &share) != 0) break;
    ++threads;
  }
  ::pthread_attr_destroy(&attributes);
  work_on(&shares.front());
  for (const Share& share : shares.subspan(1, threads)) ::pthread_join(share.thread, nullptr);
  for (const Share& share : shares)
    if (!share.is_done) work(share.begin, share.end);
}

}  // namespace ocirun::linux
