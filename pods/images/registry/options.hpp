#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "linux/base/unique_fd.hpp"
#include "pods/documents/model/container.hpp"

namespace ocirun::pods {

/// How images are fetched, for all images of a command.
struct Pulling {
  std::string skopeo;                // the path of the program; "": it is not installed
  std::optional<PullPolicy> policy;  // --pull; nothing: the document's, else kMissing
  std::set<std::string> plain_http;  // --plain-http: hosts, with their ports
  std::map<std::string, std::string> auth_files;  // --pull-secret NAME=AUTHFILE
  /// --pull-timeout: how long skopeo may run without a byte that arrives
  std::chrono::seconds patience{120};
  Fd terminal{-1};  // gets skopeo's progress; -1: nobody sees it
  /// The caller is an ordinary user, who is root of a user namespace now. skopeo then uses the
  /// files of that user.
  bool is_ordinary = false;
};

}  // namespace ocirun::pods
