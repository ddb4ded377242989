#include "pods/documents/architecture.hpp"

namespace ocirun::pods {

std::string_view host_architecture() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__i386__)
  return "386";
#elif defined(__aarch64__)
  return "arm64";
#elif defined(__arm__)
  return "arm";
#elif defined(__riscv) && __riscv_xlen == 64
  return "riscv64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return "ppc64le";
#elif defined(__s390x__)
  return "s390x";
#elif defined(__loongarch64)
  return "loong64";
#elif defined(__mips64) && defined(__MIPSEL__)
  return "mips64le";
#else
#error "add Go's name of this architecture"
#endif
}

}  // namespace ocirun::pods
