#include "criu/dump/format.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ranges>

namespace ocirun::runtime {
namespace {

constexpr std::uint32_t kCommon = 0x54564319;  // the first number of all images but the inventory

std::unexpected<Error> damaged() { return fail(EBADMSG, "the image is damaged"); }

std::unexpected<Error> too_large() {
  return fail(EFBIG, "the image has more than {} entries or {} fields", kMostImageEntries,
              kMostImageFields);
}

// Numbers outside of messages have the byte order of the machine.
std::optional<std::uint32_t> take_word(std::string_view& rest) {
  std::uint32_t word = 0;
  if (rest.size() < sizeof(word)) return std::nullopt;
  std::memcpy(&word, rest.data(), sizeof(word));
  rest.remove_prefix(sizeof(word));
  return word;
}

// A varint of protobuf has seven bits of the number in each byte, the least significant bits first.
// The highest bit of a byte tells that another byte follows.
std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  constexpr unsigned kBits = 64;
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < kBits && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    // A number of more than 64 bits is refused: protobuf-c, the library of CRIU, takes also the
    // bits beyond 64 into a bool.
    if (shift == kBits - 1 && byte > 1) return std::nullopt;
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if ((byte & 0x80U) == 0) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> take_bytes(std::string_view& rest, std::uint64_t size) {
  if (size > rest.size()) return std::nullopt;
  const std::string_view bytes = rest.substr(0, static_cast<std::size_t>(size));
  rest.remove_prefix(bytes.size());
  return bytes;
}

enum WireType : std::uint8_t { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

std::optional<ImageField> take_field(std::string_view& rest) {
  const auto tag = take_varint(rest);
  if (!tag || (*tag >> 3) == 0 || (*tag >> 3) > 0x1FFFFFFF) return std::nullopt;
  ImageField field{.number = static_cast<std::uint32_t>(*tag >> 3)};
  std::optional<std::string_view> bytes;
  switch (*tag & 7U) {
    case kVarint:
      if (const auto value = take_varint(rest)) {
        field.value = *value;
        return field;
      }
      return std::nullopt;
    case kEightBytes:
      bytes = take_bytes(rest, 8);
      break;
    case kFourBytes:
      bytes = take_bytes(rest, 4);
      break;
    case kBytes:
      if (const auto size = take_varint(rest)) bytes = take_bytes(rest, *size);
      break;
    default:
      break;
  }
  if (!bytes) return std::nullopt;
  field.bytes = *bytes;
  return field;
}

Result<void> take_kind(std::string_view& image, ImageKind kind) {
  const bool has_common = kind != ImageKind::kInventory;  // the inventory lacks kCommon
  if ((has_common && take_word(image) != kCommon) ||
      take_word(image) != static_cast<std::uint32_t>(kind))
    return fail(EBADMSG, "the file is no image of criu of the expected kind");
  return {};
}

Result<ImageMessage> take_entry(std::string_view& image) {
  const auto size = take_word(image);
  const auto bytes = size ? take_bytes(image, *size) : std::nullopt;
  if (!bytes) return damaged();
  return parse_image_message(*bytes);
}

}  // namespace

Result<ImageMessage> parse_image_message(std::string_view bytes) {
  ImageMessage message;
  while (!bytes.empty()) {
    const auto field = take_field(bytes);
    if (!field) return damaged();
    if (message.size() == kMostImageFields) return too_large();
    message.push_back(*field);
  }
  return message;
}

Result<std::vector<ImageMessage>> parse_image(std::string_view image, ImageKind kind) {
  return parse_image_with_data(image, kind, [](const ImageMessage&) { return std::uint64_t{0}; });
}

Result<std::vector<ImageMessage>> parse_image_with_data(
    std::string_view image, ImageKind kind,
    const std::function<std::uint64_t(const ImageMessage& entry)>& after) {
  OCIRUN_TRY(take_kind(image, kind));
  std::vector<ImageMessage> entries;
  std::size_t fields = 0;
  while (!image.empty()) {
    OCIRUN_TRY_ASSIGN(ImageMessage entry, take_entry(image));
    fields += entry.size();
    if (fields > kMostImageFields || entries.size() == kMostImageEntries) return too_large();
    if (!take_bytes(image, after(entry))) return damaged();
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<ImageMessage> parse_first_entry(std::string_view beginning, ImageKind kind) {
  OCIRUN_TRY(take_kind(beginning, kind));
  return take_entry(beginning);
}

std::optional<std::uint64_t> number_in(std::span<const ImageField> message, std::uint32_t number) {
  for (const ImageField& field : std::views::reverse(message))
    if (field.number == number) return field.value;
  return std::nullopt;
}

std::uint32_t word_in(std::span<const ImageField> message, std::uint32_t number) {
  return static_cast<std::uint32_t>(number_in(message, number).value_or(0));
}

Result<void> for_each_message_in(std::span<const ImageField> message, std::uint32_t number,
                                 const std::function<Result<void>(const ImageMessage&)>& act) {
  for (const ImageField& field : message) {
    if (field.number != number) continue;
    OCIRUN_TRY_ASSIGN(const ImageMessage inner, parse_image_message(field.bytes));
    OCIRUN_TRY(act(inner));
  }
  return {};
}

Result<ImageMessage> message_in(std::span<const ImageField> message, std::uint32_t number) {
  const auto is_it = [&](const ImageField& field) { return field.number == number; };
  const auto first = std::ranges::find_if(message, is_it);
  if (first == message.end()) return ImageMessage();
  if (std::find_if(first + 1, message.end(), is_it) != message.end()) return damaged();
  return parse_image_message(first->bytes);
}

std::string_view text_in(std::span<const ImageField> message, std::uint32_t number) {
  for (const ImageField& field : std::views::reverse(message))
    if (field.number == number) return field.bytes;
  return {};
}

}  // namespace ocirun::runtime
