# Changes of limits and devices of an existing container: the values in the kernel, and the effect on programs.
load lib/common

resources() { config '.linux.resources += '"$1"; }
update() { ocirun update "$@" "$ID"; }

# update_with JSON: gives the resources on stdin, as engines do.
update_with() { ocirun update --resources - "$ID" <<<"$1"; }

# fails WORDS COMMAND…: `ocirun COMMAND…` fails with status 1 and a message with the words.
fails() {
  run ocirun "${@:2}" </dev/null
  exits 1 "$1"
}

setup() {
  common_setup
  config '.linux.resources.devices = [{allow: false, access: "rwm"}]'
}

@test "update: each option changes its file, before and after the id, and leaves the others alone" {
  needs_controller memory
  resources '{memory: {limit: 67108864, reservation: 33554432}, pids: {limit: 40}, cpu: {shares: 512}}'
  create
  ocirun update --pids-limit 20 "$ID"
  limited pids pids.max=20 pids.max=20
  limited memory memory.limit_in_bytes=67108864 memory.max=67108864
  ocirun update "$ID" --memory=32m --memory-reservation 16M
  limited memory memory.limit_in_bytes=33554432 memory.max=33554432
  limited memory memory.soft_limit_in_bytes=16777216 memory.low=16777216
  limited pids pids.max=20 pids.max=20
  update --cpu-share 1024 --cpu-period 200000 --cpu-quota 100000
  limited cpu cpu.shares=1024 cpu.weight=100
  if pure_v2; then
    equal "100000 200000" "$(limit cpu "" cpu.max)"
  else
    equal "100000 200000" "$(limit cpu cpu.cfs_quota_us) $(limit cpu cpu.cfs_period_us)"
  fi
  update --pids-limit -1
  limited pids pids.max=max pids.max=max
}

@test "update: quota and burst go up and down together, and one alone that does not fit says why" {
  needs_controller cpu
  create
  update --cpu-quota 50000 --cpu-burst 20000
  limited cpu cpu.cfs_burst_us=20000 cpu.max.burst=20000
  update --cpu-quota 10000 --cpu-burst 10000
  limited cpu cpu.cfs_burst_us=10000 cpu.max.burst=10000
  update --cpu-quota 90000 --cpu-burst 80000
  limited cpu cpu.cfs_burst_us=80000 cpu.max.burst=80000
  fails "--cpu-quota" update --cpu-quota 5000 "$ID"
  limited cpu cpu.cfs_burst_us=80000 cpu.max.burst=80000
  update --cpu-quota -1 --cpu-burst 0
}

@test "update: an idle container becomes a weighty one, and back" {
  needs_controller cpu
  create
  update --cpu-idle 1
  limited cpu cpu.idle=1 cpu.idle=1
  update --cpu-idle 0 --cpu-share 2048
  limited cpu cpu.idle=0 cpu.idle=0
  update --cpu-share 512 --cpu-idle 1
  limited cpu cpu.idle=1 cpu.idle=1
  fails "--cpu-idle" update --cpu-idle 2 "$ID"
}

@test "R-13 update: memory above the limit of memory and swap together is told by its option, and what to give too" {
  needs_controller memory
  resources '{memory: {limit: 67108864, swap: 134217728}}'
  create
  fails "--memory: 268435456 bytes are more than the 134217728 bytes that memory and swap together may take: give --memory-swap too" \
    update --memory 256m "$ID"
  equal 67108864 "$(limit memory memory.limit_in_bytes memory.max)"
  fails "--memory-swap: 33554432 bytes for memory and swap together are less than the 67108864 bytes that memory may take: give --memory too" \
    update --memory-swap 32m "$ID"
  update --memory 256m --memory-swap 512m
  equal 268435456 "$(limit memory memory.limit_in_bytes memory.max)"
}

@test "R-13 update: memory and swap are raised and lowered in any order; unlimited memory lifts both" {
  needs_v1 "memory and swap together"
  needs_controller memory
  resources '{memory: {limit: 67108864, swap: 67108864}}'
  create
  update --memory 128m --memory-swap 128m
  equal "134217728 134217728" "$(limit memory memory.limit_in_bytes) $(limit memory memory.memsw.limit_in_bytes)"
  update --memory-swap 32m --memory 32m
  equal "33554432 33554432" "$(limit memory memory.limit_in_bytes) $(limit memory memory.memsw.limit_in_bytes)"
  fails "give --memory-swap too" update --memory 64m "$ID"
  update --memory -1
  [[ $(limit memory memory.memsw.limit_in_bytes) -gt 1000000000000 ]]
}

