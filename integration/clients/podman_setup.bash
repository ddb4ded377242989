# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# A configuration for podman, and the checks of podman.bash that take more than one command. With systemd's driver the machine's own
# files in /etc/containers are written, because units of systemd call podman too.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

podman_setup() {
  local conf=$WORK/conf
  [[ $CGROUP_DRIVER == cgroupfs ]] || conf=/etc/containers
  mkdir -p "$conf" "$WORK/hooks.d"
  CONTAINERS_CONF=$conf/containers.conf CONTAINERS_STORAGE_CONF=$conf/storage.conf CONTAINERS_REGISTRIES_CONF=$conf/registries.conf
  if [[ $CGROUP_DRIVER == systemd ]]; then
    export NETAVARK_FW=iptables # the kernel of the machine has no nftables
  else
    export CONTAINERS_CONF CONTAINERS_STORAGE_CONF CONTAINERS_REGISTRIES_CONF
  fi
  cat >"$CONTAINERS_CONF" <<END
[containers]
$([[ $CGROUP_DRIVER == systemd ]] || echo 'default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]')
seccomp_profile = "/usr/share/containers/seccomp.json"
[engine]
runtime = "$RUNTIME_NAME"
cgroup_manager = "$CGROUP_DRIVER"
events_logger = "file"
hooks_dir = ["$WORK/hooks.d"]
runtime_supports_json = ["$RUNTIME_NAME"]
runtime_supports_nocgroup = ["$RUNTIME_NAME"]
$([[ $CGROUP_DRIVER == systemd ]] || echo 'tmp_dir = "/run/podman"')
[engine.runtimes]
$RUNTIME_NAME = ["$RUNTIME"]
END
  [[ $CGROUP_DRIVER == systemd ]] || cat >"$CONTAINERS_STORAGE_CONF" <<END
[storage]
driver = "overlay"
runroot = "/run/podman-storage"
graphroot = "$WORK/storage"
END
  echo 'unqualified-search-registries = []' >"$CONTAINERS_REGISTRIES_CONF"
  [[ $CGROUP_DRIVER == cgroupfs ]] || useradd --system containers # libsubid wants the user since 4.17
  echo 'containers:200000:65536' >"$WORK/subids"
  mount --bind "$WORK/subids" /etc/subuid
  mount --bind "$WORK/subids" /etc/subgid
  [[ $CGROUP_VERSION == 2 ]] || only_hierarchies 'cgroup2?' # podman takes every directory in /sys/fs/cgroup for a controller
}

# with_drop_in COMMAND…: runs podman so that it knows ocirun only from the installed file, engines/podman.conf.in.
with_drop_in() {
  local status=0
  cp -a /etc/containers "$WORK/etc-containers" && mkdir -p "$WORK/etc-containers/containers.conf.d" &&
    sed "s|@CMAKE_INSTALL_FULL_SBINDIR@|${RUNTIME%/*}|" "$HERE/../../engines/podman.conf.in" >"$WORK/etc-containers/containers.conf.d/50-ocirun.conf" &&
    grep -vE "^runtime|^$RUNTIME_NAME|runtimes\]" "$CONTAINERS_CONF" >"$WORK/etc-containers/containers.conf" &&
    mount --bind "$WORK/etc-containers" /etc/containers || return 1
  env -u CONTAINERS_CONF "$@" || status=$?
  umount /etc/containers
  return "$status"
}

