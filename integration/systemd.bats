# shellcheck disable=SC2016 # the guest's variables are not ours
# The systemd cgroup manager, under a systemd that is PID 1 of namespaces (vm/systemd-ns). The output of the guest's script is the
# output of the test.

load lib/common

source "$LIB/systemd-beds.bash"

@test "R-45 a container is a scope of systemd's: delegated, in its slice, gone after delete" {
  guest '
    bundle ".linux.cgroupsPath = \"a-b.slice:pre:web\""
    up web
    has pre-web.scope ActiveState active
    has pre-web.scope Delegate yes
    has pre-web.scope Slice a-b.slice
    has pre-web.scope DefaultDependencies no
    has pre-web.scope CPUAccounting yes
    has pre-web.scope Description "ocirun container web"
    has pre-web.scope ControlGroup /a.slice/a-b.slice/pre-web.scope
    equal "the cgroup" /a.slice/a-b.slice/pre-web.scope "$(group "$(pid web)")"
    equal "its processes" "$(pid web)" "$(cat /sys/fs/cgroup/a.slice/a-b.slice/pre-web.scope/cgroup.procs)"
    equal "an executed process" "0::/" "$(ocirun exec web cat /proc/self/cgroup | grep ^0:)"
    ocirun pause web
    equal status paused "$(ocirun state web | jq -r .status)"
    ocirun resume web
    ocirun delete --force web
    gone pre-web.scope'
}

@test "R-3 an absent cgroupsPath and an empty slice are in system.slice, - is the root" {
  guest '
    bundle
    up web+1
    equal "the cgroup" "/system.slice/ocirun-web\\x2b1.scope" "$(group "$(pid web+1)")"
    ocirun delete --force web+1
    config ".linux.cgroupsPath = \":pre:web\""
    up web
    has pre-web.scope Slice system.slice
    ocirun delete --force web
    config ".linux.cgroupsPath = \"-::web\""
    up web
    has web.scope ControlGroup /web.scope
    ocirun delete --force web'
}

@test "R-3 a cgroupsPath of another shape is refused, and nothing is left" {
  guest '
    bundle ".linux.cgroupsPath = \"/a/b\""
    refused slice:prefix:name web
    config ".linux.cgroupsPath = \"a--b.slice:x:y\""
    refused "is no slice" web
    config ".linux.cgroupsPath = \"a.slice:x:y z\""
    refused "no unit" web
    gone x-y.scope'
}

@test "R-45 annotations set properties, a bad name is refused, a bad value is left out with a warning" {
  guest '
    bundle ".annotations = {\"org.systemd.property.TimeoutStopSec\": \"uint64 12\",
      \"org.systemd.property.CollectMode\": \"'"'inactive-or-failed'"'\",
      \"org.systemd.property.MemoryHigh\": \"uint64 100000000\",
      \"org.systemd.property.DefaultDependencies\": \"true\",
      \"org.systemd.property.After\": \"['"'crio.service'"']\",
      \"org.systemd.property.Documentation\": \"['"'man:a(1)', 'man:b(1)'"']\"}"
    up web
    has ocirun-web.scope TimeoutStopUSec 12s
    has ocirun-web.scope CollectMode inactive-or-failed
    has ocirun-web.scope MemoryHigh 100000000
    has ocirun-web.scope DefaultDependencies yes # ocirun would set no; CRI-O gives yes to every container
    equal After yes "$(show ocirun-web.scope After | grep -qw crio.service && echo yes)"
    equal Documentation "man:a(1) man:b(1)" "$(show ocirun-web.scope Documentation | tr -d \")"
    ocirun delete --force web
    for bad in "Nonsense true" "Slice true" "Memory-Max 1" "SuccessAction true" "DevicePolicy true" "Wants true"; do
      config ".annotations = {(\"org.systemd.property.\" + \$name): \$value}" --arg name "${bad% *}" --arg value "${bad#* }"
      refused "/annotations/org.systemd.property.${bad% *}" web
      gone ocirun-web.scope
    done
    for odd in "TimeoutStopSec soon" "MemoryMax true" "TimeoutStopSec " "Slice "; do
      config ".annotations = {(\"org.systemd.property.\" + \$name): \$value}" --arg name "${odd% *}" --arg value "${odd#* }"
      up web
      if [ -n "${odd#* }" ]; then
        grep -qF "/annotations/org.systemd.property.${odd% *}: has no effect: " "$W/log"
      else
        equal "warnings of an empty value" "" "$(cat "$W/log")"
      fi || { cat "$W/log"; exit 1; }
      has ocirun-web.scope ActiveState active
      ocirun delete --force web
    done'
}

