# shellcheck disable=SC2016 # the guest's variables are not ours
# Pods as services of systemd: the units of `ocirun pod unit`, under a systemd that is PID 1 of namespaces (vm/systemd-ns) or of a virtual
# machine.

load lib/common
source "$LIB/systemd-beds.bash"

SERVICE_LIB='source "${GUEST_LIB%/*}/pod-units-guest.bash"; service_image'
WAITS='trap "exit 0" TERM; echo up; sleep 1000 & wait'
# pasta connects a pod to the networks of a device with a route.
OUTSIDE='modprobe -q tun || true; ip link set lo up; ip link add outside0 type veth peer name outside1; ip addr add 10.9.9.1/24 dev outside0; ip link set outside0 up;
  ip link set outside1 up; ip route add default via 10.9.9.2'

# lives_and_dies: a script that starts the service, kills its supervisor, and stops it.
lives_and_dies() {
  cat <<END
$SERVICE_LIB
service_document '$WAITS'
write_units --net none --restart always
$1
systemd start \$SERVICE
has \$SERVICE ActiveState active
has \$SERVICE StatusText "running: 1 of 1 containers ready"
in_service web
first=\$(container_pid)
systemd daemon-reload
kill -KILL "\$(show \$SERVICE MainPID)"
soon "restarts by systemd" 1 show \$SERVICE NRestarts
soon "the pod after the restart" active show \$SERVICE ActiveState
in_service web
! kill -0 \$first 2>/dev/null || { echo "the container of the killed supervisor goes on"; exit 1; }
second=\$(container_pid)
kill -KILL \$second
eventually is_another \$second
has \$SERVICE NRestarts 1
systemd stop \$SERVICE
has \$SERVICE ActiveState inactive
has \$SERVICE Result success
no_service_left
END
}

@test "a pod is a service: ready, below its cgroup, restarted when its supervisor is killed, stopped in order" {
  guest "$(lives_and_dies)"
}

@test "… of an ordinary user's systemd" {
  guest --user "$(lives_and_dies)"
}

@test "… in a machine, where the limits of the service hold for the pod" {
  machine "$(lives_and_dies 'mkdir -p "$UNITS/$SERVICE.d"; printf "%s\n" "[Service]" MemoryMax=200M >"$UNITS/$SERVICE.d/limit.conf"; systemd daemon-reload')
    systemd start \$SERVICE
    own=/sys/fs/cgroup\$(show \$SERVICE ControlGroup)
    equal memory.max 209715200 \"\$(cat \$own/memory.max)\"
    grep -qw memory \$own/cgroup.subtree_control || { echo 'no memory controller below the service'; exit 1; }
    systemd stop \$SERVICE"
}

@test "a pod whose programs end by themselves ends its service, whose status restarts nothing" {
  guest "$SERVICE_LIB
    service_document 'exit 3'
    write_units --net none --restart never
    systemd start \$SERVICE || true
    soon 'the end' failed show \$SERVICE ActiveState
    has \$SERVICE ExecMainStatus 3
    has \$SERVICE NRestarts 0
    no_service_left"
}

@test "a hung supervisor is restarted by the watchdog" {
  guest "$SERVICE_LIB
    service_document '$WAITS'
    write_units --net none --restart always
    mkdir \$UNITS/\$SERVICE.d
    printf '%s\n' '[Service]' WatchdogSec=1s >\$UNITS/\$SERVICE.d/watchdog.conf
    systemd daemon-reload
    systemd start \$SERVICE
    sleep 3
    has \$SERVICE NRestarts 0
    kill -STOP \$(show \$SERVICE MainPID)
    soon restarts 1 show \$SERVICE NRestarts
    soon 'the pod after the restart' active show \$SERVICE ActiveState
    systemd stop \$SERVICE
    no_service_left"
}

# starts_at_a_request: a script that starts a pod by a request and lets it stop.
starts_at_a_request() {
  cat <<END
$SERVICE_LIB
web_document
write_units --activate=2
systemd enable --now \$ENTRY.socket
has \$SERVICE ActiveState inactive
cold=\$(timed_ask)
exec 6<>/dev/tcp/127.0.0.1/8080 # until it is closed, the pod is not idle
has \$SERVICE ActiveState active
in_service user-container
exec 6>&-
warm=\$(timed_ask)
echo "from the request to the first byte: cold \$cold ms, warm \$warm ms"
soon "the idle pod" inactive show \$SERVICE ActiveState
has \$SERVICE Result success
soon "the idle proxy" inactive show \$ENTRY.service ActiveState
no_service_left
answered
kill -KILL "\$(show \$SERVICE MainPID)"
eventually listens_again
answered
systemd stop \$ENTRY.socket \$SERVICE
no_service_left
END
}

@test "--activate: the pod starts at a request, stops when idle, and starts again" {
  guest "$OUTSIDE; $(starts_at_a_request)"
  grep cold <<<"$output" | sed 's|^|# |' >&3
}

@test "--activate in a machine" {
  machine "$OUTSIDE; $(starts_at_a_request)"
  grep cold <<<"$output" | sed 's|^|# |' >&3
}

# The machine's disk outlives `reboot`, after which the same script runs again. It has no time to stop anything.
@test "pods of root and of a lingering user run again after a boot" {
  [[ $("$REPO/integration/vm/choose" 2>/dev/null) == uml ]] || skip "QEMU ends where the machine would boot again (vm/run)"
  machine "$(cat <<'END'
install -d -o tester /var/lib/pods-1000
[[ -e /var/lib/pods-1000/script ]] || cat >/var/lib/pods-1000/script <<'SCRIPT'
source "$1/systemd-guest.bash"
source "$1/pod-units-guest.bash"
UNITS=${UNITS/#\/run/\/etc} W=/var/lib/pods-$(id -u) # both stay
begin() {
  service_image
  service_document 'trap "exit 0" TERM; echo up; sleep 1000 & wait'
  write_units --net none --restart always
  systemd enable "$SERVICE"
  systemd start "$SERVICE"
  in_service web
  cp /proc/sys/kernel/random/boot_id "$W/boot"
}
check() {
  [[ $(<"$W/boot") != "$(</proc/sys/kernel/random/boot_id)" ]]
  soon "the pod after the boot" active show "$SERVICE" ActiveState
  has "$SERVICE" StatusText "running: 1 of 1 containers ready"
  in_service web
  systemd stop "$SERVICE"
  no_service_left
}
"$2"
SCRIPT
as_user() { /usr/lib/ocirun-vm/as-user bash /var/lib/pods-1000/script "${GUEST_LIB%/*}" "$1"; }
as_root() { bash /var/lib/pods-1000/script "${GUEST_LIB%/*}" "$1"; }
if [[ ! -e /var/lib/pods-0 ]]; then
  mkdir /var/lib/pods-0
  as_root begin
  # The build tree is mounted by vm-job.service, and only vm-job.target is started.
  mkdir /etc/systemd/system/ocirun-shop.service.d
  printf '%s\n' '[Unit]' After=vm-job.service >/etc/systemd/system/ocirun-shop.service.d/bed.conf
  systemctl add-wants vm-job.target ocirun-shop
  loginctl enable-linger tester
  as_user begin
  sync
  busybox reboot -f
  sleep 1000
fi
as_root check
systemctl start systemd-logind
as_user check
END
)"
}
