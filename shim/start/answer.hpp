#pragma once

#include <string>

#include "shim/start/input.hpp"

namespace ocirun::shim {

/// What `start` prints for a server that listens at the path `socket`: its address "unix://SOCKET".
/// kPlain: the address alone. kJson: with version 2 of the interface of tasks, and the protocol
/// ttrpc. kMessage: a BootstrapResult with version 3. There is no newline behind any of these,
/// because containerd would take it as a part of the message.
std::string answer_text(AnswerForm form, const std::string& socket);

/// The address alone, as containerd 1.6 and 1.7 read it in the bundle's file `address`.
std::string address_text(const std::string& socket);

}  // namespace ocirun::shim