@test "R-45 limits are the scope's properties and the files' values, also after daemon-reload" {
  guest --cgroup hybrid '
    bundle ".linux.resources += {memory: {limit: 50003968}, pids: {limit: 17}, cpu: {shares: 512, quota: 12345, period: 50000},
      blockIO: {weight: 0}} | .linux.resources.devices = [{allow: false, access: \"rwm\"}, {allow: true, type: \"c\", major: 10, minor: 229, access: \"rw\"}]"
    up web
    check() {
      has ocirun-web.scope MemoryLimit 50003968
      has ocirun-web.scope TasksMax 17
      has ocirun-web.scope CPUShares 512
      has ocirun-web.scope CPUQuotaPerSecUSec 250ms
      has ocirun-web.scope CPUQuotaPeriodUSec 50ms
      has ocirun-web.scope DevicePolicy strict
      c=system.slice/ocirun-web.scope
      equal memory 50003968 "$(cat /sys/fs/cgroup/memory/$c/memory.limit_in_bytes)"
      equal pids 17 "$(cat /sys/fs/cgroup/pids/$c/pids.max)"
      equal shares 512 "$(cat /sys/fs/cgroup/cpu/$c/cpu.shares)"
      equal quota "$1" "$(cat /sys/fs/cgroup/cpu/$c/cpu.cfs_quota_us)"
      equal devices "c 10:229 rw" "$(grep -w 10:229 /sys/fs/cgroup/devices/$c/devices.list)"
      equal "allowed to all" "" "$(grep ^a /sys/fs/cgroup/devices/$c/devices.list || true)"
      for hierarchy in cpuset freezer systemd; do
        grep -qx "$(pid web)" "/sys/fs/cgroup/$hierarchy/$c/cgroup.procs" || { echo "not in $hierarchy"; exit 1; }
      done
    }
    check 12345
    systemd daemon-reload
    check 12500
    ocirun delete --force web
    gone ocirun-web.scope'
}

@test "R-45 limits of cgroup v2 are the scope's properties, also after daemon-reload" {
  machine '
    bundle ".linux.resources += {memory: {limit: 50003968, swap: 60002304, reservation: 4096000}, pids: {limit: 17},
      cpu: {shares: 512, quota: 12345, period: 50000}}"
    up web
    c=/sys/fs/cgroup/system.slice/ocirun-web.scope
    for ((i = 0; i < 2; i++)); do
      has ocirun-web.scope MemoryMax 50003968
      has ocirun-web.scope MemorySwapMax 9998336
      has ocirun-web.scope MemoryLow 4096000
      has ocirun-web.scope TasksMax 17
      has ocirun-web.scope CPUWeight 59
      has ocirun-web.scope CPUQuotaPerSecUSec 250ms
      equal memory 50003968 "$(cat $c/memory.max)"
      equal swap 9998336 "$(cat $c/memory.swap.max)"
      equal pids 17 "$(cat $c/pids.max)"
      equal weight 59 "$(cat $c/cpu.weight)"
      systemd daemon-reload
    done
    if ocirun update --help >/dev/null 2>&1; then
      ocirun update --memory 70004736 --memory-swap 80003072 --pids-limit 0 --cpu-share 1024 web
      has ocirun-web.scope MemoryMax 70004736
      has ocirun-web.scope MemorySwapMax 9998336
      has ocirun-web.scope TasksMax 1
      has ocirun-web.scope CPUWeight 100
      equal pids 0 "$(cat $c/pids.max)"
    fi
    ocirun delete --force web
    for limit in 0 1 2; do
      config ".linux.resources.pids.limit = \$n" --argjson n "$limit"
      up web
      has ocirun-web.scope TasksMax "$((limit > 0 ? limit : 1))"
      equal pids "$limit" "$(cat $c/pids.max)"
      ocirun delete --force web
    done
    gone ocirun-web.scope'
}

