# `ocirun mounts`: mounts into a running container.
# shellcheck disable=SC2016 # programs of the container
load lib/common
source "$LIB/mounts.bash"

setup() {
  common_setup
  mkdir "$TMP/data"
  echo data >"$TMP/data/file"
}

inside() { ocirun exec "$ID" "$@"; }
in_mounts() { nsenter --target "$(init_pid)" --mount --pid --root --wd "$@"; }
add() { ocirun mounts add --mount "$1" "$ID"; }
sleeps() { [[ $(<"/proc/$(init_pid)/comm") == sleep ]]; }
# shows_mounts LINE…: what `mounts list` prints.
shows_mounts() { equal "$(printf '%s\n' "$@")" "$(ocirun mounts list "$ID")"; }

@test "a bind is added to a running container, is read-only, is listed, and is removed" {
  create_and_start
  add "type=bind,source=$TMP/data,destination=/new/data,options=ro:nosuid"
  equal data "$(inside cat /new/data/file)"
  run inside touch /new/data/x
  [[ $status != 0 ]] || fail_with_output
  shows_mounts "/new/data  bind  $TMP/data"
  run ocirun inspect --drift "$ID"
  succeeds
  run ocirun inspect "$ID"
  output_mentions "added mount /new/data"
  ocirun mounts remove --mount destination=/new/data "$ID"
  run inside cat /new/data/file
  [[ $status != 0 ]] || fail_with_output
  shows_mounts ""
  equal "" "$(grep /new/data "/proc/$(init_pid)/mountinfo" || true)"
}

@test "crun's form: a file with a list of mounts, for add and remove; the list of the container can be given back" {
  create_and_start
  jq -n --arg source "$TMP/data" '[{destination: "/a", type: "bind", source: $source, options: ["rbind", "ro"]},
    {destination: "/b", type: "tmpfs", source: "tmpfs", options: ["size=1m", "noexec"]}]' >list
  ocirun mounts add "$ID" list
  equal data "$(inside cat /a/file)"
  equal tmpfs "$(inside stat -f -c %T /b)"
  ocirun mounts list --format json "$ID" | ocirun mounts remove "$ID" -
  shows_mounts ""
  ocirun mounts add "$ID" - <list
  ocirun mounts remove "$ID" list
  shows_mounts ""
}

@test "a file is bound onto a new file; created and paused containers take mounts too" {
  create
  add "type=bind,source=$TMP/data/file,destination=/etc/deep/file"
  start
  ocirun pause "$ID"
  add "type=tmpfs,source=tmpfs,destination=/late"
  ocirun resume "$ID"
  equal data "$(inside cat /etc/deep/file)"
  equal tmpfs "$(inside stat -f -c %T /late)"
}

@test "all mounts of a call are made, or none: the first one is undone when the second fails" {
  create_and_start
  local before
  before=$(wc -l <"/proc/$(init_pid)/mountinfo")
  run ocirun mounts add --mount "type=bind,source=$TMP/data,destination=/a" \
    --mount "type=bind,source=$TMP/none,destination=/b" "$ID"
  exits 1 "/1: /b"
  output_mentions "$TMP/none"
  run ocirun mounts add --mount "type=tmpfs,source=t,destination=/a" --mount "type=tmpfs,source=t,destination=/proc/sys" "$ID"
  exits 1 "/1: /proc/sys"
  equal "$before" "$(wc -l <"/proc/$(init_pid)/mountinfo")"
  shows_mounts ""
}

@test "what is refused says why: another type, a remount, the root, a stopped container, an unknown place" {
  create_and_start
  run add "type=proc,source=proc,destination=/p"
  exits 1 'must be a bind'
  run add "type=bind,source=$TMP/data,destination=/a,options=remount"
  exits 1 'remove the mount, and add it anew'
  run add "type=tmpfs,source=t,destination=/"
  exits 1 'must not be /'
  run add "type=tmpfs,source=t,destination=/x,options=tmpcopyup"
  exits 1 "outside its limit of memory"
  run add "type=bind,source=$TMP/data,destination=/x,options=idmap"
  exits 1 "has no user namespace"
  run add "type=tmpfs,src=t,dest=/x"
  exits 1 'must be type=, source=, destination= or options='
  run ocirun mounts add "$ID"
  exits 1 'give a file'
  run ocirun mounts remove --mount destination=/proc "$ID"
  exits 1 'has made no mount there'
  run ocirun mounts move nobody
  exits 1 'must be add, remove or list'
  run ocirun mounts list "$ID" -
  exits 1 'takes no mounts'
  run ocirun mounts add --format json "$ID" -
  exits 1 '--format: is for'
  run ocirun mounts add "$ID" - <<<'[]'
  succeeds
  run ocirun mounts add --mount type=tmpfs,source=t,destination=/x --mount type=tmpfs,source=t,destination=/y,options=1 "$ID"
  exits 1 '/1: /y'
  ocirun kill "$ID" KILL
  eventually status_is stopped
  run add "type=tmpfs,source=t,destination=/x"
  exits 1 'must be created, running'
}

