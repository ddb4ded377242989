# A seccomp filter outside of ocirun, of an outer container's engine or of SystemCallFilter=, refuses newer system calls: with ENOSYS, as
# an older kernel does, or with EPERM, which is also the kernel's answer to a request without the right. ocirun tells the two apart.

load lib/common

setup() {
  common_setup
  [[ -z ${OCIRUN_TEST_WITHOUT:-} ]] || skip "the tests load filters of their own"
}

MOUNT_API="open_tree move_mount fsopen fsconfig fsmount fspick"
KEYRINGS="keyctl add_key request_key"
EVERY_CALL="openat2 clone3 close_range pidfd_open pidfd_send_signal $MOUNT_API mount_setattr $KEYRINGS faccessat2"

# without ERRNO CALLS COMMAND…: ocirun's command, where a filter answers CALLS with ERRNO. Sets $status and $output as attempt does.
without() {
  local calls
  read -ra calls <<<"$2"
  status=0
  "$LIB/without" "--errno=$1" "${calls[@]}" -- "$OCIRUN" --root "$ROOT" "${@:3}" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || status=$?
  output=$(<"$TMP/output")
}

# works ERRNO CALLS COMMAND…: the command ends with status 0 and without a word.
works() {
  without "$@"
  [[ $status == 0 && -z $output ]] || { echo "$1 for $2: ${*:3}: status $status: $output" && return 1; }
}

# lives ERRNO CALLS: a container's whole life passes under the filter.
lives() {
  works "$@" create --bundle "$BUNDLE" "$ID"
  works "$@" start "$ID"
  works "$@" exec "$ID" /bin/true
  works "$@" exec --detach "$ID" /bin/sleep 1000
  works "$@" pause "$ID"
  works "$@" resume "$ID"
  works "$@" kill --all "$ID" TERM
  works "$@" kill "$ID" KILL
  wait_for status_is stopped
  works "$@" delete "$ID"
}

# Mounts of each kind, a mask, a hook, a device: what the refused calls would have made.
config_of_every_kind() {
  mkdir "$TMP/shared"
  echo kept >"$TMP/shared/file"
  config '.mounts += [{destination: "/shared", source: $shared, options: ["rbind", "ro", "nosuid"]},
      {destination: "/scratch", type: "tmpfs", options: ["noexec", "size=64k"]}]
    | .linux.maskedPaths = ["/proc/version", "/proc/irq"] | .linux.readonlyPaths = ["/proc/sys"] | .root.readonly = true
    | .hooks.startContainer = [{path: "/bin/true"}]' --arg shared "$TMP/shared"
}

# sees_its_walls ERRNO CALLS: the container has its attributes, masks and ids.
sees_its_walls() {
  script 'cat /shared/file; (touch /shared/new || touch /new || echo x >/proc/sys/kernel/domainname) 2>/dev/null || echo read-only
    wc -c </proc/version; ls /proc/irq | wc -l; grep -c " /scratch [^-]*noexec" /proc/self/mountinfo; echo $$'
  without "$@" run --bundle "$BUNDLE" "$ID"
  [[ $status == 0 && $output == $'kept\nread-only\n0\n0\n1\n1' ]] ||
    { echo "$1 for $2: status $status: $output" && return 1; }
}

every_row() {
  local error calls
  for error in EPERM ENOSYS; do
    for calls in openat2 clone3 close_range pidfd_open pidfd_send_signal open_tree move_mount fsopen fsconfig fsmount fspick \
      "$MOUNT_API" mount_setattr "$KEYRINGS" faccessat2 "$EVERY_CALL"; do
      "$1" "$error" "$calls"
    done
  done
}

@test "a container has its walls under an outer filter, whichever call the filter refuses, with EPERM or ENOSYS" {
  config_of_every_kind
  every_row sees_its_walls
}

@test "a container in a user namespace has its walls too" {
  config_of_every_kind
  config '(.mounts[] | select(.destination == "/shared").options) = ["rbind"]' # "ro" is locked: below
  user_namespace
  every_row sees_its_walls
}

@test "every command works under an outer filter that answers EPERM" {
  program /bin/sleep 1000
  local calls
  for calls in clone3 pidfd_open pidfd_send_signal "$MOUNT_API mount_setattr" "$EVERY_CALL"; do lives EPERM "$calls"; done
}

@test "every command works under an outer filter that answers ENOSYS" {
  program /bin/sleep 1000
  local calls
  for calls in pidfd_open pidfd_send_signal "$EVERY_CALL"; do lives ENOSYS "$calls"; done
}

