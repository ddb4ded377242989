# As an ordinary user, without a delegated cgroup: what slirp-less podman, Slurm and people by hand do.
load lib/common

setup() {
  common_setup
  HOME_DIR=$TMP/home
  mkdir "$HOME_DIR"
  cp -a "$BUNDLE" "$HOME_DIR/bundle"
  BUNDLE=$HOME_DIR/bundle ROOT=$HOME_DIR/xdg/ocirun
  mkdir "$HOME_DIR/xdg"
  config 'del(.linux.resources, .linux.cgroupsPath) | .linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 12345, size: 1}] | .linux.gidMappings = [{containerID: 0, hostID: 12345, size: 1}]
    | (.mounts[] | select(.type == "devpts")).options -= ["gid=5"]'
  program echo fine
  chown -R 12345:12345 "$HOME_DIR"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  untraced remember_host
}

# user COMMAND…: ocirun as uid 12345, with the environment of a login and no --root.
user() {
  setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" XDG_RUNTIME_DIR="$HOME_DIR/xdg" timeout --foreground 30 "$OCIRUN" "$@"
}

edit_as_user() {
  config "$@"
  chown 12345:12345 "$BUNDLE/config.json"
}

@test "an ordinary user runs a container; its state lies below XDG_RUNTIME_DIR" {
  run user run --bundle "$BUNDLE" "$ID"
  succeeds
  mentions fine
  exists "$HOME_DIR/xdg/ocirun"
  equal 12345 "$(stat -c %u "$HOME_DIR/xdg/ocirun")"
}

@test "an ordinary user creates, starts, asks, kills and deletes" {
  edit_as_user '.process.args = ["sleep", "1000"]'
  user create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal created "$(user state "$ID" | jq -r .status)"
  user start "$ID"
  equal running "$(user state "$ID" | jq -r .status)"
  run user exec "$ID" id -u
  succeeds
  mentions 0
  user kill "$ID" KILL
  eventually eval '[[ $(user state "$ID" | jq -r .status) == stopped ]]'
  user delete "$ID"
}

@test "what spec --rootless writes runs" {
  rm "$BUNDLE/config.json"
  run user spec --rootless --bundle "$BUNDLE"
  succeeds
  edit_as_user '.process.terminal = false | .process.args = ["echo", "fine"]'
  run user run --bundle "$BUNDLE" "$ID"
  succeeds
  mentions fine
}

@test "R-46 a limit that cannot be applied is a warning with --rootless=auto, an error with --rootless=false" {
  edit_as_user '.linux.resources = {devices: [{allow: false, access: "rwm"}]}'
  run user run --bundle "$BUNDLE" "$ID"
  succeeds
  mentions fine
  mentions warning
  run user --rootless=false run --bundle "$BUNDLE" "$ID"
  exits 1
}

@test "M-15 devpts with a group that the mapping lacks is refused in words" {
  edit_as_user '(.mounts[] | select(.type == "devpts")).options += ["gid=5"]'
  run user run --bundle "$BUNDLE" "$ID"
  exits 1 gid=5
}

@test "P-21 groups that the mapping cannot give are refused" {
  edit_as_user '.process.user.additionalGids = [5]'
  run user run --bundle "$BUNDLE" "$ID"
  exits 1 additionalGids
}

@test "M-13 with the host's network namespace sysfs is the host's, bound" {
  edit_as_user 'del(.linux.namespaces[] | select(.type == "network")) | .process.args = ["ls", "/sys/class/net"]'
  run user run --bundle "$BUNDLE" "$ID"
  succeeds
  mentions lo
}

@test "runc CVE-2023-25809 the cgroup tree cannot be written from inside, with and without a cgroup namespace" {
  edit_as_user '.process.args = ["sh", "-c", "exec 2>&1; mkdir /sys/fs/cgroup/memory/evil; touch /sys/fs/cgroup/evil; exit 0"]'
  run user run --bundle "$BUNDLE" "$ID"
  mentions "Read-only file system"
  edit_as_user 'del(.linux.namespaces[] | select(.type == "cgroup"))'
  run user run --bundle "$BUNDLE" "$ID"
  mentions "Read-only file system"
}

@test "root asks for, kills and deletes a user's container in the user's state root (Slurm)" {
  edit_as_user '.process.args = ["sleep", "1000"]'
  user --root "$ROOT" run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal running "$(ocirun state "$ID" | jq -r .status)"
  ocirun kill -a "$ID" KILL
  eventually status_is stopped
  ocirun delete --force "$ID"
}

@test "root's container is not another user's to touch" {
  ROOT=$TMP/root-of-root BUNDLE=$HOME_DIR/bundle
  config '.process.args = ["sleep", "1000"]'
  create_and_start
  run user --root "$ROOT" kill "$ID" KILL
  exits 1
  run user --root "$ROOT" delete --force "$ID"
  status_is running
}
