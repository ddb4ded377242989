# What a command costs, in numbers that do not depend on how busy the machine is: system calls, page faults, the size of the
# executable. The limits are just above what was reached. Whoever makes a command dearer raises its limit in the same commit, and says
# why; whoever makes a command cheaper lowers it.

load lib/common

setup() {
  [[ $OCIRUN == */release/* ]] || skip "the limits are those of the release binary"
  [[ -z ${OCIRUN_TEST_WITHOUT:-} ]] || skip "an older kernel needs other system calls"
  command -v strace >/dev/null || skip "needs strace"
  common_setup
  config '.process.args = ["/bin/true"]'
  ocirun run --bundle "$BUNDLE" "$ID" # makes the sealed copy of the executable
}

# calls [-f] COMMAND…: prints the number of system calls, with -f those of the descendants too.
calls() {
  local options=()
  if [[ $1 == -f ]]; then options=(-f) && shift; fi
  strace -qq "${options[@]}" -o "$TMP/trace" "$OCIRUN" --root "$ROOT" "$@" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- ||
    { show_output >&2 && return 1; }
  grep -cE '^([0-9]+ +)?[a-z_0-9]+\(' "$TMP/trace"
}

# hierarchies: prints the number of mounted cgroup hierarchies.
hierarchies() { grep -cE ' - cgroup2? ' /proc/self/mountinfo; }

# at_most LIMIT NUMBER WHAT: a number far below the limit is a failure too, because the limit guards nothing then.
at_most() {
  echo "# $3: $2, at most $1" >&3
  [[ $2 -le $1 ]] || { echo "$3: $2, more than $1" && return 1; }
  [[ $2 -ge $(($1 * 8 / 10)) ]] || { echo "$3: $2, far below the limit of $1: lower the limit in this file" && return 1; }
}

# page_faults COMMAND…: prints the least number of page faults of eleven calls, descendants included. What a call needs more depends on
# the page cache: up to 15 faults. The environment is the same for each caller, because init overwrites its copy of the environment: one
# page fault for 4 KiB.
page_faults() {
  python3 - "$OCIRUN" --root "$ROOT" "$@" <<'END'
import os, sys
def faults():
    quiet = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, status
    return usage.ru_minflt
print(min(faults() for _ in range(11)))
END
}

@test "system calls of run, without cgroups and for each cgroup hierarchy" {
  needs_v1 "the limit for each hierarchy is that of v1"
  local bare with
  bare=$(calls -f --cgroup-manager=disabled run --bundle "$BUNDLE" "$ID")
  with=$(calls -f run --bundle "$BUNDLE" "$ID")
  at_most 566 "$bare" "run without cgroups"
  at_most 12 $(((with - bare) / $(hierarchies))) "run, for each hierarchy"
}

# costs LIMIT [-f] COMMAND…: the command makes at most LIMIT system calls.
costs() {
  local limit=$1 number
  number=$(calls "${@:2}")
  at_most "$limit" "$number" "${*:2}"
}

@test "system calls of create, start, state, list, exec and delete" {
  costs 172 --cgroup-manager=disabled create --bundle "$BUNDLE" "$ID" # the parent alone
  costs 52 state "$ID"
  costs 66 list
  costs 76 start "$ID"
  wait_for status_is stopped
  costs 66 delete "$ID"
  config '.process.args = ["/bin/sleep", "1000"]'
  create_and_start
  costs 310 -f exec "$ID" /bin/true
}

@test "page faults of run and state, and the size of the executable" {
  local faults
  faults=$(page_faults run --bundle "$BUNDLE" "$ID")
  at_most 182 "$faults" "page faults of run" # from 160: init overwrites its copy of the caller's environment, and counts its pages
  ocirun create --bundle "$BUNDLE" "$ID"
  faults=$(page_faults state "$ID")
  at_most 66 "$faults" "page faults of state" # from 52
  at_most 3005 $(($(stat -c %s "$OCIRUN") / 1024)) "KiB of the executable"
}