@test "a destination that the container has made a symlink stays inside the container" {
  script 'ln -s / /up; ln -s ../../../.. /tmp/far; ln -s /etc /tmp/link; touch /tmp/done; exec sleep 1000'
  create_and_start
  eventually exists "$BUNDLE/rootfs/tmp/done"
  add "type=bind,source=$TMP/data,destination=/tmp/link/in"
  equal data "$(inside cat /etc/in/file)"
  add "type=bind,source=$TMP/data,destination=/tmp/far/srv/in"
  equal data "$(inside cat /srv/in/file)"
  [[ ! -e /srv/in && ! -e /etc/in ]]
}

@test "in a user namespace the container cannot make a read-only bind writable" {
  user_namespace
  capabilities CAP_SYS_ADMIN
  chmod 755 "$TMP/data"
  create_and_start
  add "type=bind,source=$TMP/data,destination=/data,options=ro:nosuid"
  equal data "$(inside cat /data/file)"
  run inside mount -o remount,bind,rw /data
  [[ $status != 0 ]] || fail_with_output
  run inside mount -o remount,bind,ro,suid /data
  [[ $status != 0 ]] || fail_with_output
  ocirun mounts remove --mount destination=/data "$ID"
  shows_mounts ""
}

@test "an id-mapped bind shows the files of another user" {
  needs_system_call mount_setattr "an id-mapped mount"
  has_idmapped_tmpfs || skip "a tmpfs has id-mapped mounts since Linux 6.3"
  chown 1000:1000 "$TMP/data/file"
  create_and_start
  jq -n --arg source "$TMP/data" '[{destination: "/mapped", source: $source, options: ["bind", "idmap"],
    uidMappings: [{containerID: 1000, hostID: 0, size: 1}], gidMappings: [{containerID: 1000, hostID: 0, size: 1}]}]' >list
  ocirun mounts add "$ID" list
  equal 0 "$(inside stat -c %u /mapped/file)"
}

@test "a mount on or above a masked or read-only path is refused" {
  create_and_start
  run add "type=bind,source=/proc,destination=/proc"
  exits 1 "would uncover /proc/"
  run add "type=tmpfs,source=t,destination=/sys"
  exits 1 "would uncover /sys/firmware of /linux/maskedPaths"
  inside ln -s /sys/firmware /way
  run add "type=tmpfs,source=t,destination=/way"
  exits 1 "would uncover /sys/firmware"
  inside ln -s / /top
  run add "type=tmpfs,source=t,destination=/top"
  exits 1 "the root of the running container"
  run ocirun inspect --drift "$ID"
  succeeds
  shows_mounts ""
}

@test "a source below the root filesystem does not lead out of it" {
  create_and_start
  inside ln -s /etc/shadow /share
  run add "type=bind,source=rootfs/share,destination=/a"
  exits 1 "leads out of the root filesystem"
  shows_mounts ""
}

@test "a mount that the container has moved is found, and taken away" {
  create_and_start
  inside mkdir /data
  add "type=bind,source=$TMP/data,destination=/data/sub"
  inside mv /data /hidden
  inside ln -s /etc /data
  equal data "$(inside cat /hidden/sub/file)"
  ocirun mounts remove --mount destination=/data/sub "$ID"
  equal "" "$(inside ls /hidden/sub)"
  shows_mounts ""
}

