# The network of a pod's own, which pasta connects with the host's.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup_file() {
  # pasta copies the addresses of the interface that leads outside.
  ip link add outside0 type veth peer name outside1 2>/dev/null || return 0
  ip link set outside1 up
  ip address add 192.0.2.9/24 dev outside0
  ip link set outside0 up
  ip route add default via 192.0.2.1
}
teardown_file() { ip link delete outside0 2>/dev/null || true; }

forwarder() { jq .forwarder.pid "data/pods/$POD/pod.json"; }
answers() { [[ $(curl -s -m 2 http://127.0.0.1:18080/) == hello ]]; }

@test "a port of a container answers on the host, also when the supervisor was killed; delete ends pasta" {
  local pid
  [[ -x $(command -v pasta) && -e /dev/net/tun ]] || skip "needs pasta and /dev/net/tun"
  ip link show outside0 >/dev/null || skip "needs a pair of interfaces"
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod
  pid=$(forwarder)
  [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") == *"pasta --foreground"* ]]
  eventually answers
  kill -KILL "$(says .supervisor)"
  eventually answers
  pod delete --force "$POD"
  [[ ! -e /proc/$pid || $(<"/proc/$pid/stat") == *") Z "* ]]
  equal "" "$(pod_names)"
}
