# `ocirun inspect`: a living container beside its document, and each kind of drift.
# shellcheck disable=SC2016 # programs of the container
load lib/common
source "$LIB/mounts.bash"

# Inside init's mount namespace, with the test's programs.
in_mounts() { nsenter --target "$(init_pid)" --mount --pid --root --wd "$@"; }

# as_asked: nothing differs from the document.
as_asked() {
  run ocirun inspect --drift "$ID"
  succeeds "$ID: running, pid $(init_pid), no drift"
}
# drifts WORDS…: --drift ends with 3, and its output has each of the words, and one row.
drifts() {
  run ocirun inspect --drift "$ID"
  exits 3
  local words
  for words in "$@"; do output_mentions "$words"; done
  equal 1 "$(ocirun inspect --format json "$ID" | jq .drift)"
}

@test "a container as its document has it has no drift, created or running" {
  create_and_start
  as_asked
  run ocirun inspect "$ID"
  succeeds
  output_mentions "=        /mounts/0 /proc"
  equal running "$(ocirun inspect --format json "$ID" | jq -r .status)"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  run ocirun inspect "$ID"
  succeeds
  output_mentions "$ID: stopped: nothing to compare"
  run ocirun inspect --drift "$ID"
  exits 1 "is stopped: it has no process to compare"
}

@test "a container with all kinds of settings has no drift" {
  mkdir "$TMP/data" "$TMP/tree" "$TMP/tree/below"
  mount -t tmpfs below "$TMP/tree/below"
  echo x >"$TMP/file"
  bind /data "$TMP/data" bind ro nosuid
  bind /tree "$TMP/tree" rbind
  bind /etc/file "$TMP/file" bind
  bind /run/slave "$TMP/data" bind rslave
  tmpfs /scratch nodev noexec ro
  ln -s /scratch "$BUNDLE/rootfs/link"
  tmpfs /link/below noexec
  mkdir "$BUNDLE/rootfs/scratch"
  config '(.mounts[] | select(.destination == "/scratch").options) -= ["ro"]
    | .process.user = {uid: 1000, gid: 1000, additionalGids: [5, 27], umask: 63} | .process.oomScoreAdj = 100
    | .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 512, hard: 1024}, {type: "RLIMIT_CORE", soft: 0, hard: 0}]
    | .process.scheduler = {policy: "SCHED_BATCH", nice: 5} | .process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 5}
    | .linux.sysctl = {"net.ipv4.ip_forward": "1", "net.ipv4.ping_group_range": "0 1000", "kernel.msgmax": "4096"}
    | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["bpf"], action: "SCMP_ACT_ERRNO"}]}
    | .linux.devices = [{type: "c", path: "/dev/fuse", major: 10, minor: 229, fileMode: 432, uid: 0, gid: 0}]
    | .linux.resources = {devices: [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 10, minor: 229, access: "rw"}],
        memory: {limit: 67108865}, cpu: {shares: 512, quota: 50000, period: 100000}, pids: {limit: 100}}'
  if has_controller cpuset; then config '.linux.resources.cpu.cpus = "0"'; fi
  create_and_start
  as_asked
  umount "$TMP/tree/below"
}

@test "a container in a user namespace, and one without namespaces, have no drift" {
  user_namespace
  create_and_start
  as_asked
  ocirun delete --force "$ID"
  config '.linux.namespaces = [{type: "mount"}] | del(.hostname, .linux.uidMappings, .linux.gidMappings)'
  chown -R 0:0 "$BUNDLE/rootfs"
  create_and_start
  as_asked
}

@test "the whole host below a bind, shared roots and many id maps are no drift" {
  bind /host / rbind rslave ro
  create_and_start
  as_asked
  ocirun delete --force "$ID"
  config '.mounts |= map(select(.destination != "/host")) | .linux.rootfsPropagation = "rshared"'
  bind /data "$TMP" bind rprivate
  create_and_start
  as_asked
  ocirun delete --force "$ID"
  config 'del(.linux.rootfsPropagation) | .mounts |= map(select(.destination != "/data"))'
  user_namespace
  config '.linux.uidMappings = [range(6; -1; -1) | {containerID: (. * 1000), hostID: (100000 + . * 1000), size: 1000}]'
  create_and_start
  as_asked
}

