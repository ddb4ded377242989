# A process of `checkpoint` or `restore` is killed at one of its system calls, or a call is refused: afterwards the container counts on,
# or nothing is left. faults/sweep and faults/checkpoints.py have the checks. Tries every Nth of some thousand points; OCIRUN_FAULTS_STRIDE
# is N. What needs criu is skipped where `criu check` fails. In a machine, which may also be --cgroup hybrid:
# ./dev vm --engine qemu --timeout 900 -- integration/lib/sandbox bats integration/checkpoint_killed.bats
load lib/common
load lib/checkpoint

sweep() {
  needs_criu
  [[ $(uname -m) == x86_64 ]] || skip "the injector knows x86-64 only"
  "$REPO/integration/faults/sweep" --bundle checkpoint --stride "${OCIRUN_FAULTS_STRIDE:-$1}" "${@:2}" </dev/null 3>&- 4>&-
}

@test "ocirun, ocirun-criu or criu is killed in the middle of a checkpoint" {
  sweep 571 --command checkpoint,leave-running,pre-dump --fault KILL
}

@test "ocirun, ocirun-criu or criu is killed in the middle of a restore" {
  sweep 113 --command restore --fault KILL
}

@test "the cgroup of the caller of a checkpoint or restore is killed" {
  sweep 599 --command checkpoint,restore --fault KILLALL
}

@test "a system call of checkpoint or restore is refused" {
  sweep 1499 --command checkpoint,leave-running,pre-dump,restore --fault ENOMEM,EINTR,ENOSPC,EMFILE
}
