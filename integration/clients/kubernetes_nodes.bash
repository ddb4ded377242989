# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Checks of kubernetes.bash: what a pod shares with its node, and what happens to a node and to its daemons. Then: thirty pods, and what
# is left at the end.

daemon_set() {
  create apps/v1/DaemonSet each "{\"spec\": {\"selector\": {\"matchLabels\": {\"app\": \"each\"}}, \"template\": $(template each "$(sh_c 'trap "exit 0" TERM; while :; do sleep 1; done')" \
    '{"hostNetwork": true, "hostPID": true, "hostIPC": true}')}}" && k rollout status daemonset/each --timeout=180s || return 1
  local name node found
  while read -r name node; do
    found=$(k exec "$name" -- sh -c 'echo $(hostname) $(ip -o -4 addr show eth0 | sed "s|.*inet ||; s|/.*||") $(readlink /proc/self/ns/ipc) $(grep -lx kubelet /proc/[0-9]*/comm | wc -l)')
    [[ $found == "$node ${ADDRESS[$node]} $(readlink /proc/self/ns/ipc) 2" ]] || { echo "$node: $found" && return 1; }
  done < <(pods_of each | jq -r '.items[] | .metadata.name + " " + .spec.nodeName')
  [[ $(pods_of each | jq -c '[.items[].spec.nodeName] | sort') == '["n1","n2"]' ]]
}
privileged() {
  local all
  all=$(awk '/CapBnd/ {print $2}' /proc/self/status)
  prints privileged "$all 0 yes yes" 'echo $(awk "/CapEff|Seccomp:/ {print \$2}" /proc/self/status) $(test -c /dev/kmsg && echo yes) $(mount -t tmpfs new /mnt && echo yes)' '{"securityContext": {"privileged": true}}'
}
static_pod() {
  local name="static-$CLASS"
  jq -nc --arg name "$name" --arg namespace "$CLASS" --argjson spec "$(pod_spec "$(sh_c 'sleep 1000')")" '{apiVersion: "v1", kind: "Pod", metadata: {$name, $namespace}, $spec}' |
    write_on_node n1 "/etc/kubernetes/manifests/$name.yaml"
  within 120 k get pod "$name-n1" && is_ready "$name-n1" && k exec "$name-n1" -- true || return 1
  on_node n1 rm "/etc/kubernetes/manifests/$name.yaml"
  within 120 is_gone "$name-n1"
}
is_gone() { [[ -z $(k get pod "$1" --ignore-not-found -o name) ]]; }

# A pod takes most of the node's one GiB, and is the first that the kubelet evicts. Others may follow, because the kubelet reads old
# figures: so the node has been drained before.
evicted() {
  local phase
  start small "$(jq -c '. + {resources: {requests: {memory: "16Mi"}}}' <<<"$(sh_c 'sleep 1000')")" '{"nodeName": "n1"}' &&
    create_pod large '{"command": ["sh", "-c", "dd if=/dev/zero bs=900M count=1 | sleep 1000"]}' '{"nodeName": "n1"}' && within 180 phase_is large Failed || return 1
  phase=$(field '.status.phase' small)
  k describe pod large
  [[ $(field '.status | .reason + ": " + .message' large) == "Evicted: The node was low on resource: memory."* && $phase == Running ]] && within 120 has_memory n1
}
has_memory() { kubectl wait --for=condition=MemoryPressure=false node/"$1" --timeout=1s; }