@test "R-45 update reaches the scope" {
  [[ $("$OCIRUN" --help) == *update* ]] || skip "no update command"
  guest --cgroup hybrid '
    bundle ".linux.resources += {memory: {limit: 50003968}, pids: {limit: 17}}"
    up web
    ocirun update --memory 60002304 --pids-limit 18 web
    systemd daemon-reload
    has ocirun-web.scope MemoryLimit 60002304
    has ocirun-web.scope TasksMax 18
    c=system.slice/ocirun-web.scope
    equal memory 60002304 "$(cat /sys/fs/cgroup/memory/$c/memory.limit_in_bytes)"
    equal pids 18 "$(cat /sys/fs/cgroup/pids/$c/pids.max)"
    ocirun delete --force web'
}

@test "R-45 a user's container is a scope of the user's systemd" {
  guest --user '
    bundle
    up web
    has ocirun-web.scope ActiveState active
    has ocirun-web.scope Delegate yes
    equal "the cgroup" "/user.slice/user-1000.slice/user@1000.service/user.slice/ocirun-web.scope" "$(group "$(pid web)")"
    equal "an executed process" "0::/" "$(ocirun exec web cat /proc/self/cgroup | grep ^0:)"
    systemd daemon-reload
    has ocirun-web.scope ActiveState active
    ocirun delete --force web
    gone ocirun-web.scope'
}

@test "R-11 R-21 R-26 R-45 R-46 on v2 an ordinary user's limits are read back, updated and felt, by systemd and by cgroupfs" {
  machine --user '
    bundle ".linux.resources = {memory: {limit: 67108864}, pids: {limit: 12}, cpu: {quota: 50000, period: 100000}, devices: [{allow: false, access: \"rwm\"}]}"
    ordinary() { timeout --foreground -k 2 40 "$OCIRUN" --root "$W/root" "$@"; }
    for manager in systemd cgroupfs; do
      ordinary --cgroup-manager=$manager run --detach --bundle "$W/bundle" web </dev/null >"$W/log" 2>&1 || { cat "$W/log"; exit 1; }
      grep -qF "device rules are left out" "$W/log" || { echo "no word of the device rules"; cat "$W/log"; exit 1; }
      c=/sys/fs/cgroup$(group "$(pid web)")
      equal "$manager memory" 67108864 "$(cat $c/memory.max)"
      equal "$manager pids" 12 "$(cat $c/pids.max)"
      equal "$manager quota" "50000 100000" "$(cat $c/cpu.max)"
      ordinary update --memory 16m --pids-limit 11 web
      equal "$manager memory" 16777216 "$(cat $c/memory.max)"
      equal "$manager pids" 11 "$(cat $c/pids.max)"
      if [[ $manager == systemd ]]; then
        has ocirun-web.scope MemoryMax 16777216
        has ocirun-web.scope TasksMax 11
        has ocirun-web.scope CPUQuotaPerSecUSec 500ms
      fi
      ordinary exec web tail -c 100000000 /dev/zero && { echo "$manager: no limit on memory"; exit 1; }
      grep -q "^oom_kill [1-9]" $c/memory.events || { cat $c/memory.events; exit 1; }
      ordinary exec --detach web sh -c "while :; do :; done" </dev/null >"$W/log" 2>&1
      ordinary update --cpu-quota 1000 web
      eventually grep -q "^nr_throttled [1-9]" $c/cpu.stat
      ordinary update --cpu-quota -1 web
      ordinary exec web sh -c "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1000 >/dev/null 2>&1 & done" && { echo "$manager: no limit on pids"; exit 1; }
      grep -q "^max [1-9]" $c/pids.events || { cat $c/pids.events; exit 1; }
      ordinary delete --force web
      [[ ! -e $c ]] || { echo "$manager: the cgroup is still there"; exit 1; }
    done'
}

