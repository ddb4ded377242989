# shellcheck disable=SC2016,SC2154 # variables of inner shells and of bats
# containerd and Docker checkpoint and restore containers of ocirun. What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_daemons.bats
load lib/common
load lib/criu

# The program of all containers counts in a file of its own root file system.
COUNTS='i=0; while :; do i=$((i + 1)); echo $i >/n; sleep 0.1; done'

setup() {
  common_setup
  needs_criu
  WORK=$(mktemp -d /var/tmp/ocirun-checkpoint.XXXXXX) # overlays need a file system other than a tmpfs
}

# The daemon goes first: what it manages ends with it.
teardown() {
  local directory
  stop_daemon
  common_teardown
  [[ -n ${WORK:-} ]] || return 0
  for directory in /sys/fs/cgroup/{default,docker}; do [[ ! -d $directory ]] || rmdir "$directory"; done
  rm -rf --one-file-system "$WORK"
}

# For clients/containerd_setup.bash:
daemon() {
  helper "${@:2}"
  DAEMON=$HELPER
}
image_archive() {
  [[ -e $WORK/image.tar ]] || tar -C "$BUNDLE/rootfs" -cf "$WORK/image.tar" .
  echo "$WORK/image.tar"
}
stop_daemon() {
  [[ -n ${DAEMON:-} ]] || return 0
  kill -TERM "$DAEMON"
  eventually has_ended "$DAEMON"
}

# container_counts COMMAND…: the number that the command prints grows.
container_counts() {
  local before
  eventually "$@"
  before=$("$@")
  eventually prints_beyond "$before" "$@"
}
prints_beyond() { [[ $("${@:2}") -gt $1 ]]; }

counted_by_ctr() { ctr tasks exec --exec-id "look$BASHPID" "$ID" cat /n; }
counted_by_docker() { docker exec one cat /n; }
task_is_gone() { ! ctr tasks ls -q | grep -qx "$ID"; }
remove_from_containerd() {
  ctr tasks kill -s KILL "$ID"
  eventually ctr tasks delete "$ID" || task_is_gone
  ctr containers delete "$ID"
}

containerd_runs_a_container() {
  # shellcheck source=integration/clients/containerd_setup.bash
  source "$REPO/integration/clients/containerd_setup.bash"
  start_containerd
  import_image
  ctr run --detach --snapshotter native --runc-binary "$OCIRUN" --runc-root "$ROOT" --runtime io.containerd.runc.v2 \
    localhost/busybox:latest "$ID" sh -c "$COUNTS"
  container_counts counted_by_ctr
}

@test "ctr tasks checkpoint writes images, and the container runs on" {
  containerd_runs_a_container
  ctr tasks checkpoint --image-path "$WORK/images" --work-path "$WORK/work" "$ID"
  [[ -s $WORK/images/pages-1.img && -s $WORK/work/dump.log ]]
  container_counts counted_by_ctr
  remove_from_containerd
}

@test "ctr tasks checkpoint --exit ends the container" {
  containerd_runs_a_container
  ctr tasks checkpoint --exit "$ID"
  eventually task_has_stopped
  ctr tasks delete "$ID" || true # the status of the killed task
  ctr containers delete "$ID"
}
task_has_stopped() { ctr tasks ls | grep -qE "^$ID +[0-9]+ +STOPPED"; }

@test "ctr containers checkpoint saves an image, and ctr containers restore --live goes on from it" {
  containerd_runs_a_container
  ctr containers checkpoint --rw --image --task "$ID" localhost/saved:latest
  local before
  before=$(counted_by_ctr)
  remove_from_containerd
  helper ctr containers restore --live --rw "$ID" localhost/saved:latest
  eventually counted_by_ctr
  eventually prints_beyond "$((before - 1))" counted_by_ctr
  container_counts counted_by_ctr
  remove_from_containerd
  eventually has_ended "$HELPER"
}

@test "docker checkpoint create, and docker start --checkpoint" {
  export DOCKER_HOST=unix:///run/docker.sock DOCKER_CONFIG=$WORK/client
  mkdir "$DOCKER_CONFIG"
  jq -n --arg path "$OCIRUN" '{experimental: true, runtimes: {ocirun: {path: $path}}, "default-runtime": "ocirun",
    "exec-opts": ["native.cgroupdriver=cgroupfs"]}' >"$WORK/daemon.json"
  daemon dockerd dockerd --host "$DOCKER_HOST" --data-root "$WORK/data" --exec-root /run/docker-exec --pidfile /run/docker.pid \
    --bridge=none --iptables=false --ip6tables=false --ip-masq=false --userland-proxy=false --config-file "$WORK/daemon.json"
  eventually docker version
  docker import "$(image_archive)" busybox
  docker run --detach --name one --network none busybox sh -c "$COUNTS"
  container_counts counted_by_docker
  docker checkpoint create --leave-running one running
  container_counts counted_by_docker
  local before
  before=$(counted_by_docker)
  docker checkpoint create one stopped
  equal exited "$(docker inspect --format '{{.State.Status}}' one)"
  docker start --checkpoint stopped one
  eventually prints_beyond "$before" counted_by_docker
  container_counts counted_by_docker
  docker rm --force one
  equal "" "$(docker ps --all --quiet)"
}
