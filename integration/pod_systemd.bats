# shellcheck disable=SC2016 # the guest's variables are not ours
# Pods of the systemd cgroup manager, under a systemd that is PID 1 of namespaces (vm/systemd-ns) or of a virtual machine.

load lib/common
source "$LIB/systemd-beds.bash"

@test "R-45 a pod is a slice with its limits, in which the containers are scopes; delete removes all, also for a killed supervisor" {
  guest --cgroup hybrid '
    pod_image
    pod_document "sleep 1000" 64Mi
    run_pod
    check() {
      has "$SLICE" ActiveState active
      has "$SLICE" Description "ocirun pod a-b"
      has "$SLICE" MemoryLimit 67108864
      has "$SLICE" CPUQuotaPerSecUSec 500ms
      c=ocirun.slice/$SLICE
      equal memory 67108864 "$(cat "/sys/fs/cgroup/memory/$c/memory.limit_in_bytes")"
      equal quota 50000 "$(cat "/sys/fs/cgroup/cpu/$c/cpu.cfs_quota_us")"
      for hierarchy in memory cpu freezer systemd; do
        grep -qx "$(pid a-b.one)" "/sys/fs/cgroup/$hierarchy/$c/ocirun-a-b.one.scope/cgroup.procs" || { echo "not in $hierarchy"; exit 1; }
      done
      equal stats "67108864 true" "$(pod stats --format json a-b | jq -r ".[0] | \"\(.memoryLimitBytes) \(.memoryBytes > 0 and .cpuNanoseconds > 0)\"")"
    }
    check
    systemd daemon-reload
    check
    has ocirun-a-b.two.scope Slice "$SLICE"
    pod stop a-b
    has "$SLICE" ActiveState inactive
    pod delete a-b
    no_pod_left
    run_pod
    lose_supervisor
    equal status failed "$(says .status)"
    has "$SLICE" ActiveState active
    pod delete a-b
    no_pod_left'
}

@test "R-45 a pod whose slice is in use by others is refused, and they live on" {
  guest '
    pod_image
    pod_document "sleep 1000" 64Mi
    jq "del(.isolators)" "$W/pod.json" >"$W/new" && mv "$W/new" "$W/pod.json"
    systemd-run --quiet --slice "$SLICE" --unit other sleep 1000
    ! run_pod >"$W/log" 2>&1 || { echo "was not refused"; exit 1; }
    grep -qF "is in use by 1 processes" "$W/log" || { cat "$W/log"; exit 1; }
    has other.service ActiveState active
    systemd stop other
    run_pod
    has "$SLICE" ActiveState active
    pod delete --force a-b
    no_pod_left'
}

@test "R-45 R-11 on cgroup v2 the memory limit of a pod is felt by its containers together, and status tells who was killed" {
  machine '
    pod_image
    pod_document "test \$AC_APP_NAME = two || exec tail -c 20000000 /dev/zero
      until test -e /grow; do sleep 0.1; done
      exec tail -c 40000000 /dev/zero" 48Mi
    run_pod
    c="/sys/fs/cgroup/ocirun.slice/$SLICE"
    has "$SLICE" MemoryMax 50331648
    equal memory.max 50331648 "$(cat "$c/memory.max")"
    equal cpu.max "50000 100000" "$(cat "$c/cpu.max")"
    holds() { (($(<"$c/ocirun-a-b.one.scope/memory.current") >= $1)); }
    eventually holds 20000000
    ocirun exec a-b.two /bin/sh -c ": >/grow"
    # Each container alone is below the limit. The kernel kills the larger one, and the smaller one wants no more.
    soon killed "null false, 137 true" ends
    equal status running "$(says .status)"
    equal stats "1 50331648 true" "$(pod stats --format json a-b | jq -r "\"\(length) \(.[0].memoryLimitBytes) \(.[0] | .memoryBytes > 0 and .cpuNanoseconds > 0 and .pids >= 1)\"")"
    pod stop a-b
    equal "killed at last" 1 "$(says "[.containers[] | select(.oomKilled)] | length")"
    pod delete a-b
    no_pod_left'
}

@test "R-45 R-11 status tells of two containers that were killed at once for the memory limit of the pod" {
  machine '
    pod_image
    pod_document "until test -e /grow; do sleep 0.1; done; exec tail -c 60000000 /dev/zero" 48Mi
    run_pod
    # A stopped supervisor sees that the programs have ended only after systemd has removed their scopes.
    supervisor=$(says .supervisor)
    kill -STOP "$supervisor"
    for name in one two; do ocirun exec "a-b.$name" /bin/sh -c ": >/grow"; done
    removed() { [[ -z $(find /sys/fs/cgroup -type d -name "ocirun-a-b.*.scope") ]]; }
    eventually removed
    kill -CONT "$supervisor"
    soon killed "137 true, 137 true" ends
    pod wait a-b >"$W/log"
    pod delete a-b
    no_pod_left'
}

@test "R-45 R-11 an adopted pod whose memory limit was reached before tells the truth of a later SIGKILL" {
  machine '
    pod_image
    pod_document "test \$AC_APP_NAME = two || exec sleep 1000; exec tail -c 60000000 /dev/zero" 48Mi
    run_pod
    soon killed "null false, 137 true" ends
    lose_supervisor
    pod start a-b </dev/null >"$W/log" 2>&1 || { cat "$W/log"; exit 1; }
    pod restart -c one a-b # an older kernel tells the exit status only of a child of the supervisor
    soon again "null false, 137 true" ends
    kill -KILL "$(pid a-b.one)"
    soon killed "137 false, 137 true" ends
    pod wait a-b >"$W/log"
    pod delete a-b
    no_pod_left'
}

@test "R-45 a supervisor that is killed while it talks with systemd leaves nothing that delete does not find" {
  guest --cgroup hybrid '
    pod_image
    pod_document "sleep 1000" 64Mi
    for request in 1 2 3; do # for the cgroup of the slices, to stop an old slice, to start a new one
      ! strace -qq -o "$W/trace" -e trace=sendto -e inject=sendto:signal=KILL:when=$request "$OCIRUN" --root "$W/root" --systemd-cgroup \
        pod run --data "$W/data" --image "base=$W/images:base" --net none --name a-b "$W/pod.json" </dev/null || { echo "ended by itself"; exit 1; }
      equal "request $request" "+++ killed by SIGKILL +++" "$(tail -n 1 "$W/trace")"
      equal status failed "$(says .status)"
      pod delete a-b
      no_pod_left
    done'
}