@test "R-13 update: on v2 the limit on swap moves with that on memory, so that both together stay" {
  needs_v2 "a limit on swap alone"
  needs_controller memory
  resources '{memory: {limit: 67108864, swap: 134217728}}'
  create
  [[ -e $(cgroup memory)/memory.swap.max ]] || skip "this kernel does not account swap"
  equal 67108864 "$(limit memory "" memory.swap.max)"
  update --memory 96m
  equal 33554432 "$(limit memory "" memory.swap.max)"
  fails "give --memory-swap too" update --memory 256m "$ID"
  update --memory -1
  equal "max max" "$(limit memory "" memory.max) $(limit memory "" memory.swap.max)"
}

@test "update: all or nothing, also when the last of many writes fails" {
  needs_controller memory
  needs_controller pids
  resources '{memory: {limit: 67108864}, pids: {limit: 40}, cpu: {shares: 512}}'
  create
  run ocirun update --resources - "$ID" <<<'{"cpu":{"shares":2048},"memory":{"limit":33554432},"pids":{"limit":10},
    "hugepageLimits":[{"pageSize":"3MB","limit":0}]}'
  exits 1 /linux/resources/hugepageLimits/0
  limited memory memory.limit_in_bytes=67108864 memory.max=67108864
  limited pids pids.max=40 pids.max=40
  limited cpu cpu.shares=512 cpu.weight=59
  [[ ! -e $ROOT/$ID/resources.json ]]
}

# limit_files: prints all files that an option of update can change, on cgroup v1 or v2.
limit_files() {
  local name
  for name in memory/memory.{limit_in_bytes,memsw.limit_in_bytes,soft_limit_in_bytes,kmem.tcp.limit_in_bytes,max,low,swap.max} \
    cpu/cpu.{shares,cfs_quota_us,cfs_period_us,cfs_burst_us,rt_runtime_us,rt_period_us,idle,weight,max,max.burst} \
    cpuset/cpuset.{cpus,mems} pids/pids.max blkio/blkio.{weight,bfq.weight} io/io.{weight,bfq.weight}; do
    if pure_v2; then name=/sys/fs/cgroup/$ID/${name#*/}; else name=/sys/fs/cgroup/${name%/*}/$ID/${name#*/}; fi
    [[ ! -f $name ]] || echo "$name"
  done
}

# limits_now: prints "FILE VALUE" for each of these files. Does not fork for each file.
limits_now() {
  local file lines
  for file in $(limit_files); do
    mapfile -t lines <"$file"
    echo "${file##*/} ${lines[*]}"
  done
}

# changed_by COMMAND…: prints the files that an update changes, with their new values, and the resources.json that it keeps. Prints
# "refused" if the update fails; then no file may have changed.
changed_by() {
  local kept=$ROOT/$ID/resources.json
  untraced limits_now >"$TMP/limits.before"
  cp "$kept" "$TMP/kept.before" 2>/dev/null || rm -f "$TMP/kept.before"
  if "$@" >"$TMP/update.log" 2>&1; then
    untraced limits_now | diff "$TMP/limits.before" - | sed -n 's/^> //p'
    jq -cS . "$kept"
  else
    untraced limits_now | diff "$TMP/limits.before" - || return 1
    [[ ! -e $kept && ! -e $TMP/kept.before ]] || cmp "$kept" "$TMP/kept.before" || return 1
    echo refused
  fi
}

@test "update --resources says which names it does not know" {
  create_and_start
  run update_with '{"memory": {"limt": 1}, "linux": {}}'
  succeeds
  output_mentions '/memory/limt: unknown name, ignored (did you mean limit?)'
  output_mentions '/linux: unknown name, ignored'
}

# Two equal containers: one gets the options, the other the fields, one after the other on the same container.
# bats test_tags=exhaustive
@test "update: each option and its field of --resources do the same, and change their own files alone" {
  needs_controller memory
  needs_controller cpu
  local options=0 option json files by_option by_json first=$ID second=$ID-2
  resources '{memory: {limit: 67108864, reservation: 33554432, swap: 134217728}, pids: {limit: 40},
    cpu: {shares: 512, quota: 80000, period: 100000}}'
  create
  config '.linux.cgroupsPath = $p' --arg p "/$second"
  ID=$second
  create
  while read -r option files json; do
    ID=$first
    by_option=$(changed_by update "${option%%=*}" "${option#*=}")
    ID=$second
    by_json=$(changed_by update_with "$json")
    equal "$option $by_option" "$option $by_json"
    [[ $by_option == refused ]] || matches_files "$by_option" "$files" || { echo "$option changed: $by_option"; return 1; }
    options=$((options + 1))
  done <<'END'
--cpu-period=50000 cpu.cfs_period_us|cpu.max {"cpu":{"period":50000}}
--cpu-quota=30000 cpu.cfs_quota_us|cpu.max {"cpu":{"quota":30000}}
--cpu-burst=10000 cpu.cfs_burst_us|cpu.max.burst {"cpu":{"burst":10000}}
--cpu-share=2048 cpu.shares|cpu.weight {"cpu":{"shares":2048}}
--cpu-rt-period=500000 cpu.rt_period_us {"cpu":{"realtimePeriod":500000}}
--cpu-rt-runtime=100 cpu.rt_runtime_us {"cpu":{"realtimeRuntime":100}}
--cpu-idle=1 cpu.idle|cpu.shares|cpu.weight {"cpu":{"idle":1}}
--cpuset-cpus=0 cpuset.cpus {"cpu":{"cpus":"0"}}
--cpuset-mems=0 cpuset.mems {"cpu":{"mems":"0"}}
--memory=48m memory.limit_in_bytes|memory.max|memory.swap.max {"memory":{"limit":50331648}}
--memory-reservation=16m memory.soft_limit_in_bytes|memory.low {"memory":{"reservation":16777216}}
--memory-swap=256m memory.memsw.limit_in_bytes|memory.swap.max {"memory":{"swap":268435456}}
--kernel-memory=64m no.file {"memory":{"kernel":67108864}}
--kernel-memory-tcp=64m memory.kmem.tcp.limit_in_bytes {"memory":{"kernelTCP":67108864}}
--pids-limit=20 pids.max {"pids":{"limit":20}}
--blkio-weight=300 blkio.weight|blkio.bfq.weight|io.weight|io.bfq.weight {"blockIO":{"weight":300}}
END
  equal "$options" "$(ocirun update --help | grep -cE -- '--(cpu|memory|kernel|pids|blkio)')"
}

