# Shared by `run` and `one`: which control groups belong to a program of the suite.
# shellcheck shell=bash

# The suite's relative path is testdir/cgrouptest/container. A runtime may keep the empty groups above the
# container's own: another container may be about to use them.
# shellcheck disable=SC2034  # used by the scripts that source this file
readonly group_parents='/testdir(/cgrouptest)?$'

# Other people's containers come and go on the same machine: only names that this suite uses count, which are its
# two fixed paths and the ids that the runtime was called with.
group_patterns() {
  local calls=$1
  printf '%s\n' /cgrouptest /testdir
  awk -F'\t' '$2 == "create" && $3 != "" { print "/" $3; print "-" $3 }' "$calls" | sort -u
}

# All control groups, in any hierarchy, whose path contains one of the patterns; children before parents.
find_groups() {
  local patterns=$1
  awk '$(NF - 2) ~ /^cgroup2?$/ { print $5 }' /proc/self/mountinfo |
    xargs -I{} find {} -mindepth 1 -depth -type d 2>/dev/null | grep -Ff "$patterns" | sort -ru || true
}
