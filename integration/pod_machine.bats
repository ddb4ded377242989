# What pods need of the kernel: limits on cgroup v1, hybrid hosts and v2, and a forwarded port. Runs in virtual machines too.
# shellcheck disable=SC2016 # texts for the shells of containers
load lib/common
source "$LIB/image.bash"
source "$LIB/pods.bash"

setup() {
  common_setup
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  make_image images base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  POD=$ID
}

teardown() {
  delete_pods
  common_teardown
}

# run_pod OPTION…: runs app.json detached.
run_pod() {
  quietly ocirun pod run --data "$TMP/data" --image "base=$TMP/images:base" --grace 1 --name "$POD" --restart never --detach "$@" app.json
}

# document SCRIPT_ONE SCRIPT_TWO FILTER: writes an App Container pod of two containers, edited by a filter of jq.
document() {
  jq -n --arg one "$1" --arg two "$2" '
    def container($name; $script): {name: $name, image: {name: "base", id: "sha512-..."},
      app: {exec: ["/bin/sh", "-c", $script], user: "0", group: "0", isolators: []}};
    def memory($limit): {name: "resource/memory", value: {limit: $limit}};
    def cpu($limit): {name: "resource/cpu", value: {limit: $limit}};
    {acVersion: "0.8.11", acKind: "PodManifest", volumes: [], isolators: [], apps: [container("one"; $one), container("two"; $two)]} | '"$3" \
    >app.json
}

# file CONTROLLER CONTAINER V1_FILE V2_FILE: prints the value in the file of the pod's cgroup, or of a container's.
file() {
  local path
  path=$(cgroup "$1" "ocirun/$POD${2:+/$2}")
  if pure_v2; then cat "$path/$4"; else cat "$path/$3"; fi
}

# show_why: what `eventually` prints when its deadline passes.
show_why() { pod status "$POD" --format json && pod events "$POD"; }

ends() { says '[.containers[] | "\(.name) \(.exitCode) \(.oomKilled)"] | join(", ")'; }
ended_as() { [[ $(ends) == "$1" ]]; }

@test "R-11 R-21 a pod has a cgroup with its limits, in which each container has its own; delete removes all" {
  needs_controller memory
  document 'exec sleep 1000' 'exec sleep 1000' \
    '.isolators = [memory("64Mi"), cpu("500m")] | .apps[0].app.isolators = [memory("32Mi"), cpu("250m")]'
  run_pod --net none
  equal 67108864 "$(file memory "" memory.limit_in_bytes memory.max)"
  equal 33554432 "$(file memory one memory.limit_in_bytes memory.max)"
  if pure_v2; then
    equal "50000 100000" "$(file cpu "" "" cpu.max)"
    equal "25000 100000" "$(file cpu one "" cpu.max)"
  else
    equal 50000 "$(file cpu "" cpu.cfs_quota_us "")"
    equal 25000 "$(file cpu one cpu.cfs_quota_us "")"
  fi
  equal "$(says '.containers[1].pid')" "$(file memory two cgroup.procs cgroup.procs)"
  pod stop "$POD"
  equal "" "$(cgroups "ocirun/$POD")"
  pod delete "$POD"
}

@test "R-11 a container above its memory limit is killed, status and events say so, and the other one lives on" {
  needs_controller memory
  document "exec $(eats 100)" 'exec sleep 1000' '.apps[0].app.isolators = [memory("16Mi")]'
  run_pod --net none
  eventually ended_as "one 137 true, two null false"
  equal "was killed because its memory limit was reached" "$(says '.containers[0].reason')"
  equal "running running" "$(says '"\(.status) \(.containers[1].status)"')"
  has '"oom-killed"' "$(pod events "$POD")"
  pod stop "$POD"
  equal "one 137 true, two 143 false" "$(ends)"
  pod delete "$POD"
}

@test "R-11 an out-of-memory kill of a child is counted and told, and the program goes on" {
  needs_controller memory
  document "trap '' TERM; $(eats 100); $(eats 100); exec sleep 1000" 'exec sleep 1000' \
    '.apps[0].app.isolators = [memory("16Mi")]'
  run_pod --net none
  counted() { [[ $(says '[.containers[].oomKills] | join(" ")') == "2 0" ]]; }
  eventually counted
  equal "running false null" "$(says '.containers[0] | "\(.status) \(.oomKilled) \(.exitCode)"')"
  equal 2 "$(pod events "$POD" | jq -s '[.[] | select(.event == "oom-kill" and .container == "one")] | last.oomKills')"
  has '2 out-of-memory kills' "$(pod status "$POD")"
  pod stop "$POD" # by SIGKILL of the supervisor, which is no out-of-memory kill
  equal "one 137 false, two 143 false" "$(ends)"
  pod delete "$POD"
}

@test "R-11 the memory limit of a pod is felt by its containers together" {
  needs_controller memory
  document "sleep 1; exec $(eats 18)" "sleep 1; exec $(eats 18)" '.isolators = [memory("24Mi")]'
  run_pod --net none
  # Each container alone stays below the limit. The kernel may kill both: the second before the memory of the first is free.
  killed() { [[ $(says '[.containers[] | select(.oomKilled and .exitCode == 137)] | length') == [12] ]]; }
  eventually killed
  pod delete --force "$POD"
}

@test "a killed supervisor: delete kills what is left in the pod's cgroup" {
  document 'exec sleep 1000' 'exec sleep 1000' .
  run_pod --net none
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  pod delete "$POD"
  equal "" "$(cgroups "ocirun/$POD")"
}

@test "a port of a pod is reached from the host by pasta, and delete ends pasta, with a killed supervisor too" {
  command -v pasta >/dev/null || skip "pasta is not installed"
  [[ -z ${OCIRUN_VM:-} ]] || modprobe -q tun || true
  [[ -c /dev/net/tun ]] || skip "this host has no /dev/net/tun"
  ip link add "${ID:0:13}0" type veth peer name "${ID:0:13}1" # pasta copies the addresses of a device with a route
  ip addr add 10.9.8.7/24 dev "${ID:0:13}0"
  ip link set "${ID:0:13}0" up
  ip link set "${ID:0:13}1" up
  ip route add default via 10.9.8.1
  document 'while :; do echo "hello from $(hostname)" | nc -l -p 8080; done' 'exec sleep 1000' \
    '.apps[0].app.ports = [{name: "http", protocol: "tcp", port: 8080}] | .ports = [{name: "http", hostPort: 8081}]'
  run_pod
  answers() { [[ $(busybox nc -w 5 127.0.0.1 8081 </dev/null) == "hello from $POD" ]]; }
  eventually answers
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  pod delete "$POD"
  ip link del "${ID:0:13}0"
}
