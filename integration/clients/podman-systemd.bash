#!/usr/bin/env bash
# The check list of podman with what systemd does for it: scopes, units, timers, the journal, and a container that runs systemd itself.
# It needs a machine whose PID 1 is systemd: run --suite.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
ENGINE=podman-systemd
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/podman_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/podman_setup.bash"

podman_setup
B=localhost/busybox
check "import of an image" podman import -q "$(image_archive)" $B

id_of() { podman inspect -f '{{.Id}}' "$1"; }
pid_of() { podman inspect -f '{{.State.Pid}}' "$1"; }
cgroup_of() { sed -n 's/^0:://p' "/proc/$(pid_of "$1")/cgroup"; }
no_container() {
  podman container exists "$1"
  [[ $? == 1 ]]
}
# property CONTAINER NAME: a property of the container's scope.
property() { systemctl show --value -p "$2" "libpod-$(id_of "$1").scope"; }
is() { [[ $("${@:2}") == "$1" ]] || { "${@:2}"; return 1; }; }
LOOP=(sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done')

# --- the scope -------------------------------------------------------------------------------------------
one() {
  podman run -d --name one --network none --cap-add mknod --memory 64m --cpus 0.5 --pids-limit 33 --cpu-shares 512 $B \
    sh -c 'mknod /dev/forbidden c 1 11; sleep 1000'
}
check "run detached with limits" one
# crun, and ocirun behind podman, make a cgroup for the container below the scope when podman asks for it.
in_scope() { [[ $(cgroup_of one) =~ ^/machine.slice/libpod-$(id_of one).scope(/container)?$ ]] || { cgroup_of one; return 1; }; }
check "the container is in a scope of machine.slice" in_scope
check_output "the scope's MemoryMax" 67108864 property one MemoryMax
check_output "the scope's CPU quota" 500ms property one CPUQuotaPerSecUSec
check_output "the scope's TasksMax" 33 property one TasksMax
weight() { [[ $(property one CPUWeight) =~ ^(59|20)$ ]] || { property one CPUWeight; return 1; }; }
check "the scope's CPU weight" weight
check_output "the scope is delegated" yes property one Delegate
check_limit memory "the memory limit inside" 67108864 podman exec one
check_limit quota "the cpu quota inside" 50000 podman exec one
check_limit pids "the pids limit inside" 33 podman exec one
check "the cpu weight inside" has_shares 512 podman exec one
forbidden() { ! podman exec one cat /dev/forbidden 2>"$WORK/forbidden" && grep -q 'not permitted' "$WORK/forbidden" && podman exec one head -c 1 /dev/zero; }
check "a device that is not allowed" forbidden
stats() { [[ $(podman stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' one) =~ ^[1-9][0-9.]*[kMG]?B\ /\ 67.*\ [1-9][0-9]*$ ]] || { podman stats --no-stream one; return 1; }; }
check "stats" stats

# unchanged_by COMMAND…: the process, its cgroup, its limits, and what it may open, are the same after the command.
picture() {
  pid_of one && cgroup_of one && limit_inside memory podman exec one && limit_inside quota podman exec one && limit_inside pids podman exec one && property one MemoryMax
}
unchanged_by() {
  local before
  before=$(picture) && "$@" && within 60 systemctl is-system-running && diff <(echo "$before") <(picture) && forbidden
}
check "daemon-reload changes nothing" unchanged_by systemctl daemon-reload
check "daemon-reexec changes nothing" unchanged_by systemctl daemon-reexec
update() { podman update --memory 128m one && is 134217728 limit_inside memory podman exec one; }
check "update" update
check "the update survives daemon-reload" unchanged_by systemctl daemon-reload
check "pause and unpause" eval "podman pause one && podman unpause one && podman exec one true"
gone() {
  local units
  units=$(systemctl list-units --all --plain --no-legend 'libpod-*') && [[ -z $units ]]
}
check "rm by force" podman rm -f -t 0 one
check "the scope has gone" eventually gone

# --- pods ------------------------------------------------------------------------------------------------
pod() {
  podman pod create --name pod --network none && podman run -d --pod pod --name first --memory 32m $B sleep 1000 &&
    [[ $(cgroup_of first) == /machine.slice/machine-libpod_pod_*.slice/libpod-*.scope* ]] && is 33554432 limit_inside memory podman exec first &&
    podman pod stats --no-stream pod && podman pod rm -f -t 0 pod
}
check "a pod is a slice of its own" pod
play() {
  cat >"$WORK/played.yaml" <<YAML
apiVersion: v1
kind: Pod
metadata: {name: played}
spec:
  hostNetwork: true
  containers:
  - {name: main, image: $B, command: [sleep, "1000"], resources: {limits: {memory: 64Mi, cpu: 500m}}, env: [{name: PATH, value: /bin}]}
YAML
  podman play kube "$WORK/played.yaml" && is 67108864 limit_inside memory podman exec played-main && is 50000 limit_inside quota podman exec played-main &&
    podman play kube --down "$WORK/played.yaml"
}
check "play kube with limits" play
check "the slices and scopes have gone" eventually gone

# --- timers and the journal ---------------------------------------------------------------------------------
health() { podman inspect -f '{{.State.Health.Status}}' patient; }
patient() { podman run -d --name patient --network none --health-cmd 'test -e /tmp/well' --health-interval 1s --health-retries 1 $B sleep 1000; }
check "a container with a health check" patient
check "a timer of systemd's finds it unhealthy" eventually is unhealthy health
check "and healthy" eval 'podman exec patient touch /tmp/well && eventually is healthy health'
timers() { systemctl list-timers --all --no-legend --full; }
no_timer() {
  local timers
  timers=$(timers) && [[ $timers != *"$1"* ]]
}
patient_goes() {
  local id
  id=$(id_of patient) && [[ $(timers) == *"$id"* ]] && podman rm -f -t 0 patient && eventually no_timer "$id"
}
check "the timer goes with the container" patient_goes
journal() {
  podman run --name writer --network none --log-driver journald $B sh -c 'echo to the journal' && eventually is "to the journal" podman logs writer &&
    journalctl --output cat CONTAINER_NAME=writer | grep -x 'to the journal' && podman rm writer
}
check "the journal has the output" journal

# --- units -----------------------------------------------------------------------------------------------
unit_of_podman() {
  podman create --name web --network none $B "${LOOP[@]}" && (cd /etc/systemd/system && podman generate systemd --new --name --files --restart-policy always web) &&
    podman rm web && systemctl daemon-reload && systemctl start container-web && is active systemctl is-active container-web && podman exec web true
}
check "a unit by podman generate systemd" unit_of_podman
restarted() {
  local before
  before=$(pid_of web) && kill -KILL "$before" && eventually other_pid "$before" && podman exec web true
}
other_pid() { [[ $(pid_of web) != "$1" && $(podman inspect -f '{{.State.Status}}' web) == running ]]; }
check "systemd restarts it when it is killed" restarted
check "the unit survives daemon-reexec" eval 'before=$(pid_of web); systemctl daemon-reexec && is active systemctl is-active container-web && is "$before" pid_of web'
check "the unit stops" eval 'systemctl stop container-web && no_container web'
split() { systemd-run --quiet --unit split --wait podman run --rm --network none --cgroups=split --memory 64m --log-driver none $B \
  sh -c 'test "$(cat /sys/fs/cgroup/memory.max)" = 67108864'; }
check "cgroups=split in a service" split
QUADLET=/usr/lib/systemd/system-generators/podman-system-generator
quadlet() {
  mkdir -p /etc/containers/systemd
  printf '%s\n' '[Container]' "Image=$B" 'Exec=sh -c "trap \"exit 0\" TERM; while :; do sleep 0.1; done"' Network=none Notify=false \
    'PodmanArgs=--memory 64m' '[Service]' Restart=always >/etc/containers/systemd/quad.container
  systemctl daemon-reload && systemctl start quad && is active systemctl is-active quad && is 67108864 limit_inside memory podman exec systemd-quad &&
    [[ $(cgroup_of systemd-quad) == /system.slice/quad.service/* ]] && systemctl stop quad && no_container systemd-quad
}
if [[ -e $QUADLET ]]; then check "a unit by Quadlet" quadlet; else skip "a unit by Quadlet" "podman has it since 4.4"; fi

# --- systemd in a container ---------------------------------------------------------------------------------
boots() {
  podman run -d --name booted --systemd=always --network none --hostname booted --rootfs /:O /sbin/init && within 120 is_up
}
is_up() { [[ $(podman exec booted systemctl is-system-running) =~ ^(running|degraded)$ ]]; }
check "a container runs /sbin/init" boots
check "a service with a limit in it" podman exec booted systemd-run --quiet --wait -p MemoryMax=50M -p ProtectSystem=yes true
check_output "its journal" yes podman exec booted sh -c 'journalctl --boot --no-pager | grep -q systemd && echo yes'
stops() { podman stop -t 60 booted && [[ $(podman inspect -f '{{.State.ExitCode}}' booted) != 137 ]] && podman rm booted; }
check "it stops by SIGRTMIN+3" stops

# --- networks --------------------------------------------------------------------------------------------
served() { podman run -d --name "$1" "${@:2}" $B sh -c 'echo served >/tmp/index.html; httpd -f -p 80 -h /tmp'; }
port() { served server -p 127.0.0.1:8088:80 && eventually is served busybox wget -q -O - http://127.0.0.1:8088/index.html && podman rm -f -t 0 server; }
# nat WORDS CHECK: a check that needs the kernel's address translation.
nat() { if iptables -t nat -S >/dev/null 2>&1; then check "$@"; else skip "$1" "this kernel has no table nat"; fi; }
nat "a published port" port
names() {
  podman network create between && served server --network between &&
    eventually is served podman run --rm --network between $B wget -q -O - http://server/index.html &&
    podman rm -f -t 0 server && podman network rm between
}
nat "a name on a network of podman's" names

# --- checkpoints -----------------------------------------------------------------------------------------
checkpoint() {
  podman run -d --name frozen --network none $B "${LOOP[@]}" && podman container checkpoint frozen && podman container restore frozen &&
    podman exec frozen true && podman rm -f -t 0 frozen
}
if criu check >/dev/null 2>&1; then check "checkpoint and restore" checkpoint; else skip "checkpoint and restore" "criu check fails under this kernel"; fi

nothing_left() { nothing_is_left && gone && [[ -z $(find /sys/fs/cgroup -type d -name '*libpod*' -not -name 'machine-libpod_pod*') ]]; }
check "nothing is left" eventually nothing_left
end_list
