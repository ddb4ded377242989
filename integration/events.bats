# The output of `events`: statistics in runc's form, and out-of-memory events.
load lib/common

resources() { config '.linux.resources += '"$1"; }

# stats FILTER: takes one sample and prints what jq's filter selects.
stats() { ocirun events --stats "$ID" | jq -r "$1"; }

# lines TYPE: prints the number of events of this type until now.
lines() { jq -r .type "$TMP/events" 2>/dev/null | grep -cx "$1" || true; }
printed() { [[ $(lines "$1") -ge $2 ]]; }
# Uses the CPU until the counter moves: some kernels count in clock ticks.
has_used_the_cpu() { ocirun exec "$ID" seq 100000 >/dev/null && [[ $(stats .data.cpu.usage.total) -gt 0 ]]; }

@test "events --stats prints one object in one line, with limits and use" {
  needs_controller memory
  resources '{memory: {limit: 67108864}, pids: {limit: 40}}'
  create_and_start
  eventually has_used_the_cpu
  run ocirun events --stats "$ID"
  exits 0
  equal 1 "${#lines[@]}"
  equal "stats $ID" "$(jq -r '"\(.type) \(.id)"' <<<"$output")"
  equal "67108864 40" "$(jq -r '.data | "\(.memory.usage.limit) \(.pids.limit)"' <<<"$output")"
  jq -e '.data | .memory.usage.usage > 0 and .pids.current >= 1 and .cpu.usage.total > 0' <<<"$output"
  jq -e '.data | has("cpuset") and has("blkio") and has("hugetlb") and has("intel_rdt") and has("network_interfaces")' <<<"$output"
}

@test "events on v1: unlimited is what the file says, and each CPU's time has its two parts" {
  needs_v1 "files of v1"
  create_and_start
  run ocirun events --stats "$ID"
  exits 0
  output_mentions "\"memory\":{\"usage\":{\"limit\":$(<"$(cgroup memory)/memory.limit_in_bytes"),"
  jq -e '.data.cpu.usage | (.percpu_kernel | length) == (.percpu | length) and (.percpu_user | length) == (.percpu | length)' <<<"$output"
}

@test "events: for a container without a cgroup, events prints no counters" {
  ocirun --cgroup-manager disabled create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  start
  equal '["intel_rdt","network_interfaces"]' "$(stats '.data | keys' | jq -c .)"
}

@test "events: the container's own interfaces" {
  create_and_start
  equal '[]' "$(ocirun events --stats "$ID" | jq -c '[.data.network_interfaces[].Name | select(. == "lo")]')"
}

# Packets are made by the kernel: it sends an ARP request over the link for an address that it does not know.
@test "events: what goes over the container's interfaces is counted, packet by packet" {
  create_and_start
  in_network() { nsenter --net="/proc/$(init_pid)/ns/net" "$@"; }
  in_network ip link add east type veth peer name west 2>/dev/null || skip "this kernel has no veth"
  in_network ip link set east up
  in_network ip link set west up
  in_network ip address add 10.99.0.1/24 dev east
  in_network busybox ping -c 1 -W 1 10.99.0.2 >/dev/null || true
  equal 'east west' "$(stats '[.data.network_interfaces[].Name] | sort | join(" ")')"
  stats '.data.network_interfaces | map({(.Name): .}) | add
    | .east.TxPackets >= 1 and .east.TxBytes == .west.RxBytes and .east.TxPackets == .west.RxPackets and .west.RxErrors == 0' | grep -qx true
}

@test "events: CPUs and memory nodes" {
  needs_controller cpuset
  resources '{cpu: {cpus: "0", mems: "0"}}'
  create_and_start
  equal '[[0],[0]]' "$(ocirun events --stats "$ID" | jq -c '.data.cpuset | [.cpus, .mems]')"
}

@test "events: huge pages" {
  needs_controller hugetlb
  create_and_start
  equal 0 "$(stats '.data.hugetlb["2MB"].failcnt')"
}

