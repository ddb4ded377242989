# Root of a user namespace that maps each id to itself: by its map, the namespace looks like the initial one.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
source "$LIB/pod-scene.bash"

identity() { "$LIB/identity-namespace" "$@"; }
# in_identity COMMAND…: ocirun in such a namespace.
in_identity() { run identity "$OCIRUN" --root "$ROOT" "$@"; }
# create_in_identity: init must not keep bats' pipes.
create_in_identity() {
  identity "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
}

setup() {
  common_setup
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  POD=$ID
}

teardown() {
  if has_pods; then delete_pods; fi
  common_teardown
}

@test "root of an identity-mapped user namespace: run, create, exec and delete work as for an ordinary user" {
  config '.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, minor: 3, access: "rwm"}]'
  script 'echo >/dev/null && stat -c %n /dev/null /dev/zero | wc -l; head -n 1 /proc/self/uid_map | xargs'
  in_identity run --bundle "$BUNDLE" "$ID"
  succeeds
  output_mentions "device rules are left out: only the host's root may set them"
  equal $'2\n0 0 4294967295' "$(tail -n 2 <<<"$output")"
  program sleep 1000
  export ID BUNDLE TMP
  run identity sh -ec '"$@" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
    "$@" start "$ID"
    "$@" exec "$ID" sh -c "echo >/dev/null && echo inside"
    "$@" list -q
    "$@" delete --force "$ID"' sh "$OCIRUN" --root "$ROOT"
  succeeds $'inside\n'"$ID"
}

@test "root of an identity-mapped user namespace: --rootless=false is an error that says why, =true and =auto are not" {
  local rootless
  config '.linux.resources.devices = [{allow: false, access: "rwm"}]'
  program echo fine
  in_identity --rootless=false run --bundle "$BUNDLE" "$ID"
  exits 1 devices
  for rootless in true auto; do
    in_identity --rootless=$rootless run --bundle "$BUNDLE" "$ID"
    succeeds
    output_mentions fine
  done
}

@test "root of an identity-mapped user namespace: XDG_RUNTIME_DIR has the state root, else it is root's own" {
  mkdir -m 700 "$TMP/xdg"
  program echo fine
  run identity env XDG_RUNTIME_DIR="$TMP/xdg" "$OCIRUN" run --bundle "$BUNDLE" "$ID"
  succeeds
  [[ -d $TMP/xdg/ocirun && ! -e /run/ocirun/$ID ]]
  run identity env -u XDG_RUNTIME_DIR "$OCIRUN" state "$ID"
  exits 1 "state root /run/ocirun;"
}

@test "root of an identity-mapped user namespace: a state root behind a link of another user is refused" {
  mkdir -m 755 "$TMP/of-user"
  mkdir "$TMP/real"
  ln -s "$TMP/real" "$TMP/of-user/link"
  chown -h 12345 "$TMP/of-user" "$TMP/of-user/link"
  run identity "$OCIRUN" --root "$TMP/of-user/link/root" run --bundle "$BUNDLE" "$ID"
  exits 1 "$TMP/of-user/link"
  [[ ! -e $TMP/real/root ]]
}

@test "root of an identity-mapped user namespace: the container's cgroup and its limits are root's" {
  needs_controller pids
  config '.linux.resources = {pids: {limit: 77}, devices: [{allow: false, access: "rwm"}]} | del(.linux.cgroupsPath)'
  program sleep 1000
  create_in_identity
  equal 77 "$(cat "$(cgroup pids "ocirun/$ID")/pids.max")"
  in_identity delete --force "$ID"
  succeeds
  [[ -z $(cgroups "$ID") ]]
}

@test "root of an identity-mapped user namespace: a pod has devices, an image and a cgroup, and leaves nothing" {
  needs_pods
  container app 'echo >/dev/null && echo "$(stat -c %u /bin/busybox) fine"'
  run identity "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --images images --net none --name "$POD" --restart never app.yaml
  succeeds
  output_mentions "0 fine"
  [[ -n $(compgen -G "$TMP/data/images/layers/*.user.nodev") ]]
  [[ -z $(pod_names) && -z $(cgroups "$POD") ]]
}
