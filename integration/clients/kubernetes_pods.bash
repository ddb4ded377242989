# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Checks of kubernetes.bash: what kubectl does with a running pod, volumes, and security contexts.

BOX='{"command": ["sh", "-c", "trap \"exit 0\" TERM; mkdir /tmp/www; echo served >/tmp/www/index.html; httpd -f -p 80 -h /tmp/www & while :; do sleep 1; done"]}'

# --- kubectl -------------------------------------------------------------------------------------------------
typed() { echo typed | k exec -i box -- cat; }
# A shell on a terminal, in which a command is typed. `exec` makes the terminal, so its size is that of the other side.
typed_in_a_shell() {
  { sleep 2; echo 'test -t 0 && stty size; echo sum-$((20 + 3))'; sleep 1; echo 'exit 9'; sleep 1; } |
    script -qec "stty rows 33 cols 99; kubectl -n $CLASS exec -it box -- sh" "$WORK/typescript" | tr -d '\r' >"$WORK/shell"
  local codes=("${PIPESTATUS[@]}")
  cat "$WORK/shell"
  [[ ${codes[1]} == 9 ]] && grep -x '33 99' "$WORK/shell" && grep -x sum-23 "$WORK/shell"
}
no_program() { k exec box -- nosuch; }
attached() { echo hello | k run asked --image="$IMAGE" --restart=Never --rm -i --overrides="{\"spec\": {\"runtimeClassName\": \"$CLASS\"}}" -- sh -c 'read line; echo "got $line"' | grep -o 'got hello'; }
followed() {
  create_pod counts "$(sh_c 'i=0; while [ $i -lt 100 ]; do i=$((i + 1)); echo line $i; [ $((i % 10)) != 0 ] || sleep 0.3; done')" '{"restartPolicy": "Never"}' && within 120 has_begun counts || return 1
  timeout 120 kubectl -n "$CLASS" logs -f counts >"$WORK/followed"
  diff <(seq -f 'line %g' 100) "$WORK/followed" && remove counts
}
has_begun() { [[ $(field .status.phase "$1") =~ Running|Succeeded ]]; }
previous() {
  create_pod again "$(sh_c 'echo before; exit 1')" '{"restartPolicy": "OnFailure"}' && within 120 restarted again && within 60 printed_before
  local rc=$?
  k logs --previous again
  remove again
  return "$rc"
}
printed_before() { [[ $(k logs --previous again) == before ]]; }
copied() {
  head -c 300000 /dev/urandom >"$WORK/blob"
  rm -f "$WORK/blob.back"
  k cp "$WORK/blob" box:/tmp/blob && k cp box:/tmp/blob "$WORK/blob.back" && cmp "$WORK/blob" "$WORK/blob.back"
}
forwarded() {
  local rc=0 pid
  kubectl -n "$CLASS" port-forward pod/box 18080:80 >"$WORK/forward" 2>&1 &
  pid=$!
  within 30 curl -fsS --max-time 5 http://127.0.0.1:18080/ && [[ $(curl -fsS --max-time 5 http://127.0.0.1:18080/) == served ]] || rc=1
  kill "$pid"
  wait "$pid" 2>/dev/null
  return "$rc"
}
# What `kubectl top` shows, from the kubelet itself. On cgroup v2 Kubernetes 1.20 has no resident memory of a container and no network of a pod.
summary() { kubectl get --raw "/api/v1/nodes/$(field .spec.nodeName box)/proxy/stats/summary" | jq --arg class "$CLASS" '.pods[] | select(.podRef.name == "box" and .podRef.namespace == $class)'; }
has_figures() {
  summary | jq -e --argjson version "$CGROUP_VERSION" '.memory.workingSetBytes > 0 and ($version == 2 or .network.rxBytes >= 0) and
    (.containers[0] | .name == "main" and .cpu.usageCoreNanoSeconds > 0 and .memory.workingSetBytes > 0 and ($version == 2 or .memory.rssBytes > 0))'
}
figures() { within 60 has_figures || { summary && return 1; }; }