@test "events: pressure, which more busy loops than CPUs bring about" {
  local i pressure=/sys/fs/cgroup/$ID/cpu.pressure
  pure_v2 || pressure=/sys/fs/cgroup/unified/$ID/cpu.pressure
  create_and_start
  contains "$pressure" some || skip "this kernel counts no pressure"
  stats '.data | [.cpu, .memory, .blkio] | map(.psi | (.some, .full) | has("avg10") and has("avg60") and has("avg300")) | all' | grep -qx true
  for ((i = 0; i <= $(nproc --all); i++)); do
    ocirun exec --detach "$ID" sh -c 'while :; do :; done' </dev/null >/dev/null 2>&1 3>&- 4>&-
  done
  eventually eval '[[ $(stats .data.cpu.psi.some.total) -gt 0 ]]'
}

@test "events: of a network that is the host's nothing is told" {
  drop_namespace network
  create_and_start
  equal '[]' "$(ocirun events --stats "$ID" | jq -c .data.network_interfaces)"
}

@test "events --interval streams, and ends with the container" {
  create_and_start
  timeout 20 "$OCIRUN" --root "$ROOT" events --interval 100ms "$ID" >"$TMP/events" 2>"$TMP/errors" 3>&- 4>&- &
  HELPERS+=($!)
  local follower=$!
  eventually printed stats 3
  ocirun kill "$ID" KILL
  wait "$follower"
  [[ ! -s $TMP/errors ]]
}

@test "events: an OOM kill is told" {
  needs_controller memory
  resources '{memory: {limit: 16777216, swap: 16777216}}'
  create_and_start
  timeout 20 "$OCIRUN" --root "$ROOT" events --interval 1h "$ID" >"$TMP/events" 3>&- 4>&- &
  HELPERS+=($!)
  eventually printed stats 1
  run ocirun exec "$ID" sh -c "$(eats 100)"
  [[ $status != 0 ]] || fail_with_output
  eventually printed oom 1
  equal "$ID" "$(jq -r 'select(.type == "oom").id' "$TMP/events" | head -n 1)"
}

@test "events: the OOM kill of the first process is told before the end" {
  needs_controller memory
  resources '{memory: {limit: 16777216, swap: 16777216}}'
  drop_namespace pid
  script "while [ ! -e /tmp/go ]; do sleep 0.1; done; exec $(eats 100)"
  create_and_start
  timeout 20 "$OCIRUN" --root "$ROOT" events --interval 1h "$ID" >"$TMP/events" 3>&- 4>&- &
  HELPERS+=($!)
  local follower=$!
  eventually printed stats 1
  ocirun exec "$ID" touch /tmp/go
  wait "$follower"
  printed oom 1
}

@test "events: wrong intervals and containers that do not run are refused" {
  script 'exit 0'
  create
  local interval
  for interval in 0 0s -5s 5 soon 1d; do
    run ocirun events --interval="$interval" "$ID"
    exits 1 "--interval"
  done
  start
  eventually status_is stopped
  run ocirun events --stats "$ID"
  exits 1 "is not running"
}

@test "pause, resume and ps on this host's hierarchy; a created container can be paused and resumed too" {
  create
  ocirun pause "$ID"
  status_is paused
  run ocirun start "$ID"
  exits 1 "paused"
  ocirun resume "$ID"
  status_is created
  start
  ocirun pause "$ID"
  status_is paused
  ocirun resume "$ID"
  status_is running
  equal "[$(init_pid)]" "$(ocirun ps --format json "$ID")"
}

# With a user namespace, init waits for its id maps, and so is in its cgroup before it copies files.
@test "OOM during create names the step and the limit, and leaves nothing" {
  needs_controller memory
  user_namespace
  head -c 40000000 /dev/zero >"$BUNDLE/rootfs/var/filler"
  add_mount '{"destination": "/var", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}'
  local index
  index=$(jq '.mounts | length - 1' "$BUNDLE/config.json")
  resources '{memory: {limit: 8388608, swap: 8388608}}'
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "out of memory"
  output_mentions "killed by signal 9 (SIGKILL) while /mounts/$index was made"
  output_mentions "raise /linux/resources/memory/limit, which is 8388608 bytes"
  [[ ! -e $ROOT/$ID ]]
}

@test "a memory limit below what the container's first process has already is refused, or it is killed: both name the limit" {
  needs_controller memory
  resources '{memory: {limit: 40960, swap: 40960}}'
  attempt create --bundle "$BUNDLE" "$ID"
  exits 1 /linux/resources/memory/limit
  matches "out of memory|already uses"
  [[ ! -e $ROOT/$ID ]]
}
