# The network of a pod's own, which pasta connects with the host's.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup_file() { add_way_outside; }
teardown_file() { remove_way_outside; }

forwarder() { jq .forwarder.pid "data/pods/$POD/pod.json"; }
answers() { [[ $(curl -s -m 2 http://127.0.0.1:18080/) == hello ]]; }

@test "a port of a container answers on the host with --publish-all, also when the supervisor was killed; delete ends pasta" {
  local pid
  [[ -x $(command -v pasta) && -e /dev/net/tun ]] || skip "needs pasta and /dev/net/tun"
  ip link show outside0 >/dev/null || skip "needs a pair of interfaces"
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod --publish-all
  pid=$(forwarder)
  [[ $(tr '\0' ' ' <"/proc/$pid/cmdline") == *"pasta --foreground"* ]]
  eventually answers
  kill -KILL "$(says .supervisor)"
  eventually answers
  pod delete --force "$POD"
  [[ ! -e /proc/$pid || $(<"/proc/$pid/stat") == *") Z "* ]]
  equal "" "$(pod_names)"
}

events() { pod events "$POD" | jq -r .event | xargs; }
has_recovered() { [[ $(events) == *" recovered ready" ]]; }

@test "pasta that is killed is started again; until then no container of the pod is ready" {
  needs_pasta
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod --publish-all
  eventually answers
  local first
  first=$(forwarder)
  kill -KILL "$first"
  eventually has_recovered
  has "degraded not-ready recovered ready" "$(events)"
  has "the pod's network is cut off: pasta was killed by signal 9 (SIGKILL)" "$(pod events "$POD" | jq -r 'select(.event == "degraded").detail')"
  equal "the pod's network is cut off" "$(pod events "$POD" | jq -r 'select(.event == "not-ready").detail')"
  [[ $(forwarder) != "$first" ]]
  eventually answers
  equal "running true null" "$(says '"\(.status) \(.containers[0].ready) \(.reason)"')"
  first=$(forwarder)
  pod delete --force "$POD"
  [[ ! -e /proc/$first || $(<"/proc/$first/stat") == *") Z "* ]]
}

@test "a port of the host that is taken is told by number, place and who has it, before anything starts" {
  needs_pasta
  container app 'busybox httpd -f -p 18080' 'ports: [{name: web, containerPort: 18080}]'
  python3 -c 'import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(("127.0.0.1", 18080)); s.listen()
print("listens", flush=True); time.sleep(1000)' >listens 3>&- &
  local other=$!
  eventually grep -q listens listens
  run run_pod --detach --net pod --publish-all
  equal 1 "$status"
  like "app\.yaml:11:[0-9]+: /spec/containers/0/ports/0(/containerPort)?: port 18080 of the host \(TCP, IPv4\) is taken by process $other \(python3" "$(<output)"
  equal "" "$(pod_names)"
  [[ ! -e data/images ]]
  # On the host's network the program may listen at another address.
  container_that_ends
  run run_pod --net host --restart never
  equal 0 "$status"
  like "warning: .*port 18080 of the host \(TCP, IPv4\) is taken by process $other \(python3" "$(<output)"
  kill -KILL "$other"
  wait "$other" || true
  rm app.yaml
  container app 'busybox httpd -f -p 18080' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod --publish-all
  local first=$POD
  POD=${POD}b
  run run_pod --detach --net pod --publish-all
  equal 1 "$status"
  like "is taken by the pod \"$first\" \(process [0-9]+, pas(ta|st)" "$(<output)"
  POD=$first
  pod delete --force "$POD"
}
container_that_ends() { sed -i 's/args: .*/args: ["exit 0"]/' app.yaml; }

served() { curl -s -m 2 -g "http://$1/"; }
serves() { [[ $(served "$1") == hello ]]; }

@test "a containerPort alone opens no port of the host: two pods have it, and run says how it is opened" {
  needs_pasta
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod
  has "warning: no port of the host leads to the port 18080 of the pod: --publish 18080=HOSTPORT opens it, --publish-all each port at the same number" "$(<"$TMP/output")"
  eventually serves_inside
  run served 127.0.0.1:18080
  differs_from 0 "$status"
  local first=$POD
  POD=${POD}b run_pod --detach --net pod
  equal running "$(says .status)"
  has "-     18080  tcp       app        web" "$(pod ports "$first")"
  equal '[null,false]' "$(pod ports --format json "$first" | jq -c '[.ports[0].hostPort, .ports[0].forwarded]')"
  pod delete --force "${first}b"
  # Somebody who chooses ports, or a network in which other pods reach all, is not told.
  for chosen in "-p web=18081" "--network shop"; do
    # shellcheck disable=SC2086 # two words
    run_pod --detach --net pod --replace=always $chosen
    [[ $(<"$TMP/output") != *"no port of the host leads"* ]]
  done
  run run_pod --detach --net none --replace -P
  equal 1 "$status"
  has "--publish-all: nobody would forward the ports with --net none" "$(<"$TMP/output")"
}
serves_inside() { [[ $(pod exec "$POD" busybox wget -q -O - http://127.0.0.1:18080/) == hello ]]; }

@test "--publish in podman's form is an error that has the value of ours" {
  container app 'exec sleep 1000' 'ports: [{name: web, containerPort: 18080}]'
  run run_pod --net pod -p 127.0.0.1:18083:18080/udp
  equal 1 "$status"
  has "--publish 127.0.0.1:18083:18080/udp: the port of the pod comes first: --publish 18080/udp=127.0.0.1:18083" "$(<"$TMP/output")"
}

@test "--publish leads other ports of the host to the pod, of IPv4 and IPv6; so the same document runs twice" {
  needs_pasta
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod --publish web=127.0.0.1:18081 --publish 'web=[::1]:18082'
  eventually serves 127.0.0.1:18081
  [[ ! -e /proc/sys/net/ipv6 ]] || eventually serves '[::1]:18082'
  run served 127.0.0.1:18080
  differs_from 0 "$status"
  POD=${POD}b
  run_pod --detach --net pod -p 18080=18083
  eventually serves 127.0.0.1:18083
  serves 127.0.0.1:18081
  # A taken port is told before anything starts.
  run run_pod --detach --net pod --name third -p web=18083
  equal 1 "$status"
  like "port 18083 of the host \(TCP, IPv4\) is taken by the pod \"$POD\"" "$(<output)"
  run run_pod --detach -p web=18084 # with --net none
  equal 1 "$status"
  has "--publish web=18084: nobody would forward the port with --net none" "$(<output)"
  run run_pod --detach --net host -p web=18084
  has "--net host: port 18084 of the host is to lead to port 18080 of a container" "$(<output)"
  run run_pod --detach --net pod --replace -p web=18083 # its own port counts as free
  equal 0 "$status"
  eventually serves 127.0.0.1:18083
}
differs_from() { [[ $1 != "$2" ]] || { echo "not expected: $1"; return 1; }; }

@test "a pod in a network of pods has its own network too: a port on the host, and another pod by name" {
  needs_pasta
  container app 'mkdir /www; echo hello >/www/index.html; busybox httpd -f -p 18080 -h /www' 'ports: [{name: web, containerPort: 18080}]'
  run_pod --detach --net pod --network shop -P
  eventually answers
  rm app.yaml && container app 'sleep 1000'
  POD=$ID.client run_pod --detach --net pod --network shop
  equal hello "$(pod exec "$ID.client" busybox wget -q -O - "http://$ID:18080/")"
  has outside "$(pod exec "$ID.client" busybox ip route)"
  pod delete --force "$ID.client"
}
