# Limits, applied and refused; the values are read from the kernel, on cgroup v1 and on v2. felt.bats tests their effect.
load lib/common

resources() { config '.linux.resources += '"$1"; }

@test "R-1 an absolute cgroupsPath is the same place in every hierarchy" {
  local dir found=0
  create
  for dir in $(cgroups "$ID"); do
    contains "$dir/cgroup.procs" "$(init_pid)"
    found=1
  done
  equal 1 "$found"
}

@test "R-1 a cgroupsPath that leads out is refused" {
  refused cgroupsPath '.linux.cgroupsPath = "/../../" + $id' --arg id "$ID"
  refused cgroupsPath '.linux.cgroupsPath = "../" + $id' --arg id "$ID"
  refused cgroupsPath '.linux.cgroupsPath = "/a/../../" + $id' --arg id "$ID"
}

@test "R-2 R-4 a relative cgroupsPath and none at all have a place of the runtime's choosing, removed afterwards" {
  config 'del(.linux.cgroupsPath)'
  create
  [[ -n $(cgroups "ocirun/$ID") ]]
  ocirun delete --force "$ID"
  [[ -z $(cgroups "ocirun/$ID") ]]
  config '.linux.cgroupsPath = $id' --arg id "$ID"
  create
  ocirun delete --force "$ID"
}

# hand_down_nothing: disables the controllers in cgroup.subtree_control of a hybrid host's unified root, because crun refuses a host with
# such controllers.
hand_down_nothing() {
  local file=/sys/fs/cgroup/unified/cgroup.subtree_control controller
  HANDED_DOWN=$(<"$file")
  for controller in $HANDED_DOWN; do echo "-$controller" >"$file" || skip "somebody uses $controller"; done
}

# bats test_tags=alone
@test "R-44 a container leaves the controllers of a hybrid host's unified hierarchy as they were, also when it asked for one" {
  [[ -e /sys/fs/cgroup/unified/cgroup.subtree_control ]] || skip "this host has no hybrid layout"
  [[ $(stat -c %h /sys/fs/cgroup/unified) == 2 ]] || skip "cgroups of others are there, who may use what is handed down"
  hand_down_nothing
  create_and_start
  ocirun delete --force "$ID"
  hand_down_nothing
  equal "" "$HANDED_DOWN"
  resources '{hugepageLimits: [{pageSize: "3MB", limit: 0}]}'
  refused hugepageLimits
  hand_down_nothing
  equal "" "$HANDED_DOWN"
  config '.linux.resources.hugepageLimits = [{pageSize: "2MB", limit: 2097152}]'
  attempt create --bundle "$BUNDLE" "$ID"
  ocirun delete --force "$ID"
  hand_down_nothing
  equal "" "$HANDED_DOWN"
}

@test "R-44 of containers that used a controller of a hybrid host's unified hierarchy, the last takes it back, whoever had asked for it" {
  [[ -e /sys/fs/cgroup/unified/cgroup.subtree_control ]] || skip "this host has no hybrid layout"
  grep -qw hugetlb /sys/fs/cgroup/unified/cgroup.controllers || skip "no hugetlb in the unified hierarchy"
  local parent=/sys/fs/cgroup/unified/$ID-parent name
  make_cgroups "$ID-parent"
  resources '{hugepageLimits: [{pageSize: "2MB", limit: 2097152}]}'
  for name in a b c; do
    [[ $name != c ]] || config 'del(.linux.resources.hugepageLimits)'
    config '.linux.cgroupsPath = $path' --arg path "/$ID-parent/$name"
    attempt create --bundle "$BUNDLE" "$ID-$name"
    exits 0
  done
  ocirun delete --force "$ID-a"
  equal hugetlb "$(<"$parent/cgroup.subtree_control")"
  ocirun delete --force "$ID-b"
  equal hugetlb "$(<"$parent/cgroup.subtree_control")"
  ocirun delete --force "$ID-c"
  equal "" "$(<"$parent/cgroup.subtree_control")"
  remove_cgroups "$ID-parent"
}