@test "drift: limits that somebody writes" {
  needs_controller memory
  needs_controller pids
  needs_controller cpu
  config '.linux.resources += {memory: {limit: 67108864}, pids: {limit: 100}}'
  create_and_start
  local max=memory.limit_in_bytes weight=cpu.shares
  ! pure_v2 || max=memory.max weight=cpu.weight
  echo 33554432 >"$(cgroup memory)/$max"
  drifts "/linux/resources/memory/limit $max  asked 67108864, found 33554432"
  echo 67108864 >"$(cgroup memory)/$max"
  echo 50 >"$(cgroup pids)/pids.max"
  drifts "pids.max" "asked 100, found 50"
  echo 100 >"$(cgroup pids)/pids.max"
  echo 77 >"$(cgroup cpu)/$weight" # nobody asked for one
  drifts "$weight  asked no limit, found 77"
  ocirun update --cpu-share 512 "$ID"
  as_asked
  ocirun update --memory 128m --memory-swap -1 "$ID" || ocirun update --memory 128m "$ID"
  as_asked
}

@test "drift: a device rule, and a cgroup that init was taken from" {
  create_and_start
  if [[ -e $(cgroup devices)/devices.allow ]]; then
    echo "c 10:229 rwm" >"$(cgroup devices)/devices.allow"
    drifts "/linux/resources/devices" "other rules"
    echo "c 10:229 rwm" >"$(cgroup devices)/devices.deny"
    as_asked
  fi
  local top
  top=$(dirname "$(cgroup memory)")
  echo "$(init_pid)" >"$top/cgroup.procs"
  drifts "cgroup  asked /$ID, found /"
}

@test "drift: mounts that somebody adds, removes, covers and changes" {
  mkdir "$TMP/data"
  bind /data "$TMP/data" bind ro
  tmpfs /scratch nosuid nodev
  create_and_start
  in_mounts /bin/busybox mount -t tmpfs added /tmp
  drifts "mount /tmp  tmpfs rw, which the document does not have"
  in_mounts /bin/busybox umount /tmp
  in_mounts /bin/busybox mount -o remount,bind,rw /data
  drifts "/mounts/7 /data" "rw"
  in_mounts /bin/busybox mount -o remount,bind,ro /data
  as_asked
  in_mounts /bin/busybox mount -o remount,bind,suid,dev /scratch
  drifts "/mounts/8 /scratch  asked tmpfs rw,nosuid,nodev, found tmpfs rw"
  in_mounts /bin/busybox mount -o remount,bind,nosuid,nodev /scratch
  in_mounts /bin/busybox mount -t tmpfs over /scratch -o nosuid,nodev
  drifts "over the mount of the document"
  in_mounts /bin/busybox umount /scratch
  in_mounts /bin/busybox umount /scratch
  drifts "/mounts/8 /scratch" "nothing is mounted there"
}

@test "drift: mounts below recursive binds and hierarchies of cgroups" {
  mkdir -p "$TMP/tree/below"
  mount -t tmpfs below "$TMP/tree/below"
  bind /tree "$TMP/tree" rbind
  create_and_start
  as_asked
  in_mounts /bin/busybox mount -t tmpfs over /tree/below
  drifts "mount /tree/below"
  in_mounts /bin/busybox umount /tree/below
  if has_v1 memory; then
    in_mounts /bin/busybox mount -o remount,bind,rw /sys/fs/cgroup/memory
    drifts "mount /sys/fs/cgroup/memory" "cgroup rw"
  fi
  ocirun delete --force "$ID"
  umount "$TMP/tree/below"
}