# A login shell is in a session scope of the system's systemd. The user may not move a process from there to the user's own units.
@test "R-45 a user who has logged in elsewhere has systemd move the container" {
  guest '
    systemctl start user@1000.service
    cat >"$W/user" <<EOF
      source "$GUEST_LIB"
      bundle
      up web
      equal "the cgroup" /user.slice/user-1000.slice/user@1000.service/user.slice/ocirun-web.scope "\$(group "\$(pid web)")"
      ocirun exec --detach --pid-file "\$W/pid" web sleep 100
      equal "of the executed one" /user.slice/user-1000.slice/user@1000.service/user.slice/ocirun-web.scope "\$(group "\$(cat "\$W/pid")")"
      ocirun delete --force web
      gone ocirun-web.scope
EOF
    setpriv --reuid 1000 --regid 1000 --init-groups env HOME=/home/tester XDG_RUNTIME_DIR=/run/user/1000 \
      bash "$W/user"'
}

@test "R-45 without a user bus the message says what is wanted" {
  guest --user '
    bundle
    unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR
    refused "XDG_RUNTIME_DIR" web'
}

@test "R-45 a stopped bus and an absent one are errors in bounded time, delete --force works" {
  guest '
    bundle
    up web
    kill -STOP "$(pidof dbus-daemon)"
    refused "has not answered" other
    ocirun delete --force web
    kill -CONT "$(pidof dbus-daemon)"
    soon LoadState not-found show ocirun-web.scope LoadState
    gone ocirun-web.scope
    export DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere
    refused "over the system bus" other'
}

# ocirun waits ten seconds for the answer to one call; the bus accepts calls for a stopped systemd.
@test "R-45 a stopped systemd is told by a sentence after ten seconds, and delete --force works" {
  guest --user '
    bundle
    up web
    manager=$(pgrep -u "$(id -u)" -x systemd)
    took_ten_seconds() {
      local before=$EPOCHREALTIME
      "$@"
      local tenths=$(((${EPOCHREALTIME/[.,]/} - ${before/[.,]/}) / 100000))
      echo "$1 $2: $tenths tenths of a second"
      ((tenths >= 95 && tenths < 195)) || exit 1 # a second call would take ten seconds more
    }
    kill -STOP "$manager"
    took_ten_seconds refused "systemd has not answered for 10 s" other
    took_ten_seconds ocirun delete --force web
    [[ ! -e $W/root/web ]]
    equal "processes" "" "$(cat "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/user.slice/ocirun-web.scope/cgroup.procs")"
    kill -CONT "$manager"
    soon LoadState not-found show ocirun-web.scope LoadState
    gone ocirun-web.scope
    up again
    ocirun delete --force again'
}

@test "R-45 an update that a stopped bus does not take changes nothing" {
  guest --cgroup hybrid '
    bundle ".linux.resources += {memory: {limit: 50003968}, pids: {limit: 17}}"
    up web
    kill -STOP "$(pidof dbus-daemon)"
    ocirun update --memory 60002304 --pids-limit 18 web >"$W/log" 2>&1 && { echo "was not refused"; exit 1; }
    grep -qF "has not answered" "$W/log" || { cat "$W/log"; exit 1; }
    c=system.slice/ocirun-web.scope
    equal memory 50003968 "$(cat /sys/fs/cgroup/memory/$c/memory.limit_in_bytes)"
    equal pids 17 "$(cat /sys/fs/cgroup/pids/$c/pids.max)"
    kill -CONT "$(pidof dbus-daemon)"
    ocirun update --pids-limit 19 web
    has ocirun-web.scope MemoryLimit 50003968
    has ocirun-web.scope TasksMax 19
    ocirun delete --force web'
}

