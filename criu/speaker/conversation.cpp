#include "criu/speaker/conversation.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <optional>
#include <string>

#include "criu/launch/cgroup_options.hpp"
#include "criu/launch/criu_program.hpp"
#include "criu/launch/restored_processes.hpp"
#include "criu/speaker/options.hpp"
#include "criu/speaker/rpc.hpp"
#include "linux/base/name_table.hpp"
#include "linux/files/procfs.hpp"

namespace ocirun::linux {
namespace {

constexpr Named<Criu__Action> kActions[] = {{"dump", CRIU__ACTION__DUMP},
                                            {"pre-dump", CRIU__ACTION__PRE_DUMP},
                                            {"restore", CRIU__ACTION__RESTORE},
                                            {"check", CRIU__ACTION__VERSION}};

class Conversation {
 public:
  Conversation(Criu__Action action, CriuOptions options, Fd criu, const MessageSocket& caller)
      : action_(action), options_(std::move(options)), criu_(criu), caller_(caller) {}

  Result<int> run() {
    OCIRUN_TRY(ask_version());
    OCIRUN_TRY(ask_features());
    if (is_check()) return 0;
    OCIRUN_TRY(send_work());
    for (;;) {
      OCIRUN_TRY(await_criu());
      OCIRUN_TRY_ASSIGN(CriuAnswer answer, receive_answer(criu_));
      if (answer.message->type != CRIU__ACTION__NOTIFY) return finish(*answer.message);
      OCIRUN_TRY(pass_on(answer));
    }
  }

 private:
  bool is_check() const { return action_ == CRIU__ACTION__VERSION; }
  bool wants_features() const {
    return options_.wants_lazy_pages() || options_.wants_memory_tracking();
  }

  // Sends a question and returns the answer. CRIU then waits for another request, unless `is_last`.
  // If no request comes, CRIU writes an error to its stderr.
  Result<CriuAnswer> ask(Criu__Action type, Criu__Features* features, bool is_last) {
    Criu__Request request = CRIU__REQUEST__INIT;
    request.type = type;
    request.has_keep_open = request.keep_open = is_last ? 0 : 1;
    request.features = features;
    OCIRUN_TRY(send_request(criu_, request));
    return receive_answer(criu_);
  }

  Result<void> ask_version() {
    OCIRUN_TRY_ASSIGN(const CriuAnswer answer,
                      ask(CRIU__ACTION__VERSION, nullptr, is_check() && !wants_features()));
    const Criu__Version* version = answer.message->version;
    if (answer.message->success == 0 || version == nullptr)
      return refuse("criu does not tell its version: ocirun needs criu {} or newer",
                    version_text(kOldestCriu));
    const int number = version_number(version->major_number, version->minor_number,
                                      version->has_sublevel != 0 ? version->sublevel : 0);
    OCIRUN_TRY(options_.check_version(number));
    return tell(CriuWord::kVersion, fmt::format("{}", number));
  }

  // If the kernel lacked a wanted feature, CRIU would fail late, in the middle of its work.
  Result<void> ask_features() {
    if (!wants_features()) return {};
    Criu__Features wanted = CRIU__FEATURES__INIT;
    wanted.has_mem_track = wanted.mem_track = options_.wants_memory_tracking() ? 1 : 0;
    wanted.has_lazy_pages = wanted.lazy_pages = options_.wants_lazy_pages() ? 1 : 0;
    OCIRUN_TRY_ASSIGN(const CriuAnswer answer,
                      ask(CRIU__ACTION__FEATURE_CHECK, &wanted, is_check()));
    const Criu__Features* found = answer.message->features;
    const bool tracks = found != nullptr && found->has_mem_track != 0 && found->mem_track != 0;
    const bool is_lazy = found != nullptr && found->has_lazy_pages != 0 && found->lazy_pages != 0;
    if (options_.wants_memory_tracking() && !tracks)
      return refuse(
          "this kernel does not track changes of memory (CONFIG_MEM_SOFT_DIRTY), or criu cannot "
          "use it: --pre-dump is not possible here");
    if (options_.wants_lazy_pages() && !is_lazy)
      return refuse(
          "this kernel does not fetch pages on demand (userfaultfd), or criu cannot use it: "
          "--lazy-pages is not possible here");
    return {};
  }

  Result<void> send_work() {
    Criu__Request request = CRIU__REQUEST__INIT;
    request.type = action_;
    request.opts = &options_.message();
    return send_request(criu_, request);
  }

  Result<void> answer_stage(bool may_go_on) const {
    Criu__Request request = CRIU__REQUEST__INIT;
    request.type = CRIU__ACTION__NOTIFY;
    request.has_notify_success = 1;
    request.notify_success = may_go_on ? 1 : 0;
    return send_request(criu_, request);
  }