@test "R-5 a frozen cgroup is refused and create does not hang" {
  make_cgroups "$ID"
  freeze "$ID"
  run timeout 20 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  unfreeze "$ID"
  remove_cgroups "$ID"
  exits 1 "container's cgroup unexpectedly frozen"
  [[ ! -e $ROOT/$ID ]]
}

@test "R-11 R-12 R-13 memory limit, reservation and swap are set, and read the same inside" {
  needs_controller memory
  config '.linux.resources += {memory: {limit: 67108864, reservation: 33554432}}'
  create_and_start
  limited memory memory.limit_in_bytes=67108864 memory.max=67108864
  limited memory memory.soft_limit_in_bytes=33554432 memory.low=33554432
  limited_inside memory memory.limit_in_bytes=67108864 memory.max=67108864
  ocirun delete --force "$ID"
  config '.linux.resources.memory.swap = 134217728'
  attempt create --bundle "$BUNDLE" "$ID"
  if [[ $status == 0 ]]; then
    limited memory memory.memsw.limit_in_bytes=134217728 memory.swap.max=67108864
  else
    exits 1 /linux/resources/memory/swap # the kernel has no swap accounting
  fi
}

@test "R-11 -1 is unlimited; less than -1 is refused" {
  needs_controller memory
  resources '{memory: {limit: -1, swap: -1}}'
  create
  [[ $(limit memory memory.limit_in_bytes memory.max) =~ ^(max|9[0-9]{18})$ ]]
  ocirun delete --force "$ID"
  refused /linux/resources/memory/limit '.linux.resources.memory = {limit: -2}'
}

@test "R-13 swap below limit, and swap without limit, are refused" {
  refused /linux/resources/memory/swap '.linux.resources.memory = {limit: 67108864, swap: 33554432}'
  refused /linux/resources/memory/swap '.linux.resources.memory = {swap: 33554432}'
}

@test "R-14 R-15 R-16 R-17 kernel -1 and 0, swappiness, disableOOMKiller and useHierarchy" {
  needs_v1 "settings of v1"
  resources '{memory: {limit: 67108864, kernel: -1, kernelTCP: 0, swappiness: 7, disableOOMKiller: true, useHierarchy: true}}'
  create
  equal 7 "$(cat "$(cgroup memory)/memory.swappiness")"
  contains "$(cgroup memory)/memory.oom_control" "oom_kill_disable 1"
  ocirun delete --force "$ID"
  refused /linux/resources/memory/swappiness '.linux.resources.memory = {swappiness: 101}'
}

@test "R-14 a kernel memory limit that the kernel has given up is a warning with the kernel's release" {
  needs_v1 "settings of v1"
  resources '{memory: {limit: 67108864, kernel: 33554432, kernelTCP: 33554432}}'
  ocirun create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 3>&- 4>&-
  local at
  at=$(cgroup memory)
  equal 67108864 "$(cat "$at/memory.limit_in_bytes")"
  if [[ $(cat "$at/memory.kmem.limit_in_bytes") == 33554432 ]]; then
    ! grep -q "/linux/resources/memory/kernel:" "$TMP/out"
  else
    contains "$TMP/out" "warning: /linux/resources/memory/kernel: Linux $(uname -r) no longer has this limit"
    run ocirun update --kernel-memory 16m "$ID"
    succeeds
    output_mentions "warning: --kernel-memory: Linux $(uname -r) no longer has this limit"
  fi
}

