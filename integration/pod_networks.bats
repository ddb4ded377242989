# Networks between pods: --network.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

NETWORKS=data/networks

# server NAME [OPTION…]: a detached pod of the network "shop" whose container answers with the pod's name on port 8080.
server() {
  rm -f app.yaml
  container app 'mkdir /www; hostname >/www/index.html; exec busybox httpd -f -p 8080 -h /www'
  POD=$1 run_pod --detach --network shop "${@:2}"
  PODS+=("$1")
  eventually get_answer "$1" http://127.0.0.1:8080/ "$1"
}
# asks POD URL: the answer that a container of the pod gets.
asks() { pod exec "$1" busybox timeout 5 busybox wget -q -O - "$2"; }
get_answer() { [[ $(asks "$1" "$2" 2>/dev/null) == "$3" ]]; }
hosts_of() { pod exec "$1" grep "$(printf '\t')" /etc/hosts | grep -v localhost | cut -f 2 | sort -u | xargs; }
have_hosts() { [[ $(hosts_of "$1") == "$2" ]]; }
address() { pod status --format json "$1" | jq -r ".network.addresses[$2]"; }
has_other_holder() { [[ $(network_holder) != "$1" ]]; }
network_holder() { jq .holder.pid "$NETWORKS/shop/network.json"; }
# is_gone PID: the process has ended, though nobody may have reaped it yet.
is_gone() { [[ ! -e /proc/$1 ]] || [[ $(<"/proc/$1/stat") == *") Z "* ]]; }
has_recovered() { [[ $(pod events "$1" | jq -r .event | xargs) == *"degraded recovered"* ]]; }
has_ipv6() { [[ $(cat /proc/sys/net/ipv6/conf/default/disable_ipv6 2>/dev/null) == 0 ]]; }

teardown() {
  local name
  for name in "${PODS[@]}"; do
    [[ ! -e data/pods/$name ]] || pod delete --force "$name"
  done
  common_teardown
  [[ ! -e $NETWORKS/shop ]]
}

@test "pods of a network reach each other by name, by both IP families; the end of the last pod ends the network" {
  local holder
  server "$ID.web"
  server "$ID.db"
  equal "$ID.db" "$(asks "$ID.web" "http://$ID.db:8080/")"
  equal "$ID.web" "$(asks "$ID.db" "http://$ID.web:8080/")"
  equal "$ID.web" "$(asks "$ID.web" "http://$ID.web:8080/")"
  like '^10\.89\.[0-9]+\.[0-9]+$' "$(address "$ID.db" 0)"
  equal "$ID.db" "$(asks "$ID.web" "http://$(address "$ID.db" 0):8080/")"
  like '^fd' "$(address "$ID.db" 1)"
  ! has_ipv6 || equal "$ID.db" "$(asks "$ID.web" "http://[$(address "$ID.db" 1)]:8080/")"
  has "in the network shop as 10.89." "$(pod status "$ID.web")"
  holder=$(network_holder)
  pod stop "$ID.web"
  eventually have_hosts "$ID.db" "$ID.db"
  equal null "$(address "$ID.web" 0)"
  [[ -e /proc/$holder ]]
  pod delete "$ID.web" && pod delete --force "$ID.db"
  eventually is_gone "$holder"
  [[ ! -e $NETWORKS/shop ]]
}

@test "a pod that joins later is known to all; networks of other names, and pods without a network, are apart" {
  server "$ID.one"
  server "$ID.two"
  eventually have_hosts "$ID.one" "$ID.one $ID.two"
  rm app.yaml && container app 'sleep 1000'
  POD=$ID.other run_pod --detach --network elsewhere
  PODS+=("$ID.other")
  equal "$ID.other" "$(hosts_of "$ID.other")"
  run ! asks "$ID.other" "http://$(address "$ID.one" 0):8080/"
  server "$ID.three"
  eventually have_hosts "$ID.one" "$ID.one $ID.three $ID.two"
  eventually have_hosts "$ID.two" "$ID.one $ID.three $ID.two"
  [[ $(address "$ID.one" 0) != "$(address "$ID.two" 0)" ]]
}

@test "the process that keeps a network is killed: the supervisors make another one, and the addresses stay" {
  local holder address
  server "$ID.one"
  server "$ID.two"
  address=$(address "$ID.two" 0)
  holder=$(network_holder)
  kill -KILL "$holder"
  eventually has_other_holder "$holder" # until then, packets may go through the old bridge
  eventually get_answer "$ID.one" "http://$ID.two:8080/" "$ID.two"
  equal "$address" "$(address "$ID.two" 0)"
  eventually has_recovered "$ID.one"
}

