# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# `checkpoint` and `restore` of containers with user namespaces, joined namespaces and id-mapped mounts. See checkpoint.bats.
load lib/common
load lib/criu

# checkpoint_and_restore: the container of counter() has counted on afterwards.
checkpoint_and_restore() {
  local before
  run_counting
  ocirun checkpoint "$ID"
  status_is stopped
  before=$(counted)
  restore
  status_is running
  eventually counts_beyond "$before"
}

# on_disk: $DISK is a directory on a file system that has id-mapped mounts. (The machine's disk is ext4; the tests' files lie in a tmpfs.)
on_disk() {
  DISK=/var/tmp/$ID
  mkdir -m 755 "$DISK"
}
teardown() {
  common_teardown
  rm -rf "/var/tmp/${ID:?}"
}

# namespace_of PID TYPE
namespace_of() { readlink "/proc/$1/ns/$2"; }

@test "a container with a user namespace goes on, with its ids and its protected mounts" {
  needs_criu
  user_namespace
  mkdir -m 755 "$TMP/data"
  add_mount "{\"destination\": \"/data/deep\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"bind\", \"ro\", \"nosuid\"]}"
  counter
  checkpoint_and_restore
  equal "0 100000 65536" "$(xargs <"/proc/$(init_pid)/uid_map")"
  equal allow "$(<"/proc/$(init_pid)/setgroups")"
  run ocirun exec "$ID" sh -c 'echo >/dev/null && grep "NoNewPrivs:.1" /proc/1/status'
  succeeds
  run ocirun exec --cap CAP_SYS_ADMIN "$ID" mount -o remount,rw,bind /data/deep
  exits 1 "ermission denied"
}

@test "forged images of a user namespace are found out: other maps, another user" {
  needs_criu
  user_namespace
  run_counter
  ocirun checkpoint "$ID"
  cp -a checkpoint intact
  local maps
  maps=$(basename checkpoint/userns-*.img)
  forge_image "$maps" "images['entries'][0]['uid_map'].append({'first': 70000, 'lower_first': 0, 'count': 1})"
  restore_fails
  output_mentions "the user namespace maps other user ids than /linux/uidMappings"
  cp -a intact/. checkpoint/
  forge_image "$maps" "images['entries'][0]['gid_map'].append({'first': 70000, 'lower_first': 0, 'count': 1})"
  restore_fails
  output_mentions "the user namespace maps other group ids than /linux/gidMappings"
  cp -a intact/. checkpoint/
  forge "core['thread_core']['creds'].update(uid=7, euid=7, suid=7, fsuid=7)"
  restore_fails
  output_mentions "has user ids 100007"
  cp -a intact/. checkpoint/
  restore
  status_is running
}

@test "pre-dumps of a container with a user namespace are followed by a dump that refers to them" {
  needs_criu
  user_namespace
  run_counter
  ocirun checkpoint --pre-dump --image-path "$TMP/one" "$ID"
  ocirun checkpoint --image-path "$TMP/two" --parent-path ../one "$ID"
  restore --image-path "$TMP/two"
  status_is running
}

@test "the images of a user namespace may lie on a file system that has id-mapped mounts" {
  needs_criu
  on_disk
  user_namespace
  run_counter
  ocirun checkpoint --image-path "$DISK/images" "$ID"
  restore --image-path "$DISK/images"
  status_is running
  equal 0:0 "$(stat -c %u:%g "$DISK/images/inventory.img")"
}

@test "an id-mapped mount is id-mapped again, and a forged one is found out" {
  needs_criu
  on_disk
  mkdir -m 755 "$DISK/owned" "$DISK/other"
  local map='"uidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}], "gidMappings": [{"containerID": 0, "hostID": 5000, "size": 10}]'
  add_mount '{"destination": "/owned", "source": "'"$DISK/owned"'", "options": ["bind", "idmap"], '"$map"'}'
  add_mount '{"destination": "/plain", "source": "'"$DISK/owned"'", "options": ["bind"]}'
  counter
  checkpoint_and_restore
  run ocirun exec "$ID" stat -c "%u %g" /owned /plain
  succeeds $'4000 5000\n0 0'
  ocirun checkpoint --image-path "$TMP/second" "$ID"
  rm -r checkpoint
  cp -a "$TMP/second" checkpoint
  forge_image "$(basename checkpoint/mountpoints-*.img)" \
    "[entry.update(ext_key='/plain') for entry in images['entries'] if entry.get('ext_key') == '/owned']"
  restore_fails
  output_mentions "/owned is not id-mapped"
}

@test "joined namespaces of other kinds: ipc and uts" {
  needs_criu
  join_ipc_and_uts
  counter
  checkpoint_and_restore
  equal "$(namespace_of "$HELPER" uts)" "$(namespace_of "$(init_pid)" uts)"
  equal "$(namespace_of "$HELPER" ipc)" "$(namespace_of "$(init_pid)" ipc)"
}

# keeps_joined KIND: a container that joins the namespace of the helper's child is in that one after a restore too.
keeps_joined() {
  local first
  eventually pgrep -P "$HELPER"
  first=$(pgrep -P "$HELPER")
  set_namespace "$1" "/proc/$first/ns/$1"
  counter
  checkpoint_and_restore
  equal "$(namespace_of "$first" "$1")" "$(namespace_of "$(init_pid)" "$1")"
}

@test "a joined pid namespace is that of config.json after a restore" {
  needs_criu
  # Its first process has to collect the container's init.
  helper unshare --pid --fork --kill-child bash -c 'sleep 1000 & wait'
  keeps_joined pid
}

@test "a joined time namespace is that of config.json after a restore" {
  needs_criu
  helper unshare --time --monotonic 1000 --fork --kill-child sleep 1000
  keeps_joined time
}

@test "clocks of a time namespace go on, and a cgroup namespace shows the container's cgroup" {
  needs_criu
  drop_namespace cgroup
  config '.linux.namespaces += [{type: "cgroup"}, {type: "time"}] | .linux.timeOffsets = {boottime: {secs: 100000}}'
  counter
  checkpoint_and_restore
  run ocirun exec "$ID" sh -c 'read -r up _ </proc/uptime; [ "${up%.*}" -ge 100000 ] && cat /proc/self/cgroup'
  succeeds
  output_mentions "0::/"
  differs "/proc/$(init_pid)/ns/cgroup" /proc/self/ns/cgroup
}

@test "a container in the host's pid namespace is restored, and forged images send no signals to processes of the host" {
  needs_criu
  drop_namespace pid
  counter
  checkpoint_and_restore
  ocirun checkpoint "$ID"
  cp -a checkpoint intact
  forge_image files.img "next(file for file in images['entries'] if 'reg' in file)['reg']['fown'].update(pid=1, pid_type=1, signum=9)"
  restore_fails
  output_mentions "files.img: an open file sends signals to process 1, which the images do not have"
  mend
  restore
  output=$(<"$TMP/errors")
  output_mentions "the container has no pid namespace"
}
