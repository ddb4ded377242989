# shellcheck disable=SC2016,SC2154 # variables of inner shells and of bats
# podman checkpoints and restores containers of ocirun. What needs criu is skipped where `criu check` fails. In a
# machine: ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_engines.bats
# One store of images serves all tests of this file.
load lib/common
load lib/criu

# The program of all containers counts on its standard output.
COUNTS='i=0; while :; do i=$((i + 1)); echo $i; sleep 0.1; done'

setup_file() {
  criu check >/dev/null 2>&1 || return 0
  export WORK
  WORK=$(mktemp -d /var/tmp/ocirun-checkpoint.XXXXXX) # overlays need a file system other than a tmpfs
  mkdir "$WORK/root"
  ID=none BUNDLE=$WORK/bundle make_bundle "$WORK/bundle"
  podman_configuration
}

teardown_file() {
  [[ -n ${WORK:-} ]] || return 0
  rmdir /sys/fs/cgroup/libpod_parent 2>/dev/null || true
  findmnt -rno TARGET | grep "^$WORK" | tac | xargs -r umount -l || true
  rm -rf --one-file-system "$WORK"
}

setup() {
  common_setup
  needs_criu
}

podman_configuration() {
  export CONTAINERS_CONF=$WORK/containers.conf CONTAINERS_STORAGE_CONF=$WORK/storage.conf
  printf '%s\n' '[engine]' 'runtime = "ocirun"' 'cgroup_manager = "cgroupfs"' 'events_logger = "file"' 'tmp_dir = "/run/podman"' \
    '[engine.runtimes]' "ocirun = [\"$OCIRUN\"]" >"$CONTAINERS_CONF"
  printf '%s\n' '[storage]' 'driver = "overlay"' 'runroot = "/run/podman-storage"' "graphroot = \"$WORK/storage\"" >"$CONTAINERS_STORAGE_CONF"
  tar -C "$WORK/bundle/rootfs" -cf "$WORK/image.tar" .
  podman import -q "$WORK/image.tar" localhost/busybox
}

counting() { podman run -d --name "$1" --network none localhost/busybox sh -c "$COUNTS"; }
# Of a terminal's output, podman may take two lines for one: conmon reads as much as is there.
logged() { podman logs --tail 1 "$1" | tr -d '\r' | tail -n 1; }
logs_beyond() { [[ $(logged "$1") -gt $2 ]]; }
is_counting() {
  local before
  before=$(logged "$1")
  eventually logs_beyond "$1" "$before"
}
field() { podman inspect --format "{{.State.$2}}" "$1"; }

# is_a_container NAME: the restored container goes on, and answers to podman's commands; then it is removed.
is_a_container() {
  equal running "$(field "$1" Status)"
  is_counting "$1"
  equal word "$(podman exec "$1" echo word)"
  podman stop -t 1 "$1"
  equal exited "$(field "$1" Status)"
  podman rm "$1"
}

@test "podman container checkpoint and restore" {
  counting one
  eventually logs_beyond one 3
  podman container checkpoint one
  equal "exited true" "$(field one Status) $(field one Checkpointed)"
  local before
  before=$(logged one)
  podman container restore one
  eventually logs_beyond one "$before"
  is_a_container one
}

@test "podman container checkpoint --leave-running, --keep and --print-stats" {
  counting one
  eventually logs_beyond one 3
  podman container checkpoint --leave-running --keep one
  equal running "$(field one Status)"
  [[ -s $(field one CheckpointPath)/pages-1.img ]]
  is_counting one
  run podman container checkpoint --keep --print-stats one
  succeeds
  output_mentions pages_written
  run podman container restore --keep --print-stats one
  succeeds
  output_mentions pages_restored
  is_a_container one
}

@test "podman container checkpoint --pre-checkpoint and --with-previous" {
  counting one
  eventually logs_beyond one 3
  podman container checkpoint --pre-checkpoint one
  equal running "$(field one Status)"
  podman container checkpoint --with-previous one
  equal exited "$(field one Status)"
  podman container restore one
  is_a_container one
}

@test "podman container checkpoint --export, restore --import with another name" {
  counting one
  eventually logs_beyond one 3
  podman exec one sh -c 'echo changed >/etc/changed'
  podman container checkpoint --export "$WORK/one.tar.gz" one
  podman rm one
  podman container restore --import "$WORK/one.tar.gz" --name two
  podman container restore --import "$WORK/one.tar.gz" --name three
  equal changed "$(podman exec two cat /etc/changed)"
  is_a_container two
  is_a_container three
}

@test "podman container checkpoint and restore of a container on a terminal" {
  podman run -dt --name one --network none localhost/busybox sh -c "$COUNTS"
  eventually logs_beyond one 3
  podman container checkpoint one
  podman container restore one
  equal /dev/pts/0 "$(podman exec one readlink /proc/1/fd/1)"
  is_a_container one
}

@test "podman container checkpoint --tcp-established and restore keep a connection" {
  # What the container logs has gone through a connection. criu interrupts a sleep, and the sleep of busybox 1.37 ends then: the
  # loop keeps the listener's input open, without which the listener would end the connection.
  podman run -d --name one --network none localhost/busybox sh -c "while :; do sleep 1000; done | nc -l -p 5000 & until { $COUNTS; } | nc 127.0.0.1 5000; do :; done"
  eventually logs_beyond one 3
  run podman container checkpoint one
  output_mentions "--tcp-established"
  equal running "$(field one Status)"
  podman container checkpoint --tcp-established one
  local before
  before=$(logged one)
  podman container restore --tcp-established one
  eventually logs_beyond one "$before"
  is_a_container one
}

@test "podman container checkpoint --pre-checkpoint --export, restore --import-previous --import" {
  counting one
  eventually logs_beyond one 3
  podman container checkpoint --pre-checkpoint --export "$WORK/previous.tar.gz" one
  equal running "$(field one Status)"
  podman container checkpoint --with-previous --export "$WORK/last.tar.gz" one
  podman rm one
  podman container restore --import-previous "$WORK/previous.tar.gz" --import "$WORK/last.tar.gz" --name two
  is_a_container two
}
