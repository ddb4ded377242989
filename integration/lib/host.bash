# shellcheck shell=bash
# Compares the host before and after a test, as lines of text: processes (the sandbox has a pid namespace of its own), cgroups and
# keyrings whose names begin with this run's mark, mounts, network devices, the state root, and /dev/null. Reading the host forks no
# process, because every test does it twice.

# read_host ARRAY: fills the array with the lines.
read_host() {
  local -n lines=$1
  local path line name
  lines=()
  shopt -s nullglob
  for path in /proc/[0-9]*; do
    is_test_itself "${path#/proc/}" || lines+=("process ${path#/proc/}")
  done
  for path in /sys/fs/cgroup/{,*/,*/*/,*/*/*/}"$OCIRUN_TEST_MARK"*; do
    [[ -d $path ]] && lines+=("cgroup $path")
  done
  for path in "${ROOT:?}"/* "$ROOT"/.[!.]*; do lines+=("state $path"); done
  shopt -u nullglob
  while read -r _ _ line; do lines+=("mount $line"); done </proc/self/mountinfo
  while IFS=: read -r name _; do [[ $name == *\|* ]] || lines+=("network device ${name// /}"); done </proc/net/dev
  while read -r line; do [[ $line == *keyring*"$OCIRUN_TEST_MARK"* ]] && lines+=("keyring ${line#*keyring }"); done </proc/keys
  [[ -c /dev/null && -O /dev/null && -G /dev/null ]] || lines+=("/dev/null is no longer root's")
}

# is_test_itself PID: the process is this shell, or bats' stopwatch (`sleep`, which on a busy machine begins after the test), or has
# ended meanwhile.
is_test_itself() {
  local program="" argument=""
  [[ $1 != "$BASHPID" && $1 != "$$" && -e /proc/$1/root ]] || return 0
  { read -r -d "" program && read -r -d "" argument; } 2>/dev/null <"/proc/$1/cmdline"
  [[ $program == sleep && $argument == "${BATS_TEST_TIMEOUT:-}" ]]
}

remember_host() { read_host HOST_BEFORE; }

# host_is_unchanged: waits up to twenty seconds for it, because the kernel destroys namespaces asynchronously.
host_is_unchanged() {
  local deadline=$((SECONDS + 20))
  until is_unchanged_now; do
    [[ $SECONDS -lt $deadline ]] || return 1
    sleep 0.03
  done
}

is_unchanged_now() {
  find_host_changes
  [[ ${#HOST_CHANGES[@]} == 0 ]]
}

find_host_changes() {
  local -A before=() after=()
  local line
  read_host HOST_AFTER
  HOST_CHANGES=()
  for line in "${HOST_BEFORE[@]}"; do before[$line]=1; done
  for line in "${HOST_AFTER[@]}"; do after[$line]=1; done
  for line in "${HOST_AFTER[@]}"; do [[ ${before[$line]:-} ]] || HOST_CHANGES+=("left behind: $line"); done
  for line in "${HOST_BEFORE[@]}"; do [[ ${after[$line]:-} || $line == process* ]] || HOST_CHANGES+=("gone: $line"); done
}

print_host_changes() {
  local change
  for change in "${HOST_CHANGES[@]}"; do
    [[ $change != "left behind: process "* ]] || change+=" $(tr '\0' ' ' <"/proc/${change##* }/cmdline" 2>/dev/null)"
    echo "$change"
  done
}

# compare_host: called at the end of every test. Fails if the host has changed: reports the changes, and removes the leftovers so that
# the next test starts clean.
compare_host() {
  if host_is_unchanged; then return 0; fi
  print_host_changes
  remove_leftovers
  return 1
}

# Removes processes, cgroups and mounts. The state root needs no removal: it lies in bats' scratch directory.
remove_leftovers() {
  local change words
  thaw
  for change in "${HOST_CHANGES[@]}"; do
    words=${change#left behind: }
    case $change in
      "left behind: process "*) kill -KILL "${words#process }" || true ;;
      "left behind: cgroup "*) remove_cgroup "${words#cgroup }" || true ;;
      "left behind: mount "*)
        read -r _ _ _ words _ <<<"$words" # "mount", the device, the root within it, the mount point
        umount -l "$words" || true
        ;;
    esac
  done
}

# Thaws the tests' cgroups: a frozen process of cgroup v1 does not die.
thaw() {
  local file
  for file in /sys/fs/cgroup/freezer/"$OCIRUN_TEST_MARK"*/freezer.state; do
    [[ ! -e $file ]] || echo THAWED >"$file"
  done
}

# Tries for twenty seconds: a cgroup cannot be removed until the last process in it is dead.
remove_cgroup() {
  local tries
  for ((tries = 0; tries < 400; tries++)); do
    find "$1" -depth -type d -exec rmdir {} + 2>/dev/null && return 0
    sleep 0.05
  done
}