# matches_files CHANGES FILES: no files but FILES (a regular expression with |) have changed.
matches_files() { ! sed '$d' <<<"$1" | grep -vE "^(${2//./\\.}) "; }

@test "update: all or nothing, whichever of the files refuses" {
  needs_controller memory
  needs_controller pids
  local name file tried=0 change='{"cpu":{"shares":2048,"quota":40000,"period":50000},
    "memory":{"limit":33554432,"reservation":16777216},"pids":{"limit":10}}'
  resources '{memory: {limit: 67108864}, pids: {limit: 40}, cpu: {shares: 512, quota: 80000, period: 100000}}'
  create
  changed_by update_with "$change" >"$TMP/changed"
  ocirun delete --force "$ID"
  create
  untraced limits_now >"$TMP/limits.before"
  for file in $(limit_files); do
    name=${file##*/}
    grep -q "^$name " "$TMP/changed" || continue
    run strace -f -qq -o "$TMP/trace" -P "$file" -e inject=write,pwrite64:error=EIO:when=1 \
      "$OCIRUN" --root "$ROOT" update --resources - "$ID" <<<"$change"
    exits 1 "$name"
    untraced limits_now | diff "$TMP/limits.before" -
    is_gone "$ROOT/$ID/resources.json"
    tried=$((tried + 1))
  done
  [[ $tried -ge 4 ]] || { cat "$TMP/changed"; return 1; }
}

