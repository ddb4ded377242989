#pragma once

#if defined(__has_feature)
#define OCIRUN_HAS_FEATURE(name) __has_feature(name)
#else
#define OCIRUN_HAS_FEATURE(name) 0
#endif

namespace ocirun::pods {

/// AddressSanitizer reserves terabytes of addresses and asks for the stack of signals;
/// UndefinedBehaviorSanitizer, which is built in with it, asks pipes whether memory can be read.
#if defined(__SANITIZE_ADDRESS__) || OCIRUN_HAS_FEATURE(address_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace ocirun::pods

#undef OCIRUN_HAS_FEATURE
