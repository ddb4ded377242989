// ocirun-probe: asks a port of the network namespace that it is executed in, once. It is the only
// program that loads libcurl. An exploited bug of libcurl gets only a process that has nothing but
// its connection. Ends with its caller, which must be the only reader of its stderr. Command lines:
//   ocirun-probe tcp PORT
//   ocirun-probe http PORT PATH [HEADER...]
//   ocirun-probe https PORT PATH [HEADER...]
// Exit status 0: the answer is a success; 1: it is not, and stderr has the reason. The caller
// limits the time.

#include <arpa/inet.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "linux/base/file_io.hpp"
#include "linux/base/text.hpp"
#include "linux/base/unique_fd.hpp"
#include "linux/confined/confine.hpp"

namespace ocirun::pods {
namespace {

constexpr const char* kStep = "confine the process that asks";

/// Loads a filter that allows only the system calls for connections to IP addresses; any other call
/// ends ocirun-probe. Opening a file fails with ENOENT. The process must have no_new_privs.
Result<void> allow_probe_calls() {
  linux::SeccompProfile profile = linux::least_calls();
  for (const int family : {AF_INET, AF_INET6})
    allow(profile, {"socket"}, {linux::equals(0, static_cast<std::uint64_t>(family))});
  allow(profile,
        {"connect", "getsockopt", "setsockopt", "getsockname", "getpeername", "poll", "ppoll",
         "ppoll_time64", "send", "sendto", "sendmsg", "recv", "recvfrom", "recvmsg", "shutdown"});
  // libcurl wakes itself up by these.
  allow(profile, {"pipe", "pipe2", "socketpair", "eventfd2"});
  linux::allow_descriptor_flags(profile);
  answer(profile, ENOENT, {"open", "openat", "access", "faccessat", "stat", "readlink"});
  answer(profile, ENOTTY, {"ioctl"});
  return linux::load_calls(profile);
}

/// Confines the process before it reads the first byte from a server, which may be hostile.
Result<void> confine() {
  constexpr std::uint64_t kMostMemory = std::uint64_t{64} << 20;
  OCIRUN_TRY(linux::confine_to_descriptors({.caller = Fd{STDERR_FILENO},
                                            .last_descriptor = STDERR_FILENO,
                                            .file_bytes = 0,
                                            .memory = kMostMemory}));
  return allow_probe_calls();
}

/// Connects to the port at a loopback address.
Result<void> connect_to(const sockaddr* address, socklen_t size, int family) {
  const UniqueFd socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return fail(errno, "make a socket");
  if (::connect(socket.get(), address, size) != 0) return fail(errno, "connect");
  return {};
}

Result<void> ask_tcp(std::uint16_t port) {
  OCIRUN_TRY(within(confine(), kStep));
  sockaddr_in four{};
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto first = connect_to(reinterpret_cast<const sockaddr*>(&four), sizeof four, AF_INET);
  if (first) return first;
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_port = htons(port);
  six.sin6_addr = in6addr_loopback;
  if (connect_to(reinterpret_cast<const sockaddr*>(&six), sizeof six, AF_INET6)) return {};
  return within(std::move(first), "TCP port {}", port);
}

/// Stops libcurl at the first byte of the body: the status is known, and a body might have no end.
std::size_t refuse_body(char*, std::size_t, std::size_t, void*) { return 0; }

/// libcurl leaves out a header that ends with ":"; ";" stands for an empty value.
std::string in_libcurls_form(std::string header) {
  if (header.ends_with(": ")) header.replace(header.size() - 2, 2, ";");
  return header;
}

/// A GET request. Redirections are not followed, and count as success, as in Kubernetes; nor is the
/// certificate of a container verified, which nobody has signed for "localhost".
Result<void> ask_http(std::string_view scheme, std::uint16_t port, const std::string& path,
                      std::span<const std::string> headers) {
  const std::string url =
      fmt::format("{}://localhost:{}{}{}", scheme, port, path.starts_with('/') ? "" : "/", path);
  if (::curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) return refuse("libcurl does not start");
  const std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> curl(::curl_easy_init(),
                                                                   ::curl_easy_cleanup);
  if (!curl) return refuse("libcurl does not start");
  curl_slist* list = nullptr;
  for (const std::string& header : headers)
    list = ::curl_slist_append(list, in_libcurls_form(header).c_str());
  const std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)> kept(list,
                                                                           ::curl_slist_free_all);
  // No name is looked up: the process could read neither /etc/hosts nor a resolver's answer.
  const std::string addresses = fmt::format("localhost:{}:127.0.0.1,[::1]", port);
  const std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)> known(
      ::curl_slist_append(nullptr, addresses.c_str()), ::curl_slist_free_all);
  char reason[CURL_ERROR_SIZE] = "";
  ::curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(curl.get(), CURLOPT_RESOLVE, known.get());
  ::curl_easy_setopt(curl.get(), CURLOPT_PROTOCOLS_STR, "http,https");
  ::curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
  ::curl_easy_setopt(curl.get(), CURLOPT_USERAGENT, "ocirun-probe");
  ::curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, list);
  ::curl_easy_setopt(curl.get(), CURLOPT_SSL_VERIFYPEER, 0L);
  ::curl_easy_setopt(curl.get(), CURLOPT_SSL_VERIFYHOST, 0L);
  ::curl_easy_setopt(curl.get(), CURLOPT_CAINFO, nullptr);
  ::curl_easy_setopt(curl.get(), CURLOPT_CAPATH, nullptr);
  ::curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, refuse_body);
  ::curl_easy_setopt(curl.get(), CURLOPT_PATH_AS_IS, 1L);
  ::curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  ::curl_easy_setopt(curl.get(), CURLOPT_ERRORBUFFER, reason);
  OCIRUN_TRY(within(confine(), kStep));
  const CURLcode code = ::curl_easy_perform(curl.get());
  if (code != CURLE_OK && code != CURLE_WRITE_ERROR)
    return refuse("{}: {}", url, reason[0] == '\0' ? ::curl_easy_strerror(code) : reason);
  long status = 0;
  ::curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 400) return {};
  return refuse("{}: status {}, expected 200 to 399", url, status);
}

Result<void> run(std::span<const std::string> words) {
  const auto port = words.size() < 2 ? std::nullopt : linux::number<std::uint16_t>(words[1]);
  if (!port) return refuse("ocirun-probe is a part of ocirun and not for use by hand");
  if (words[0] == "tcp") return ask_tcp(*port);
  return ask_http(words[0], *port, words.size() < 3 ? "/" : words[2],
                  words.size() < 4 ? std::span<const std::string>() : words.subspan(3));
}

}  // namespace
}  // namespace ocirun::pods

int main(int argc, char** argv) {
  using namespace ocirun;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto asked = pods::run(words);
  if (!asked)
    ignore(linux::write_all(Fd{STDERR_FILENO}, linux::in_one_line(asked.error().message()) + "\n"));
  ::_exit(asked ? 0 : 1);  // nothing at the end of a program may need what was given up
}
