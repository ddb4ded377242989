load lib/common

# veth NAME: a pair NAME, NAME-peer on the host, removed by teardown at the latest.
veth() { ip link add "$1" type veth peer name "$1-peer"; }

teardown() {
  ip -o link | grep -o '[a-z0-9]*-peer' | sort -u | xargs -r -n 1 ip link del 2>/dev/null || true
  common_teardown
}

@test "L-29 a device moves into the container, up, with its name, its addresses and its MTU" {
  veth nda
  ip addr add 10.9.8.7/24 dev nda
  ip link set nda mtu 1400
  config '.linux.netDevices = {nda: {}}'
  inside 'ip -o addr show nda | grep -o 10.9.8.7/24; ip -o link show nda | grep -o "mtu 1400"; ip -o link show nda | grep -oE "[<,]UP[,>]"'
  succeeds
  mentions 10.9.8.7/24
  mentions "mtu 1400"
  mentions UP
}

@test "L-29 a device keeps its IPv6 address" {
  [[ -e /proc/net/if_inet6 ]] || skip "this kernel has no IPv6"
  veth nda
  ip addr add fd00:9::7/64 dev nda
  config '.linux.netDevices = {nda: {}}'
  inside 'ip -o addr show nda | grep -o fd00:9::7/64'
  succeeds fd00:9::7/64
}

@test "L-29 a device is renamed, and %d finds a free number" {
  veth nda
  veth ndb
  config '.linux.netDevices = {nda: {name: "eth0"}, ndb: {name: "net%d"}}'
  inside 'ls /sys/class/net | xargs'
  succeeds "eth0 lo net0"
}

@test "L-29 a missing device, a bad name and a taken name are refused and nothing has moved" {
  veth nda
  veth ndb
  refused nosuchdev '.linux.netDevices = {nosuchdev: {}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "sixteen-letters-"}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "a/b"}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "."}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "a b"}}'
  refused lo '.linux.netDevices = {nda: {name: "lo"}}'
  refused eth0 '.linux.netDevices = {nda: {name: "eth0"}, ndb: {name: "eth0"}}'
  ip link show nda >/dev/null
  ip link show ndb >/dev/null
}

@test "L-29 net devices without an own network namespace are refused" {
  veth nda
  refused network '.linux.netDevices = {nda: {}} | del(.linux.namespaces[] | select(.type == "network"))'
}

@test "L-29 a create that fails after the move leaves the device on the host with its name and address" {
  veth nda
  ip addr add 10.9.8.7/24 dev nda
  refused createRuntime '.linux.netDevices = {nda: {name: "eth0"}} | .hooks.createRuntime = [{path: "/bin/false"}]'
  ip -o addr show nda | grep -q 10.9.8.7/24
}
