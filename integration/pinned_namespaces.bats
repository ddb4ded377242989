# `create` and `run --pin-namespaces DIR`: namespaces that live without a process.
load lib/common

setup() {
  common_setup
  PINS=$TMP/pins
  THROUGH+=(taskset -c "$(fitting_processor)")
}

pinned() { ocirun run --detach --pin-namespaces "$PINS" --bundle "$BUNDLE" "$@" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || { cat "$TMP/output" && return 1; }; }
mounts_below_pins() { grep -c " $PINS" /proc/self/mountinfo || true; }

@test "the namespaces live without a process, until delete; other programs and containers join them" {
  config '.hostname = "pinned"'
  script 'sleep 1000'
  pinned
  local init inode
  init=$(init_pid)
  inode=$(stat -L -c %i "/proc/$init/ns/net")
  equal "cgroup ipc mnt net pid uts" "$(cd "$PINS" && echo *)"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  equal "$inode" "$(stat -c %i "$PINS/net")"
  equal pinned "$(nsenter --uts="$PINS/uts" hostname)"
  contains <(nsenter --net="$PINS/net" cat /proc/net/dev) "lo:"
  local second_bundle=$TMP/second
  cp -r "$BUNDLE" "$second_bundle"
  jq --arg net "$PINS/net" '(.linux.namespaces[] | select(.type == "network")).path = $net | del(.hostname)
    | .process.args = ["/bin/busybox", "readlink", "/proc/self/ns/net"]' "$BUNDLE/config.json" >"$second_bundle/config.json"
  equal "net:[$inode]" "$(ocirun run --bundle "$second_bundle" "$ID-second")"
  jq --arg pid "$PINS/pid" '(.linux.namespaces[] | select(.type == "pid")).path = $pid' "$BUNDLE/config.json" >"$second_bundle/config.json"
  run ocirun run --bundle "$second_bundle" "$ID-second"
  exits 1 "a pid namespace takes no new processes once its first process has ended"
  ocirun delete "$ID"
  equal 0 "$(mounts_below_pins)"
  [[ ! -e $PINS ]]
}

@test "a directory that exists stays; joined namespaces are not pinned; a later mount over the pins is left alone" {
  mkdir "$PINS"
  config '(.linux.namespaces[] | select(.type == "ipc")).path = "/proc/self/ns/ipc"'
  script 'sleep 1000'
  pinned
  equal "cgroup mnt net pid uts" "$(cd "$PINS" && echo *)"
  mount -t tmpfs over "$PINS"
  run ocirun delete --force "$ID"
  succeeds
  output_mentions "are not mounted there"
  umount "$PINS"
  umount -R "$PINS"
  [[ -d $PINS ]]
}

@test "delete finds the pins when the symlink to the directory has changed" {
  mkdir "$TMP/real"
  ln -s "$TMP/real" "$TMP/link"
  script 'sleep 1000'
  PINS=$TMP/link/
  pinned
  equal "cgroup ipc mnt net pid uts" "$(cd "$TMP/real" && echo *)"
  rm "$TMP/link"
  ocirun delete --force "$ID"
  PINS=$TMP/real
  equal 0 "$(mounts_below_pins)"
  [[ -d $TMP/real ]]
}

@test "a mount namespace that was made meanwhile keeps no pins" {
  script 'sleep 1000'
  cat >"$TMP/node" <<'END'
set -e
mount --make-rshared /
ocirun=$1 pins=$2 bundle=$3 id=$4 root=$5
unshare -m --propagation slave sleep 997 3>&- & earlier=$!
"$ocirun" --root "$root" run --detach --pin-namespaces "$pins" --bundle "$bundle" "$id" </dev/null >/dev/null 2>&1
unshare -m --propagation slave sleep 997 3>&- & later=$!
count() { grep -c " $pins" "/proc/$1/mountinfo" || true; }
for try in $(seq 200); do [ "$(cat /proc/$later/comm)" = sleep ] && break; sleep 0.05; done
echo "pinned: $(count self), later: $(count $later)"
"$ocirun" --root "$root" delete --force "$id"
echo "left: $(count self) $(count $earlier) $(count $later)"
kill $earlier $later
END
  run "${THROUGH[@]}" unshare -m --propagation private bash "$TMP/node" "$OCIRUN" "$PINS" "$BUNDLE" "$ID" "$ROOT"
  succeeds
  # tmpfs, six namespaces, the file of the mount namespace on itself
  output_mentions "pinned: 8, later: "
  [[ $output != *"later: 0"* ]]
  output_mentions "left: 0 0 0"
}

@test "a create that fails leaves no pins; a directory that is not empty is refused" {
  mkdir "$TMP/pid"
  run ocirun create --pin-namespaces "$PINS" --pid-file "$TMP/pid" --bundle "$BUNDLE" "$ID"
  exits 1 "pid-file"
  equal 0 "$(mounts_below_pins)"
  [[ ! -e $PINS ]]
  mkdir "$PINS"
  touch "$PINS/file"
  run ocirun create --pin-namespaces "$PINS" --bundle "$BUNDLE" "$ID"
  exits 1 "--pin-namespaces $PINS: is not empty"
  equal 0 "$(mounts_below_pins)"
  equal "" "$(ocirun list -q)"
}

@test "a run in the foreground takes the pins away" {
  script 'exit 3'
  run ocirun run --pin-namespaces "$PINS" --bundle "$BUNDLE" "$ID"
  exits 3
  equal 0 "$(mounts_below_pins)"
  [[ ! -e $PINS ]]
}
