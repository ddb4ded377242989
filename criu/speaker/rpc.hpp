#pragma once

#include <criu.pb-c.h>

#include <memory>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::linux {

/// The largest answer of CRIU that is read, in bytes. CRIU's answers have some hundred.
inline constexpr std::size_t kMaxCriuAnswer = 64 * 1024;

struct FreeResponse {
  void operator()(Criu__Response* response) const {
    criu__response__free_unpacked(response, nullptr);
  }
};
struct CriuAnswer {
  std::unique_ptr<Criu__Response, FreeResponse> message;  // never null
  UniqueFd descriptor;  // the one that came with the message, or empty
};

/// Sends a request as one packet. Errors: EPIPE: CRIU has ended; EMSGSIZE.
Result<void> send_request(Fd socket, const Criu__Request& request);
/// Waits for one packet of CRIU. Errors: EPIPE: CRIU has ended; EMSGSIZE: it is larger than
/// kMaxCriuAnswer; EBADMSG: it is no answer.
Result<CriuAnswer> receive_answer(Fd socket);
/// Parses the bytes of an answer. Error: EBADMSG.
Result<CriuAnswer> parse_answer(std::string_view bytes);

}  // namespace ocirun::linux
