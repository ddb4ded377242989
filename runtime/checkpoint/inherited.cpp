#include "runtime/checkpoint/inherited.hpp"

#include <sys/prctl.h>

#include <cerrno>

#include "linux/process/scheduling.hpp"
#include "runtime/init/process.hpp"

namespace ocirun::runtime {

Result<void> take_what_is_inherited(const bundle::Config& config, const linux::Procfs& procfs,
                                    bool has_new_keyring) {
  TRY(linux::reset_cpu_affinity());
  if (config.memory_policy)
    TRY(within(linux::set_memory_policy(*config.memory_policy), "/linux/memoryPolicy"));
  if (!config.process) return {};
  const bundle::Process& process = *config.process;
  if (has_new_keyring) TRY(join_keyring(process, procfs));
  if (process.oom_score_adj)
    TRY(within(procfs.write("self/oom_score_adj", fmt::format("{}", *process.oom_score_adj)),
               "/process/oomScoreAdj"));
  if (process.io_priority)
    TRY(within(linux::set_io_priority(*process.io_priority), "/process/ioPriority"));
  if (process.no_new_privileges && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return fail(errno, "set no_new_privs for criu");
  return {};
}

}  // namespace ocirun::runtime
