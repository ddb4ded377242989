#include "pods/metadata/server.hpp"

#include <microhttpd.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <vector>

#include "linux/base/text.hpp"
#include "linux/confined/confine.hpp"

namespace ocirun::pods {
namespace {

using Clock = std::chrono::steady_clock;

/// How many connections are closed when all are in use.
constexpr std::size_t kMostClosedAtOnce = ServerLimits::kConnections / 8;

struct DeleteProcessor {
  void operator()(MHD_PostProcessor* processor) const { ::MHD_destroy_post_processor(processor); }
};
struct DeleteResponse {
  void operator()(MHD_Response* response) const { ::MHD_destroy_response(response); }
};

/// A request with a form whose body is on its way.
struct Upload {
  explicit Upload(Form begun) : form(std::move(begun)) {}
  Form form;
  Target target = Target::kNothing;
  std::uint64_t bytes = 0;
  std::unique_ptr<MHD_PostProcessor, DeleteProcessor> processor;
};

MHD_Result add_piece(void* upload, MHD_ValueKind, const char* name, const char*, const char*,
                     const char*, const char* data, std::uint64_t offset, std::size_t size) {
  static_cast<Upload*>(upload)->form.add(name == nullptr ? "" : name, offset, {data, size});
  return MHD_YES;
}

MHD_Result send(MHD_Connection* connection, const Response& answer) {
  const std::string_view body = answer.content();
  // libmicrohttpd does not write into the buffer, in spite of the type. The body of a resource
  // outlives the connection; a text of the answer's own does not, and is copied.
  const std::unique_ptr<MHD_Response, DeleteResponse> response(::MHD_create_response_from_buffer(
      body.size(), const_cast<char*>(body.data()),
      answer.text.empty() ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_COPY));
  if (!response) return MHD_NO;
  ::MHD_add_response_header(response.get(), MHD_HTTP_HEADER_CONTENT_TYPE,
                            std::string(answer.media_type).c_str());
  if (!answer.allow.empty())
    ::MHD_add_response_header(response.get(), MHD_HTTP_HEADER_ALLOW,
                              std::string(answer.allow).c_str());
  return ::MHD_queue_response(connection, answer.status, response.get());
}

/// Whether the head of the request announces a body that is too long.
bool announces_too_much(MHD_Connection* connection) {
  const char* length =
      ::MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
  if (length == nullptr) return false;
  const auto bytes = linux::number<std::uint64_t>(length);
  return !bytes || *bytes > ServerLimits::kFormBytes;
}

/// The connections with their sockets, the one that has waited longest for its request first.
class Connections {
 public:
  void begin(MHD_Connection* connection) {
    const auto* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info != nullptr) all_.push_back({connection, info->connect_fd, Clock::now()});
  }
  void end(MHD_Connection* connection) {
    std::erase_if(all_, [&](const Entry& entry) { return entry.connection == connection; });
  }
  /// A request was answered, and another one may come on the same connection.
  void renew(MHD_Connection* connection) {
    const auto entry = std::ranges::find(all_, connection, &Entry::connection);
    if (entry == all_.end()) return;
    Entry renewed = *entry;
    renewed.since = Clock::now();
    all_.erase(entry);
    all_.push_back(renewed);
  }

