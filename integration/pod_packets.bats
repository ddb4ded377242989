# Packets that the programs of a pod send to addresses of the host: lib/packets.cpp sends each protocol to each address, by a socket, by a
# socket that is bound to the device, and as a frame. Each test has its control in the first two, where such packets do arrive.
# shellcheck disable=SC2086 # lists of addresses

load lib/common
source "$LIB/pod-scene.bash"
source "$LIB/packets.bash"

setup_file() { packets_setup_file; }
teardown_file() { remove_way_outside; }

setup() {
  common_setup
  needs_packets
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  cp "$BATS_FILE_TMPDIR/packets" "$BUNDLE/rootfs/bin"
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  POD=$ID
  watch_packets
}
teardown() {
  stop_watching
  delete_pods
  common_teardown
}

# send_from NETWORK…: runs the pod with these options until its program has ended; what it printed is $TMP/sent.
send_from() {
  ocirun pod run --data "$TMP/data" --images images --no-prefix --name "$POD" "$@" app.yaml </dev/null >"$TMP/sent" 2>"$TMP/output" ||
    show_output
}

WITH_FRAMES='capabilities: {add: [NET_RAW, NET_ADMIN]}'
WITHOUT='runAsUser: 65534, runAsGroup: 65534, capabilities: {drop: [ALL]}'

@test "control: without the filter, packets of a pod arrive at the host's own addresses" {
  packet_pod "$WITH_FRAMES" "$PACKETS $OF_HOST $OF_OTHERS"
  send_from --net unfiltered
  local arrived
  arrived=$(arrivals "$TMP/sent")
  for way in 'bound udp' 'frame tcp' 'frame-past-queues icmp'; do
    for address in 127.0.0.1 127.0.0.2 ::1; do has "$way $address lo" "$arrived"; done
  done
  for address in 0.0.0.0 192.0.2.9 192.0.2.10 2001:db8::9 fe80::9; do has "frame tcp $address lo" "$arrived"; done
  has "socket udp 224.0.0.251 outside" "$arrived"
  has "bound tcp ::ffff:127.0.0.1 lo" "$arrived"
  has "socket tcp 192.0.2.1 outside" "$arrived"
}

@test "control: with --net host, packets arrive at the host's own addresses" {
  packet_pod "$WITHOUT" "packets outside0 20000 192.0.2.9 2001:db8::9 127.0.0.1 192.0.2.9 ::1"
  send_from --net host
  has "socket udp 127.0.0.1 lo" "$(arrivals "$TMP/sent")"
  has "socket tcp ::1 lo" "$(arrivals "$TMP/sent")"
}

@test "no packet of a pod arrives at the host's own addresses, frames past the queues neither; others arrive" {
  packet_pod "$WITH_FRAMES" "$PACKETS $OF_HOST $OF_OTHERS"
  send_from
  equal "$(all_ways outside $OF_OTHERS)" "$(arrivals "$TMP/sent")"
}

@test "without a capability, a socket that is bound to the device reaches nothing on the host" {
  packet_pod "$WITHOUT" "packets outside0 20000 192.0.2.9 2001:db8::9 $OF_HOST $OF_OTHERS"
  send_from --net pod
  grep -q 'bound udp 127.0.0.1 sent' "$TMP/sent"
  equal "$(all_ways outside $OF_OTHERS | grep -v frame | grep -v icmp)" "$(arrivals "$TMP/sent" | grep -v icmp)"
}

@test "frames with another source than the pod's do not arrive" {
  packet_pod "$WITH_FRAMES" "packets frames outside0 20000 192.0.2.99 2001:db8:1::9 $OF_OTHERS
    packets frames outside0 20100 127.0.0.1 ::1 $OF_OTHERS"
  send_from
  equal "$(all_ways outside $OF_OTHERS | grep -v frame)" "$(arrivals "$TMP/sent")"
}

@test "CAP_NET_ADMIN does not open the gate: another name, addresses of the host, a device that was down" {
  packet_pod "$WITH_FRAMES" "
    ip link set outside0 down; ip link set outside0 name other0; ip link set other0 address 02:00:00:00:00:77; ip link set other0 up
    ip address add 127.0.0.5/8 dev other0; ip address add 0.0.0.5/8 dev other0; ip route add default via 192.0.2.1 dev other0
    sleep 0.1; packets frames other0 20000 192.0.2.9 2001:db8::9 $OF_HOST; packets frames other0 20200 127.0.0.5 ::1 127.0.0.1 ::1"
  send_from
  equal "" "$(arrivals "$TMP/sent")"
}