@test "update: JSON as engines send it, zeros leave alone; a mistake is told by its pointer" {
  needs_controller memory
  resources '{memory: {limit: 67108864, reservation: 33554432}}'
  create_and_start
  update_with '{"memory":{"limit":134217728,"reservation":0,"swap":0,"kernel":0},"cpu":{"shares":0,"quota":0,"period":0,
    "realtimeRuntime":0,"realtimePeriod":0,"cpus":"","mems":""},"pids":{"limit":50},"blockIO":{"weight":0}}'
  limited memory memory.limit_in_bytes=134217728 memory.max=134217728
  limited memory memory.soft_limit_in_bytes=33554432 memory.low=33554432
  limited pids pids.max=50 pids.max=50
  equal '134217728 33554432 50' "$(jq -r '"\(.memory.limit) \(.memory.reservation) \(.pids.limit)"' "$ROOT/$ID/resources.json")"
  run ocirun update --resources - "$ID" <<<'{"memory":{"limit":"much"}}'
  exits 1 /memory/limit
  echo '{"pids":{"limit":30}}' >limits.json
  ocirun update --resources limits.json --memory 64m "$ID"
  limited pids pids.max=30 pids.max=30
  limited memory memory.limit_in_bytes=67108864 memory.max=67108864
}

@test "update: mistakes are told in terms of the options" {
  create
  fails "--memory: \"lots\" is no size" update --memory lots "$ID"
  fails "--cpu-quota many" update --cpu-quota many "$ID"
  local value
  for value in -9 -2 999 17592186044416; do
    fails "--cpu-quota: must be from 1000 to 17592186044415 microseconds, or -1 for no limit, not $value" update --cpu-quota "$value" "$ID"
    run ocirun update --resources - "$ID" <<<"{\"cpu\":{\"quota\":$value}}"
    exits 1 "/cpu/quota: must be from 1000 to 17592186044415 microseconds"
  done
  fails "--cpu-burst: must be a whole number from 0 to 17592186044415" update --cpu-burst 99999999999999999 "$ID"
  fails "--cpu-burst: must be a whole number from 0 to 17592186044415" update --cpu-burst -1 "$ID"
  fails "--blkio-weight" update --blkio-weight 5 "$ID"
  fails "--cpuset-cpus" update --cpuset-cpus 0- "$ID"
  fails "--device-add" update --device-add null "$ID"
  fails "nothing to change" update "$ID"
  fails "does not exist" update --memory 64m nobody
}

@test "update: a container that has ended is not running" {
  script 'exit 0'
  create_and_start
  eventually status_is stopped
  fails "container not running" update --pids-limit 10 "$ID"
}

@test "R-26 update: a fork bomb stops at the new limit" {
  needs_controller pids
  create_and_start
  update --pids-limit 4
  run ocirun exec "$ID" sh -c 'for i in 1 2 3 4 5 6 7 8; do sleep 1000 >/dev/null 2>&1 & done'
  [[ $status != 0 ]] || fail_with_output
  output_mentions "can't fork"
}

@test "R-24 update: CPUs and memory nodes of a container that runs" {
  needs_controller cpuset
  create_and_start
  update --cpuset-cpus 0 --cpuset-mems 0
  run ocirun exec "$ID" sh -c 'grep Cpus_allowed_list /proc/self/status | cut -f2'
  succeeds 0
  fails "--cpuset-cpus" update --cpuset-cpus 4000 "$ID"
}

@test "R-30 update: the weight of block devices" {
  local file value=300
  create
  if pure_v2; then value=2930; fi
  for file in "$(cgroup blkio)/blkio.weight" "$(cgroup blkio)/blkio.bfq.weight" "$(cgroup io)/io.bfq.weight" "$(cgroup io)/io.weight"; do
    [[ ! -e $file ]] || break
  done
  [[ -e $file ]] || skip "this kernel gives no weights to block devices"
  [[ $file != */io.bfq.weight ]] || value=300
  update --blkio-weight 300
  equal "$value" "$(sed 's/^default //' "$file")"
}

@test "R-10 update: a device is added with its node and can be used, and removed again" {
  capabilities CAP_MKNOD CAP_SYSLOG
  create_and_start
  run ocirun exec "$ID" sh -c 'mknod /tmp/kmsg c 1 11; head -c 0 </tmp/kmsg'
  [[ $status != 0 ]] || fail_with_output
  update --device-add /dev/kmsg:/dev/sub/kmsg:r
  run ocirun exec "$ID" sh -c 'head -c 0 </dev/sub/kmsg && stat -c %t:%T /dev/sub/kmsg'
  succeeds 1:b
  run ocirun exec "$ID" sh -c ': >/dev/sub/kmsg'
  [[ $status != 0 ]] || fail_with_output
  update --device-remove /dev/kmsg:/dev/sub/kmsg
  run ocirun exec "$ID" sh -c '[ ! -e /dev/sub/kmsg ] && ! head -c 0 </tmp/kmsg'
  succeeds
  run ocirun exec "$ID" sh -c 'echo fine >/dev/null && head -c 1 /dev/zero | wc -c'
  succeeds 1
}

