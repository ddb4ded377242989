// Any text as the JSON of linux.seccomp: the profile is read and compiled, and the filter's answers
// are compared with those of libseccomp's filter.
#include <random>
#include <span>

#include "bundle/config/config.hpp"
#include "linux/seccomp/filter.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/linux/seccomp/against_libseccomp.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string text =
      R"({"ociVersion": "1.3.0", "root": {"path": "r"}, "linux": {"namespaces": [{"type": "mount"}], "seccomp": )";
  text += fuzz::text_of(data, size);
  text += "}}";
  const bundle::Parsed parsed = bundle::parse_config(text, HostPath("/bundle"));
  if (!parsed.config || !parsed.config->seccomp) return 0;
  std::vector<std::string> warnings;
  const auto filter = linux::compile_seccomp(*parsed.config->seccomp, warnings);
  constexpr std::size_t kMostInstructions = 4096;  // BPF_MAXINSNS
  if (filter)
    fuzz::require(!filter->program.empty() && filter->program.size() <= kMostInstructions);
  std::mt19937 random(static_cast<std::uint32_t>(size));
  for (const std::uint32_t architecture : std::span(test::kComparedArchitectures).first(3))
    fuzz::require(!test::wrong_answer(
        *parsed.config->seccomp, {.architecture = architecture, .asks_libseccomp = false}, random));
  return 0;
}
