# The effect of limits on programs, on cgroup v1, hybrid hosts and v2.
load lib/common

resources() { config '.linux.resources += '"$1"; }

@test "R-11 R-13 a memory hog is killed by the kernel, which counts it, and the status says so" {
  needs_controller memory
  resources '{memory: {limit: 16777216}}'
  drop_namespace pid # with one the status is the same, but the count of OOM kills is gone once init is killed
  script "exec $(eats 100)"
  run_container --keep
  exits 137
  [[ $(event memory memory.oom_control memory.events oom_kill) -ge 1 ]]
  ocirun delete "$ID"
}

@test "R-11 a child that is killed for memory leaves the container running, and it is counted" {
  needs_controller memory
  resources '{memory: {limit: 16777216}}'
  script "$(eats 100); echo \$? >/said; exec sleep 1000"
  create_and_start
  eventually contains "$BUNDLE/rootfs/said" 137
  [[ $(event memory memory.oom_control memory.events oom_kill) -ge 1 ]]
  status_is running
}

@test "R-11 a process of exec that is killed for memory on its way in is told so, with the limit; the container goes on" {
  needs_controller memory
  [[ $(wc -l </proc/swaps) == 1 ]] || skip "with swap the process would not run out of memory"
  resources '{memory: {limit: 4194304}}'
  create_and_start
  local limit="out of memory: raise /linux/resources/memory/limit, which is 4194304 bytes"
  # Twelve megabytes of environment exceed the limit; oom_score_adj makes exec's process the victim, not the container's.
  jq '.process | .args = ["true"] | .oomScoreAdj = 1000
    | .env += [range(120) | "V\(.)=" + ("x" * 100000)]' "$BUNDLE/config.json" >"$TMP/process.json"
  run ocirun exec --process "$TMP/process.json" "$ID"
  exits 255 "$limit"
  output_mentions "killed by signal 9 (SIGKILL)"
  status_is running
  run ocirun exec "$ID" no-such-program # another error is not explained by memory
  exits 255 no-such-program
  output_never_mentions "out of memory"
}

@test "R-26 a fork bomb stops at its limit, and the kernel counts what it refused" {
  needs_controller pids
  resources '{pids: {limit: 16}}'
  script 'for i in $(seq 40); do sleep 1000 & done 2>/errors; wait'
  create_and_start
  eventually contains "$BUNDLE/rootfs/errors" "can't fork"
  [[ $(limit pids pids.current pids.current) -le 16 ]]
  [[ $(event pids pids.events pids.events max) -ge 1 ]]
}

# cpu_microseconds: prints the CPU time that the container has used until now.
cpu_microseconds() {
  if pure_v2; then event cpu "" cpu.stat usage_usec; else echo $(($(<"$(cgroup cpuacct)/cpuacct.usage") / 1000)); fi
}

@test "R-21 a busy loop gets its quota, and is throttled" {
  needs_controller cpu
  resources '{cpu: {quota: 10000, period: 100000}}'
  script 'while :; do :; done'
  create_and_start
  local begin used took
  begin=${EPOCHREALTIME/./} used=$(cpu_microseconds)
  sleep 2
  used=$(($(cpu_microseconds) - used)) took=$((${EPOCHREALTIME/./} - begin))
  # At most a tenth of the time and one period. On a busy host the program may get less.
  [[ $used -lt $((took / 10 + 25000)) ]] || { echo "used $used us in $took us"; return 1; }
  is_throttled() { [[ $(event cpu cpu.stat cpu.stat nr_throttled) -ge 1 ]]; }
  eventually is_throttled # on a busy host the program may have had less than its quota until now
}

@test "R-10 a device that is not allowed gives EPERM, whatever the node's mode, and one that is allowed works" {
  mknod -m 666 "$BUNDLE/rootfs/kmsg" c 1 11
  mknod -m 666 "$BUNDLE/rootfs/zero" c 1 5
  inside 'head -c 1 /kmsg || echo refused; head -c 3 /zero | wc -c; echo x >/dev/null && echo null'
  output_mentions "Operation not permitted"
  output_mentions refused
  output_mentions $'3\nnull'
}

@test "R-10 a node may be made of any device, and opened where a rule says so" {
  capabilities CAP_MKNOD
  config '.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 42, minor: 7, access: "r"}]'
  inside 'mknod /seven c 42 7 && mknod /eight c 42 8 && echo made; cat /seven; cat /eight'
  output_mentions made
  output_mentions "'/seven': No such device"
  output_mentions "'/eight': Operation not permitted"
}

@test "R-10 the last rule that matches decides, and reading and writing are apart" {
  needs_v2 "v1 cannot take back a part of what it was told to allow, and says so"
  config '.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, access: "rw"},
    {allow: false, type: "c", major: 1, minor: 11, access: "w"}]'
  mknod -m 666 "$BUNDLE/rootfs/kmsg" c 1 11
  capabilities CAP_SYSLOG # the kernel requires it for reading /dev/kmsg
  inside 'exec 3</kmsg && echo readable; (: >/kmsg) || echo unwritable'
  output_mentions readable
  output_mentions unwritable
}

@test "a paused container makes no progress, and goes on when resumed" {
  script 'i=0; while :; do i=$((i + 1)); echo $i >/count; done'
  create_and_start
  eventually eval '[[ -s $BUNDLE/rootfs/count ]]'
  ocirun pause "$ID"
  status_is paused
  local before
  before=$(<"$BUNDLE/rootfs/count")
  sleep 1
  equal "$before" "$(<"$BUNDLE/rootfs/count")"
  ocirun resume "$ID"
  eventually eval '[[ $(<"$BUNDLE/rootfs/count") != "$before" && -s $BUNDLE/rootfs/count ]]'
  status_is running
}

@test "kill --all ends a fork bomb that is at its limit" {
  needs_controller pids
  resources '{pids: {limit: 20}}'
  script '(while :; do sleep 1000 & done) 2>/dev/null; exec sleep 1000'
  create_and_start
  eventually eval '[[ $(limit pids pids.current pids.current) -ge 18 ]]'
  ocirun kill --all "$ID" KILL
  eventually status_is stopped
  eventually eval '[[ $(limit pids pids.current pids.current) == 0 ]]'
}
