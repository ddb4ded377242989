#include "runtime/checkpoint/vdso_image.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

namespace ocirun::runtime {
namespace {

struct Elf64 {
  using Header = Elf64_Ehdr;
  using Segment = Elf64_Phdr;
  using Dynamic = Elf64_Dyn;
  using Symbol = Elf64_Sym;
};
struct Elf32 {
  using Header = Elf32_Ehdr;
  using Segment = Elf32_Phdr;
  using Dynamic = Elf32_Dyn;
  using Symbol = Elf32_Sym;
};

std::unexpected<Error> damaged() { return refuse("the vDSO of the images is damaged"); }

/// Walks as CRIU does, which takes offsets modulo the size of an address.
template <class Elf>
class Check {
  using Offset = decltype(Elf::Symbol::st_value);

 public:
  explicit Check(std::string_view bytes) : bytes_(bytes) {}

  Result<void> run() {
    TRY(find_segments());
    TRY(find_tables());
    if (symbols_ >= bytes_.size() || names_ >= bytes_.size()) return damaged();
    for (std::uint64_t at = symbols_; const auto symbol = read<typename Elf::Symbol>(at);
         at += sizeof(typename Elf::Symbol))
      TRY(check_symbol(*symbol));
    return {};
  }

 private:
  template <class T>
  std::optional<T> read(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    if (offset >= bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(value));
    return value;
  }

  Result<void> find_segments() {
    const auto header = read<typename Elf::Header>(0);
    if (!header) return damaged();
    int dynamics = 0;
    int loads = 0;
    for (std::uint64_t i = 0; i < header->e_phnum; ++i) {
      const auto segment =
          read<typename Elf::Segment>(header->e_phoff + i * sizeof(typename Elf::Segment));
      if (!segment) return damaged();
      if (segment->p_type == PT_DYNAMIC) dynamic_ = *segment, ++dynamics;
      if (segment->p_type == PT_LOAD) base_ = segment->p_vaddr, ++loads;
    }
    return dynamics == 1 && loads == 1 ? Result<void>{} : damaged();
  }

  Result<void> find_tables() {
    for (std::uint64_t i = 0; i < dynamic_.p_filesz / sizeof(typename Elf::Dynamic); ++i) {
      const auto entry =
          read<typename Elf::Dynamic>(dynamic_.p_offset + i * sizeof(typename Elf::Dynamic));
      if (!entry) return damaged();
      if (entry->d_tag == DT_NULL) break;
      const auto offset = static_cast<Offset>(entry->d_un.d_ptr - base_);
      if (entry->d_tag == DT_SYMTAB) symbols_ = offset;
      if (entry->d_tag == DT_STRTAB) names_ = offset;
    }
    return {};
  }

  // Behind the symbols there are other tables: what is there is a symbol for CRIU if a hash table
  // says so, and only with a name that CRIU looks for.
  Result<void> check_symbol(const typename Elf::Symbol& symbol) const {
    constexpr std::size_t kJump = 64;  // a jump of CRIU is not longer
    const std::uint64_t name = std::uint64_t{names_} + symbol.st_name;
    if (name >= bytes_.size()) return {};
    const std::string_view text = bytes_.substr(static_cast<std::size_t>(name));
    if (!text.starts_with("__vdso_") && !text.starts_with("__kernel_")) return {};
    const auto address = static_cast<Offset>(symbol.st_value - base_);
    if (address < bytes_.size() && bytes_.size() - address >= kJump) return {};
    return refuse(
        "the vDSO of the images has a function outside of itself, where criu would write");
  }

  std::string_view bytes_;
  typename Elf::Segment dynamic_{};
  Offset base_ = 0;
  Offset symbols_ = ~Offset{0};
  Offset names_ = ~Offset{0};
};

}  // namespace

Result<void> check_vdso(std::string_view bytes) {
  if (bytes.size() <= EI_CLASS || !bytes.starts_with(ELFMAG)) return damaged();
  if (bytes[EI_CLASS] == ELFCLASS64) return Check<Elf64>(bytes).run();
  if (bytes[EI_CLASS] == ELFCLASS32) return Check<Elf32>(bytes).run();
  return damaged();
}

}  // namespace ocirun::runtime
