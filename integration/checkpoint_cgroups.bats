# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# Cgroups of restored containers: the modes, mounts of cgroups, the options of cgroup2. systemd's scopes: checkpoint_systemd.bats. What
# needs criu is skipped where `criu check` fails. In a machine, which may also be --cgroup hybrid or v1:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_cgroups.bats
load lib/common
load lib/criu

# has_limit BYTES: the container's cgroup has that limit of memory.
has_limit() {
  if has_v1 memory; then equal "$1" "$(<"/sys/fs/cgroup/memory/$ID/memory.limit_in_bytes")"; else equal "$1" "$(<"/sys/fs/cgroup/$ID/memory.max")"; fi
}

@test "restore --manage-cgroups-mode: soft has the limits of config.json, full and strict those of the images on cgroup v1, ignore no cgroup below" {
  needs_criu
  drop_namespace cgroup
  config '.linux.namespaces += [{type: "cgroup"}] | .linux.resources.memory.limit = 134217728
    | .mounts += [{destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["rw"]}]'
  run_counter
  ocirun update --memory 67108864 "$ID"
  local below=/sys/fs/cgroup/$ID/below saved=134217728 mode
  if has_v1 memory; then below=/sys/fs/cgroup/memory/$ID/below saved=67108864; fi # criu 3.17 saves limits of cgroup v1 alone
  mkdir "$below"
  ocirun exec "$ID" sh -c 'while :; do sleep 1; done' </dev/null >/dev/null 2>&1 3>&- 4>&- &
  eventually has_second_process
  second_process >"$below/cgroup.procs"
  ocirun checkpoint --manage-cgroups-mode full "$ID"
  for mode in soft full strict; do
    restore --manage-cgroups-mode "$mode"
    goes_on
    in_cgroup "/$ID"
    equal "$(second_process)" "$(<"$below/cgroup.procs")"
    case $mode in soft) has_limit 134217728 ;; *) has_limit "$saved" ;; esac
    ocirun delete --force "$ID"
  done
  restore --manage-cgroups-mode ignore
  goes_on
  in_cgroup "/$ID"
  [[ ! -e $below ]]
  if ! has_v1 memory; then equal 0::/ "$(ocirun exec "$ID" cat /proc/self/cgroup)"; fi
}

# second_process: the pid of a shell of the container that is not its init.
second_process() {
  local init pid
  init=$(init_pid)
  for pid in $(ocirun ps --format json "$ID" | jq '.[]'); do
    [[ $pid == "$init" || $(<"/proc/$pid/comm") != sh ]] || { echo "$pid" && return; }
  done
  return 1
}
has_second_process() { second_process >/dev/null; }

@test "restore --manage-cgroups-mode strict refuses a cgroup that exists" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  ocirun delete "$ID"
  local directory=/sys/fs/cgroup/$ID
  if has_v1 memory; then directory=/sys/fs/cgroup/memory/$ID; fi
  mkdir "$directory"
  restore_fails --manage-cgroups-mode strict
  output_mentions "--manage-cgroups-mode strict: the cgroup $directory exists: remove it, or give soft or full"
  is_absent
  rmdir "$directory"
  restore --manage-cgroups-mode strict
  goes_on
}

# has_delegation: the cgroup2 filesystem has the option nsdelegate.
has_delegation() { findmnt -n -o OPTIONS /sys/fs/cgroup | grep -q nsdelegate; }

@test "the options of cgroup2, which criu clears, are set again, also when restore is killed" {
  needs_criu
  [[ $(stat -f -c %T /sys/fs/cgroup) == cgroup2fs ]] || skip "cgroup v1 is mounted on /sys/fs/cgroup"
  mount -o remount,nsdelegate /sys/fs/cgroup
  has_delegation || skip "only the first cgroup namespace may set the options"
  run_counter
  ocirun checkpoint "$ID"
  has_delegation
  restore
  has_delegation
  ocirun delete --force "$ID"
  config '.hooks = {createRuntime: [{path: "/bin/sh", args: ["sh", "-c", $c]}]}' \
    --arg c "findmnt -n -o OPTIONS /sys/fs/cgroup >$TMP/meanwhile; kill -KILL \$PPID"
  status=0
  restore || status=$?
  equal 1 "$status"
  run grep nsdelegate "$TMP/meanwhile"
  exits 1
  eventually has_delegation
  ocirun delete --force "$ID"
}

# mounts_cgroups: the container mounts its cgroups read-only, and has no cgroup namespace.
mounts_cgroups() {
  drop_namespace cgroup
  config '.mounts |= map(select(.destination != "/sys/fs/cgroup")) + [{destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "ro"]}]'
}
# cgroup_mounts: the mounts of cgroups that the container sees: the roots, the points and the flags.
cgroup_mounts() { awk '/ - cgroup2? / {print $4, $5, $6}' "/proc/$(init_pid)/mountinfo" | sort; }

@test "without a cgroup namespace, mounts of cgroups show those of the restored container" {
  needs_criu
  mounts_cgroups
  run_counter
  local before
  before=$(cgroup_mounts)
  [[ $before == *"/$ID /sys/fs/cgroup"* ]]
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal "$before" "$(cgroup_mounts)"
  ocirun delete --force "$ID"
  config '.linux.cgroupsPath += "-second"'
  restore
  goes_on
  equal "$(sed "s|/$ID |/$ID-second |" <<<"$before")" "$(cgroup_mounts)"
}

@test "a user namespace without a cgroup namespace is restored with its mounts of cgroups" {
  needs_criu
  user_namespace
  mounts_cgroups
  run_counter
  local before
  before=$(cgroup_mounts)
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal "$before" "$(cgroup_mounts)"
}

@test "forged images cannot make the cgroups of a container writable" {
  needs_criu
  mounts_cgroups
  run_counter
  ocirun checkpoint "$ID"
  local point=/sys/fs/cgroup
  if has_v1 memory; then point=/sys/fs/cgroup/memory; fi
  forge_image "$(basename checkpoint/mountpoints-*.img)" "[entry.update(flags='0x0') for entry in images['entries'] if entry['mountpoint'].endswith('$point')]"
  restore_fails
  output_mentions "$point lacks ro"
}
