# `create` and `run --pin-namespaces DIR`: namespaces that live without a process.
load lib/common

setup() {
  common_setup
  PINS=$TMP/pins
}

pinned() { ocirun run --detach --pin-namespaces "$PINS" --bundle "$BUNDLE" "$@" "$ID" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-; }
mounts_below_pins() { grep -c " $PINS" /proc/self/mountinfo || true; }

@test "the namespaces live without a process, until delete; other programs and containers join them" {
  config '.hostname = "pinned"'
  script 'sleep 1000'
  pinned
  local init inode
  init=$(init_pid)
  inode=$(stat -L -c %i "/proc/$init/ns/net")
  equal "ipc mnt net pid uts" "$(cd "$PINS" && echo *)"
  ocirun kill "$ID" KILL
  eventually status_is stopped
  equal "$inode" "$(stat -c %i "$PINS/net")"
  equal pinned "$(nsenter --uts="$PINS/uts" hostname)"
  contains <(nsenter --net="$PINS/net" cat /proc/net/dev) "lo:"
  second_bundle=$TMP/second
  cp -r "$BUNDLE" "$second_bundle"
  jq --arg net "$PINS/net" '(.linux.namespaces[] | select(.type == "network")).path = $net | del(.hostname)
    | .process.args = ["/bin/busybox", "readlink", "/proc/self/ns/net"]' "$BUNDLE/config.json" >"$second_bundle/config.json"
  equal "net:[$inode]" "$(ocirun run --bundle "$second_bundle" "$ID-second")"
  ocirun delete "$ID"
  equal 0 "$(mounts_below_pins)"
  [[ ! -e $PINS ]]
}

@test "a directory that exists stays; joined namespaces are not pinned; a later mount over the pins is left alone" {
  mkdir "$PINS"
  config '(.linux.namespaces[] | select(.type == "ipc")).path = "/proc/self/ns/ipc"'
  script 'sleep 1000'
  pinned
  equal "mnt net pid uts" "$(cd "$PINS" && echo *)"
  mount -t tmpfs over "$PINS"
  run ocirun delete --force "$ID"
  succeeds
  output_mentions "are not mounted there"
  umount "$PINS"
  umount -R "$PINS"
  [[ -d $PINS ]]
}

@test "a create that fails leaves no pins; a directory that is not empty is refused" {
  run ocirun create --pin-namespaces "$PINS" --pid-file "$TMP/none/pid" --bundle "$BUNDLE" "$ID"
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

@test "a run in the foreground takes the pins away; a shared mount does not spread them" {
  mount -t tmpfs --make-shared shared "$TMP"
  mkdir -p "$TMP/pins" "$TMP/slave"
  script 'exit 3'
  run ocirun run --pin-namespaces "$PINS" --bundle "$BUNDLE" "$ID"
  exits 3
  equal 0 "$(mounts_below_pins)"
}
