# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# Checkpoint and restore of containers that may mount: what they have mounted is restored, and shows nothing of the host beyond config.json.
# What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_mounting.bats
load lib/common
load lib/criu

# may_mount: the container has CAP_SYS_ADMIN and a volume on /data, in which a symlink leads to the host's /etc.
may_mount() {
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"] | unique)'
  mkdir -p "$TMP/data/below" "$BUNDLE"/rootfs/{opt,other,own}
  ln -s /etc "$TMP/data/link"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"rbind\"]}"
}
# counts_after COMMANDS: the counter, after these commands.
counts_after() { script "$1
    i=0; while :; do i=\$((i + 1)); echo \$i >/tmp/n; sleep 0.05; done"; }
# images_of_mounts: the names of the images with mounts: that of init, then those of other namespaces.
images_of_mounts() {
  local first
  needs_crit
  first=mountpoints-$(crit decode -i checkpoint/ids-1.img | jq '.entries[0].mnt_ns_id').img
  echo "$first"
  find checkpoint -name 'mountpoints-*.img' ! -name "$first" -printf '%f\n'
}
# show IMAGE ROOT: forges a mount of ROOT, a path below the volume, on /opt.
show() {
  forge_image "$1" "top = [x for x in images['entries'] if x['mountpoint'] == '/'][0]
data = [x for x in images['entries'] if x['mountpoint'] == '/data'][0]
new = dict(data, mnt_id=9999, mountpoint='/opt', parent_mnt_id=top['mnt_id'], root=data['root'] + '$2')
for key in ('shared_id', 'master_id', 'ext_key'): new.pop(key, None)
images['entries'].append(new)"
}
# shows_no_more IMAGE: a part of the volume is allowed, what a symlink in the volume leads to is not.
shows_no_more() {
  cp -a checkpoint intact
  show "$1" /link/ssl
  restore_fails
  output_mentions "/opt shows /etc/ssl of a file system of the host"
  cp -a intact/. checkpoint/
  show "$1" /below
  restore
  goes_on
}

@test "a bind mount whose source is a symlink is restored" {
  needs_criu
  mkdir "$TMP/data"
  ln -s data "$TMP/link"
  echo word >"$TMP/data/file"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/link\", \"options\": [\"bind\", \"ro\"]}"
  run_counter
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal word "$(ocirun exec "$ID" cat /data/file)"
}

@test "what a container has mounted itself is there after a restore, also in a mount namespace of its own" {
  needs_criu
  may_mount
  counts_after 'mount -t tmpfs none /opt; echo kept >/opt/file; mount --bind /data/below /other; mount --bind /bin /own
    unshare -m sh -c "mount -t tmpfs none /own; sleep 1000000" &'
  run_counting
  eventually grep -q "sleep 1000000" <(ocirun ps "$ID")
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal "kept yes yes" "$(ocirun exec "$ID" sh -c 'echo $(cat /opt/file) $(grep -q " /other " /proc/self/mountinfo && echo yes) $(ls /own/sh >/dev/null && echo yes)')"
}

@test "a container with CAP_SYS_ADMIN shows nothing of the host beyond config.json" {
  needs_criu
  may_mount
  run_counter
  ocirun checkpoint "$ID"
  shows_no_more "$(images_of_mounts | head -1)"
}

@test "a container with CAP_SYS_ADMIN in a user namespace neither" {
  needs_criu
  user_namespace
  may_mount
  run_counter
  ocirun checkpoint "$ID"
  shows_no_more "$(images_of_mounts | head -1)"
}

@test "another mount namespace in the container neither" {
  needs_criu
  needs_crit # images_of_mounts() runs in a subshell, where a skip ends nothing
  may_mount
  counts_after 'unshare -m sleep 1000000 &'
  run_counting
  eventually grep -q "sleep 1000000" <(ocirun ps "$ID")
  ocirun checkpoint "$ID"
  equal 2 "$(images_of_mounts | wc -l)"
  shows_no_more "$(images_of_mounts | tail -1)"
}

@test "mounts of the host reach only what config.json lets them reach" {
  needs_criu
  mkdir "$TMP/data"
  mount -t tmpfs none "$TMP/data"
  mount --make-shared "$TMP/data"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"rbind\", \"rslave\"]}"
  run_counter
  ocirun checkpoint "$ID"
  cp "$BUNDLE/config.json" "$TMP/rslave.json"
  config '(.mounts[] | select(.destination == "/data").options) = ["rbind", "rprivate"]'
  restore_fails
  output_mentions "mounts of the host reach /data"
  cp "$TMP/rslave.json" "$BUNDLE/config.json"
  restore
  goes_on
  ocirun delete --force "$ID"
  umount "$TMP/data"
}
