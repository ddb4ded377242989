# shellcheck shell=bash
# The host before and after a test, as lines of text: processes (the sandbox has a pid namespace of its
# own), cgroups and keyrings that carry the mark of test ids, mounts, network devices, the state root,
# and /dev/null. Nothing here forks: it runs twice per test.

# read_host ARRAY
read_host() {
  local -n lines=$1
  local path line name
  lines=()
  shopt -s nullglob
  for path in /proc/[0-9]*; do
    read_process "${path#/proc/}" && lines+=("process $line")
  done
  for path in /sys/fs/cgroup/ot-* /sys/fs/cgroup/*/ot-* /sys/fs/cgroup/*/*/ot-* /sys/fs/cgroup/*/*/*/ot-*; do
    [[ -d $path ]] && lines+=("cgroup $path")
  done
  for path in "${ROOT:?}"/* "$ROOT"/.[!.]*; do lines+=("state $path"); done
  shopt -u nullglob
  while read -r _ _ line; do lines+=("mount $line"); done </proc/self/mountinfo
  while IFS=: read -r name _; do [[ $name == *\|* ]] || lines+=("network device ${name// /}"); done </proc/net/dev
  while read -r line; do [[ $line == *keyring*ot-* ]] && lines+=("keyring ${line#*keyring }"); done </proc/keys
  [[ -c /dev/null && -O /dev/null && -G /dev/null ]] || lines+=("/dev/null is no longer root's")
}

# read_process PID: sets `line`; false for this test's own processes.
read_process() {
  local words pid=$1
  [[ $pid != "$BASHPID" && $pid != "$$" ]] || return 1
  { IFS= read -r -d '' -n 200 words </proc/"$pid"/cmdline; } 2>/dev/null || return 1
  line="$pid $words"
}

remember_host() { read_host HOST_BEFORE; }

# host_is_unchanged: waits up to three seconds, because the kernel takes namespaces down in its own time.
host_is_unchanged() {
  local tries
  for ((tries = 0; tries < 100; tries++)); do
    find_host_changes
    [[ ${#HOST_CHANGES[@]} != 0 ]] || return 0
    sleep 0.03
  done
  return 1
}

find_host_changes() {
  local -A before=() after=()
  local line
  read_host HOST_AFTER
  HOST_CHANGES=()
  for line in "${HOST_BEFORE[@]}"; do before[$line]=1; done
  for line in "${HOST_AFTER[@]}"; do after[$line]=1; done
  for line in "${HOST_AFTER[@]}"; do [[ ${before[$line]:-} ]] || HOST_CHANGES+=("left behind: $line"); done
  for line in "${HOST_BEFORE[@]}"; do [[ ${after[$line]:-} ]] || HOST_CHANGES+=("gone: $line"); done
}

print_host_changes() { printf '%s\n' "${HOST_CHANGES[@]}"; }

# compare_host: the end of every test. What is left is reported, then removed, so that the next one starts clean.
compare_host() {
  if host_is_unchanged; then return 0; fi
  print_host_changes
  remove_leftovers
  return 1
}

# Processes, cgroups and mounts only: what lies in the state root goes with bats' scratch directory.
remove_leftovers() {
  local change words
  for change in "${HOST_CHANGES[@]}"; do
    words=${change#left behind: }
    case $change in
      "left behind: process "*) words=${words#process }; kill -KILL "${words%% *}" || true ;;
      "left behind: cgroup "*) find "${words#cgroup }" -depth -type d -exec rmdir {} + || true ;;
      "left behind: mount "*)
        read -r _ _ words _ <<<"$words"
        umount -l "$words" || true
        ;;
    esac
  done
}
