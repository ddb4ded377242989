#include "runtime/checkpoint/vdso_image.hpp"

#include <elf.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <bit>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/linux/mounts/scene.hpp"

using namespace ocirun::runtime;
using namespace ocirun::test;

namespace {

/// The vDSO of this process.
std::string own_vdso() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with("[vdso]")) continue;
    unsigned long start = 0, end = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> start >> dash >> end;
    const void* const bytes = std::bit_cast<const void*>(::getauxval(AT_SYSINFO_EHDR));
    return {static_cast<const char*>(bytes), end - start};
  }
  return {};
}

template <class T>
T at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}
template <class T>
void put(std::string& bytes, std::size_t offset, const T& value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
}

std::string refusal(const std::string& bytes) {
  const auto checked = check_vdso(bytes);
  return checked ? "" : checked.error().message();
}

/// The offset of the first segment of this type.
std::size_t segment(const std::string& bytes, Elf64_Word type) {
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  std::size_t offset = header.e_phoff;
  while (at<Elf64_Phdr>(bytes, offset).p_type != type) offset += sizeof(Elf64_Phdr);
  return offset;
}
/// The offset of the entry of the dynamic section with this tag.
std::size_t dynamic(const std::string& bytes, Elf64_Sxword tag) {
  std::size_t offset = at<Elf64_Phdr>(bytes, segment(bytes, PT_DYNAMIC)).p_offset;
  while (at<Elf64_Dyn>(bytes, offset).d_tag != tag) offset += sizeof(Elf64_Dyn);
  return offset;
}
/// The offset of a symbol that criu looks for.
std::size_t symbol(const std::string& bytes) {
  const std::size_t names = at<Elf64_Dyn>(bytes, dynamic(bytes, DT_STRTAB)).d_un.d_ptr;
  std::size_t offset = at<Elf64_Dyn>(bytes, dynamic(bytes, DT_SYMTAB)).d_un.d_ptr;
  const auto is_wanted = [&](std::size_t symbol) {
    const std::string_view name(bytes.data() + names + at<Elf64_Sym>(bytes, symbol).st_name);
    return name.starts_with("__vdso_") || name.starts_with("__kernel_");
  };
  while (!is_wanted(offset)) offset += sizeof(Elf64_Sym);
  return offset;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(vdso_image)

BOOST_AUTO_TEST_CASE(the_vdso_of_this_kernel_passes) {
  const std::string vdso = own_vdso();
  BOOST_REQUIRE(!vdso.empty());
  BOOST_TEST(refusal(vdso) == "");
}

BOOST_AUTO_TEST_CASE(a_function_outside_is_refused) {
  const std::string vdso = own_vdso();
  const auto intact = at<Elf64_Sym>(vdso, symbol(vdso));
  for (const std::uint64_t value : {std::uint64_t{0x10000}, ~std::uint64_t{0},
                                    std::uint64_t{vdso.size()}, std::uint64_t{vdso.size() - 8}}) {
    std::string forged = vdso;
    Elf64_Sym moved = intact;
    moved.st_value = value;
    put(forged, symbol(vdso), moved);
    check_text(refusal(forged), "has a function outside of itself");
  }
  // The loaded address moves the function too.
  std::string forged = vdso;
  auto load = at<Elf64_Phdr>(vdso, segment(vdso, PT_LOAD));
  load.p_vaddr = 1U << 20;
  put(forged, segment(vdso, PT_LOAD), load);
  BOOST_TEST(refusal(forged) != "");
}

BOOST_AUTO_TEST_CASE(tables_outside_are_refused) {
  const std::string vdso = own_vdso();
  for (const Elf64_Sxword tag : {DT_SYMTAB, DT_STRTAB}) {
    std::string forged = vdso;
    auto entry = at<Elf64_Dyn>(vdso, dynamic(vdso, tag));
    entry.d_un.d_ptr = ~std::uint64_t{0} - 100;
    put(forged, dynamic(vdso, tag), entry);
    check_text(refusal(forged), "is damaged");
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_elf_file_is_refused) {
  const std::string vdso = own_vdso();
  for (const std::string& bytes :
       {std::string(), std::string(4096, '\0'), vdso.substr(0, 20), vdso.substr(0, 100),
        std::string("\x7F"
                    "ELF\x07")})
    check_text(refusal(bytes), "is damaged");
  std::string forged = vdso;
  auto header = at<Elf64_Ehdr>(vdso, 0);
  header.e_phoff = ~std::uint64_t{0} - 7;
  put(forged, 0, header);
  check_text(refusal(forged), "is damaged");
  header.e_phoff = at<Elf64_Ehdr>(vdso, 0).e_phoff;
  header.e_phnum = 0;
  put(forged, 0, header);
  check_text(refusal(forged), "is damaged");
}

BOOST_AUTO_TEST_CASE(two_segments_are_refused) {
  std::string forged = own_vdso();
  put(forged, segment(forged, PT_DYNAMIC), at<Elf64_Phdr>(forged, segment(forged, PT_LOAD)));
  check_text(refusal(forged), "is damaged");
}

BOOST_AUTO_TEST_SUITE_END()
