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
/// Removes the log of an earlier CRIU, whose errors nobody shall quote. No log is no error.
Result<void> remove_old(const CriuLog& log);
/// `error` with the last errors of CRIU's log, and with advice for the frequent ones.
Error explain_by_log(Error error, const CriuLog& log);
/// The lines of a CRIU log that report errors, without time and place in CRIU's source, the last
/// two. Control characters are escaped, because names of files come from the container.
std::string last_errors(std::string_view log);
/// What helps against the errors in `log`: a sentence, or "".
std::string_view advice_for(std::string_view log);

}  // namespace ocirun::runtime
