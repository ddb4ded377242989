# Attacks by names in the image that lead out of it while mounts are made.
# shellcheck disable=SC2016 # what is quoted runs in containers and hooks
load harness

# three_mounts PREFIX: a document with three mounts below PREFIX whose destinations do not exist: a tmpfs, a file and a directory.
three_mounts() {
  config '.mounts |= .[:7] + [{destination: ($p + "/made"), type: "tmpfs", source: "tmpfs"},
    {destination: ($p + "/bound"), source: $s, options: ["bind"]}, {destination: ($p + "/sub/dir"), source: "/etc", options: ["bind"]}]' \
    --arg p "$1" --arg s "$TMP/source"
}

@test "the decoy notices new, changed, touched and removed inodes (control)" {
  local deed
  for deed in 'touch $D/new' 'touch $D/new; rm $D/new' 'echo >$D/file' 'chmod 600 $D/file' 'ln $D/file $D/sub/f' 'rmdir $D/sub' 'mkfifo $D/p' 'chown 1 $D'; do
    D=$DECOY sh -c "$deed"
    decoy_was_changed
  done
}

@test "runc CVE-2021-30465 CVE-2024-45310 crun CVE-2019-18837 bubblewrap CVE-2026-87766 lxc CVE-2015-1335 a destination never leads out by links" {
  local target
  echo data >"$TMP/source"
  three_mounts /link
  script 'cat /link/file 2>&1; exit 0'
  for target in "$DECOY" "$UP$DECOY" "/proc/1/root$DECOY" "/proc/self/root$DECOY" "/proc/self/cwd$DECOY" \
    "/oldroot$DECOY" "/.pivot$DECOY" "/.old_root$DECOY" "/dev/fd/7$DECOY" "/proc/self/fd/7$DECOY"; do
    plant /link "$target"
    run_container
    ended 0 1
    decoy_is_unchanged
    secret_is_kept
  done
  for target in "$DECOY" "$UP$DECOY" "/proc/1/root$DECOY"; do
    plant /link "$target"
    run_naive
    decoy_was_changed
  done
}

@test "runc CVE-2024-45310 a dangling link as destination makes no empty file on the host" {
  local target
  echo data >"$TMP/source"
  add_mount '{"destination": "/link", "source": "'"$TMP/source"'", "options": ["bind"]}'
  script 'cat /link'
  for target in "$DECOY/new" "$UP$DECOY/new"; do
    plant /link "$target"
    run_container
    succeeds data # the destination is made inside the root
    decoy_is_unchanged
  done
  plant /link "$DECOY/new"
  run_naive
  decoy_was_changed
}

@test "runc CVE-2021-30465 CVE-2024-45310 a destination that is swapped all the time never leads out, nor shows the host" {
  local deadline=$((SECONDS + 12)) made=0
  swapper
  race_mounts
  while [[ $SECONDS -lt $deadline || $made -lt 6 ]]; do
    run_container
    ended 0 1
    decoy_is_unchanged
    secret_is_kept
    made=$((made + 1))
  done
  echo "$made containers"
  deadline=$((SECONDS + 60))
  while decoy_is_unchanged >/dev/null && [[ $SECONDS -lt $deadline ]]; do run_naive; done
  detector_catches decoy_is_unchanged # the control races with the same swapper
  stop_helpers
  make_decoy
}

# swapper: exchanges a directory with a symlink to the decoy as fast as possible, as another container with the same volume could.
swapper() {
  mkdir -p "$TMP/volume/dir"
  ln -s "$DECOY" "$TMP/volume/link"
  helper python3 -c '
import ctypes, sys
libc, a, b = ctypes.CDLL(None), sys.argv[1].encode(), sys.argv[2].encode()
while True: libc.renameat2(-100, a, -100, b, 2)' "$TMP/volume/dir" "$TMP/volume/link"
}

race_mounts() {
  echo data >"$TMP/source"
  config '.mounts |= .[:7] + [{destination: "/volume", source: $v, options: ["rbind"]},
    {destination: "/volume/dir/made/dir", type: "tmpfs", source: "tmpfs"},
    {destination: "/volume/dir/bound", source: $s, options: ["bind"]}]' --arg v "$TMP/volume" --arg s "$TMP/source"
  script 'cat /volume/dir/file /volume/link/file 2>&1; exit 0'
}

@test "crun CVE-2025-24965 links planted at whatever a runtime reads or writes in the image touch and show nothing" {
  local path
  for path in /etc/passwd /etc/group /etc/hosts /etc/resolv.conf /etc/hostname /etc/mtab /.krun_config.json /.dockerenv /run; do
    plant "$path" "$DECOY/file"
  done
  config '.process.user.username = "web"'
  inside 'echo $HOME'
  ended 0 1
  decoy_is_unchanged
  secret_is_kept
  echo '{}' >"$BUNDLE/rootfs/.krun_config.json" # the control: crun's krun handler wrote this file
  decoy_was_changed
}