# --- volumes -------------------------------------------------------------------------------------------------
updated_volumes() {
  k create configmap settings --from-literal=color=red && k create secret generic key --from-literal=word=hidden &&
    start reads "$(jq -c '. + {env: [{name: "COLOR", valueFrom: {configMapKeyRef: {name: "settings", key: "color"}}}], volumeMounts: [
      {name: "settings", mountPath: "/settings"}, {name: "key", mountPath: "/key", readOnly: true}, {name: "settings", mountPath: "/one", subPath: "color"}]}' <<<"$(sh_c 'sleep 1000')")" \
      '{"volumes": [{"name": "settings", "configMap": {"name": "settings"}}, {"name": "key", "secret": {"secretName": "key", "defaultMode": 256}}]}' &&
    values_are 'red red hidden 400 tmpfs red no' &&
    k patch configmap settings -p '{"data": {"color": "blue"}}' && k patch secret key -p '{"stringData": {"word": "other"}}' && within 120 values_are 'red blue other 400 tmpfs red no' && remove reads
}
values_are() {
  [[ $(k exec reads -- sh -c 'echo $COLOR $(cat /settings/color) $(cat /key/word) $(stat -L -c %a /key/word) $(stat -f -c %T /key) $(cat /one) $(touch /key/x 2>/dev/null && echo yes || echo no)') == "$1" ]]
}
projected_token() {
  local token
  start token "$(jq -c '. + {volumeMounts: [{name: "all", mountPath: "/all"}]}' <<<"$(sh_c 'sleep 1000')")" '{"volumes": [{"name": "all", "projected": {"sources": [
    {"serviceAccountToken": {"path": "token", "audience": "tests", "expirationSeconds": 600}}, {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
    {"downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]}}]}}]}' || return 1
  token=$(k exec token -- cat /all/token)
  k exec token -- cat /all/ca.crt | diff - "$WORK/pki/ca.crt" && [[ $(k exec token -- cat /all/labels) == 'app="token"' ]] &&
    kubectl create -o json -f - <<<"{\"apiVersion\": \"authentication.k8s.io/v1\", \"kind\": \"TokenReview\", \"spec\": {\"token\": \"$token\", \"audiences\": [\"tests\"]}}" |
    jq -e --arg user "system:serviceaccount:$CLASS:default" '.status.authenticated and .status.user.username == $user' && remove token
}
two_containers() {
  prints two 'from the other tmpfs served' 'until [ -e /mnt/file ]; do sleep 0.1; done; echo $(cat /mnt/file) $(stat -f -c %T /mnt) $(wget -q -O - http://127.0.0.1:8000/)' "{$MOUNT}" \
    "{\"volumes\": [{\"name\": \"data\", \"emptyDir\": {\"medium\": \"Memory\", \"sizeLimit\": \"64Mi\"}}], \"containers\": [{\"name\": \"other\", $MOUNT,
      \"command\": [\"sh\", \"-c\", \"echo served >/tmp/index.html; httpd -p 8000 -h /tmp; echo from the other >/mnt/file; sleep 5\"]}]}"
}
one_pid_namespace() {
  prints shared 'yes' 'until grep -qx tail /proc/[0-9]*/comm; do sleep 0.1; done; [ $$ != 1 ] && echo yes' '{}' \
    '{"shareProcessNamespace": true, "containers": [{"name": "other", "command": ["sh", "-c", "timeout 5 tail -f /dev/null; true"]}]}'
}
# A mount that the node makes after the container has started.
propagated() {
  local rc=0
  on_node n1 mkdir -p "/var/log/$CLASS/mounts/one"
  start sees "$(jq -c '. + {volumeMounts: [{name: "node", mountPath: "/mnt", mountPropagation: "HostToContainer"}]}' <<<"$(sh_c 'sleep 1000')")" \
    "{\"nodeName\": \"n1\", \"volumes\": [{\"name\": \"node\", \"hostPath\": {\"path\": \"/var/log/$CLASS/mounts\"}}]}" || return 1
  on_node n1 mount -t tmpfs later "/var/log/$CLASS/mounts/one"
  [[ $(k exec sees -- grep -c ' /mnt/one tmpfs' /proc/mounts) == 1 ]] || rc=1
  on_node n1 umount "/var/log/$CLASS/mounts/one"
  remove sees
  return "$rc"
}

# --- security contexts ---------------------------------------------------------------------------------------
users() {
  prints users '1000 3000 2000 3000 4000 2000' 'echo $(id -u) $(id -g) $(id -G | tr " " "\n" | sort -n) $(stat -c %g /mnt)' "{$MOUNT}" \
    "{\"securityContext\": {\"runAsUser\": 1000, \"runAsGroup\": 3000, \"fsGroup\": 2000, \"supplementalGroups\": [4000]}, $VOLUME}"
}
capabilities() {
  prints caps '0000000000000400 0000000000000400 1' 'echo $(awk "/CapEff|CapBnd|NoNewPrivs/ {print \$2}" /proc/self/status)' \
    '{"securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}}}'
}
read_only_root() {
  prints readonly 'no yes' 'for d in / /mnt; do touch $d/x 2>/dev/null && echo yes || echo no; done | paste -sd" "' \
    "{\"securityContext\": {\"readOnlyRootFilesystem\": true}, $MOUNT}" "{$VOLUME}"
}
seccomp_default() {
  prints filtered '2 no' 'echo $(awk "/Seccomp:/ {print \$2}" /proc/self/status) $(unshare -U true 2>/dev/null && echo yes || echo no)' '{}' \
    '{"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}'
}
seccomp_file() {
  on_each_node write_profile && prints profile '2 yes Operation not permitted' 'echo $(awk "/Seccomp:/ {print \$2}" /proc/self/status) $(touch /tmp/x && echo yes) $(mkdir /tmp/y 2>&1 | sed "s/.*: //")' '{}' \
    '{"securityContext": {"seccompProfile": {"type": "Localhost", "localhostProfile": "no-mkdir.json"}}}'
}
write_profile() { write_on_node "$1" /var/lib/kubelet/seccomp/no-mkdir.json <<<'{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}'; }
sysctl_of_a_pod() { prints sysctl '1' 'cat /proc/sys/kernel/shm_rmid_forced' '{}' '{"securityContext": {"sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}]}}'; }

# --- the network of pods -------------------------------------------------------------------------------------
across_nodes() {
  local node address
  start far "$BOX" '{"nodeName": "n2"}' || return 1
  address=$(field .status.podIP far)
  create v1/Service far '{"spec": {"selector": {"app": "far"}, "ports": [{"port": 80}]}}'
  for node in n1 n2; do
    prints "near-$node" 'served served' "echo \$(wget -q -O - http://$address/) \$(wget -q -O - http://\$FAR_SERVICE_HOST/)" '{}' "{\"nodeName\": \"$node\"}" || return 1
  done
  remove far
}
names() {
  prints names 'box-1 10.1.2.3 nameserver' 'echo $(hostname) $(awk "/ other/ || \$2 == \"other\" {print \$1}" /etc/hosts) $(awk "{print \$1; exit}" /etc/resolv.conf)' '{}' \
    '{"hostname": "box-1", "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["other"]}], "dnsPolicy": "Default"}'
}

check_pods() {
  check "a pod to work with" start box "$BOX"
  check_output "exec" hello k exec box -- echo hello
  check_output "exec passes stdin on" typed typed
  check_status "exec returns the status" 7 k exec box -- sh -c 'exit 7'
  check_mentions "exec of what is not found is told" 'executable file not found' no_program
  check "exec -it: a shell on a terminal, of the caller's size" typed_in_a_shell
  check_output "run -i, attached" 'got hello' attached
  check "logs -f" followed
  check "logs --previous" previous
  check "cp there and back" copied
  check "port-forward" forwarded
  check "top: the summary API has the pod's figures" figures
  check "ConfigMap and Secret volumes, and their updates" updated_volumes
  check "a projected token, which the API accepts" projected_token
  check "two containers share a network and a volume in memory" two_containers
  check "two containers share a pid namespace" one_pid_namespace
  check "a mount of the node propagates" propagated
  check "users and groups" users
  check "capabilities and no new privileges" capabilities
  check "a read-only root" read_only_root
  check "seccomp RuntimeDefault" seccomp_default
  check "seccomp by a file of the node" seccomp_file
  check "a sysctl" sysctl_of_a_pod
  check "pods reach each other on one node and on two, and a Service" across_nodes
  check "a hostname, hosts and a resolver" names
}
