#!/usr/bin/env bash
# shellcheck disable=SC2016 # texts for the shells of containers
# The life of containers on one architecture. `run` starts this list on the host, or in a machine of another architecture, with these
# variables: ARCH (Debian's name), RUNTIME, PROFILE (the engines' seccomp profile, translated for ARCH), CALL (the program of call.cpp) and
# WORK (an empty directory).
ENGINE=$ARCH
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=integration/clients/lib.bash
source "$here/../clients/lib.bash"
# shellcheck source=integration/lib/cgroup.bash
source "$here/../lib/cgroup.bash"
# shellcheck source=integration/architecture/scene.bash
source "$here/scene.bash"

# --- what the runtime says of itself ---------------------------------------------------------------

check "features: the document names the architecture" features ".linux.seccomp.archs | index(\"$SECCOMP_NAME\")"
check_output "features: which copy of the executable runs" "$SEALED" \
  sh -c "'$RUNTIME' features | jq -r '.annotations[\"org.ocirun.sealed\"]'"
new_bundle
check "validate: a good document" "$RUNTIME" validate "$BUNDLE"
config '.process.user.uid = -1 | .linux.resources.memory.limit = 9223372036854775808'
check_mentions "validate: the place of a mistake" /process/user/uid "$RUNTIME" validate "$BUNDLE"
check_mentions "validate: a number that 64 bits cannot hold" /linux/resources/memory/limit "$RUNTIME" validate "$BUNDLE"

# --- run -------------------------------------------------------------------------------------------

new_bundle
check_output "run: the program's output" "hello 1 box" inside 'echo hello $$ $(hostname)'
check_status "run: the exit status" 7 inside 'exit 7'
check_mentions "run: a program that is not there" "no such file" program_is_missing

new_bundle '.linux.namespaces |= map(select(.type != "pid"))' # pid 1 of a namespace could not kill itself
check_status "run: the end by a signal" 143 inside 'kill -TERM $$; sleep 10'
new_bundle '.process.user = {uid: 1000, gid: 1000, additionalGids: [2000, 4000000000]}'
check_output "user: ids and groups" "1000 1000 1000 2000 4000000000" inside 'echo $(id -u) $(id -g) $(id -G)'
new_bundle
check_output "capabilities: effective and bounding" "0000000020000420 0000000020000420" \
  inside 'echo $(grep -E "Cap(Eff|Bnd)" /proc/self/status | cut -f2)'
check_output "no_new_privs" 1 inside 'grep NoNewPrivs /proc/self/status | cut -f2'
new_bundle '.process.rlimits = [{type: "RLIMIT_CORE", soft: 5000000000, hard: 8589934592}] | .process.oomScoreAdj = 500'
check_output "rlimits: 64 bits" "5000000000 8589934592" inside 'grep "core file" /proc/self/limits | awk "{print \$5, \$6}"'
check_output "oomScoreAdj" 500 inside 'cat /proc/self/oom_score_adj'
new_bundle '.linux.personality = {domain: "LINUX32"}'
check_output "personality" "$PERSONALITY" inside 'cat /proc/self/personality'
new_bundle '.process.terminal = true'
program sh -c 'tty; stty speed'
check_output "terminal: its name and settings" $'/dev/pts/0\n38400' run_with_terminal "'$RUNTIME' --root '$ROOT' run --bundle '$BUNDLE' $ID"
new_bundle '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"}'
check_output "sysctl" 77 inside 'cat /proc/sys/net/ipv4/ip_default_ttl'
new_bundle '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", $s]}]' --arg s "cat >'$WORK/state'; echo >>'$WORK/state'"
inside true
check_output "hooks: the state on standard input" "$ID created" jq -r '"\(.id) \(.status)"' "$WORK/state"

# --- mounts and devices ----------------------------------------------------------------------------

mkdir -p "$WORK/volume" && echo content >"$WORK/volume/file"
new_bundle '.mounts += [{destination: "/data", source: $v, options: ["rbind", "ro"]},
  {destination: "/small", type: "tmpfs", source: "tmpfs", options: ["size=131072", "nodev", "noexec"]}]' --arg v "$WORK/volume"
check_output "mounts: a read-only bind" "content refused" inside 'echo $(cat /data/file) $(touch /data/new 2>/dev/null || echo refused)'
check_output "mounts: a tmpfs with options" "rw,nodev,noexec 128" \
  inside 'echo $(grep " /small " /proc/self/mountinfo | cut -d" " -f6 | sed s/,relatime//) $(df -k /small | awk "END {print \$2}")'
new_bundle
check_output "mounts: masked and read-only paths" "0 refused" \
  inside 'echo $(cat /proc/kcore | wc -c) $(echo 1 2>/dev/null >/proc/sys/kernel/printk || echo refused)'
check_output "mounts: a sparse file of 5 GiB is read beyond 4 GiB" end inside_with_large_file
device='.process.capabilities[] += ["CAP_SYSLOG"] | .linux.devices = [{path: "/dev/mine", type: "c", major: 1, minor: 11, fileMode: 438}]'
new_bundle "$device"
check_output "devices: one without a rule is refused" "refused" inside 'true 2>/dev/null </dev/mine || echo refused'
new_bundle "$device | .linux.resources.devices += [{allow: true, type: \"c\", major: 1, minor: 11, access: \"r\"}]"
check_output "devices: a rule allows reading alone" "read refused" \
  inside 'echo $(true </dev/mine && echo read) $(true 2>/dev/null >/dev/mine || echo refused)'

