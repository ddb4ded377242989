# Limits, read back from the kernel and felt by the container. The files are those of cgroup v1.
load lib/common

setup() {
  common_setup
  [[ -d /sys/fs/cgroup/memory ]] || skip "this host has cgroup v2 only"
}

resources() { config '.linux.resources += '"$1"; }

# limit CONTROLLER FILE: what the kernel says of the container's cgroup.
limit() { cat "/sys/fs/cgroup/$1/$ID/$2"; }

@test "R-1 an absolute cgroupsPath is the same place in every hierarchy" {
  local dir
  create
  for dir in /sys/fs/cgroup/*/; do
    [[ ! -e $dir/cgroup.procs ]] || contains "$dir/$ID/cgroup.procs" "$(init_pid)"
  done
}

@test "R-1 a cgroupsPath that leads out is refused" {
  refused cgroupsPath '.linux.cgroupsPath = "/../../" + $id' --arg id "$ID"
  refused cgroupsPath '.linux.cgroupsPath = "../" + $id' --arg id "$ID"
  refused cgroupsPath '.linux.cgroupsPath = "/a/../../" + $id' --arg id "$ID"
}

@test "R-2 R-4 a relative cgroupsPath and none at all have a place of the runtime's choosing, removed afterwards" {
  local before
  before=$(cd /sys/fs/cgroup && compgen -G "*/ocirun") || true
  config 'del(.linux.cgroupsPath)'
  create
  [[ -n $(compgen -G "/sys/fs/cgroup/*/ocirun/$ID") ]]
  ocirun delete --force "$ID"
  [[ -z $(compgen -G "/sys/fs/cgroup/*/ocirun/$ID") ]]
  config '.linux.cgroupsPath = $id' --arg id "$ID"
  create
  ocirun delete --force "$ID"
}

# hand_down_nothing: takes back what the unified root of a hybrid host hands down; crun refuses a host that does.
hand_down_nothing() {
  local file=/sys/fs/cgroup/unified/cgroup.subtree_control controller
  HANDED_DOWN=$(<"$file")
  for controller in $HANDED_DOWN; do echo "-$controller" >"$file" || skip "somebody uses $controller"; done
}

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

@test "R-5 a frozen cgroup is refused and create does not hang" {
  mkdir "/sys/fs/cgroup/freezer/$ID"
  echo FROZEN >"/sys/fs/cgroup/freezer/$ID/freezer.state"
  run timeout 20 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID"
  exits 1 "container's cgroup unexpectedly frozen"
  [[ ! -e $ROOT/$ID ]]
  echo THAWED >"/sys/fs/cgroup/freezer/$ID/freezer.state"
  rmdir "/sys/fs/cgroup/freezer/$ID"
}

@test "R-11 R-12 R-13 memory limit, reservation and swap are set" {
  resources '{memory: {limit: 67108864, reservation: 33554432, swap: 134217728}}'
  create
  equal 67108864 "$(limit memory memory.limit_in_bytes)"
  equal 33554432 "$(limit memory memory.soft_limit_in_bytes)"
  equal 134217728 "$(limit memory memory.memsw.limit_in_bytes)"
}

@test "R-11 -1 is unlimited; less than -1 is refused" {
  resources '{memory: {limit: -1, swap: -1}}'
  create
  [[ $(limit memory memory.limit_in_bytes) -gt 1000000000000 ]]
  ocirun delete --force "$ID"
  refused /linux/resources/memory/limit '.linux.resources.memory = {limit: -2}'
}

@test "R-11 a program over its memory limit is killed, and the status says so" {
  resources '{memory: {limit: 16777216, swap: 16777216}}'
  drop_namespace pid
  inside 'tail -c 100000000 /dev/zero'
  exits 137
}

@test "R-13 swap below limit, and swap without limit, are refused" {
  refused /linux/resources/memory/swap '.linux.resources.memory = {limit: 67108864, swap: 33554432}'
  refused /linux/resources/memory/swap '.linux.resources.memory = {swap: 33554432}'
}

@test "R-14 R-15 R-16 R-17 kernel -1 and 0, swappiness, disableOOMKiller and useHierarchy" {
  resources '{memory: {limit: 67108864, kernel: -1, kernelTCP: 0, swappiness: 7, disableOOMKiller: true, useHierarchy: true}}'
  create
  equal 7 "$(limit memory memory.swappiness)"
  [[ $(limit memory memory.oom_control) == *"oom_kill_disable 1"* ]]
  ocirun delete --force "$ID"
  refused /linux/resources/memory/swappiness '.linux.resources.memory = {swappiness: 101}'
}

@test "R-20 R-21 R-22 CPU shares, quota, period and burst are set" {
  resources '{cpu: {shares: 512, quota: 50000, period: 100000, burst: 10000}}'
  create
  equal 512 "$(limit cpu cpu.shares)"
  equal 50000 "$(limit cpu cpu.cfs_quota_us)"
  equal 100000 "$(limit cpu cpu.cfs_period_us)"
  equal 10000 "$(limit cpu cpu.cfs_burst_us)"
  ocirun delete --force "$ID"
  refused /linux/resources/cpu/burst '.linux.resources.cpu = {quota: 5000, period: 100000, burst: 6000}'
}