  Result<void> pass_on(CriuAnswer& answer) {
    const Criu__Notification* notified = answer.message->notify;
    if (notified == nullptr || notified->script == nullptr)
      return fail(EBADMSG, "criu has reached a stage without a name");
    const std::string stage = notified->script;
    if (notified->has_pid != 0) restored_ = notified->pid;
    const bool may_go_on = ask_caller(stage, answer.descriptor);
    serves_pages_ = serves_pages_ || stage == "status-ready";
    // CRIU ignores a refusal of pre-resume and lets the processes run, so they are killed here.
    // CRIU is killed too: it would wait for ever for the first process if others are below it.
    if (!may_go_on && stage == "pre-resume") {
      kill_all();
      kill_criu();
    }
    OCIRUN_TRY(answer_stage(may_go_on));
    return {};
  }

  bool ask_caller(const std::string& stage, Fd descriptor) const {
    std::string text = stage;
    if (restored_ != 0) text += fmt::format(" {}", restored_);
    const std::span<const Fd> descriptors(&descriptor, descriptor.value >= 0 ? 1 : 0);
    if (!caller_.send(static_cast<std::uint8_t>(CriuWord::kStage), text, descriptors)) return false;
    const auto heard = caller_.receive();
    return heard && !heard->end_of_stream && static_cast<CriuWord>(heard->tag) == CriuWord::kGoOn;
  }

  // Waits for a message of CRIU. Kills CRIU and the restored processes if the caller ends
  // meanwhile: the first restored process then has no parent that could tell CRIU of its death, so
  // CRIU would wait for ever. As long as CRIU has not sent the pid of that process, nobody can kill
  // the process, and ask_caller() refuses the next stage. A CRIU that serves pages has no next
  // stage: CRIU holds the container until all pages are fetched.
  Result<void> await_criu() const {
    std::array<pollfd, 2> watched{pollfd{criu_.value, POLLIN, 0}, pollfd{caller_.fd().value, 0, 0}};
    const bool restores = action_ == CRIU__ACTION__RESTORE && restored_ != 0;
    if (!restores && !serves_pages_) watched[1].fd = -1;
    while (::poll(watched.data(), watched.size(), -1) < 0)
      if (errno != EINTR) return fail(errno, "wait for criu");
    if (watched[1].revents == 0) return {};
    if (restores) kill_all();
    kill_criu();
    return refuse("the caller has ended");
  }

  // No other process can have the pid: CRIU traces the restored process, which is stopped.
  void kill_all() const {
    if (restored_ <= 1) return;
    const auto procfs = Procfs::open(Procfs::Subset::kProcesses);
    if (procfs) return kill_restored(*procfs, restored_);
    ::kill(restored_, SIGKILL);
  }

  // Kills the process that made the socket. That process waits for an answer, so it still exists.
  // In tests this process made the socket, and is not killed.
  void kill_criu() const {
    ucred owner{};
    socklen_t size = sizeof owner;
    if (::getsockopt(criu_.value, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0 && owner.pid > 1 &&
        owner.pid != ::getpid())
      ::kill(owner.pid, SIGKILL);
  }

  Result<int> finish(const Criu__Response& response) {
    if (response.success == 0) {
      // The caller reads the reason in CRIU's log.
      return std::unexpected(
          Error(response.has_cr_errno != 0 ? response.cr_errno : 0, "criu failed"));
    }
    if (action_ != CRIU__ACTION__RESTORE) return 0;
    if (response.restore == nullptr || response.restore->pid <= 0)
      return fail(EBADMSG, "criu does not tell the process that it has restored");
    return response.restore->pid;
  }

  Result<void> tell(CriuWord word, std::string_view text) const {
    return caller_.send(static_cast<std::uint8_t>(word), text);
  }

  Criu__Action action_;
  CriuOptions options_;
  Fd criu_;
  const MessageSocket& caller_;
  int restored_ = 0;
  bool serves_pages_ = false;
};

}  // namespace

Result<int> converse(std::span<const std::string_view> words, Fd criu,
                     const MessageSocket& caller) {
  const auto action =
      words.empty() ? std::optional<Criu__Action>() : value_of(kActions, words.front());
  if (!action) return refuse("ocirun-criu is a part of ocirun and not for use by hand");
  OCIRUN_TRY_ASSIGN(CriuOptions options, CriuOptions::parse(words.subspan(1)));
  // The caller keeps the options of the cgroup filesystem too, but may be killed before this
  // program ends.
  std::optional<CgroupOptions> kept;
  if (*action != CRIU__ACTION__VERSION) kept.emplace();
  return Conversation(*action, std::move(options), criu, caller).run();
}

}  // namespace ocirun::linux
