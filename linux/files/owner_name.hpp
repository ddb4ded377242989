#pragma once

#include <sys/types.h>

#include <string>

namespace ocirun::linux {

/// Names the owner of a file in an error: "user 1000". In a user namespace, the kernel shows one id
/// for all users whom the namespace does not map: "user 65534, which stands for each user whom this
/// user namespace does not map". Where the namespace maps this one id too, the name says both.
std::string owner_name(uid_t uid);

}  // namespace ocirun::linux
