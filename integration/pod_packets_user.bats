# Packets that the programs of an ordinary user's pod send to addresses of the host: as pod_packets.bats.
# shellcheck disable=SC2086 # lists of addresses

load lib/common
load lib/ordinary-user
source "$LIB/pods.bash"
source "$LIB/pods-of-user.bash"
source "$LIB/packets.bash"

setup_file() { packets_setup_file; }
teardown_file() { remove_way_outside; }

setup() {
  user_setup
  needs_packets
  POD=$ID DATA=$HOME_DIR/.local/share/ocirun
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  cp "$BATS_FILE_TMPDIR/packets" "$BUNDLE/rootfs/bin"
  chown -R 0:0 "$BUNDLE/rootfs"
  cd "$HOME_DIR"
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  chown -R 12345:12345 images
  mknod -m 0666 "$TMP/tun" c 10 200 # its usual mode, for this mount namespace
  mount --bind "$TMP/tun" /dev/net/tun
  watch_packets
}
teardown() {
  stop_watching
  [[ ! -d $DATA/pods ]] || pod_names | while read -r name; do pod delete --force "$name" || true; done
  umount /dev/net/tun 2>/dev/null || true
  user_teardown
}

send_from() {
  pod run --images images --no-prefix --name "$POD" "$@" app.yaml </dev/null >"$TMP/sent" 2>"$TMP/output" 3>&- 4>&- || show_output
}
WITH_FRAMES='capabilities: {add: [NET_RAW, NET_ADMIN]}'

@test "control: without the filter, packets of an ordinary user's pod arrive at the host's own addresses" {
  packet_pod "$WITH_FRAMES" "$PACKETS $OF_HOST $OF_OTHERS"
  send_from --net unfiltered
  for way in 'bound udp 127.0.0.1' 'frame tcp ::1' 'frame-past-queues udp 192.0.2.9'; do has "$way lo" "$(arrivals "$TMP/sent")"; done
}

@test "no packet of an ordinary user's pod arrives at the host's own addresses, with CAP_NET_ADMIN neither; others arrive" {
  packet_pod "$WITH_FRAMES" "$PACKETS $OF_HOST $OF_OTHERS"
  send_from --net pod
  equal "$(all_ways outside $OF_OTHERS)" "$(arrivals "$TMP/sent")"
}

@test "a socket of an ordinary user's pod that is bound to the device, and a network of pods, reach nothing on the host" {
  packet_pod 'capabilities: {drop: [ALL]}' "packets outside0 20000 192.0.2.9 2001:db8::9 $OF_HOST; packets ocirun0 20100 10.89.0.2 fd00::2 $OF_HOST"
  send_from --net pod --network shop
  grep -q 'bound udp 127.0.0.1 sent' "$TMP/sent"
  equal "" "$(arrivals "$TMP/sent")"
}