  /// Closes connections whose time is over, and makes room when all are in use.
  void close_some() {
    const std::size_t surplus = all_.size() < ServerLimits::kConnections ? 0 : kMostClosedAtOnce;
    for (std::size_t i = 0; i < all_.size() && (i < surplus || all_[i].deadline() <= Clock::now());
         ++i)
      // libmicrohttpd then sees the end of the connection. Its own time limit begins anew with each
      // byte, so that it does not limit a whole request.
      ::shutdown(all_[i].socket, SHUT_RDWR);
  }
  /// Milliseconds until close_some() has something to do; -1: no connection exists.
  int patience() const {
    if (all_.empty()) return -1;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(all_.front().deadline() - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }

 private:
  struct Entry {
    MHD_Connection* connection;
    int socket;
    Clock::time_point since;
    Clock::time_point deadline() const {
      return since + std::chrono::seconds(ServerLimits::kSecondsOfRequest);
    }
  };
  std::vector<Entry> all_;
};

/// The data that all callbacks of libmicrohttpd use.
struct Server {
  const Answers& answers;
  Connections connections;
};

MHD_Result begin_form(const Answers& answers, MHD_Connection* connection, const char* path,
                      void** state) {
  constexpr std::size_t kMostNameBytes = 1024;  // of a field of the form
  if (announces_too_much(connection))
    return send(connection, in_words(413, "the form is too large: 1 MiB at most"));
  auto upload = std::make_unique<Upload>(answers.begin_form());
  upload->target = answers.find(path);
  upload->processor.reset(
      ::MHD_create_post_processor(connection, kMostNameBytes, add_piece, upload.get()));
  if (!upload->processor)
    return send(connection,
                in_words(415,
                         "the request must be a form: application/x-www-form-urlencoded "
                         "or multipart/form-data"));
  *state = upload.release();
  return MHD_YES;
}

MHD_Result go_on_with_form(const Answers& answers, MHD_Connection* connection, Upload& upload,
                           std::string_view piece) {
  upload.bytes += piece.size();
  // This body is too long, and its length was not announced. An answer would have to wait for the
  // end of the body, so the connection is closed.
  if (upload.bytes > ServerLimits::kFormBytes) return MHD_NO;
  if (!piece.empty()) {
    // Ignores errors: a body that is no form lacks the required fields.
    ignore(::MHD_post_process(upload.processor.get(), piece.data(), piece.size()));
    return MHD_YES;
  }
  upload.processor.reset();  // passes the last field on
  return send(connection, answers.answer_form(upload.target, upload.form));
}

MHD_Result answer_request(void* server, MHD_Connection* connection, const char* path,
                          const char* method, const char*, const char* piece, std::size_t* size,
                          void** state) {
  const Answers& answers = static_cast<Server*>(server)->answers;
  if (*state != nullptr) {
    const std::string_view data(piece, *size);
    *size = 0;  // all of it is taken
    return go_on_with_form(answers, connection, *static_cast<Upload*>(*state), data);
  }
  if (answers.wants_form(path, method)) return begin_form(answers, connection, path, state);
  return send(connection, answers.answer(path, method));
}

void end_request(void* server, MHD_Connection* connection, void** state,
                 MHD_RequestTerminationCode) {
  delete static_cast<Upload*>(std::exchange(*state, nullptr));
  static_cast<Server*>(server)->connections.renew(connection);
}

void note_connection(void* server, MHD_Connection* connection, void**,
                     MHD_ConnectionNotificationCode code) {
  Connections& connections = static_cast<Server*>(server)->connections;
  if (code == MHD_CONNECTION_NOTIFY_STARTED)
    connections.begin(connection);
  else
    connections.end(connection);
}

struct StopDaemon {
  void operator()(MHD_Daemon* daemon) const { ::MHD_stop_daemon(daemon); }
};

}  // namespace

Result<void> serve(Fd socket, const Answers& answers, const std::function<Result<void>()>& ready) {
  Server server{.answers = answers, .connections = {}};
  const std::unique_ptr<MHD_Daemon, StopDaemon> daemon(::MHD_start_daemon(
      MHD_USE_EPOLL, 0, nullptr, nullptr, answer_request, &server,  //
      MHD_OPTION_LISTEN_SOCKET, socket.value,                       //
      MHD_OPTION_CONNECTION_LIMIT, ServerLimits::kConnections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
      ServerLimits::kHeadBytes,                                //
      MHD_OPTION_NOTIFY_COMPLETED, end_request, &server,       //
      MHD_OPTION_NOTIFY_CONNECTION, note_connection, &server,  //
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_END));
  if (!daemon) return refuse("libmicrohttpd does not start");
  const auto* info = ::MHD_get_daemon_info(daemon.get(), MHD_DAEMON_INFO_EPOLL_FD);
  if (info == nullptr) return refuse("libmicrohttpd has no epoll descriptor");
  OCIRUN_TRY(ready());
  for (;;) {
    pollfd watched{info->epoll_fd, POLLIN, 0};
    MHD_UNSIGNED_LONG_LONG limit = 0;
    int wait = server.connections.patience();
    if (::MHD_get_timeout(daemon.get(), &limit) == MHD_YES) {
      const int most = static_cast<int>(std::min<std::uint64_t>(limit, 3'600'000));
      wait = wait < 0 ? most : std::min(wait, most);
    }
    if (::poll(&watched, 1, wait) < 0 && errno != EINTR) return fail(errno, "wait for requests");
    server.connections.close_some();
    if (::MHD_run(daemon.get()) != MHD_YES) return refuse("libmicrohttpd fails");
  }
}

Result<void> allow_service_calls() {
  linux::SeccompProfile profile = linux::least_calls();
  allow(profile,
        {"accept",     "accept4",     "poll",       "ppoll",      "ppoll_time64", "epoll_ctl",
         "epoll_wait", "epoll_pwait", "getsockopt", "setsockopt", "getsockname",  "getpeername",
         "send",       "sendto",      "sendmsg",    "recv",       "recvfrom",     "recvmsg",
         "shutdown",   "dup2",        "dup3"});
  linux::allow_descriptor_flags(profile);
  answer(profile, ENOENT, {"open", "openat"});
  return linux::load_calls(profile);
}

}  // namespace ocirun::pods