@test "delete --force ends a container without pid namespace where an outer filter refuses pidfds" {
  drop_namespace pid
  script "sleep 1000 & exec sleep 1000"
  local calls
  for calls in pidfd_open pidfd_send_signal "pidfd_open pidfd_send_signal"; do
    create_and_start
    works EPERM "$calls" delete --force "$ID"
  done
}

# names CALL: the error names the call, the filter and what to do.
names() {
  [[ $status != 0 ]]
  output_mentions "a seccomp filter outside of ocirun refuses $1: allow $1 there"
  output_never_mentions CAP_SYS_ADMIN
}

@test "keyctl alone: the container would keep its caller's session keyring, so the error names the call and --no-new-keyring" {
  without EPERM keyctl run --bundle "$BUNDLE" "$ID"
  names keyctl
  output_mentions "or use --no-new-keyring"
  program /bin/true
  works EPERM keyctl run --no-new-keyring --bundle "$BUNDLE" "$ID"
}

@test "a protected bind in a user namespace is never left without its lock: the error names the call" {
  config_of_every_kind
  user_namespace
  program /bin/true
  local call
  for call in open_tree move_mount; do
    without EPERM "$call" run --bundle "$BUNDLE" "$ID"
    names "$call"
  done
}

@test "what needs a refused call is refused with the name of the call: rro, id-mapped mounts" {
  program /bin/true
  cp "$BUNDLE/config.json" "$TMP/plain"
  add_mount "{\"destination\": \"/mnt\", \"source\": \"$TMP\", \"options\": [\"rbind\", \"rro\"]}"
  without EPERM mount_setattr run --bundle "$BUNDLE" "$ID"
  names mount_setattr
  cp "$TMP/plain" "$BUNDLE/config.json"
  user_namespace
  add_mount "{\"destination\": \"/mnt\", \"source\": \"$TMP\", \"options\": [\"bind\", \"idmap\"]}"
  without EPERM mount_setattr run --bundle "$BUNDLE" "$ID"
  names mount_setattr
}

# keep_image: the first `run` keeps an image of the executable, which needs no memory file. A new executable has to settle before.
keep_image() {
  needs_kept_image
  ocirun run --bundle "$BUNDLE" "$ID"
}

@test "the host's executable is sealed without memfd_create from a kept image, or else the error names the call" {
  program /bin/true
  keep_image
  works EPERM memfd_create run --bundle "$BUNDLE" "$ID"
  works ENOSYS memfd_create run --bundle "$BUNDLE" "$ID"
  without EPERM "$EVERY_CALL memfd_create" run --bundle "$BUNDLE" "$ID"
  if [[ $status != 0 ]]; then names memfd_create; fi
}

@test "a hook reads the state where an outer filter refuses memfd_create" {
  program /bin/true
  keep_image
  config '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", $s]}]' --arg s "cat >$TMP/state"
  local error
  for error in EPERM ENOSYS; do
    works "$error" memfd_create run --bundle "$BUNDLE" "$ID"
    [[ $(jq -r .id "$TMP/state") == "$ID" ]]
  done
}

@test "P-6 CAP_DAC_OVERRIDE executes a program of another user where an outer filter refuses faccessat2" {
  cp "$BUNDLE/rootfs/bin/busybox" "$BUNDLE/rootfs/etc/busybox2"
  chmod 0100 "$BUNDLE/rootfs/etc/busybox2"
  config '.process.user = {uid: 1000, gid: 1000}
    | .process.capabilities = (["CAP_DAC_OVERRIDE"] | {bounding: ., effective: ., permitted: ., inheritable: ., ambient: .})'
  program /etc/busybox2 echo fine
  local error
  for error in EPERM ENOSYS; do
    without "$error" faccessat2 run --bundle "$BUNDLE" "$ID"
    succeeds fine
  done
  config 'del(.process.capabilities)'
  without EPERM faccessat2 run --bundle "$BUNDLE" "$ID"
  exits 1 "permission denied"
}

@test "root whose outer filter refuses clone too is not told that CAP_SYS_ADMIN is missing" {
  program /bin/true
  without EPERM "clone3 clone" run --bundle "$BUNDLE" "$ID"
  exits 1 "a seccomp filter outside of ocirun or a security module refuses clone with new namespaces: allow it there"
  output_never_mentions CAP_SYS_ADMIN
}

@test "the kernel's own EPERM keeps its message: no right to make namespaces" {
  program /bin/true
  run setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$OCIRUN" --root "$ROOT" --cgroup-manager=disabled run --bundle "$BUNDLE" "$ID"
  [[ $status != 0 ]]
  output_mentions "CAP_SYS_ADMIN is missing"
  output_never_mentions "seccomp filter"
}