@test "while pasta starts again, and after it has, no packet arrives at the host's own addresses" {
  packet_pod "$WITH_FRAMES" "while :; do ip link set outside0 up; packets frames outside0 20000 192.0.2.9 2001:db8::9 127.0.0.1 ::1; done 2>/dev/null"
  ocirun pod run --data "$TMP/data" --images images --detach --name "$POD" app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  local pasta again=0
  for again in 1 2; do
    pasta=$(jq .forwarder.pid "data/pods/$POD/pod.json")
    kill -KILL "$pasta"
    has_restarted() { [[ $(pod events "$POD" | jq -r .event | grep -c recovered) == "$again" ]]; }
    eventually has_restarted
  done
  has_sent_frames() { [[ $(pod logs "$POD") == *"frame udp 127.0.0.1 sent"* ]]; }
  eventually has_sent_frames # a quick pasta starts twice before the program comes so far
  pod logs "$POD" | grep ' sent$' >"$TMP/sent"
  has "frame udp 127.0.0.1 sent" "$(<"$TMP/sent")"
  equal "" "$(arrivals "$TMP/sent")"
}

@test "an adopted pod has its filter, and a pasta that nobody has connected is replaced" {
  packet_pod "$WITH_FRAMES" "sleep 1000"
  ocirun pod run --data "$TMP/data" --images images --detach --restart always --name "$POD" app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  local pasta supervisor
  pasta=$(jq .forwarder.pid "data/pods/$POD/pod.json") supervisor=$(says .supervisor)
  kill -KILL "$supervisor"
  eventually test ! -e "/proc/$supervisor/exe"
  quietly pod start "$POD"
  equal "$pasta" "$(jq .forwarder.pid "data/pods/$POD/pod.json")"
  kill -KILL "$(says .supervisor)"
  rm "data/pods/$POD/net.connected" # as if the supervisor had been killed before it opened the gate
  quietly pod start "$POD"
  has_another() { [[ $(jq .forwarder.pid "data/pods/$POD/pod.json") != "$pasta" && -e data/pods/$POD/net.connected ]]; }
  eventually has_another
  pod exec -c app "$POD" $PACKETS $OF_HOST $OF_OTHERS >"$TMP/sent"
  equal "$(all_ways outside $OF_OTHERS)" "$(arrivals "$TMP/sent")"
}

@test "nothing of a pod with --net none, or in a network of pods, arrives on the host" {
  packet_pod "$WITH_FRAMES" "packets frames lo 20000 127.0.0.1 ::1 $OF_HOST"
  send_from --net none
  equal "" "$(arrivals "$TMP/sent")"
  packet_pod "$WITH_FRAMES" "packets frames ocirun0 20000 10.89.0.2 fd00::2 $OF_HOST"
  send_from --net none --network shop
  equal "" "$(arrivals "$TMP/sent")"
  packet_pod "$WITH_FRAMES" "packets frames ocirun0 20000 10.89.0.2 fd00::2 127.0.0.1 ::1; packets frames outside0 20050 192.0.2.9 2001:db8::9 127.0.0.1 ::1"
  send_from --net pod --network shop
  equal "" "$(arrivals "$TMP/sent")"
}

@test "the answers of published ports leave the pod: TCP and UDP, from the host's loopback and its own addresses, IPv4 and IPv6" {
  cat >app.yaml <<END
apiVersion: v1
kind: Pod
metadata: {name: shop}
spec:
  containers:
    - {name: app, image: base, ports: [{containerPort: 18081}, {containerPort: 18081, protocol: UDP}], command: [packets, answer, "18081"]}
END
  ocirun pod run --data "$TMP/data" --images images --detach --publish-all --name "$POD" app.yaml </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  cat >ask.py <<'END'
import socket, sys
for question in sys.argv[1:]:
    kind, address = question.split("@")
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, getattr(socket, kind)) as s:
        s.settimeout(2)
        s.connect((address, 18081))
        s.send(b"hello")
        assert s.recv(5) == b"hello", question
print("all answered")
END
  # This pasta itself loses datagrams from the other addresses.
  all_answer() {
    [[ $(python3 ask.py SOCK_STREAM@{127.0.0.1,::1,192.0.2.9,192.0.2.10,2001:db8::9,2001:db8::10} \
      SOCK_DGRAM@{127.0.0.1,::1,2001:db8::9} 2>/dev/null) == "all answered" ]]
  }
  eventually all_answer
}

# fake_pasta TEXT: the script runs in pasta's place.
fake_pasta() {
  mkdir -p fake
  printf '%s\n' '#!/bin/bash' 'while [[ $1 != --pid ]]; do shift; done; pid_file=$2' "$1" >fake/pasta
  chmod +x fake/pasta
}

@test "a pasta whose frames cannot be filtered is refused by name, unless the network is asked for without a filter" {
  packet_pod "$WITHOUT" "echo runs"
  fake_pasta 'echo $$ >"$pid_file"; exec sleep 1000'
  PATH=$PWD/fake:$PATH run -1 send_from --net pod
  has "pasta: has connected the pod without a tap device of its own (--net unfiltered connects the pod without a filter: its programs can then" "$output"
  equal "" "$(pod_names)"
  run -1 pgrep -f "$PWD/fake/pasta"
  PATH=$PWD/fake:$PATH send_from --net unfiltered
  equal runs "$(<"$TMP/sent")"
}
