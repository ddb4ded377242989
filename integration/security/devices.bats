# Attacks by an image's /dev: devices, symlinks and standard streams.
# shellcheck disable=SC2016 # what is quoted runs in containers and hooks
load harness

@test "runc CVE-2026-41579 crun CVE-2026-47766 a /dev that is a link makes nothing outside, with run and with create" {
  local target
  no_mounts_below /dev
  config '.linux.devices = [{path: "/dev/sub/made", type: "c", major: 1, minor: 3, fileMode: 438, uid: 1, gid: 1}]'
  for target in "$DECOY" "$UP$DECOY" "/proc/1/root$DECOY" "$DECOY/missing"; do
    plant /dev "$target"
    inside true
    ended 0 1
    decoy_is_unchanged
    attempt create --bundle "$BUNDLE" "$ID"
    ended 0 1
    [[ $status == 1 ]] || start
    decoy_is_unchanged
    run ocirun delete --force "$ID"
  done
  plant /dev "$DECOY"
  run_naive
  decoy_was_changed # the decoy's ptmx became a symlink, among other damage
}

@test "runc CVE-2026-41579 links in the image's /dev, at each name that a runtime makes, are not followed" {
  local name
  no_mounts_below /dev
  config '.linux.devices = [{path: "/dev/sub/made", type: "c", major: 1, minor: 3}]'
  for name in null zero full random urandom tty ptmx fd stdin stdout stderr core console pts shm mqueue sub; do
    rm -rf "$BUNDLE/rootfs/dev"
    mkdir "$BUNDLE/rootfs/dev"
    plant "/dev/$name" "$DECOY/$name"
    inside true
    ended 0 1
    decoy_is_unchanged
  done
  rm -rf "$BUNDLE/rootfs/dev"
  mkdir "$BUNDLE/rootfs/dev"
  plant /dev/console "$DECOY/console"
  config '.process.terminal = true'
  run_naive
  decoy_was_changed
}

@test "runc CVE-2026-41579 a node of the image that is another device than its name says is not used" {
  no_mounts_below /dev
  rm -rf "$BUNDLE/rootfs/dev"
  mkdir "$BUNDLE/rootfs/dev"
  mknod "$BUNDLE/rootfs/dev/null" c 1 5
  inside 'stat -c %t:%T /dev/null'
  ended 0 1
  [[ $status == 1 ]] || null_is_null
  run_naive # `naive` uses the image's /dev/null
  detector_catches null_is_null
}

null_is_null() { [[ $output == *1:3* ]] || { echo "/dev/null is $output"; return 1; }; }

@test "runc CVE-2025-31133 youki CVE-2025-62161 a /dev/null of the image that is a link masks nothing by its target" {
  local target
  no_mounts_below /dev
  for target in "$DECOY/file" "$UP$DECOY/file" /payload; do
    rm -rf "$BUNDLE/rootfs/dev"
    mkdir "$BUNDLE/rootfs/dev"
    plant /dev/null "$target"
    masked_secret
    run_container
    ended 0 1
    decoy_is_unchanged
    [[ $status == 1 ]] || mask_is_null
  done
  plant /dev/null "$DECOY/file"
  masked_secret
  run_naive
  detector_catches mask_is_null
  decoy_was_changed # the program wrote to the decoy through the mask
}

@test "runc CVE-2025-31133 youki CVE-2025-62161 a /dev/null that is replaced while hooks run is not what masks" {
  container_hook 'rm -f $R/dev/null; ln -s $D/file $R/dev/null'
  masked_secret
  run_container
  ended 0 1
  decoy_is_unchanged
  [[ $status == 1 ]] || mask_is_null
  run_naive
  detector_catches mask_is_null
  decoy_was_changed
}

# masked_secret: a document with a masked file, and a program that reads the file and writes to it.
masked_secret() {
  echo hidden >"$BUNDLE/rootfs/secret"
  echo payload >"$BUNDLE/rootfs/payload"
  config '.linux.maskedPaths = ["/secret"]'
  script 'stat -c "mask %F %t:%T" /secret; cat /secret; echo overwritten >/secret; exit 0'
}

mask_is_null() {
  prints "mask character special file 1:3" &&
    equal hidden "$(<"$BUNDLE/rootfs/secret")" &&
    equal payload "$(<"$BUNDLE/rootfs/payload")"
}