@test "drift: masks, read-only paths, the root and propagation" {
  config '.root.readonly = true'
  create_and_start
  in_mounts /bin/busybox umount /proc/keys
  drifts "/linux/maskedPaths /proc/keys  asked masked, found not masked"
  in_mounts /bin/busybox mount --bind /dev/null /proc/keys
  as_asked
  in_mounts /bin/busybox umount /proc/sys
  drifts "/linux/readonlyPaths /proc/sys  asked ro, found proc rw"
  in_mounts /bin/busybox mount --bind /proc/sys /proc/sys
  in_mounts /bin/busybox mount -o remount,bind,ro /proc/sys
  in_mounts /bin/busybox mount -o remount,bind,rw /
  drifts "/root" "asked ro"
  in_mounts /bin/busybox mount -o remount,bind,ro /
  in_mounts /bin/busybox mount --make-shared /dev/shm
  drifts "/dev/shm" "shared"
}

@test "drift: the source of a bind is replaced on the host" {
  echo old >"$TMP/file"
  bind /etc/file "$TMP/file" bind
  create_and_start
  as_asked
  echo new >"$TMP/file.new"
  mv "$TMP/file.new" "$TMP/file"
  drifts "/mounts/7 /etc/file" "whose source was removed or replaced"
}

@test "drift: devices that are removed, replaced or opened to others" {
  create_and_start
  in_mounts /bin/busybox chmod 600 /dev/null
  as_asked # the default devices have no mode in the document
  in_mounts /bin/busybox rm /dev/full
  drifts "default device /dev/full  asked c 1:7, found no such file"
  in_mounts /bin/busybox mknod /dev/full c 1 5
  drifts "asked c 1:7, found c 1:5"
  ocirun delete --force "$ID"
  config '.linux.devices = [{type: "c", path: "/dev/odd", major: 1, minor: 3, fileMode: 384, uid: 0, gid: 0}]'
  create_and_start
  in_mounts /bin/busybox chmod 666 /dev/odd
  drifts "/linux/devices/0 /dev/odd  asked c 1:3 mode 0600, found c 1:3 mode 0666"
}

@test "drift: names, sysctls, interfaces" {
  config '.domainname = "example" | .linux.sysctl = {"net.ipv4.ip_forward": "1"}'
  ip link add "v$$" type veth peer name "w$$" 2>/dev/null || skip "needs veth"
  config '.linux.netDevices = {($d): {name: "eth7"}}' --arg d "v$$"
  create_and_start
  as_asked
  local pid
  pid=$(init_pid)
  nsenter --target "$pid" --uts hostname other
  drifts "/hostname  asked box, found other"
  nsenter --target "$pid" --uts hostname box
  nsenter --target "$pid" --uts domainname other 2>/dev/null || nsenter --target "$pid" --uts sh -c 'echo other >/proc/sys/kernel/domainname'
  drifts "/domainname  asked example, found other"
  nsenter --target "$pid" --uts sh -c 'echo example >/proc/sys/kernel/domainname'
  nsenter --target "$pid" --net sysctl -qw net.ipv4.ip_forward=0
  drifts "/linux/sysctl/net.ipv4.ip_forward  asked 1, found 0"
  nsenter --target "$pid" --net sysctl -qw net.ipv4.ip_forward=1
  nsenter --target "$pid" --net ip link delete eth7
  drifts "/linux/netDevices/v$$  asked eth7, found no such interface"
}

