// Messages from a container's child to its parent: each byte of the input as a message, and the
// whole input as the payload of a number and of an error.
#include "runtime/protocol/protocol.hpp"
#include "tests/fuzz/fuzz.hpp"

using namespace ocirun;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  runtime::Conversation conversation;
  for (std::size_t i = 0; i < size; ++i) {
    const auto message = static_cast<runtime::Message>(data[i]);
    const std::string_view before = conversation.last();
    // A message out of turn changes nothing.
    if (!conversation.hear(message)) fuzz::require(conversation.last() == before);
    fuzz::require(!conversation.activity().empty());
  }
  const std::string_view payload = fuzz::text_of(data, size);
  ignore(runtime::parse_number(payload));
  const Error error = runtime::parse_error_bytes(payload);
  const std::string bytes = runtime::error_bytes(error);
  fuzz::require(runtime::error_bytes(runtime::parse_error_bytes(bytes)) == bytes);
  return 0;
}
