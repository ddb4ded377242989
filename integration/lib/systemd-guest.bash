# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# What systemd.bats runs in a guest of vm/systemd-ns: a bundle and the runtime with systemd's cgroups.

set -euo pipefail
GUEST_LIB=$(readlink -f "${BASH_SOURCE[0]}")
export GUEST_LIB
W=$(mktemp -d)
PATH=$PATH:/usr/sbin:/sbin
instance=() rootless=()
[[ $(id -u) == 0 ]] || { instance=(--user) rootless=(--rootless); }
chmod 755 "$W"

ocirun() { timeout --foreground -k 2 40 "$OCIRUN" --root "$W/root" --systemd-cgroup "$@"; }
systemd() { systemctl "${instance[@]}" "$@"; }

# show UNIT PROPERTY: its value alone.
show() { systemd show --value -p "$2" "$1"; }

# equal WHAT EXPECTED FOUND
equal() { [[ $2 == "$3" ]] || { echo "$1: expected \"$2\", found \"$3\""; exit 1; }; }

# has UNIT PROPERTY VALUE
has() { equal "$1 $2" "$3" "$(show "$1" "$2")"; }

# bundle [FILTER [JQ OPTION…]]: $W/bundle, a busybox that sleeps.
bundle() {
  local name
  rm -rf "$W/bundle"
  mkdir -p "$W/bundle/rootfs/bin"
  cp "$(command -v busybox)" "$W/bundle/rootfs/bin/sh"
  for name in cat sleep tail; do ln -s sh "$W/bundle/rootfs/bin/$name"; done
  (cd "$W/bundle" && ocirun spec "${rootless[@]}")
  config '.process.terminal = false | .process.args = ["sleep", "1000"]'
  config "${@:-.}"
}

config() {
  jq "$1" "$W/bundle/config.json" "${@:2}" >"$W/bundle/new"
  mv "$W/bundle/new" "$W/bundle/config.json"
}

# up ID: created and started.
up() {
  ocirun create --bundle "$W/bundle" "$1" </dev/null >"$W/log" 2>&1 || { cat "$W/log"; exit 1; }
  ocirun start "$1"
}

# refused WORDS ID [OPTION…]: `create` fails so, and leaves nothing.
refused() {
  if ocirun "${@:3}" create --bundle "$W/bundle" "$2" </dev/null >"$W/log" 2>&1; then
    echo "was not refused: $1"
    exit 1
  fi
  grep -qF -- "$1" "$W/log" || { echo "expected: $1"; cat "$W/log"; exit 1; }
  [[ ! -e $W/root/$2 ]] || { echo "left its state behind"; exit 1; }
}

# pid ID; group PID: of the unified hierarchy.
pid() { ocirun state "$1" | jq .pid; }
group() { sed -n 's/^0:://p' "/proc/$1/cgroup"; }

# gone UNIT: systemd has forgotten it, and no cgroup of that name is left.
gone() {
  equal "$1 LoadState" not-found "$(show "$1" LoadState)"
  equal "cgroups of $1" "" "$(find /sys/fs/cgroup -type d -name "$1")"
}