# --- limits ----------------------------------------------------------------------------------------

new_bundle '.linux.resources += {memory: {limit: 67108864}, pids: {limit: 20}, cpu: {quota: 50000, period: 100000, shares: 2048}}'
check "create and start with limits" started
check "limits: memory" limit_is memory memory.limit_in_bytes=67108864 memory.max=67108864
check "limits: pids" limit_is pids pids.max=20 pids.max=20
check "limits: CPU time" limit_is cpu cpu.cfs_quota_us=50000 "cpu.max=50000 100000"
check "limits: CPU shares" limit_is cpu cpu.shares=2048 cpu.weight=174
check "update" runtime update --memory 83886080 --pids-limit 30 "$ID"
check "update: memory" limit_is memory memory.limit_in_bytes=83886080 memory.max=83886080
check "update: pids" limit_is pids pids.max=30 pids.max=30
check "events: the memory in use" sh -c "'$RUNTIME' --root '$ROOT' events --stats $ID | jq -e '.data.memory.usage.usage > 0 and .data.pids.current == 1'"
check "delete --force: of a running container" runtime delete --force "$ID"
new_bundle '.linux.resources += {memory: {limit: 16777216, swap: 16777216}}'
check_status "felt: memory" 137 inside 'exec dd if=/dev/zero of=/dev/shm/x bs=65536 count=640'
new_bundle '.linux.resources += {pids: {limit: 4}}'
check_mentions "felt: pids" "can't fork" inside 'for i in 1 2 3 4 5 6; do sleep 1 & done'

# --- user namespaces -------------------------------------------------------------------------------

new_bundle '.linux.namespaces += [{type: "user"}] | .linux |= (.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .gidMappings = .uidMappings)
  | .mounts |= map(select(.type != "sysfs" and .type != "cgroup"))'
chown -R 100000:100000 "$BUNDLE/rootfs" && chmod 0755 "$WORK" "$BUNDLE"
check_output "user namespace: map and owner" "0 100000 65536 0" inside 'echo $(cat /proc/self/uid_map) $(stat -c %u /bin/busybox)'

# --- seccomp ---------------------------------------------------------------------------------------

new_bundle '.linux.seccomp = $p[0]' --slurpfile p "$PROFILE"
check_output "seccomp: the engines' profile is in force" "2 works" inside 'echo $(grep Seccomp: /proc/self/status | cut -f2) $(ls / >/dev/null && echo works)'
check_output "seccomp: the profile forbids vmsplice and kcmp: EPERM, not EBADF and ESRCH" "1 1" inside 'echo $(call vmsplice 99) $(call kcmp 0)'
check_output "seccomp: a call that the profile does not know: ENOSYS" 38 inside 'call unknown'
check_output "seccomp: the profile compares an argument: personality(8) is allowed, personality(1) not" "0 38" \
  inside 'echo $(call personality 8) $(call personality 1)'
check_output "seccomp: exec is under the profile too" 1 exec_in_new vmsplice 99
runtime delete --force "$ID"
own_profile '{names: ["mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 77}'
check_output "seccomp: an errno of the profile" "77 1" inside 'echo $(call mkdirat) $(call mkdirat | wc -l)'
own_profile '{names: ["keyctl"], action: "SCMP_ACT_KILL_PROCESS"}'
check_output "seccomp: an action that kills" 159 inside 'call keyctl; echo $?'
wide_arguments

# --- states ----------------------------------------------------------------------------------------

new_bundle
check "create" created
check_output "state: created" "created $ID" state_of '"\(.status) \(.id)"'
check "sealed: init does not run from the host's executable" runs_from_a_copy
check_mentions "delete: of a created container it is refused" "--force" runtime delete "$ID"
check "start" runtime start "$ID"
check_output "state: running" running state_of .status
check_output "list" "$ID running" sh -c "'$RUNTIME' --root '$ROOT' list --format json | jq -r '.[] | \"\(.id) \(.status)\"'"
check_output "exec: output" "1000 /tmp" runtime exec --user 1000:1000 --cwd /tmp "$ID" sh -c 'echo $(id -u) $(pwd)'
check_status "exec: exit status" 9 runtime exec "$ID" sh -c 'exit 9'
check "ps" sh -c "'$RUNTIME' --root '$ROOT' ps $ID | grep -q 'sleep 1000'"
check "pause" runtime pause "$ID"
check_output "state: paused" paused state_of .status
check "resume" runtime resume "$ID"
check_mentions "checkpoint: without criu it is refused" criu runtime checkpoint --criu /nonexistent/criu --image-path "$WORK/image" "$ID"
check "kill" runtime kill "$ID" KILL
check "state: stopped" eventually is_stopped
check "delete" runtime delete "$ID"
check_mentions "state: after delete" "does not exist" runtime state "$ID"

# --- pods, and the end -----------------------------------------------------------------------------

if [[ -x ${RUNTIME%/*}/ocirun-pod ]]; then pod_checks; fi
check "nothing is left" nothing_is_left
end_list