# propagation KIND: prints the directions in which mounts below a volume of this propagation propagate: in, out. podman's AppArmor profile
# forbids mounts.
propagation() {
  local volume=$WORK/propagated ways=() unconfined=()
  [[ ! -d /sys/kernel/security/apparmor ]] || unconfined=(--security-opt apparmor=unconfined)
  mkdir -p "$volume"/{host,container} && mount --bind "$volume" "$volume" && mount --make-shared "$volume" &&
    podman run -d --name mounter --replace --network none --cap-add sys_admin "${unconfined[@]}" -v "$volume:/mnt:$1" "$B" sleep 100 >/dev/null || return 1
  mount -t tmpfs tmpfs "$volume/host"
  podman exec mounter mount -t tmpfs tmpfs /mnt/container || return 1
  ! podman exec mounter grep -q " /mnt/host " /proc/self/mounts || ways+=(in)
  ! mountpoint -q "$volume/container" || ways+=(out)
  podman rm -f -t 0 mounter >/dev/null && umount --recursive "$volume" && echo "${ways[*]}"
}

update_memory() {
  podman update --memory 128m --cpu-shares 512 one &&
    [[ $(limit_inside memory podman exec one) == 134217728 ]] && has_shares 512 podman exec one
}

logs_are_kept() {
  podman run --name talker --network none "$B" sh -c 'echo out; echo err >&2' && [[ $(podman logs talker 2>/dev/null) == out ]] &&
    [[ $(podman logs talker 2>&1 >/dev/null) == err ]] && podman rm talker
}

copy_both_ways() {
  podman run -d --name files --network none "$B" sleep 100 && echo copied >"$WORK/to" && podman cp "$WORK/to" files:/tmp/to &&
    [[ $(podman exec files cat /tmp/to) == copied ]] && podman cp files:/tmp/to "$WORK/back" && cmp "$WORK/to" "$WORK/back" &&
    podman rm -f -t 0 files
}

healthy() {
  podman run -d --name patient --network none --health-cmd 'test -e /tmp/well' --health-interval disable "$B" sleep 100 &&
    ! podman healthcheck run patient && podman exec patient touch /tmp/well && podman healthcheck run patient && podman rm -f -t 0 patient
}

attach_sees_output() {
  podman run -d --name speaker --network none "$B" sh -c 'sleep 1; echo spoken' >/dev/null && [[ $(timeout 10 podman attach speaker) == *spoken* ]]
  local result=$?
  podman rm -f -t 0 speaker
  return $result
}

stop_stubborn() {
  local status
  podman run -d --name deaf --network none "$B" sh -c 'trap "" TERM; while :; do sleep 0.1; done' >/dev/null && podman stop -t 1 deaf >/dev/null
  status=$(podman inspect -f '{{.State.ExitCode}}' deaf)
  podman rm deaf >/dev/null
  return "$status"
}

create_start_wait() {
  podman create --name late --network none "$B" sh -c 'exit 3' && podman start late && [[ $(podman wait late) == 3 ]] && podman rm late
}

failed_start_leaves_nothing() {
  ! podman run --name broken --network none "$B" /no/such && podman rm broken && no_state_left
}

hooks_run() {
  cat >"$WORK/hooks.d/trace.json" <<END
{"version": "1.0.0", "when": {"annotations": {"^trace\$": "^yes\$"}}, "stages": ["createRuntime", "poststop"],
 "hook": {"path": "/bin/sh", "args": ["sh", "-c", "cat >>$WORK/hook.out; echo >>$WORK/hook.out"]}}
END
  podman run --rm --network none --annotation trace=yes "$B" true && eventually grep -q '"stopped"' "$WORK/hook.out" &&
    grep -qE '"creat(ed|ing)"' "$WORK/hook.out"
}

pod_shares() {
  podman pod create --name pod --network none && podman run -d --pod pod --name first "$B" sleep 100 &&
    [[ $(podman run --rm --pod pod "$B" sh -c 'readlink /proc/self/ns/ipc') == "$(podman exec first readlink /proc/self/ns/ipc)" ]] &&
    podman pod pause pod && podman pod unpause pod && podman pod stop -t 1 pod && podman pod rm -f pod
}