# --- daemons that are killed -------------------------------------------------------------------------------
# same: what must not change when a daemon is killed: the containers of the class with their restarts, and the processes of one of them.
same() {
  k get pods -l 'app in (box, logs, web)' -o json | jq -r '.items[] | .metadata.name as $pod | .status.containerStatuses[] | "\($pod) \(.containerID) \(.restartCount)"' | sort
  pgrep -fx "sleep 5${#CLASS}555"
}
before_a_kill() {
  start logs "$(sh_c "sleep 5${#CLASS}555 & i=0; while :; do i=\$((i + 1)); echo \$i; sleep 0.5; done")" && on_each_node has_one && same >"$WORK/before"
}
# has_one NODE: a pod of the class runs on the node.
has_one() { k get pods --field-selector spec.nodeName="$1",status.phase=Running -o name | grep .; }
after_a_kill() {
  within 180 nodes_are_ready && within 120 k exec box -- true && within 120 k exec logs -- true && start new "$(sh_c 'sleep 1000')" && k delete pod new --timeout=180s || return 1
  same | diff "$WORK/before" -
}
kill_on_all() { # NAME FUNCTION: kills the daemon on both nodes, looks at the processes, and starts the daemon again.
  local node
  for node in "${NODES[@]}"; do kill_node_daemon "$node" "$1"; done
  sleep 3
  pgrep -fx "sleep 5${#CLASS}555" || return 1
  for node in "${NODES[@]}"; do "$2" "$node" || return 1; done
}
kubelet_killed() { kill_on_all kubelet start_kubelet && after_a_kill; }
containerd_killed() { kill_on_all containerd start_node_containerd && after_a_kill; }
no_line_is_lost() {
  k logs logs >"$WORK/lines"
  [[ $(wc -l <"$WORK/lines") -gt 10 ]] && diff <(seq "$(wc -l <"$WORK/lines")") "$WORK/lines"
}
program_killed() {
  kill -KILL "$(pgrep -fx "sleep 5${#CLASS}555" | head -n 1)" # not the first process of the container: nothing restarts
  start victim "{\"command\": [\"sleep\", \"6${#CLASS}666\"]}" && kill -KILL "$(pgrep -fx "sleep 6${#CLASS}666")" && within 120 restarted victim &&
    field_is '.status.containerStatuses[0].lastState.terminated.exitCode' victim 137 && is_ready victim && field_is '.status.containerStatuses[0].restartCount' logs 0 && remove victim
}

drained() {
  scaled web 4 && kubectl drain n1 --ignore-daemonsets --delete-emptydir-data --force --timeout=180s && rolled_out web &&
    [[ $(pods_of web | jq -c '[.items[] | select(.metadata.deletionTimestamp == null) | .spec.nodeName] | unique') == '["n2"]' ]]
  local rc=$?
  kubectl uncordon n1
  return "$rc"
}

check_nodes() {
  check "a DaemonSet with the nodes' network, processes and IPC" daemon_set
  check "a privileged pod" privileged
  check "a static pod comes and goes with its file" static_pod
  check "pods on both nodes before the daemons are killed" before_a_kill
  check "the kubelets are killed and come back, with every container alive" kubelet_killed
  check "both containerd are killed and come back, with every container alive" containerd_killed
  check "no line of the log is lost" no_line_is_lost
  check "a killed program is restarted" program_killed
  check "a node is drained" drained
  check "eviction by memory" evicted
  check "the CronJob has run" cron_job
  check "the namespace is deleted" kubectl delete namespace "$CLASS" --timeout=180s
  check "no container, state, cgroup or process of it is left" leaves_nothing
}

# --- thirty pods, and the end ---------------------------------------------------------------------------------
# Nothing is left on the nodes of any pod. The kubelet removes cgroups some seconds after the pods.
leaves_nothing() { within 60 nothing_is_left || { what_is_left | head -n 20; return 1; }; }
nothing_is_left() { [[ -z $(what_is_left) ]]; }
what_is_left() {
  local node
  for node in "${NODES[@]}"; do
    on_ctr "$node" containers list -q
    on_node "$node" find /run/containerd/{runc,ocirun} -mindepth 2 -maxdepth 2
    on_node "$node" find /run/containerd/s -type s
    on_node "$node" grep -E ' /(run/containerd|var/lib/kubelet/pods)/.* (overlay|tmpfs|proc|nsfs) ' /proc/mounts
  done
  pod_cgroups
  pgrep -a containerd-shim
}

# shim_memory: the proportional memory of all shims, in KiB.
shim_memory() { pgrep containerd-shim | sed 's|.*|/proc/&/smaps_rollup|' | xargs cat | awk '$1 == "Pss:" {sum += $2} END {print sum}'; }

# tell WHAT MICROSECONDS MICROSECONDS-OF-CPU
tell() {
  printf 'kubernetes: thirty pods with %s: %s in %d.%d s, %d.%d s of processor time on the nodes\n' "$CLASS" "$1" \
    $(($2 / 1000000)) $(($2 / 100000 % 10)) $(($3 / 1000000)) $(($3 / 100000 % 10)) >>"$WORK/figures"
}
thirty() {
  local began used
  within 30 kubectl create namespace "$CLASS-many" && within 60 kubectl -n "$CLASS-many" get serviceaccount default && sleep 5 || return 1
  (
    k() { kubectl --namespace "$CLASS-many" "$@"; }
    began=${EPOCHREALTIME/./} used=$(cpu)
    deployment many 30 "$(sh_c 'trap "exit 0" TERM; sleep 1000 & wait')" && rolled_out many || exit 1
    tell "Ready" $((${EPOCHREALTIME/./} - began)) $(($(cpu) - used))
    echo "kubernetes: thirty pods with $CLASS: their shims have $(shim_memory) KiB" >>"$WORK/figures"
    sleep 5
    began=${EPOCHREALTIME/./} used=$(cpu)
    k delete deployment many && within 180 has_pods many 0 || exit 1
    tell "gone" $((${EPOCHREALTIME/./} - began)) $(($(cpu) - used))
  ) && kubectl delete namespace "$CLASS-many" --timeout=120s
}
