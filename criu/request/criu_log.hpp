#pragma once

#include <string>
#include <string_view>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::runtime {

/// Where CRIU writes its log.
struct CriuLog {
  Fd directory;
  std::string path;  // of the directory, for messages
  std::string name;  // "dump.log"
};
/// Removes the log of an earlier CRIU, so that explain_by_log() does not quote it. A missing log is
/// no error.
Result<void> remove_old(const CriuLog& log);
/// `error` with the last errors of CRIU's log, and with advice for frequent errors.
Error explain_by_log(Error error, const CriuLog& log);
/// The last two lines of a CRIU log that report errors, without the time and the place in CRIU's
/// source. Control characters are escaped, because names of files come from the container.
std::string last_errors(std::string_view log);
/// Advice against the errors in `log`: a sentence, or "".
std::string_view advice_for(std::string_view log);

}  // namespace ocirun::runtime
