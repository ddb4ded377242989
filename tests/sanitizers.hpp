#pragma once

// Whether clang's AddressSanitizer, with its LeakSanitizer, is in this build. (g++ has another
// macro: __SANITIZE_ADDRESS__.)
#ifdef __has_feature
#define OCIRUN_CLANG_SANITIZES __has_feature(address_sanitizer)
#else
#define OCIRUN_CLANG_SANITIZES 0
#endif

#if OCIRUN_CLANG_SANITIZES
#include <sanitizer/lsan_interface.h>
#endif

namespace ocirun::test {

/// While an object of this class exists, LeakSanitizer does not report what the thread allocates.
/// For libraries that leak.
class LeaksAreExpected {
 public:
  LeaksAreExpected(const LeaksAreExpected&) = delete;
  LeaksAreExpected& operator=(const LeaksAreExpected&) = delete;
#if OCIRUN_CLANG_SANITIZES
  LeaksAreExpected() { ::__lsan_disable(); }
  ~LeaksAreExpected() { ::__lsan_enable(); }
#else
  LeaksAreExpected() {}
  ~LeaksAreExpected() {}
#endif
};

}  // namespace ocirun::test