@test "R-45 new device rules that the scope cannot be told leave the old ones, in a container that runs" {
  guest --cgroup hybrid '
    bundle ".linux.resources.devices = [{allow: false, access: \"rwm\"}]"
    up web
    kill -STOP "$(pidof dbus-daemon)"
    ocirun update --device-add /dev/fuse web >"$W/log" 2>&1 && { echo "was not refused"; exit 1; }
    grep -qF "has not answered" "$W/log" || { cat "$W/log"; exit 1; }
    kill -CONT "$(pidof dbus-daemon)"
    c=/sys/fs/cgroup/devices/system.slice/ocirun-web.scope
    equal "rule for the device" "" "$(grep -w 10:229 $c/devices.list || true)"
    equal status running "$(ocirun state web | jq -r .status)"
    ocirun update --device-add /dev/fuse web
    equal "rule for the device" "c 10:229 rwm" "$(grep -w 10:229 $c/devices.list)"
    ocirun delete --force web'
}

@test "R-45 a unit of that name that runs is an error, and lives on" {
  guest '
    bundle ".linux.cgroupsPath = \":x:y\""
    up one
    refused "has a unit x-y.scope already" two
    has x-y.scope ActiveState active
    equal status running "$(ocirun state one | jq -r .status)"
    ocirun delete --force one
    gone x-y.scope'
}

@test "R-45 a unit of that name that has failed is reset" {
  guest '
    bundle ".linux.cgroupsPath = \":x:y\""
    systemd-run --quiet --scope --unit x-y -p RuntimeMaxSec=1 sleep 100 || true
    has x-y.scope ActiveState failed
    up web
    has x-y.scope ActiveState active
    ocirun kill web KILL
    soon status stopped eval "ocirun state web | jq -r .status"
    ocirun delete web
    gone x-y.scope'
}

@test "R-45 a create that fails or is killed leaves no scope that delete --force does not find" {
  guest '
    bundle ".hooks.createRuntime = [{path: \"/bin/false\"}]"
    refused "createRuntime hook" web
    gone ocirun-web.scope
    config ".hooks.createRuntime = [{path: \"/bin/sh\", args: [\"sh\", \"-c\", \"echo >$W/in-hook; exec sleep 1000\"]}]"
    "$OCIRUN" --root "$W/root" --systemd-cgroup create --bundle "$W/bundle" web </dev/null >"$W/log" 2>&1 &
    eventually test -s "$W/in-hook"
    has ocirun-web.scope ActiveState active
    kill -KILL $!
    ocirun delete --force web
    gone ocirun-web.scope
    equal "state" "" "$(ls "$W/root")"'
}

# --- as a service: ocirun-run(8); service.bats has such tests without systemd -----------------------------

@test "a service is up when its program is ready, the journal has its output, and systemctl stop leaves nothing" {
  guest '
    bundle
    program "echo hello; until [[ -e /go ]]; do sleep 0.05; done; trap \"echo bye; exit 0\" TERM; systemd-notify --ready --status=serving; while :; do sleep 0.1; done"
    for manager in "" --systemd-cgroup; do
      rm -f "$W/bundle/rootfs/go"
      web
      systemd start --no-block web
      soon status running eval "ocirun state web 2>/dev/null | jq -r .status"
      has web ActiveState activating
      touch "$W/bundle/rootfs/go"
      soon "web ActiveState" active show web ActiveState
      has web StatusText serving
      equal "main process" "${OCIRUN##*/}" "$(cat "/proc/$(show web MainPID)/comm")"
      systemd stop web
      has web ActiveState inactive
      has web Result success
      nothing_left
      journal_has hello -t web
      journal_has bye -t web
      journalctl --rotate --vacuum-time=1us >/dev/null 2>&1
    done'
}

