#pragma once

// Readers of what a probe asks over HTTP.

#include "pods/documents/model/scalars.hpp"

namespace ocirun::pods {

/// The part of a URL behind the host. Begins with "/", also if the document leaves the "/" out.
bool http_path(Value at, std::string& out);
/// A list of headers with the members `name` and `value`.
bool http_headers(Value at, std::vector<HttpHeader>& out);
/// An object of headers: the names of the members are the names of the headers.
bool named_http_headers(Value at, std::vector<HttpHeader>& out);

}  // namespace ocirun::pods