@test "R-10 update: a device is denied whatever the container has put at its path" {
  capabilities CAP_MKNOD CAP_SYSLOG
  create_and_start
  update --device-add /dev/kmsg
  ocirun exec "$ID" sh -c 'mv /dev/kmsg /dev/keep; mv /dev/null /dev/kmsg'
  run ocirun update --device-remove /dev/kmsg "$ID"
  exits 0 "the node /dev/kmsg stays in the container"
  run ocirun exec "$ID" head -c 0 /dev/keep
  [[ $status != 0 ]] || fail_with_output
  run ocirun exec "$ID" stat -c %t:%T /dev/kmsg
  succeeds 1:3
}

@test "R-10 update: a list of device rules takes the place of the old one" {
  capabilities CAP_MKNOD CAP_SYSLOG
  create_and_start
  update_with '{"devices":[{"allow":false,"access":"rwm"},{"allow":true,"type":"c","major":1,"minor":11,"access":"r"}]}'
  run ocirun exec "$ID" sh -c 'mknod /tmp/kmsg c 1 11; head -c 0 </tmp/kmsg && ! (: >/tmp/kmsg)'
  exits 0
  update --pids-limit 50
  run ocirun exec "$ID" head -c 0 /tmp/kmsg
  exits 0
  update_with '{"devices":[{"allow":true,"access":"rwm"}]}'
  run ocirun exec "$ID" sh -c 'dd if=/dev/null of=/tmp/kmsg'
  exits 0
  update_with '{"devices":[{"allow":false,"access":"rwm"}]}'
  run ocirun exec "$ID" head -c 0 /tmp/kmsg
  [[ $status != 0 ]] || fail_with_output
  run ocirun exec "$ID" sh -c 'echo fine >/dev/null'
  exits 0
}

# The container opens devices all the time while its rules are replaced.
# bats test_tags=exhaustive
@test "R-10 update: there is no moment without rules, and none that denies what both lists allow" {
  local minor same='{"devices":[{"allow":false,"access":"rwm"},{"allow":true,"type":"c","major":1,"minor":5,"access":"rwm"}]}'
  capabilities CAP_MKNOD CAP_SYSLOG
  script 'mknod /tmp/kmsg c 1 11; while [ ! -e /tmp/end ]; do
    true </tmp/kmsg && echo denied-was-open >>/tmp/found
    true </dev/zero || echo allowed-was-shut >>/tmp/found
    n=$((n + 1)); done 2>/dev/null; echo "$n" >/tmp/count; sleep 1000'
  create_and_start
  for minor in {1..40}; do
    update_with '{"devices":[{"allow":false,"access":"rwm"},{"allow":true,"type":"c","major":10,"minor":'"$minor"',"access":"rw"}]}'
  done
  for minor in {1..30}; do update_with "$same"; done
  ocirun exec "$ID" touch /tmp/end
  eventually exists "/proc/$(init_pid)/root/tmp/count"
  run ocirun exec "$ID" sh -c 'cat /tmp/found; cat /tmp/count'
  output_never_mentions was-
  [[ ${lines[-1]} -gt 100 ]] || fail_with_output
}

@test "R-10 update: a device in a user namespace is the host's node, bound" {
  user_namespace
  create_and_start
  if ! has_system_call mount_setattr; then
    fails "bind the host's node: set mount attributes: function" update --device-add /dev/kmsg "$ID"
    return
  fi
  update --device-add /dev/kmsg
  run ocirun exec "$ID" stat -c %t:%T /dev/kmsg
  succeeds 1:b
  update --device-remove /dev/kmsg
  run ocirun exec "$ID" sh -c '[ ! -e /dev/kmsg ]'
  succeeds
}