@test "Restart=on-failure starts a container again whose program fails, whose program is killed, or whose run is killed" {
  guest '
    bundle
    for manager in "" --systemd-cgroup; do
      program "trap \"exit 3\" TERM; systemd-notify --ready; while :; do sleep 0.1; done"
      web Restart=on-failure RestartSec=100ms
      systemd start web
      ocirun kill web TERM
      soon NRestarts 1 show web NRestarts
      soon "web ActiveState" active show web ActiveState
      ocirun kill web KILL
      soon NRestarts 2 show web NRestarts
      soon "web ActiveState" active show web ActiveState
      first=$(pid web)
      kill -KILL "$(show web MainPID)"
      soon NRestarts 3 show web NRestarts
      soon "web ActiveState" active show web ActiveState
      [[ ! -e /proc/$first ]] || { echo "the first container is still there"; exit 1; }
      equal containers web "$(ocirun list -q)"
      program "systemd-notify --ready; exit 0"
      ocirun kill web TERM
      soon "web ActiveState" inactive show web ActiveState
      nothing_left
      systemd reset-failed 2>/dev/null || true
    done'
}

@test "systemctl stop ends a program that is deaf to SIGTERM after TimeoutStopSec, and nothing is left" {
  guest '
    bundle
    program "trap \"\" TERM; systemd-notify --ready; sleep 1000 & while :; do sleep 0.1; done"
    for manager in "" --systemd-cgroup; do
      web
      systemd start web
      systemd stop web
      has web Result timeout
      nothing_left
      systemd reset-failed web
    done'
}

@test "a container in its service's cgroup is shown and killed with the service" {
  guest '
    bundle ".linux.cgroupsPath = \"/system.slice/web.service/container\""
    program "echo hello; trap \"\" TERM; systemd-notify --ready; sleep 1000 & while :; do sleep 0.1; done"
    web Delegate=yes KillMode=mixed
    systemd start web
    equal "the cgroup" /system.slice/web.service/container "$(group "$(pid web)")"
    systemd status --no-pager web | grep -F "sleep 1000" || { systemd status web; exit 1; }
    journal_has hello -u web
    systemd stop web
    nothing_left'
}

@test "LG-2 a socket unit starts the container at the first connection, whose program has the socket" {
  guest '
    bundle
    web Type=simple KillMode=mixed Delegate=yes Restart=on-failure RestartSec=100ms
    printf "%s\n" "[Socket]" ListenStream=/run/web.sock ListenStream=/run/other.sock | unit web.socket
    cat >"$W/bundle/rootfs/serve" <<EOF
import os, select, signal, socket, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
assert os.environ["LISTEN_PID"] == str(os.getpid())
listening = [socket.socket(fileno=3 + n) for n in range(int(os.environ["LISTEN_FDS"]))]
while True:
    for ready in select.select(listening, [], [])[0]:
        with ready.accept()[0] as peer:
            peer.sendall(b"answer on " + ready.getsockname().encode())
EOF
    program "exec python3 /serve"
    ask() { python3 -c "import socket, sys; s = socket.socket(socket.AF_UNIX); s.settimeout(20); s.connect(sys.argv[1]); print(s.makefile().read())" "$1"; }
    systemd start web.socket
    has web ActiveState inactive
    equal states "" "$(ls "$W/root" 2>/dev/null || true)"
    equal "one socket" "answer on /run/web.sock" "$(ask /run/web.sock)"
    equal "the other" "answer on /run/other.sock" "$(ask /run/other.sock)"
    first=$(pid web)
    ocirun kill web KILL
    equal "after its death" "answer on /run/other.sock" "$(ask /run/other.sock)"
    [[ $(pid web) != "$first" ]] || { echo "the same container answers"; exit 1; }
    systemd stop web.socket web
    has web ActiveState inactive
    nothing_left'
}