@test "crun CVE-2025-24965 the working directory that the runtime makes stays inside" {
  local target
  config '.process.cwd = "/link/new/dir"'
  for target in "$DECOY" "$UP$DECOY" "/proc/1/root$DECOY"; do
    plant /link "$target"
    inside 'ls /; exit 0'
    ended 0 1
    decoy_is_unchanged
  done
  plant /link "$DECOY"
  mkdir -p "$BUNDLE/rootfs/link/new/dir" # the control: by path, following the symlink
  decoy_was_changed
}

@test "flatpak CVE-2024-42472 bubblewrap CVE-2026-87766 a mount's content is what its source was when it was opened" {
  local deadline=$((SECONDS + 3))
  mkdir -p "$TMP/sources/good" "$TMP/sources/other"
  echo good >"$TMP/sources/good/name"
  echo other >"$TMP/sources/other/name"
  helper python3 -c '
import ctypes, sys
libc, a, b = ctypes.CDLL(None), sys.argv[1].encode(), sys.argv[2].encode()
while True: libc.renameat2(-100, a, -100, b, 2)' "$TMP/sources/good" "$TMP/sources/other"
  add_mount '{"destination": "/mnt", "source": "'"$TMP/sources/good"'", "options": ["bind", "ro"]}'
  script 'cat /mnt/name; echo changed >/mnt/name' # neither source may be changed
  while [[ $SECONDS -lt $deadline ]]; do
    run_container
    [[ $output == good* || $output == other* ]] || ended 1 # refused if the name did not exist at that moment
  done
  stop_helpers
  sources_are_whole
  run_naive # `naive` ignores "ro"
  detector_catches sources_are_whole
}

sources_are_whole() {
  equal $'good\nother' "$(cat "$TMP"/sources/*/name | sort)"
}

@test "lxc CVE-2015-1334 nspawn a bound directory's read-only and nosuid hold for all below it, and inside cannot be lifted" {
  needs_system_call mount_setattr "a recursive option"
  mkdir -p "$TMP/tree/sub"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  chown 100000 "$TMP/tree" "$TMP/tree/sub"
  add_mount '{"destination": "/mnt", "source": "'"$TMP/tree"'", "options": ["rbind", "rro", "rnosuid"]}'
  user_namespace
  capabilities CAP_SYS_ADMIN
  script 'exec 2>&1; mount -o remount,bind,rw /mnt; mount -o remount,bind,rw /mnt/sub; umount /mnt/sub; touch /mnt/x /mnt/sub/x; exit 0'
  run_container
  output_mentions "Read-only file system"
  tree_is_empty
  capabilities
  run_naive
  detector_catches tree_is_empty
  umount "$TMP/tree/sub"
}

@test "lxc CVE-2015-1334 nspawn a bound directory's read-only and nosuid cannot be lifted inside, whichever system call set them" {
  mkdir "$TMP/tree"
  chown 100000 "$TMP/tree"
  add_mount '{"destination": "/mnt", "source": "'"$TMP/tree"'", "options": ["bind", "ro", "nosuid"]}'
  user_namespace
  capabilities CAP_SYS_ADMIN
  script 'exec 2>&1; mount -o remount,bind,ro,suid /mnt; mount -o remount,bind,rw /mnt; touch /mnt/x; grep " /mnt " /proc/mounts'
  run_container
  output_mentions "Read-only file system"
  output_mentions " ro,nosuid,"
  tree_is_empty
  capabilities
  run_naive
  detector_catches tree_is_empty
}

tree_is_empty() { equal "" "$(find "$TMP/tree" ! -type d)"; }

@test "a program that changes its root's propagation or makes mounts leaves none on the host" {
  capabilities CAP_SYS_ADMIN
  inside 'mount --make-rshared / ; mount -t tmpfs tmpfs /tmp; mount -t tmpfs tmpfs /root; exit 0'
  succeeds
  untraced host_is_unchanged
  mkdir "$TMP/mnt"
  mount -t tmpfs tmpfs "$TMP/mnt"
  untraced find_host_changes
  [[ ${HOST_CHANGES[*]} == *"$TMP/mnt"* ]] # the control: the comparison of the host before and after a test notices a mount
  umount "$TMP/mnt"
}

# Shared mounts, as systemd makes them: a mount in one namespace propagates to its peers in all others.
@test "what a runtime mounts for a container is not seen on a host whose mounts are shared" {
  mount --bind "$BUNDLE" "$BUNDLE"
  mount --make-shared "$BUNDLE"
  create_and_start
  host_sees_no_mount
  ocirun delete --force "$ID"
  host_sees_no_mount
  unshare --mount --propagation unchanged mount -t tmpfs tmpfs "$BUNDLE/rootfs/root"
  detector_catches host_sees_no_mount
  umount -R "$BUNDLE"
}

host_sees_no_mount() { ! grep " $BUNDLE/" /proc/self/mountinfo; }