@test "R-14 R-15 R-16 R-17 R-23 R-31 R-41 R-44 what v2 cannot express is refused by name, unless it asks for nothing" {
  needs_v2 "refusals of v2"
  refused /linux/resources/memory/kernel '.linux.resources.memory = {limit: 67108864, kernel: 1048576}'
  refused /linux/resources/memory/kernelTCP '.linux.resources.memory = {kernelTCP: 1048576}'
  refused /linux/resources/memory/swappiness '.linux.resources.memory = {swappiness: 7}'
  refused /linux/resources/memory/disableOOMKiller '.linux.resources.memory = {disableOOMKiller: true}'
  refused /linux/resources/memory/useHierarchy '.linux.resources.memory = {useHierarchy: false}'
  refused /linux/resources/cpu/realtimeRuntime '.linux.resources.cpu = {realtimeRuntime: 10000}'
  refused /linux/resources/blockIO/leafWeight '.linux.resources.blockIO = {leafWeight: 300}'
  refused /linux/resources/network/classID '.linux.resources.network = {classID: 1048577}'
  refused /linux/resources/network/priorities '.linux.resources.network = {priorities: [{name: "lo", priority: 5}]}'
  resources '{memory: {kernel: -1, kernelTCP: 0, swappiness: 0, disableOOMKiller: false, useHierarchy: true},
    cpu: {realtimeRuntime: 0, realtimePeriod: 0}, network: {classID: 0}}'
  inside 'echo fine'
  succeeds fine
}

@test "R-20 CPU shares become the weight that the kernel's curve gives" {
  needs_controller cpu
  local shares
  for shares in 2=1 512=59 1024=100 262144=10000; do
    config '.linux.resources.cpu = {shares: $n}' --argjson n "${shares%=*}"
    create
    limited cpu "cpu.shares=${shares%=*}" "cpu.weight=${shares#*=}"
    ocirun delete --force "$ID"
  done
}

@test "R-21 R-22 quota, period and burst are set, and read the same inside; a quota of -1 is none" {
  needs_controller cpu
  resources '{cpu: {quota: 50000, period: 200000, burst: 10000}}'
  create_and_start
  limited cpu cpu.cfs_quota_us=50000 "cpu.max=50000 200000"
  limited cpu cpu.cfs_period_us=200000 "cpu.max=50000 200000"
  limited cpu cpu.cfs_burst_us=10000 cpu.max.burst=10000
  limited_inside cpu cpu.cfs_quota_us=50000 "cpu.max=50000 200000"
  ocirun delete --force "$ID"
  config '.linux.resources.cpu = {quota: -1}'
  create
  limited cpu cpu.cfs_quota_us=-1 "cpu.max=max 100000"
  ocirun delete --force "$ID"
  refused /linux/resources/cpu/burst '.linux.resources.cpu = {quota: 5000, period: 100000, burst: 6000}'
  refused /linux/resources/cpu/burst '.linux.resources.cpu = {burst: 17592186044416}'
  refused /linux/resources/cpu/quota '.linux.resources.cpu = {quota: -9}'
}

@test "R-23 real-time values: the kernel's answer is an error, not silence" {
  needs_v1 "real-time groups"
  resources '{cpu: {realtimeRuntime: 10000, realtimePeriod: 1000000}}'
  attempt create --bundle "$BUNDLE" "$ID"
  [[ $status == 1 || $(<"$(cgroup cpu)/cpu.rt_runtime_us") == 10000 ]]
}

@test "R-24 cpus and mems are set and felt; a bad list is refused" {
  refused /linux/resources/cpu/cpus '.linux.resources.cpu = {cpus: "0-"}'
  refused /linux/resources/cpu/mems '.linux.resources.cpu = {mems: "a"}'
  refused /linux/resources/cpu '.linux.resources.cpu = {cpus: "4000"}'
  needs_controller cpuset
  resources '{cpu: {cpus: "0", mems: "0"}}'
  inside 'grep -E "(Cpus|Mems)_allowed_list" /proc/self/status | cut -f2 | xargs'
  succeeds "0 0"
}

@test "R-25 cpu.idle is set, and 0 or 1 only" {
  needs_controller cpu
  resources '{cpu: {idle: 1}}'
  create
  limited cpu cpu.idle=1 cpu.idle=1
  ocirun delete --force "$ID"
  refused /linux/resources/cpu/idle '.linux.resources.cpu = {idle: 2}'
}