@test "R-21 a program feels its CPU quota" {
  resources '{cpu: {quota: 10000, period: 100000}}'
  script 'while :; do :; done'
  create_and_start
  sleep 1
  local used
  used=$(cat "/sys/fs/cgroup/cpuacct/$ID/cpuacct.usage")
  [[ $used -lt 350000000 ]] || { echo "used $used ns of 1 s under a tenth"; return 1; }
}

@test "R-23 real-time values: the kernel's answer is an error, not silence" {
  resources '{cpu: {realtimeRuntime: 10000, realtimePeriod: 1000000}}'
  attempt create --bundle "$BUNDLE" "$ID"
  [[ $status == 1 || $(limit cpu cpu.rt_runtime_us) == 10000 ]]
}

@test "R-24 cpus and mems are set and felt; a bad list is refused" {
  resources '{cpu: {cpus: "0", mems: "0"}}'
  inside 'grep -E "(Cpus|Mems)_allowed_list" /proc/self/status | cut -f2 | xargs'
  succeeds "0 0"
  refused /linux/resources/cpu/cpus '.linux.resources.cpu = {cpus: "0-"}'
  refused /linux/resources/cpu/mems '.linux.resources.cpu = {mems: "a"}'
  refused /linux/resources/cpu '.linux.resources.cpu = {cpus: "4000"}'
}

@test "R-25 cpu.idle is set, and 0 or 1 only" {
  resources '{cpu: {idle: 1}}'
  create
  equal 1 "$(limit cpu cpu.idle)"
  ocirun delete --force "$ID"
  refused /linux/resources/cpu/idle '.linux.resources.cpu = {idle: 2}'
}

@test "R-26 the pids limit is set and felt; -1 is none and 0 is a limit" {
  resources '{pids: {limit: 4}}'
  inside 'for i in 1 2 3 4 5 6; do sleep 1 & done; wait'
  mentions "can't fork"
  config '.linux.resources.pids.limit = -1'
  create
  equal max "$(limit pids pids.max)"
  ocirun delete --force "$ID"
  config '.linux.resources.pids.limit = 0'
  create
  equal 0 "$(limit pids pids.max)"
  ocirun delete --force "$ID"
  refused /linux/resources/pids/limit '.linux.resources.pids.limit = -2'
}

@test "R-30 blkio weight: 0 is unset, 10 to 1000 are the range" {
  resources '{blockIO: {weight: 0}}'
  create
  ocirun delete --force "$ID"
  refused /linux/resources/blockIO/weight '.linux.resources.blockIO = {weight: 9}'
  refused /linux/resources/blockIO/weight '.linux.resources.blockIO = {weight: 1001}'
}

@test "R-32 R-33 throttle rates are set per device; a device without a rate or weight is refused" {
  resources '{blockIO: {throttleReadBpsDevice: [{major: 7, minor: 0, rate: 1048576}], throttleWriteIOPSDevice: [{major: 7, minor: 0, rate: 100}]}}'
  create
  contains "/sys/fs/cgroup/blkio/$ID/blkio.throttle.read_bps_device" "7:0 1048576"
  contains "/sys/fs/cgroup/blkio/$ID/blkio.throttle.write_iops_device" "7:0 100"
  ocirun delete --force "$ID"
  refused /linux/resources/blockIO/weightDevice/0 '.linux.resources.blockIO = {weightDevice: [{major: 7, minor: 0}]}'
  refused /linux/resources/blockIO/throttleReadBpsDevice/0 '.linux.resources.blockIO = {throttleReadBpsDevice: [{major: 7, minor: 0}]}'
}

@test "R-40 a hugepage size that is malformed or that the host lacks is refused" {
  refused /linux/resources/hugepageLimits/0/pageSize '.linux.resources.hugepageLimits = [{pageSize: "64kB", limit: 0}]'
  refused /linux/resources/hugepageLimits/0 '.linux.resources.hugepageLimits = [{pageSize: "3MB", limit: 0}]'
}

@test "R-41 network limits are set, or refused where the controller is missing" {
  resources '{network: {classID: 1048577}}'
  attempt create --bundle "$BUNDLE" "$ID"
  if [[ -d /sys/fs/cgroup/net_cls ]]; then
    equal 1048577 "$(limit net_cls net_cls.classid)"
  else
    exits 1 /linux/resources/network/classID
  fi
}

@test "R-42 rdma without a limit is refused, and so is one that the host cannot apply" {
  refused /linux/resources/rdma/mlx5_1 '.linux.resources.rdma = {mlx5_1: {}}'
  refused rdma '.linux.resources.rdma = {mlx5_1: {hcaHandles: 3}}'
}

@test "R-43 unified on cgroup v1 is refused" {
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
