# `ocirun pod ports`: which ports of the host lead to which ports of a pod.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

setup_file() { add_way_outside; }
teardown_file() { remove_way_outside; }

forwarder() { jq .forwarder.pid "data/pods/$POD/pod.json"; }
# ports FILTER: what `pod ports --format json` says of the pod $POD.
ports() { pod ports --format json "$POD" | jq -c "$1"; }

@test "ports of a pod that pasta forwards: address, protocol, container and name, and whether pasta runs" {
  needs_pasta
  container app 'exec sleep 1000' 'ports: [{name: web, containerPort: 18080}, {name: dns, containerPort: 15353, protocol: UDP}]'
  run_pod --detach --net pod --publish web=127.0.0.1:18081 --publish 'web=[::1]:18082' --publish 19000=19001
  local pid
  pid=$(forwarder)
  run pod ports "$POD"
  equal "$POD: pasta (process $pid) forwards the ports
HOST             PORT   PROTOCOL  CONTAINER  NAME
127.0.0.1:18081  18080  tcp       app        web
[::1]:18082      18080  tcp       app        web
*:19001          19000  tcp       -          -
-                15353  udp       app        dns" "$output"
  equal "[\"$POD\",\"running\",\"pod\",$pid,4]" "$(ports '[.name, .status, .net, .forwarder, (.ports | length)]')"
  equal '{"hostAddress":"127.0.0.1","hostPort":18081,"port":18080,"protocol":"tcp","container":"app","name":"web","forwarded":true}' "$(ports '.ports[0]')"
  equal '{"hostAddress":null,"hostPort":19001,"port":19000,"protocol":"tcp","container":null,"name":null,"forwarded":true}' "$(ports '.ports[2]')"
  # The supervisor is killed: pasta goes on.
  kill -KILL "$(says .supervisor)"
  eventually is_now .supervisor null
  has "pasta (process $pid) forwards the ports" "$(pod ports "$POD")"
  equal '[true,true,true,false]' "$(ports '[.ports[].forwarded]')"
  kill -KILL "$pid"
  eventually ends "$pid"
  has "no port leads to it: its supervisor (process" "$(pod ports "$POD")"
  equal '[false]' "$(ports '[.ports[].forwarded] | unique')"
}
ends() { [[ ! -e /proc/$1 || $(<"/proc/$1/stat") == *") Z "* ]]; }

@test "pods that have ended or have no ports are told, and so is a network whose ports nobody forwards" {
  container app 'exec sleep 1000'
  run_pod --detach
  equal "$POD: has no ports" "$(pod ports "$POD")"
  equal '["none",null,[]]' "$(ports '[.net, .forwarder, .ports]')"
  pod stop "$POD"
  equal "$POD: has no ports, and has ended" "$(pod ports "$POD")"
  rm app.yaml
  container app 'exec sleep 1000' 'ports: [{name: web, containerPort: 18080}]'
  local first=$POD
  POD=${POD}b
  run_pod --detach
  equal "$POD: has no network, and no port of the host leads to it
HOST  PORT   PROTOCOL  CONTAINER  NAME
-     18080  tcp       app        web" "$(pod ports "$POD")"
  equal 'null' "$(ports '.ports[0].hostPort')"
  run_pod --detach --replace --net host
  has "$POD: has the host's network, where its programs open the ports themselves" "$(pod ports "$POD")"
  has '*:18080  18080  tcp       app        web' "$(pod ports "$POD")"
  equal '["host",18080,false]' "$(ports '[.net, .ports[0].hostPort, .ports[0].forwarded]')"
  pod stop "$POD"
  has "$POD: has ended, and no port leads to it" "$(pod ports "$POD")"
  equal '["stopped",18080,false]' "$(ports '[.status, .ports[0].hostPort, .ports[0].forwarded]')"
  # All pods, sorted; with one of which the request is unknown.
  equal "$first
$POD" "$(pod ports --format json | jq -r '.[].name')"
  rm "data/pods/$first/run.json"
  run pod ports
  equal 1 "$status"
  output_mentions "$first: the pod \"$first\" has no run.json"
  output_mentions "$POD: has ended"
  run pod ports nobody
  equal 1 "$status"
  output_mentions 'there is no pod "nobody"'
}

@test "the ports of a bundle under the Knative contract are those of its config.json" {
  config '.process.args = ["/bin/sh", "-c", "httpd -h / -p $PORT; while :; do sleep 0.1; done"] | .process.env += ["PORT=8081"]'
  mkdir -p "$BUNDLE/rootfs/"{tmp,etc,var}
  quietly ocirun pod run --data "$TMP/data" --detach --net none --grace 1 --name "$POD" --profile knative "$BUNDLE"
  like '^-     8081  tcp       user-container ' "$(pod ports "$POD" | tail -n 1)"
}
