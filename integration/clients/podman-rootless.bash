#!/usr/bin/env bash
# The check list of podman as an ordinary user with subordinate ids, with native overlay and slirp4netns; with systemd's driver in a
# session with a systemd of the user's own.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
ENGINE=podman-rootless
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/podman_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/podman_setup.bash"

USER_ID=4321
RUNTIME_DIR=/run/user/$USER_ID
USER_HOME=$WORK/home
make_user() {
  podman_setup
  USER_ENV=("CONTAINERS_CONF=$WORK/user-conf/containers.conf" "CONTAINERS_STORAGE_CONF=$WORK/user-conf/storage.conf"
    "CONTAINERS_REGISTRIES_CONF=$CONTAINERS_REGISTRIES_CONF")
  { cat /etc/passwd && echo "tester:x:$USER_ID:$USER_ID::$WORK/home:/bin/bash"; } >"$WORK/passwd"
  { cat /etc/group && echo "tester:x:$USER_ID:"; } >"$WORK/group"
  echo "tester:400000:65536" >"$WORK/subids"
  mount --bind "$WORK/passwd" /etc/passwd && mount --bind "$WORK/group" /etc/group
  mkdir -p "$WORK/home" "$RUNTIME_DIR" && chown "$USER_ID:$USER_ID" "$WORK/home" "$RUNTIME_DIR" && chmod 0700 "$RUNTIME_DIR"
  mkdir -p "$WORK/user-conf" && sed "s|/run/podman|$RUNTIME_DIR/podman-tmp|; s|$WORK/hooks.d|$WORK/home/hooks.d|" "$CONTAINERS_CONF" >"$WORK/user-conf/containers.conf"
  cat >"$WORK/user-conf/storage.conf" <<END
[storage]
driver = "overlay"
runroot = "$RUNTIME_DIR/storage"
graphroot = "$WORK/home/storage"
END
  image_archive && chmod -R a+rX "$WORK/image" "$WORK/image.tar" "$WORK/conf" "$WORK/user-conf"
  as_user mkdir -p "$WORK/home/hooks.d"
  # slirp4netns opens /dev/net/tun, which some machines do not allow to everybody.
  mknod -m 0666 /run/tun c 10 200 && mount --bind /run/tun /dev/net/tun
}

# make_session: the ordinary user of the machine, with a systemd of the user's own, as a login makes it.
make_session() {
  podman_setup
  modprobe tun && chmod 0666 /dev/net/tun # as udevd does, which this machine does not run
  USER_ID=1000 RUNTIME_DIR=/run/user/1000 USER_HOME=/home/tester USER_ENV=(DBUS_SESSION_BUS_ADDRESS=unix:path=/run/user/1000/bus)
  image_archive && chmod -R a+rX "$WORK/image" "$WORK/image.tar" && echo tester:400000:65536 >"$WORK/subids" &&
    sed -i "s|$WORK/hooks.d|$USER_HOME/hooks.d|" "$CONTAINERS_CONF" && loginctl enable-linger tester && eventually test -S $RUNTIME_DIR/bus &&
    as_user mkdir -p $USER_HOME/hooks.d
}

as_user() {
  (cd "$USER_HOME" && exec setpriv --reuid "$USER_ID" --regid "$USER_ID" --clear-groups env -i PATH="$PATH" HOME="$USER_HOME" \
    XDG_RUNTIME_DIR="$RUNTIME_DIR" TERM=xterm "${USER_ENV[@]}" "$@")
}
podman() { as_user podman "$@"; }
run() { podman run --rm --network none "$@"; }
B=localhost/busybox

