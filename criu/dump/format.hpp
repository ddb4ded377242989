#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"

namespace ocirun::runtime {

// The format of CRIU's images: a number that all images but the inventory have, a number that tells
// the kind of image, then entries, each a length and a message of protobuf. Nothing is believed:
// images may be forged.

/// The number that tells the kind.
enum class ImageKind : std::uint32_t {
  kInventory = 0x58313116,
  kMounts = 0x55563928,
  kUserNamespace = 0x55474906,
  kProcesses = 0x50273030,
  kIds = 0x54432030,
  kCore = 0x55053847,
  kCgroups = 0x59383330,
  kAppArmor = 0x59423047,
  kFiles = 0x56303138,
  kRemaps = 0x59133954,
  kGhost = 0x52583605,
  kSocketQueues = 0x56264026,
};

/// A field of a message. A number has no bytes; a text or a message inside has no value.
struct ImageField {
  std::uint32_t number = 0;
  std::uint64_t value = 0;
  std::string_view bytes{};
};
using ImageMessage = std::vector<ImageField>;

/// The size of the largest image that ocirun reads, in bytes.
inline constexpr std::size_t kMostImageBytes = std::size_t{64} << 20;
/// More fields than these in one image, or in one message, are refused: a field of two bytes takes
/// 32 in memory.
inline constexpr std::size_t kMostImageFields = 1'000'000;
inline constexpr std::size_t kMostImageEntries = 200'000;

/// The fields of a message, in their order. Views into `bytes`. Errors: EBADMSG: it is no message;
/// EFBIG: it has more than kMostImageFields.
Result<ImageMessage> parse_image_message(std::string_view bytes);
/// The entries of an image. Views into `image`. Errors: EBADMSG: `image` is of another kind or is
/// damaged; EFBIG: it has more than kMostImageEntries, or these have more than kMostImageFields.
Result<std::vector<ImageMessage>> parse_image(std::string_view image, ImageKind kind);
/// Like parse_image(), for an image in which other data follows each entry. `after` returns the
/// number of these bytes.
Result<std::vector<ImageMessage>> parse_image_with_data(
    std::string_view image, ImageKind kind,
    const std::function<std::uint64_t(const ImageMessage& entry)>& after);
/// The first entry of an image of which `beginning` is the beginning.
Result<ImageMessage> parse_first_entry(std::string_view beginning, ImageKind kind);

/// The value of the last field `number`; nothing without such a field.
std::optional<std::uint64_t> number_in(std::span<const ImageField> message, std::uint32_t number);
/// The number as protobuf reads it into a field of 32 bits; 0 without such a field.
std::uint32_t word_in(std::span<const ImageField> message, std::uint32_t number);
/// Calls `act` with the message inside of each field `number`.
Result<void> for_each_message_in(std::span<const ImageField> message, std::uint32_t number,
                                 const std::function<Result<void>(const ImageMessage&)>& act);
/// The message inside of the field `number`; a message without fields if there is no such field.
/// Views into `message`. Error: EBADMSG, also if there are several such fields, which CRIU's
/// library would merge.
Result<ImageMessage> message_in(std::span<const ImageField> message, std::uint32_t number);
/// The bytes of the last field `number`; "" without such a field.
std::string_view text_in(std::span<const ImageField> message, std::uint32_t number);

}  // namespace ocirun::runtime