@test "a pod whose supervisor was killed stays in the network until delete" {
  server "$ID.one"
  server "$ID.two"
  POD=$ID.one
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  equal "$ID.one" "$(asks "$ID.two" "http://$ID.one:8080/")"
  pod delete "$ID.one"
  eventually have_hosts "$ID.two" "$ID.two"
}

@test "restart keeps the network; a container cannot take /etc/hosts from the supervisor" {
  server "$ID.one"
  server "$ID.two"
  run ! pod exec "$ID.one" rm /etc/hosts
  pod exec "$ID.one" sh -c 'echo "10.0.0.1 nobody" >/etc/hosts'
  pod restart "$ID.two"
  eventually have_hosts "$ID.one" "$ID.one $ID.two"
  eventually get_answer "$ID.one" "http://$ID.two:8080/" "$ID.two"
}

@test "--network with the host's network or a bad name is an error before anything starts" {
  container app 'sleep 1000'
  run run_pod --net host --network shop
  [[ $status == 1 ]]
  has "--network shop: the pod needs a network namespace of its own (--net pod or --net none)" "$(<"$TMP/output")"
  run run_pod --network ../up
  [[ $status == 1 ]]
  has '--network ../up: must be 1 to 63 letters, digits, "-", "_" and "." that begin and end with a letter or digit' "$(<"$TMP/output")"
  [[ ! -e $NETWORKS ]]
}

@test "a start that fails leaves no network" {
  container app 'exit 3'
  run run_pod --network shop --wait-ready=5 --restart never
  equal 3 "$status"
  [[ ! -e $NETWORKS/shop ]]
  equal "" "$(pod_names)"
}

@test "a container that holds a lease of /etc/hosts delays nobody, and gets the names when the lease ends" {
  container app 'sleep 1000'
  POD=$ID.one run_pod --detach --network shop
  PODS+=("$ID.one")
  local pid hosts
  pid=$(pod status --format json "$ID.one" | jq '.containers[0].pid')
  hosts=/proc/$pid/root/etc/hosts
  python3 -c 'import fcntl, signal, sys, time
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = open(sys.argv[1])
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
print("held", flush=True)
time.sleep(1000)' "$hosts" >"$TMP/held" 3>&- 4>&- &
  local leaser=$!
  eventually grep -q held "$TMP/held"
  server "$ID.two"
  equal running "$(pod status --format json "$ID.one" | jq -r .status)"
  kill $leaser
  eventually have_hosts "$ID.one" "$ID.one $ID.two"
  eventually has_recovered "$ID.one"
}

@test "no pod takes routes or redirects from another one" {
  server "$ID.one"
  local pid name
  pid=$(pod status --format json "$ID.one" | jq '.containers[0].pid')
  equal 0 "$(nsenter -t "$pid" -n cat /proc/sys/net/ipv4/conf/ocirun0/accept_redirects)"
  ! has_ipv6 || for name in accept_ra accept_redirects autoconf; do
    equal 0 "$(nsenter -t "$pid" -n cat "/proc/sys/net/ipv6/conf/ocirun0/$name")"
  done
}

@test "a document does not take the name of a host elsewhere" {
  container app 'sleep 1000'
  sed -i 's/name: shop/name: github.com/' app.yaml
  run ocirun pod run --data "$TMP/data" --images images --net none --network shop app.yaml
  [[ $status == 1 ]]
  output_mentions 'the document'"'"'s name "github.com" would take the place of a host of this name for all pods of the network: --name gives the pod a name'
}

@test "no pod of a network has a name that every host has, or one that is an address, also by --name" {
  container app 'sleep 1000'
  local name
  for name in localhost LocalHost localhost.localdomain localhost4 localhost6.localdomain6 ip6-localhost ip6-loopback ip6-allnodes \
    ip6-allrouters ip6-localnet loopback broadcasthost web.localhost; do
    run ocirun pod run --data "$TMP/data" --images images --net none --network shop --name "$name" app.yaml
    equal 1 "$status"
    output_mentions "--network shop: every host calls itself or its network \"$name\""
    sed "s/name: shop/name: $name/" app.yaml >named.yaml
    run ocirun pod run --data "$TMP/data" --images images --net none --network shop named.yaml
    output_mentions "--network shop: every host calls itself or its network \"$name\""
  done
  for name in 10.0.0.1 127.1 1 0x7f000001 017700000001; do
    run ocirun pod run --data "$TMP/data" --images images --net none --network shop --name "$name" app.yaml
    equal 1 "$status"
    output_mentions "--network shop: programs take \"$name\" for an address of IPv4"
  done
  equal "" "$(pod_names)"
}
