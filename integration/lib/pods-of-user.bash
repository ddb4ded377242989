# shellcheck shell=bash disable=SC2034 # tests use $POD
# Pods of an ordinary user for tests: `source "$LIB/pods-of-user.bash"` after lib/common and lib/ordinary-user. Each test has the image
# "base" in images/, and $POD (a pod's name).
# shellcheck source=integration/lib/image.bash
source "$LIB/image.bash"

setup() {
  user_setup
  POD=$ID DATA=$HOME_DIR/.local/share/ocirun
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  chown -R 0:0 "$BUNDLE/rootfs"
  echo mine >"$BUNDLE/rootfs/etc/of-web"
  chown 1000:1000 "$BUNDLE/rootfs/etc/of-web"
  cd "$HOME_DIR" || return
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  chown -R 12345:12345 images
}

teardown() {
  [[ ! -d $DATA/pods ]] || pod_names | while read -r name; do pod delete --force "$name" || true; done
  user_teardown
}

# pod WORD…: `ocirun pod WORD…` as the user, in a login of its own.
pod() { as_user HOME="$HOME_DIR" timeout --foreground 60 "$OCIRUN" pod "$@"; }
pod_names() { ls "$DATA/pods"; }
# run_pod [OPTION…]: runs app.yaml with the test's images and no network.
run_pod() {
  pod run --images images --net none --grace 1 --name "$POD" "$@" app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&- ||
    show_output
}
said() { grep -v 'warning: no cgroup is delegated' "$TMP/output"; }

has() { [[ $2 == *"$1"* ]] || { printf 'expected: %s\nin:       %s\n' "$1" "$2" && return 1; }; }

# container NAME SCRIPT [YAML-LINE…]: adds a container that runs a script to app.yaml.
container() {
  [[ -e app.yaml ]] || printf '%s\n' 'name: shop' 'type: Radius.Compute/containers@2025-08-01-preview' properties: '  containers:' >app.yaml
  {
    echo "    $1:"
    echo "      image: base"
    echo "      command: [/bin/sh, -c]"
    echo "      args: [$(jq -Rs . <<<"$2")]"
    [[ $# == 2 ]] || printf '      %s\n' "${@:3}"
  } >>app.yaml
}

says() { pod status --format json "$POD" | jq -r "$1"; }
is_now() { [[ $(says "$1") == "$2" ]]; }
reaches() { eventually is_now "$@"; }
has_lines() { [[ $(pod logs -c "$1" "$POD" 2>/dev/null | wc -l) -ge $2 ]]; }
nothing_left() {
  equal "" "$(pod_names)"
  equal "" "$(user list -q)"
  equal "" "$(find "$DATA" -name rootfs)"
}