@test "drift: limits and priorities of the process, and a process of somebody else in its cgroup" {
  config '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 512, hard: 1024}] | .process.oomScoreAdj = 100
    | .process.scheduler = {policy: "SCHED_OTHER", nice: 5} | .process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 5}'
  create_and_start
  as_asked
  local pid
  pid=$(init_pid)
  prlimit --pid "$pid" --nofile=256:512
  taskset --pid --cpu-list 0 "$pid" >/dev/null
  as_asked # a program may do this itself
  run ocirun inspect "$ID"
  output_mentions "RLIMIT_NOFILE  asked 512:1024, found 256:512"
  echo 500 >"/proc/$pid/oom_score_adj"
  run ocirun inspect --drift "$ID"
  exits 3 "/process/oomScoreAdj"
  renice -n 7 -p "$pid" >/dev/null
  ionice -c 3 -p "$pid"
  run ocirun inspect --drift "$ID"
  exits 3 "asked SCHED_OTHER nice 5, found SCHED_OTHER nice 7"
  output_mentions "asked class 2 priority 5, found class 3"
  sleep 1000 3>&- 4>&- &
  local stranger=$!
  HELPERS+=("$stranger")
  local directory
  for directory in $(cgroups "$ID"); do echo "$stranger" >"$directory/cgroup.procs"; done
  run ocirun inspect --drift "$ID"
  output_mentions "process $stranger"
  output_mentions "a process of the container's pid namespace"
}

@test "drift: the namespace that a path leads to is another one now" {
  touch "$TMP/net"
  unshare --net sh -c "mount --bind /proc/self/ns/net '$TMP/net'" 2>/dev/null || true
  mountpoint -q "$TMP/net" || nsenter --net=/proc/self/ns/net mount --bind /proc/self/ns/net "$TMP/net"
  set_namespace network "$TMP/net"
  create_and_start
  as_asked
  umount "$TMP/net"
  unshare --net mount --bind "/proc/$$/ns/net" "$TMP/net" || true
  mountpoint -q "$TMP/net" || mount --bind "/proc/$$/ns/net" "$TMP/net"
  if [[ $(stat -c %i "$TMP/net") != "$(stat -Lc %i "/proc/$(init_pid)/ns/net")" ]]; then drifts "network" "joined $TMP/net"; fi
  umount "$TMP/net"
}

@test "a program that drops its rights is not drift; every process is shown" {
  capabilities CAP_SETUID CAP_SETGID CAP_KILL
  script 'sleep 1000 & exec /bin/busybox su web -c "exec sleep 1000"'
  create_and_start
  eventually contains "/proc/$(init_pid)/status" "Uid:	1000"
  run ocirun inspect --drift "$ID"
  succeeds
  run ocirun inspect "$ID"
  output_mentions "unasked  /process/user/uid                  asked 0, found 1000"
  equal 2 "$(ocirun inspect --format json "$ID" | jq '.sections.processes | length')"
}

@test "drift is found beside hundreds of mounts with long names" {
  capabilities CAP_SYS_ADMIN
  # 49 mounts, and eleven copies of their directory: each copy is a mount with 49 more below it.
  script 'd=/tmp; for i in 1 2 3 4 5 6 7 8 9 10; do d=$d/$(printf %0200d 0); done; mkdir -p $d/of; i=0
    while [ $i -lt 49 ]; do mkdir $d/of/$i; mount -t tmpfs x $d/of/$i; i=$((i + 1)); done; i=0
    while [ $i -lt 11 ]; do mkdir $d/$i; mount -o rbind $d/of $d/$i; i=$((i + 1)); done; touch /tmp/done; exec sleep 1000'
  create_and_start
  eventually exists "$BUNDLE/rootfs/tmp/done"
  in_mounts /bin/busybox umount /proc/keys
  run ocirun inspect --drift "$ID"
  exits 3 "/proc/keys"
  equal 600 "$(ocirun inspect --format json "$ID" | jq .drift)"
}

@test "names with newlines and control characters are escaped, in the table and in JSON" {
  capabilities CAP_SYS_ADMIN
  script 'mkdir "/tmp/a
b	c"; mount -t tmpfs evil "/tmp/a
b	c"; cp /bin/busybox "/tmp/x
≠ drift"; exec sleep 1000'
  create_and_start
  eventually contains "/proc/$(init_pid)/mountinfo" evil
  run ocirun inspect --drift "$ID"
  exits 3
  equal 3 "${#lines[@]}"
  equal 1 "$(ocirun inspect --format json "$ID" | jq .drift)"
  equal $'mount /tmp/a\nb\tc' "$(ocirun inspect --format json "$ID" | jq -r '.sections.mounts[] | select(.verdict == "drift").what')"
}