play_kube() {
  cat >"$WORK/pod.yaml" <<END
apiVersion: v1
kind: Pod
metadata: {name: played}
spec:
  hostNetwork: true
  restartPolicy: Never
  containers:
  - {name: main, image: $B, command: [sh, -c, "echo played; sleep 100"], resources: {limits: {memory: 64Mi}}}
END
  podman play kube "$WORK/pod.yaml" && eventually bash -c 'podman logs played-main | grep -q played' && podman play kube --down "$WORK/pod.yaml" &&
    podman pod rm -fa
}

# export_plays DOCUMENT PORT OPTION…: podman runs what `ocirun pod export` makes of a document, and the pod answers on its port.
export_plays() {
  local file=$1 port=$2 name
  "$RUNTIME" pod export --to kubernetes --name exported "${@:3}" "$file" >"$WORK/exported.yaml" &&
    podman play kube --network slirp4netns "$WORK/exported.yaml" && name=$(podman ps --format '{{.Names}}' | grep -e '-web$') &&
    eventually bash -c "podman exec $name wget -qO - http://127.0.0.1:$port/ | grep -q exported" &&
    podman play kube --down "$WORK/exported.yaml" && podman pod rm -fa
}

# The program of each document: a server on PORT.
export_words() { echo "[sh, -c, \"echo exported >/index.html; exec httpd -f -p $1 -h /\"]"; }

export_of_oam_plays() {
  cat >"$WORK/oam.yaml" <<END
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop, labels: {tier: front}}
spec:
  containers:
  - {name: web, image: $B, cmd: $(export_words 8081), env: [{name: A, value: 'no'}], ports: [{name: http, containerPort: 8081}],
     livenessProbe: {exec: {command: ["true"]}}, resources: {cpu: {required: 0.1}, memory: {required: 8M}}}
END
  export_plays "$WORK/oam.yaml" 8081
}

export_of_radius_plays() {
  cat >"$WORK/radius.yaml" <<END
name: shop
properties:
  containers: {web: {image: $B, command: $(export_words 8082), workingDir: /shared, ports: {http: {containerPort: 8082}},
    volumeMounts: [{mountPath: /shared, volumeName: s}]}}
  volumes: {s: {emptyDir: {}}}
  autoScaling: {maxReplicas: 3, metrics: [{kind: memory, target: {averageValue: 9000}}]}
END
  export_plays "$WORK/radius.yaml" 8082
}

export_of_appc_plays() {
  cat >"$WORK/appc.yaml" <<END
acVersion: 0.8.11
acKind: PodManifest
apps:
- name: web
  image: {id: sha512-$(printf 'a%.0s' {1..128})}
  app: {exec: $(export_words 8083), user: '0', group: '0', ports: [{name: http, port: 8083, protocol: tcp}]}
ports: [{name: http, hostPort: 8083}]
END
  export_plays "$WORK/appc.yaml" 8083 --image "web=docker://$B"
}

commit_and_run() {
  podman run --name base --network none "$B" sh -c 'echo layered >/layer' && podman commit -q base localhost/layered &&
    [[ $(podman run --rm --network none localhost/layered cat /layer) == layered ]] && podman rm base
}

build_an_image() {
  printf 'FROM %s\nRUN echo built >/built && id -u\nUSER user\nCMD ["cat", "/built"]\n' "$B" >"$WORK/Containerfile"
  podman build --isolation oci --network none -q -t localhost/built -f "$WORK/Containerfile" "$WORK/hooks.d" &&
    [[ $(podman run --rm --network none localhost/built) == built ]]
}

many_at_once() {
  local number pids=()
  for number in {1..16}; do
    podman run --rm --network none "$B" echo "$number" >"$WORK/many.$number" &
    pids+=($!)
  done
  for number in {1..16}; do wait "${pids[number - 1]}" && [[ $(<"$WORK/many.$number") == "$number" ]] || return 1; done
}

nothing_is_left() { [[ -z $(podman ps -aq --external) ]] && eventually no_state_left && no_mount_of_containers_left; }
