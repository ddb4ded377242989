# shellcheck shell=bash
# For whoever starts engines: the cgroups that engines leave on the host.

# parents: prints the parent cgroups that engines make under fixed names. A runtime may leave cgroups below them.
parents() { find /sys/fs/cgroup -maxdepth 2 -type d \( -name default -o -name docker -o -name libpod_parent \) | sort; }

# remove_new_parents PARENTS: removes the parent cgroups that are not in PARENTS. Occupied cgroups stay.
remove_new_parents() {
  local parent
  while read -r parent; do find "$parent" -depth -type d -exec rmdir {} + 2>/dev/null; done < <(comm -13 <(echo "$1") <(parents))
}
