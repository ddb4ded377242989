# shellcheck shell=bash disable=SC2034,SC2154 # tests use our variables
# Packets from pods to the host, for tests with lib/pods.bash: `source "$LIB/packets.bash"`.

# The addresses that only the host may reach, besides the pod itself; and two of other machines.
OF_HOST='127.0.0.1 127.0.0.2 0.0.0.0 192.0.2.9 192.0.2.10 224.0.0.251 255.255.255.255'
OF_HOST+=' ::1 :: ::ffff:127.0.0.1 2001:db8::9 2001:db8::10 fe80::9 ff01::1 ff02::fb'
OF_OTHERS='192.0.2.1 2001:db8::1'
PACKETS='packets frames outside0 20000 192.0.2.9 2001:db8::9'

# packets_setup_file: a way outside with more addresses of the host, and neighbours that are known, so that packets to them are seen.
packets_setup_file() {
  add_way_outside
  [[ -e /proc/sys/net/ipv6 ]] || return 0
  ip address add 192.0.2.10/24 dev outside0
  ip address add 2001:db8::10/64 nodad dev outside0
  ip address add fe80::9/64 nodad dev outside0
  ip neighbour add 192.0.2.1 lladdr 02:00:00:00:00:01 dev outside0
  ip neighbour add 2001:db8::1 lladdr 02:00:00:00:00:01 dev outside0
  echo '0 2147483647' >/proc/sys/net/ipv4/ping_group_range # pasta sends echo requests by such sockets
  c++ -std=c++23 -Os -static -o "$BATS_FILE_TMPDIR/packets" "$REPO/integration/lib/packets.cpp"
}
needs_packets() {
  needs_pasta
  [[ -x $BATS_FILE_TMPDIR/packets ]] || skip "needs IPv6"
  command -v python3 >/dev/null || skip "needs python3"
}

# watch_packets: notes in $TMP/seen what arrives on the host's devices, until the test ends.
watch_packets() {
  "$LIB/packet-watcher" 20000 250 >"$TMP/seen" 3>&- 4>&- &
  WATCHER=$!
  eventually grep -q watches "$TMP/seen"
}
stop_watching() {
  [[ -z ${WATCHER:-} ]] || kill "$WATCHER" 2>/dev/null || true
  WATCHER=
}

# packet_pod CAPABILITIES SCRIPT: app.yaml, a pod whose container has these fields of a securityContext and runs the script.
packet_pod() {
  cat >app.yaml <<END
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  restartPolicy: Never
  containers:
    - {name: app, image: base, command: [/bin/sh, -c], args: [$(jq -Rs . <<<"$2")], securityContext: {$1}}
END
}

# arrivals FILE: of the packets that FILE says were sent, those that arrived on a device of the host: "WAY PROTOCOL ADDRESS DEVICE".
arrivals() {
  sleep 0.3
  [[ $(grep -c ' sent$' "$1") -ge 3 ]] || { cat "$1" && return 1; }
  awk 'NR == FNR { if ($1 != "outside0") seen[$2 " " $3] = $1; next }
    ($3 " " $1) in seen { print $2, $3, $4, seen[$3 " " $1] }' "$TMP/seen" "$1" | sed 's/outside1/outside/' | sort -u
}

# all_ways DEVICE ADDRESS…: the arrivals when everything to the addresses arrives on DEVICE.
all_ways() {
  local address way protocol
  for address in "${@:2}"; do
    for way in socket bound frame frame-past-queues; do
      for protocol in udp tcp icmp; do echo "$way $protocol $address $1"; done
    done
  done | sort -u
}