@test "mounts over each other and below each other are taken away, the last one first" {
  create_and_start
  local place
  for place in /a /a /a/b; do add "type=tmpfs,source=t,destination=$place"; done
  run ocirun mounts remove --mount destination=/a --mount destination=/a --mount destination=/a "$ID"
  exits 1 "/a: \`mounts add\` has made no mount there"
  ocirun mounts list --format json "$ID" | ocirun mounts remove "$ID" -
  equal "" "$(grep " /a" "/proc/$(init_pid)/mountinfo" || true)"
  shows_mounts ""
  add "type=tmpfs,source=one,destination=/a"
  add "type=tmpfs,source=two,destination=/a"
  ocirun mounts remove --mount destination=/a "$ID"
  shows_mounts "/a  tmpfs  one"
  ocirun mounts remove --mount destination=/a "$ID"
  run ocirun mounts add --mount type=tmpfs,source=t,destination=/a --mount type=tmpfs,source=t,destination=/a/b "$ID"
  exits 1 "/1/destination: /a/b lies at, above or below /a of /0"
}

@test "a mount does not appear on the host by a volume that the container shares with the host" {
  mkdir "$TMP/volume"
  mount -t tmpfs --make-shared volume "$TMP/volume"
  bind /volume "$TMP/volume" rbind rshared
  create_and_start
  run add "type=tmpfs,source=t,destination=/volume/in"
  exits 1 "shares with the host"
  equal "" "$(grep "$TMP/volume/in" /proc/self/mountinfo || true)"
  # A mount that only the container shares is no way to the host: systemd makes the root of a container shared.
  in_mounts /bin/busybox mount --make-shared /dev
  add "type=tmpfs,source=t,destination=/dev/in"
  ocirun mounts remove --mount destination=/dev/in "$ID"
  ocirun delete --force "$ID"
  umount "$TMP/volume"
}

@test "a container that has left its user or mount namespace gets no mounts" {
  script 'exec unshare -U -m sleep 1000'
  create_and_start
  eventually sleeps
  run add "type=bind,source=$TMP/data,destination=/a,options=ro"
  exits 1 "is not in the user namespace"
  ocirun delete --force "$ID"
  capabilities CAP_SYS_ADMIN
  script 'while ! [ -e /tmp/go ]; do sleep 0.1; done; exec unshare -m sleep 1000'
  create_and_start
  add "type=bind,source=$TMP/data,destination=/a"
  touch "$BUNDLE/rootfs/tmp/go"
  eventually sleeps
  run ocirun mounts remove --mount destination=/a "$ID"
  exits 1 "has left the mount namespace"
  shows_mounts "/a  bind  $TMP/data"
}

@test "a kernel without mount_setattr, a damaged record and a checkpoint are refused by name" {
  create_and_start
  run "$LIB/without" mount_setattr -- "$OCIRUN" --root "$ROOT" mounts add --mount type=tmpfs,source=t,destination=/a "$ID"
  exits 1 "Linux 5.12"
  add "type=tmpfs,source=t,destination=/a"
  run ocirun checkpoint --image-path "$TMP/image" "$ID"
  exits 1 "mounts that config.json lacks"
  echo '{"format":1}' >"$ROOT/$ID/mounts.json"
  run ocirun mounts list "$ID"
  exits 1 mounts.json
  run add "type=tmpfs,source=t,destination=/b"
  exits 1 mounts.json
  equal "" "$(grep " /b " "/proc/$(init_pid)/mountinfo" || true)"
  ocirun delete --force "$ID"
}

@test "a mount that the container removes or covers is told" {
  create_and_start
  add "type=tmpfs,source=t,destination=/a"
  add "type=tmpfs,source=t,destination=/b"
  in_mounts /bin/busybox umount /a
  in_mounts /bin/busybox mount -t tmpfs over /b
  run ocirun inspect --drift "$ID"
  exits 3 "added mount /a"
  run ocirun mounts remove --mount destination=/b "$ID"
  exits 1 "another mount covers"
  run ocirun mounts remove --mount destination=/a "$ID"
  succeeds
  output_mentions "/a: was not mounted any more"
}

@test "exec and delete find a container with added mounts as before; nothing of them is left" {
  create_and_start
  add "type=bind,source=$TMP/data,destination=/data"
  ocirun exec "$ID" true
  ocirun delete --force "$ID"
  run ocirun mounts list "$ID"
  exits 1 "does not exist"
  equal data "$(<"$TMP/data/file")"
}