@test "a file system of the container that never answers does not stop inspect" {
  [[ -e /dev/fuse ]] || skip "needs /dev/fuse"
  mkdir -p "$TMP/data/deaf"
  mount --bind "$TMP/data" "$TMP/data"
  mount --make-shared "$TMP/data"
  bind /data "$TMP/data" bind rslave
  config '.linux.maskedPaths += ["/data/deaf/file"]'
  create_and_start
  helper "$LIB/deaf-filesystem" "$TMP/data/deaf"
  eventually contains "$TMP/helper.log" ready
  run timeout 60 "$OCIRUN" --root "$ROOT" inspect --drift "$ID"
  exits 3
  output=$(tr -s ' ' <<<"$output")
  output_mentions "? /linux/maskedPaths /data/deaf/file asked masked; a file system on the way may never answer"
  output_mentions "≠ drift mount /data/deaf"
  kill -KILL "$HELPER"
  eventually umount "$TMP/data/deaf"
  eventually umount "$TMP/data"
}

@test "R-43 update sets files of the unified hierarchy that have no field of their own, and inspect compares each" {
  needs_v2 "memory.high and others"
  local directory file value device files=0
  create_and_start
  directory=$(cgroup memory)
  device=$(cat /sys/block/*/dev | head -n 1)
  while read -r file value; do
    [[ -e $directory/$file ]] || continue
    files=$((files + 1))
    ocirun update --resources - "$ID" <<<"{\"unified\": {\"$file\": \"$value\"}}"
    equal "$file $value" "$file $(<"$directory/$file")"
  done <<END
memory.high 100003840
memory.min 1003520
memory.low 2007040
memory.swap.high 50003968
memory.zswap.max 30003200
cpu.idle 1
cpu.uclamp.min 10.00
cpu.uclamp.max 80.00
io.latency $device target=75
END
  [[ $files -ge 4 ]] || { echo "only $files files"; return 1; }
  run ocirun inspect --drift "$ID"
  succeeds
  # What somebody else writes is drift, in the file that update has set last and in the first.
  echo 89997312 >"$directory/memory.high"
  run ocirun inspect --drift "$ID"
  exits 3 "memory.high"
  output_mentions "asked 100003840, found 89997312"
  run ocirun update --resources - "$ID" <<<'{"unified": {"memory.none": "1"}}'
  exits 1 "memory.none"
}

@test "hooks that ran are shown, with time, duration and end" {
  local sleeps='{"path": "/bin/sh", "args": ["sh", "-c", "sleep 0.3"]}'
  config '.hooks = {createRuntime: [{path: "/bin/true"}, $s], createContainer: [{path: "/bin/true"}], startContainer: [$s],
    poststart: [$s], poststop: [{path: "/bin/true"}]}' --argjson s "$sleeps"
  create
  run ocirun inspect "$ID"
  output_mentions "/hooks/poststart/0 /bin/sh"
  output_mentions "runs at \`start\`"
  start
  run ocirun inspect --drift "$ID"
  succeeds
  ocirun inspect --format json "$ID" | jq -r '.sections.hooks[] | .what + ": " + .found' >shown
  equal $'/hooks/createRuntime/0\n/hooks/createRuntime/1\n/hooks/createContainer/0\n/hooks/startContainer/0\n/hooks/poststart/0' \
    "$(cut -d ' ' -f 1 shown)"
  equal 5 "$(grep -cE "Z, [0-9]+ ms, succeeded$" shown)"
  equal 3 "$(grep -cE "(createRuntime/1|startContainer/0|poststart/0) .*Z, ([3-9]|[0-9]+[0-9])[0-9][0-9] ms" shown)"
  contains shown "$(date -u +%Y-%m-%dT)"
  rm "$ROOT/$ID/hooks.json"
  run ocirun inspect "$ID"
  output_mentions "not recorded: it did not run"
}
