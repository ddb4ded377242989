#include "pods/metadata/content.hpp"

#include "linux/base/text.hpp"

namespace ocirun::pods {
namespace {

std::unexpected<Error> damaged(std::string_view what) {
  return refuse("the content of the metadata service is damaged: {}", what);
}

/// The bytes of hexadecimal digits; "" for any other text.
std::string bytes_of_digits(std::string_view digits) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (digits.size() % 2 != 0 || digits.find_first_not_of(kDigits) != std::string_view::npos)
    return "";
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2)
    bytes += static_cast<char>(kDigits.find(digits[i]) * 16 + kDigits.find(digits[i + 1]));
  return bytes;
}

}  // namespace

std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (const char byte : bytes) digits += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return digits;
}

std::string content_text(const Content& content) {
  std::string text =
      fmt::format("{} {} {}\n", content.token, content.uuid, hexadecimal(content.key));
  for (const Resource& resource : content.resources)
    text += fmt::format("{}\t{}\t{}\n{}\n", resource.path, resource.media_type,
                        resource.body.size(), resource.body);
  return text;
}

Result<Content> parse_content(std::string_view text) {
  Content content;
  std::string_view head = linux::cut(text, '\n');
  content.token = linux::cut(head, ' ');
  content.uuid = linux::cut(head, ' ');
  content.key = bytes_of_digits(head);
  if (content.token.empty() || content.uuid.empty() || content.key.empty())
    return damaged("its first line must have a token, a UUID and a key");
  while (!text.empty()) {
    std::string_view line = linux::cut(text, '\n');
    Resource resource;
    resource.path = linux::cut(line, '\t');
    resource.media_type = linux::cut(line, '\t');
    const auto length = linux::number<std::size_t>(line);
    if (!length || *length >= text.size() || text[*length] != '\n')
      return damaged(fmt::format("the length of \"{}\" is wrong", resource.path));
    resource.body = text.substr(0, *length);
    text.remove_prefix(*length + 1);
    content.resources.push_back(std::move(resource));
  }
  return content;
}

}  // namespace ocirun::pods