@test "R-26 the pids limit is set, and reads the same inside; -1 is none and 0 is a limit" {
  needs_controller pids
  resources '{pids: {limit: 40}}'
  create_and_start
  limited pids pids.max=40 pids.max=40
  limited_inside pids pids.max=40 pids.max=40
  ocirun delete --force "$ID"
  config '.linux.resources.pids.limit = -1'
  create
  limited pids pids.max=max pids.max=max
  ocirun delete --force "$ID"
  config '.linux.resources.pids.limit = 0'
  create
  contains "$TMP/output" "/linux/resources/pids/limit: 0 lets no process fork since specification 1.3"
  limited pids pids.max=0 pids.max=0
  ocirun delete --force "$ID"
  refused /linux/resources/pids/limit '.linux.resources.pids.limit = -2'
}

@test "R-26 below specification 1.3 a pids limit of 0 means that none is given, for update too" {
  needs_controller pids
  local version
  resources '{pids: {limit: 0}}'
  for version in 1.0.2-dev 1.2.1 0.5.0-dev; do
    config '.ociVersion = $v' --arg v "$version"
    create
    equal "" "$(<"$TMP/output")"
    limited pids pids.max=max pids.max=max
    ocirun update --pids-limit 20 "$ID"
    ocirun update --pids-limit 0 "$ID"
    limited pids pids.max=20 pids.max=20
    ocirun delete --force "$ID"
  done
}

@test "R-26 an exec that a pids limit of 0 refuses names the limit" {
  needs_controller pids
  create_and_start
  run ocirun update --pids-limit 0 "$ID"
  succeeds
  output_mentions "0 lets no process fork"
  run ocirun exec "$ID" true
  exits 255 "/linux/resources/pids/limit, which is 0"
}

@test "R-30 blkio weight: 0 is unset, 10 to 1000 are the range" {
  resources '{blockIO: {weight: 0}}'
  create
  ocirun delete --force "$ID"
  refused /linux/resources/blockIO/weight '.linux.resources.blockIO = {weight: 9}'
  refused /linux/resources/blockIO/weight '.linux.resources.blockIO = {weight: 1001}'
}

@test "R-30 on v2 the weight becomes bfq's, or io.weight, or an error where the kernel has neither" {
  needs_v2 "io.weight"
  needs_controller io
  resources '{blockIO: {weight: 500}}'
  attempt create --bundle "$BUNDLE" "$ID"
  if [[ -e $(cgroup io)/io.bfq.weight ]]; then
    equal "default 500" "$(<"$(cgroup io)/io.bfq.weight")"
  elif [[ -e $(cgroup io)/io.weight ]]; then
    equal "default 4950" "$(<"$(cgroup io)/io.weight")"
  else
    exits 1 /linux/resources/blockIO/weight
  fi
}