@test "update: the container's symlinks in /dev lead nowhere, and what is no device stays" {
  create_and_start
  ocirun exec "$ID" sh -c 'ln -s /tmp /dev/away; echo keep >/dev/file'
  fails "device /dev/away/kmsg" update --device-add /dev/kmsg:/dev/away/kmsg "$ID"
  ocirun update --device-remove /dev/kmsg:/dev/file "$ID"
  fails "it is no character or block device" update --device-add /etc/passwd "$ID"
  run ocirun exec "$ID" sh -c 'ls /tmp; cat /dev/file'
  succeeds keep
}

@test "update: a node that was made goes again when a limit fails" {
  create_and_start
  run ocirun update --device-add /dev/kmsg --resources - "$ID" <<<'{"hugepageLimits":[{"pageSize":"3MB","limit":0}]}'
  exits 1 /linux/resources/hugepageLimits/0
  run ocirun exec "$ID" sh -c '[ ! -e /dev/kmsg ]'
  succeeds
}

# The last change fails, always the same one; all changes before it must be undone, created directories included.
@test "update: a file that a device was bound on, and directories, are as before when a limit fails" {
  local failing=(--resources - "$ID")
  user_namespace
  create_and_start
  ocirun exec "$ID" sh -c 'echo keep >/dev/mine'
  for path in /dev/mine /dev/new/below/it; do
    run ocirun update --device-add "/dev/kmsg:$path" "${failing[@]}" <<<'{"hugepageLimits":[{"pageSize":"3MB","limit":0}]}'
    exits 1
  done
  run ocirun exec "$ID" sh -c 'cat /dev/mine; ls /dev/new'
  output_mentions keep
  output_mentions "/dev/new: No such file"
  has_system_call mount_setattr || return 0
  update --device-add /dev/kmsg:/dev/mine
  update --device-remove /dev/kmsg:/dev/mine
  run ocirun exec "$ID" cat /dev/mine
  succeeds keep
}

# The container can cause the warning, by the nodes that it makes. A warning that cannot be written must not prevent the denial.
@test "R-10 update: a device is denied though nobody reads the warning that its node stays" {
  capabilities CAP_MKNOD CAP_SYSLOG
  create_and_start
  ocirun update --device-add /dev/kmsg:/dev/x "$ID"
  ocirun exec "$ID" sh -c 'mv /dev/x /dev/hidden; touch /dev/x; : 3>/dev/hidden'
  mkfifo "$TMP/unread"
  run bash -c 'exec 8<>"$0" 9>"$0" 8>&-; exec env --default-signal=PIPE "$@" >&9 2>&9 9>&-' "$TMP/unread" \
    "$OCIRUN" --root "$ROOT" update --device-remove /dev/kmsg:/dev/x "$ID"
  equal 0 "$status"
  run ocirun exec "$ID" sh -c ': 3>/dev/hidden'
  [[ $status != 0 ]] || fail_with_output
}

@test "update: without a cgroup there is nothing to change" {
  ocirun --cgroup-manager disabled create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&-
  fails "no cgroup of its own" update --pids-limit 10 "$ID"
}

@test "R-44 update: what only v1 has is refused on v2, unless it means no limit" {
  needs_v2 "a refusal of v2"
  create
  fails "--kernel-memory" update --kernel-memory 64m "$ID"
  fails "--cpu-rt-runtime" update --cpu-rt-runtime 1000 "$ID"
  update --kernel-memory -1 --cpu-rt-runtime 0
}

@test "R-18 update: with checkBeforeUpdate a limit below what is used is refused" {
  needs_v2 "v1's kernel refuses by itself"
  needs_controller memory
  resources '{memory: {limit: 134217728, checkBeforeUpdate: true}}'
  script 'head -c 20000000 /dev/zero | tail -c 20000000 >/dev/shm/held; sleep 1000'
  create_and_start
  eventually exists "/proc/$(init_pid)/root/dev/shm/held"
  eventually held
  fails "below the" update --memory 4m "$ID"
  limited memory x=1 memory.max=134217728
}
held() { [[ $(stat -c %s "/proc/$(init_pid)/root/dev/shm/held") == 20000000 ]]; }

@test "update: Intel RDT without resctrl is an error" {
  [[ ! -d /sys/fs/resctrl/info ]] || skip "this host has resctrl"
  create
  fails "resctrl" update --l3-cache-schema L3:0=f "$ID"
}