if [[ $CGROUP_DRIVER == systemd ]]; then check "an ordinary user logs in" make_session; else check "an ordinary user is made" make_user; fi
check "import of an image" podman import -q "$WORK/image.tar" $B
check_output "run prints" hello run $B echo hello
check_status "run returns the program's status" 7 run $B sh -c 'exit 7'
check_status "a program that is not found is 127" 127 run $B nosuch
check_status "a file that may not be executed is 126" 126 run $B /etc/noexec
check_output "root inside is the user outside" "$USER_ID" run $B sh -c 'awk "NR == 1 {print \$2 == 0 ? '$USER_ID' : \$2}" /proc/self/uid_map'
check_output "a user inside" 1000 run -u user $B id -u
check_output "a file of the user's belongs to root inside" 0 run -v "$USER_HOME:/mnt" $B stat -c %u /mnt
check_output "the user's ids are kept" $USER_ID run --userns keep-id $B id -u
check_output "without a cgroup" hello run --cgroups=disabled $B echo hello
check_output "a network of slirp4netns" tap0 podman run --rm --network slirp4netns $B sh -c 'ls /sys/class/net | grep tap0'
check_output "the host's network" lo podman run --rm --network host $B sh -c 'sed -n "s/ *\([^:]*\):.*/\1/p" /proc/net/dev | sort -u'
check_output "a read-only root" no run --read-only $B sh -c 'touch /x 2>/dev/null && echo yes || echo no'
check_output "tmpfs" tmpfs run --tmpfs /mnt $B sh -c 'stat -f -c %T /mnt'
check_output "the engine's seccomp filter" "Seccomp:	2" run $B grep Seccomp: /proc/self/status
check_output "no capabilities" "CapEff:	0000000000000000" run --cap-drop all $B grep CapEff /proc/self/status
check "privileged" run --privileged $B true
check_output "a device" c run --device /dev/zero $B sh -c 'test -c /dev/zero && echo c'
check_output "init" 1 run --init $B sh -c 'grep -c -E "podman-init|catatonit" /proc/1/cmdline'
check_output "the host's pid namespace" no run --pid host $B sh -c 'test $$ = 1 && echo yes || echo no'
script() { as_user script "$@"; }
check_output "a terminal" /dev/pts/0 run_with_terminal "podman run -it --rm --network none $B tty"
check "run detached" podman run -d --name one --network none $B sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done'
check_output "inspect tells that it runs" running podman inspect -f '{{.State.Status}}' one
check_output "exec" hello podman exec one echo hello
check_status "exec returns the status" 9 podman exec one sh -c 'exit 9'
check_output "exec with a terminal" /dev/pts/0 run_with_terminal "podman exec -it one tty"
check "top" podman top one pid comm
check "kill with a signal that is caught" podman kill -s TERM one
check_output "it ended with its status" 5 podman wait one
check "start again" podman start one
check "stop" podman stop -t 5 one
check "restart" podman restart -t 2 one
check "rm by force" podman rm -f -t 1 one
build() {
  printf 'FROM %s\nRUN echo built >/built\nCMD ["cat", "/built"]\n' $B >"$USER_HOME/Containerfile"
  podman build --isolation oci --network none -q -t localhost/built -f "$USER_HOME/Containerfile" "$USER_HOME/hooks.d" && [[ $(run localhost/built) == built ]]
}
check "build" build
pod_of_two() { podman pod create --name pod --network none && podman run -d --pod pod --name first $B sleep 100 && podman run --rm --pod pod $B true && podman pod rm -f -t 0 pod; }
check "a pod" pod_of_two

if [[ $CGROUP_DRIVER == systemd ]]; then
  check_limit memory "a memory limit" 67108864 run --memory 64m $B
  check_limit pids "a pids limit" 33 run --pids-limit 33 $B
  check_limit quota "a cpu quota" 50000 run --cpus 0.5 $B
  check_status "a memory hog is killed" 137 run --memory 16m --memory-swap 16m $B sh -c 'x=x; while :; do x=$x$x; done'
  user_scope() {
    local id
    podman run -d --name scoped --network none --memory 64m $B sleep 1000 && id=$(podman inspect -f '{{.Id}}' scoped) &&
      [[ $(as_user systemctl --user show --value -p MemoryMax "libpod-$id.scope") == 67108864 ]] &&
      as_user systemctl --user daemon-reload && as_user systemctl --user daemon-reexec && eventually podman exec scoped true &&
      [[ $(limit_inside memory podman exec scoped) == 67108864 ]] && podman pause scoped && podman unpause scoped &&
      podman stats --no-stream scoped && podman rm -f -t 0 scoped
  }
  check "a scope of the user's systemd survives its daemon-reexec" user_scope
  healthy() {
    podman run -d --name patient --network none --health-cmd true --health-interval 1s $B sleep 1000 && eventually is_healthy &&
      podman rm -f -t 0 patient
  }
  is_healthy() { [[ $(podman inspect -f '{{.State.Health.Status}}' patient) == healthy ]]; }
  check "a timer of the user's systemd finds a container healthy" healthy
fi
nothing_is_left() { [[ -z $(podman ps -aq --external) ]] && no_state_left "$RUNTIME_DIR"; }
check "nothing is left" nothing_is_left
end_list
