# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Checks of swarm.bash: `ocirun pod export --to swarm` on a Swarm of three nodes, which are three daemons in namespaces of their own. This
# kernel may lack IP_VS, so that ports are those of the nodes of the tasks, and names lead to the addresses of the tasks.
NODES=(n1 n2 n3)
POD_OCIRUN=${OCIRUN:-$(dirname "${BASH_SOURCE[0]}")/../../build/release/ocirun}

# on NODE ARGUMENT…: docker as a client of the node's daemon. n1 is the manager.
on() { DOCKER_HOST=unix://$WORK/$1/docker.sock "$DOCKER" "${@:2}"; }
address() { echo "10.66.0.${1#n}"; }

# start_node NAME: network, mount, UTS and pid namespaces, in which a daemon runs whose containers end with it. $TMPDIR lies in the private
# /run: a node has one of its own there.
start_node() {
  local name=$1 home=$WORK/$1
  mkdir -p "$home" /run/netns && touch "/run/netns/$name"
  unshare --net="/run/netns/$name" true &&
    ip link add "$name" type veth peer name eth0 netns "$name" && ip link set "$name" master nodes up &&
    ip -n "$name" addr add "$(address "$name")/24" dev eth0 && ip -n "$name" link set eth0 up && ip -n "$name" link set lo up &&
    ip -n "$name" route add default via 10.66.0.254 || return 1
  jq '."exec-opts" = ["native.cgroupdriver=cgroupfs"]' "$WORK/daemon.json" >"$home/daemon.json"
  daemon "$name" nsenter --net="/run/netns/$name" unshare --mount --uts --pid --fork --kill-child --mount-proc bash -c '
    hostname "$1" && mount -t tmpfs -o mode=0755 tmpfs /run && mkdir -m 1777 -p "$TMPDIR" || exit 1
    exec dockerd --host unix:///run/docker.sock --host "unix://$2/docker.sock" --data-root "$2/data" --exec-root /run/docker-exec \
      --pidfile /run/docker.pid --bridge=none --ip6tables=false --userland-proxy=false --cgroup-parent "$3" --config-file "$2/daemon.json"' \
    - "$name" "$home" "/${OCIRUN_TEST_MARK}swarm-$name"
  NODE_PIDS[$name]=${DAEMONS[-1]}
}
declare -A NODE_PIDS=()

three_nodes() {
  local name token
  ip link add nodes type bridge && ip addr add 10.66.0.254/24 dev nodes && ip link set nodes up || return 1
  for name in "${NODES[@]}"; do start_node "$name" || return 1; done
  for name in "${NODES[@]}"; do within 60 on "$name" version || { tail -n 20 "$WORK/$name.log"; return 1; }; done
  on n1 swarm init --advertise-addr 10.66.0.1 && token=$(on n1 swarm join-token -q worker) || return 1
  for name in n2 n3; do on "$name" swarm join --token "$token" 10.66.0.1:2377 || return 1; done
  within 60 are_ready 3
}
are_ready() { [[ $(on n1 node ls --format '{{.Status}}' | grep -c Ready) == "$1" ]]; }

# Two versions of an image, in each node, because there is no registry.
two_versions() {
  local version name
  for version in 1 2; do
    echo "version $version" >"$WORK/image/version"
    tar -C "$WORK/image" -cf "$WORK/version.tar" . || return 1
    for name in "${NODES[@]}"; do on "$name" import "$WORK/version.tar" "localhost/web:$version" || return 1; done
  done
}

# A server that ends its work before it ends: 3 seconds after SIGTERM no request comes any more.
SERVER='trap "sleep 3; exit 0" TERM; mkdir /tmp/www; cp /version /tmp/www/index.html; cp /etc/motd /tmp/www/motd; httpd -p 8080 -h /tmp/www; while :; do sleep 0.2; done'
PROBE='{exec: {command: [wget, -q, -O, /dev/null, "http://127.0.0.1:8080/"]}, periodSeconds: 1, timeoutSeconds: 10}'
command_of() { jq -nc --arg server "$1" '["sh", "-c", $server]'; }
write_documents() {
  cat >"$WORK/shop.yaml" <<END # OAM: no port is open, other services ask by name
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
    - name: web
      image: localhost/web:1
      cmd: $(command_of "$SERVER")
      env: [{name: PRICE, value: '\$5 {{.Node.ID}}'}]
      config: [{path: /etc/motd, value: "a config\n"}]
      livenessProbe: $PROBE
      resources: {cpu: {required: 0.01}, memory: {required: 8M}}
END
  cat >"$WORK/front.yaml" <<END # Radius
name: front
properties:
  containers:
    web: {image: 'localhost/web:1', command: $(command_of "$SERVER"), livenessProbe: $PROBE, ports: {http: {containerPort: 8080, port: 80}}}
  replicas: 2
END
  cat >"$WORK/hello.yaml" <<END # Knative: what Swarm cannot say is left out
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers:
        - {name: web, image: 'localhost/web:1', command: ["sh", "-c", 'echo "\$K_SERVICE" >/tmp/index.html; httpd -f -p "\$PORT" -h /tmp'], ports: [{containerPort: 8081}]}
END
  cat >"$WORK/worker.json" <<END # App Container
{"acVersion": "0.8.11", "acKind": "PodManifest",
 "apps": [{"name": "worker", "image": {"id": "sha512-$(printf 'a%.0s' {1..128})"},
           "app": {"exec": ["/bin/sh", "-c", "echo \$AC_APP_NAME >/tmp/index.html; httpd -f -p 8082 -h /tmp"], "user": "0", "group": "0",
                   "ports": [{"name": "http", "port": 8082, "protocol": "tcp"}]}}],
 "ports": [{"name": "http", "hostPort": 82}]}
END
}

# deployed NAME FILE REPLICAS OPTION…: exports the document, and deploys the stack NAME.
deployed() {
  "$POD_OCIRUN" pod export --to swarm --endpoint-mode dnsrr --port-mode host --name "$1" --output "$WORK/stack-$1" "${@:4}" "$WORK/$2" &&
    on n1 stack deploy --resolve-image never --compose-file "$WORK/stack-$1/compose.yaml" "$1" && runs "$1" "$3"
}
runs() { within 180 has_replicas "$1" "$2" || { on n1 stack ps --no-trunc "$1" | head -n 20; return 1; }; }
has_replicas() { [[ $(on n1 stack services --format '{{.Replicas}}' "$1") == "$2/$2"* ]]; }
scaled_stack() { on n1 service scale --detach "shop_web=$1" && runs shop "$1"; }
# states: the ids of the runtime's containers on all nodes.
states() {
  local name
  for name in "${NODES[@]}"; do in_node "$name" bash -c '"$0" --root "$(echo /run/docker-exec/runtime-*/moby)" list -q' "$RUNTIME" || return 1; done
}
number_of_states() { states | wc -l; }
in_node() { nsenter --target "$(pgrep -P "${NODE_PIDS[$1]}")" --mount --pid "${@:2}"; }

# answering_nodes PORT: the names of the nodes that answer on the port, and the answers.
answering_nodes() {
  local name answer
  for name in "${NODES[@]}"; do
    answer=$(wget -q -T 2 -t 1 -O - "http://$(address "$name"):$1/") && echo "$name $answer"
  done
}
answers_on() { [[ $(answering_nodes "$1" | wc -l) == "$2" ]]; }
check_answer() { [[ $(answering_nodes "$1" | cut -d' ' -f2-) == "$2" ]]; }

# in_shop COMMAND…: runs a command in a replica of the shop, on the first node that has one.
in_shop() {
  local name id
  for name in "${NODES[@]}"; do
    id=$(on "$name" ps -q --filter label=com.docker.swarm.service.name=shop_web | head -n 1)
    [[ -z $id ]] || { on "$name" exec "$id" "$@" && return; }
  done
  return 1
}

# A client in the network of the shop asks without pause, and prints the answers. (Debian's busybox crashes in `wget -T`.)
start_client() {
  on n1 service create --detach --no-resolve-image --name client --network shop_default --endpoint-mode dnsrr --constraint node.hostname==n1 localhost/web:1 \
    sh -c 'trap "exit 0" TERM; while :; do timeout 10 wget -q -O - http://web:8080/ || echo failed; sleep 0.02; done' && within 60 client_has 'version 1'
}
client_answers() { on n1 logs "$(on n1 ps -q --filter label=com.docker.swarm.service.name=client)" 2>&1; }
client_has() { client_answers | tail -n 50 | grep -q "$1"; }
client_has_only() { [[ $(client_answers | tail -n 200 | sort -u) == "$1" ]]; }
image_replaced() {
  on n1 service update --detach --no-resolve-image --image localhost/web:2 shop_web && within 180 stack_update_is completed && within 60 client_has_only 'version 2' || return 1
  client_answers >"$WORK/answers"
  sort "$WORK/answers" | uniq -c
  grep -qx 'version 1' "$WORK/answers" && ! grep -vx 'version [12]' "$WORK/answers"
}
stack_update_is() { [[ $(on n1 service inspect -f '{{.UpdateStatus.State}}' shop_web) == "$1" ]]; }

# The node with a replica of the front that is no manager dies, with its containers and its network.
a_node_dies() {
  local victim
  victim=$(answering_nodes 80 | awk '$1 != "n1" {print $1; exit}')
  ip link set "$victim" down && kill -KILL "${NODE_PIDS[$victim]}" && within 60 are_ready 2 && within 120 answers_on 80 2 && ! answering_nodes 80 | grep "$victim" &&
    within 120 moved_from "$victim"
}
moved_from() { [[ $(on n1 service ps --filter desired-state=running --format '{{.Node}} {{.CurrentState}}' shop_web | grep ' Running' | grep -vc "^$1 ") == 3 ]]; }

stacks_removed() {
  local name
  on n1 service rm client && on n1 stack rm shop front hello worker && within 60 no_replica || return 1
  for name in $(live_nodes); do on "$name" swarm leave --force || return 1; done
}
live_nodes() { on n1 node ls --format '{{.Status}} {{.Hostname}}' | sed -n 's/^Ready //p' | sort -r; } # the manager is the last
no_replica() {
  local name
  for name in $(live_nodes); do [[ -z $(on "$name" ps -aq) ]] || return 1; done
}

check_stacks() {
  write_documents
  check "three nodes" three_nodes
  check "two versions of an image" two_versions
  check "an exported OAM workload runs" deployed shop shop.yaml 1
  check_output "its replica has the config, and the variable as the document writes it" '$5 {{.Node.ID}} a config' in_shop_is
  check "scaled from 1 to 20" scaled_stack 20
  check_output "all of them are the runtime's" 20 number_of_states
  check "scaled from 20 to 3" scaled_stack 3
  check "a client asks without pause" start_client
  check "an image is replaced without a failed request" image_replaced
  check "an exported Radius resource runs with two replicas" deployed front front.yaml 2
  check "the Radius resource answers on its port of two nodes" within 30 answers_on 80 2
  check "an exported Knative service runs" deployed hello hello.yaml 1 --lossy
  check "the Knative service answers on its port" within 30 check_answer 8081 hello
  check "an exported App Container pod runs" deployed worker worker.json 1 --image worker=docker://localhost/web:1
  check "the App Container pod answers on its port" within 30 check_answer 82 worker
  check "a node dies: its replicas move, and the port answers again" a_node_dies
  check "stack rm, and the nodes leave" stacks_removed
}
in_shop_is() { in_shop sh -c 'echo "$PRICE" "$(cat /etc/motd)"'; }