# block_device: prints "MAJOR MINOR" of a disk whose I/O the kernel can throttle.
block_device() {
  local dev
  dev=$(cat /sys/block/*/dev 2>/dev/null | grep -vE '^(1|11):' | head -n 1) || true
  [[ -n $dev ]] || skip "this host has no block device"
  echo "${dev/:/ }"
}

@test "R-32 R-33 throttle rates are set per device; a device without a rate or weight is refused" {
  local major minor
  refused /linux/resources/blockIO/weightDevice/0 '.linux.resources.blockIO = {weightDevice: [{major: 7, minor: 0}]}'
  refused /linux/resources/blockIO/throttleReadBpsDevice/0 '.linux.resources.blockIO = {throttleReadBpsDevice: [{major: 7, minor: 0}]}'
  if pure_v2; then needs_controller io; else needs_controller blkio; fi
  read -r major minor <<<"$(block_device)"
  config '.linux.resources.blockIO = {throttleReadBpsDevice: [{major: $major, minor: $minor, rate: 1048576}],
    throttleWriteIOPSDevice: [{major: $major, minor: $minor, rate: 100}]}' --argjson major "$major" --argjson minor "$minor"
  create
  if pure_v2; then
    equal "$major:$minor rbps=1048576 wbps=max riops=max wiops=100" "$(limit io "" io.max)"
  else
    contains "$(cgroup blkio)/blkio.throttle.read_bps_device" "$major:$minor 1048576"
    contains "$(cgroup blkio)/blkio.throttle.write_iops_device" "$major:$minor 100"
  fi
}

@test "R-33 a throttled device that the host lacks is refused" {
  needs_v2 "v1 takes any number"
  needs_controller io
  refused /linux/resources/blockIO/throttleReadBpsDevice/0 \
    '.linux.resources.blockIO = {throttleReadBpsDevice: [{major: 4000, minor: 4000, rate: 1048576}]}'
}

@test "R-40 a hugepage limit is set, for what is reserved where the kernel can" {
  local directory v1=hugetlb.2MB.limit_in_bytes v2=hugetlb.2MB.max
  needs_controller hugetlb
  resources '{hugepageLimits: [{pageSize: "2MB", limit: 4194304}]}'
  create
  directory=$(cgroup hugetlb)
  if [[ -e $directory/hugetlb.2MB.rsvd.limit_in_bytes || -e $directory/hugetlb.2MB.rsvd.max ]]; then
    v1=hugetlb.2MB.rsvd.limit_in_bytes v2=hugetlb.2MB.rsvd.max
  fi
  limited hugetlb "$v1=4194304" "$v2=4194304"
}

@test "R-40 a hugepage size that is malformed or that the host lacks is refused" {
  refused /linux/resources/hugepageLimits/0/pageSize '.linux.resources.hugepageLimits = [{pageSize: "64kB", limit: 0}]'
  refused /linux/resources/hugepageLimits/0 '.linux.resources.hugepageLimits = [{pageSize: "3MB", limit: 0}]'
}

@test "R-41 network limits are set, or refused where the controller is missing" {
  resources '{network: {classID: 1048577}}'
  attempt create --bundle "$BUNDLE" "$ID"
  if has_v1 net_cls; then
    equal 1048577 "$(<"$(cgroup net_cls)/net_cls.classid")"
  else
    exits 1 /linux/resources/network/classID
  fi
}

@test "R-42 rdma without a limit is refused, and so is one that the host cannot apply" {
  refused /linux/resources/rdma/mlx5_1 '.linux.resources.rdma = {mlx5_1: {}}'
  refused rdma '.linux.resources.rdma = {mlx5_1: {hcaHandles: 3}}'
}

@test "R-43 unified on cgroup v1 is refused" {
  needs_v1 "a refusal of v1"
  refused /linux/resources/unified '.linux.resources.unified = {"memory.high": "1000000"}'
}

@test "I-1 intelRdt without resctrl on the host is refused" {
  [[ ! -d /sys/fs/resctrl/info ]] || skip "this host has resctrl"
  refused intelRdt '.linux.intelRdt = {l3CacheSchema: "L3:0=f"}'
}

@test "I-3 I-7 intelRdt values that cannot be are refused by place" {
  refused /linux/intelRdt/closID '.linux.intelRdt = {closID: ".."}'
  refused /linux/intelRdt/memBwSchema '.linux.intelRdt = {memBwSchema: "L3:0=f"}'
}

@test "values as engines send them, zeros meaning nothing, are no limits" {
  resources '{memory: {limit: 0, reservation: 0, swap: 0, kernel: 0, disableOOMKiller: false}, cpu: {shares: 0, quota: 0, period: 0,
    realtimePeriod: 0, realtimeRuntime: 0, cpus: "", mems: ""}, blockIO: {weight: 0}}'
  inside 'echo fine'
  succeeds fine
}
