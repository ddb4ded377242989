#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linux/base/error.hpp"
#include "linux/base/unique_fd.hpp"

namespace ocirun::pods {

/// What `ocirun pod run` was asked for. It lies as run.json in the directory of the pod, and
/// `start` and `restart` repeat it.
struct RunRequest {
  int format = 1;                    // of the file; a greater number is that of a newer version
  std::vector<std::string> options;  // of ocirun, before `pod`
  std::vector<std::string> words;    // behind `run`, with the values of --env and --env-file
  std::string directory;             // the working directory, which relative paths begin at
  std::string text;                  // the document
  std::string fingerprint;           // of everything that the pod is made of (fingerprint_of())
};

/// Writes run.json in the directory of the pod. Only the caller can read the file, because values
/// of variables may be secrets.
Result<void> write_request(Fd directory, const RunRequest& request);
/// Errors: ENOENT if the pod has no run.json, because an older version of ocirun has run the pod; a
/// newer version has written the file.
Result<RunRequest> read_request(Fd directory);

}  // namespace ocirun::pods