@test "runc CVE-2025-31133 a masked path that is a link hides what it leads to, or nothing; never the host's" {
  local target
  for target in "$DECOY/file" "$UP$DECOY/file" "$DECOY" /etc/passwd; do
    plant /secret "$target"
    config '.linux.maskedPaths = ["/secret"] | .linux.readonlyPaths = ["/secret"]'
    inside 'cat /secret; echo overwritten >/secret; exit 0'
    ended 0 1
    secret_is_kept
    decoy_is_unchanged
  done
  plant /secret "$DECOY/file" # the control: the same operations with nothing that keeps the symlink inside
  run sh -c "cat '$BUNDLE/rootfs/secret'; echo overwritten >'$BUNDLE/rootfs/secret'"
  detector_catches secret_is_kept
  decoy_was_changed
}

@test "stdio: a /dev/null of the image that is a link diverts no standard stream" {
  no_mounts_below /dev
  rm -rf "$BUNDLE/rootfs/dev"
  mkdir "$BUNDLE/rootfs/dev"
  echo payload >"$BUNDLE/rootfs/payload"
  plant /dev/null /payload
  program echo written
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$TMP/errors" || true
  payload_is_whole
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/out" 2>&1 || true # stdout is a file
  payload_is_whole
  [[ $(<"$TMP/out") == written || $(<"$TMP/out") == *ocirun:* ]]
  equal "666 0:0" "$(stat -c '%a %u:%g' /dev/null)"
  plant /dev/null /payload
  "$SECURITY/naive" "$BUNDLE" </dev/null >/dev/null 2>&1
  detector_catches payload_is_whole
}

payload_is_whole() { equal payload "$(<"$BUNDLE/rootfs/payload")"; }

@test "stdio: a program that owns its streams never comes to own the host's /dev/null" {
  config '.process.user = {uid: 1000, gid: 1000}'
  program true
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1
  null_is_roots
  chown 1000 /dev/null # the sandbox's own node
  detector_catches null_is_roots
  chown 0 /dev/null
}

# The owner of a file can open it for writing through /proc/self/fd, even if the descriptor is read-only.
@test "stdio: a file that the caller gave to be read never comes to belong to the program's user" {
  config '.process.user = {uid: 1000, gid: 1000}'
  echo payload >"$BUNDLE/rootfs/payload"
  chmod 644 "$BUNDLE/rootfs/payload"
  script 'cat; echo evil >/proc/self/fd/0; chmod 4777 /proc/self/fd/0; exit 0'
  run ocirun run --bundle "$BUNDLE" "$ID" <"$BUNDLE/rootfs/payload"
  exits 0 payload
  payload_is_readable_only
  chown 1000 "$BUNDLE/rootfs/payload"
  ocirun run --bundle "$BUNDLE" "$ID" <"$BUNDLE/rootfs/payload"
  detector_catches payload_is_readable_only
}

payload_is_readable_only() {
  payload_is_whole && equal "644 0" "$(stat -c '%a %u' "$BUNDLE/rootfs/payload")"
}

null_is_roots() { equal "666 0:0" "$(stat -c '%a %u:%g' /dev/null)"; }

# --- nodes of the host that a container is shown ----------------------------------------------------------

# With capabilities that engines grant by default.
@test "masks: root of a container cannot change the host's /dev/null through a masked path" {
  capabilities CAP_CHOWN CAP_FOWNER CAP_DAC_OVERRIDE
  inside "test -c /proc/keys && ! cat /proc/keys | grep . && echo thrown-away >/proc/keys || exit 9; $(meddle_with /proc/keys)"
  exits 0 # chmod and chown are refused, or the mask is a node of the container (without detached mounts)
  null_is_roots
  unshare --mount sh -c "touch '$TMP/mask' && mount --bind /dev/null '$TMP/mask' && $(meddle_with "$TMP/mask")"
  detector_catches null_is_roots
  restore_null
}

@test "devices: a user namespace that maps the host's root cannot change the host's nodes" {
  capabilities CAP_CHOWN CAP_FOWNER CAP_DAC_OVERRIDE
  config '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 65536}]
    | .linux.gidMappings = [{containerID: 0, hostID: 0, size: 65536}]'
  inside "echo thrown-away >/dev/null || exit 9; $(meddle_with /dev/null)"
  exits 0 "Read-only file system"
  null_is_roots
  add_mount '{"destination": "/host-null", "source": "/dev/null", "options": ["bind"]}'
  inside "$(meddle_with /host-null)"
  detector_catches null_is_roots
  restore_null
}

# meddle_with PATH: prints a shell script that changes the file's mode and owner.
meddle_with() { echo "chmod 600 $1; chown 7:7 $1; exit 0"; }

restore_null() {
  chown 0:0 /dev/null
  chmod 666 /dev/null
}
