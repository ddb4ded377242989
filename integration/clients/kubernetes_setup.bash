# shellcheck shell=bash
# Starts a Kubernetes cluster for kubernetes.bash: etcd and the control plane in the sandbox, and two nodes. Each node has mount, network
# and UTS namespaces of its own, with a containerd, a kubelet and a kube-proxy. All files of a node are below $WORK/$NODE.
# kubernetes_cgroups.bash says where its cgroups are.

HEAD=10.77.0.254
NODES=(n1 n2)
declare -A ADDRESS=([n1]=10.77.0.1 [n2]=10.77.0.2) POD_NET=([n1]=10.88.1 [n2]=10.88.2) HOLDER=() PID=()
export KUBECONFIG=$WORK/kubeconfig

# --- the control plane ---------------------------------------------------------------------------------------

# make_credentials: certificates and tokens. All daemons and kubectl have the same token.
make_credentials() {
  mkdir -p "$WORK/pki"
  (
    cd "$WORK/pki" || exit 1
    echo 'test-token,admin,admin,system:masters' >tokens
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test-ca -keyout ca.key -out ca.crt &&
      openssl req -newkey rsa:2048 -nodes -subj /CN=kube-apiserver -keyout server.key -out server.csr &&
      openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 -out server.crt \
        -extfile <(echo "subjectAltName=IP:127.0.0.1,IP:$HEAD,IP:10.96.0.1,DNS:kubernetes.default.svc") &&
      openssl genrsa -out accounts.key 2048
  ) || return 1
  cat >"$KUBECONFIG" <<END
{apiVersion: v1, kind: Config, current-context: test,
 clusters: [{name: test, cluster: {server: "https://$HEAD:6443", certificate-authority: "$WORK/pki/ca.crt"}}],
 users: [{name: admin, user: {token: test-token}}],
 contexts: [{name: test, context: {cluster: test, user: admin}}]}
END
}

# make_network: a bridge with the address $HEAD. make_node adds the nodes.
make_network() {
  # A packet from a pod to a service of its own node crosses only the bridge. br_netfilter shows the packet to iptables. The module is
  # loaded on the host, but not in a machine.
  [[ -e /proc/sys/net/bridge ]] || modprobe br_netfilter || return 1
  hostname head
  ip link add nodes type bridge && ip addr add "$HEAD/16" dev nodes && ip link set nodes up &&
    ip route add 10.96.0.0/16 via "${ADDRESS[n1]}" # addresses of services: kube-proxy of n1 sends them on
}

start_control_plane() {
  daemon etcd etcd --data-dir /run/etcd --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
    --listen-peer-urls http://127.0.0.1:2380
  daemon apiserver kube-apiserver --etcd-servers=http://127.0.0.1:2379 --advertise-address="$HEAD" --service-cluster-ip-range=10.96.0.0/16 \
    --tls-cert-file="$WORK/pki/server.crt" --tls-private-key-file="$WORK/pki/server.key" --token-auth-file="$WORK/pki/tokens" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$WORK/pki/accounts.key" \
    --service-account-signing-key-file="$WORK/pki/accounts.key" --authorization-mode=AlwaysAllow --allow-privileged=true \
    --kubelet-preferred-address-types=InternalIP --cert-dir="$WORK/pki"
  within 120 kubectl get --raw /readyz || { tail -n 20 "$WORK"/{etcd,apiserver}.log && return 1; }
  daemon controller-manager kube-controller-manager --kubeconfig="$KUBECONFIG" --flex-volume-plugin-dir="$WORK/flex" --leader-elect=false --root-ca-file="$WORK/pki/ca.crt" \
    --service-account-private-key-file="$WORK/pki/accounts.key" --cert-dir="$WORK/pki"
  daemon scheduler kube-scheduler --kubeconfig="$KUBECONFIG" --leader-elect=false --cert-dir="$WORK/pki"
  within 120 kubectl get serviceaccount default || { tail -n 20 "$WORK"/controller-manager.log && return 1; }
}

# --- a node --------------------------------------------------------------------------------------------------

on_node() { nsenter --target "${HOLDER[$1]}" --mount --net --uts -- "${@:2}"; }

# hold_node NODE: runs in new namespaces until it is killed. The node writes nothing into the host's directories. The kubelet would
# write these six sysctls for the whole host if they had other values: here it reads files with the values that it wants.
hold_node() {
  local node=$1 directory name value
  hostname "$node"
  for directory in etc var/lib var/log; do
    mkdir -p "$WORK/$node"/{upper,work}/"$directory"
    mount -t overlay -o "lowerdir=/$directory,upperdir=$WORK/$node/upper/$directory,workdir=$WORK/$node/work/$directory" overlay "/$directory" || return 1
  done
  for name in containerd kubelet; do
    mkdir -p "/var/lib/$name" "$WORK/$node/$name" && mount --bind "$WORK/$node/$name" "/var/lib/$name" || return 1
  done
  mkdir -p /run/containerd && mount -t tmpfs -o mode=0711 tmpfs /run/containerd || return 1
  while read -r name value; do
    mkdir -p "$WORK/$node/sysctl/${name%/*}" && echo "$value" >"$WORK/$node/sysctl/$name" &&
      mount --bind "$WORK/$node/sysctl/$name" "/proc/sys/$name" || return 1
  done <<<'vm/overcommit_memory 1
vm/panic_on_oom 0
kernel/panic 10
kernel/panic_on_oops 1
kernel/keys/root_maxkeys 1000000
kernel/keys/root_maxbytes 25000000'
  if ! grep -q '^cpu MHz' /proc/cpuinfo; then # User-Mode Linux tells no clock speed, without which a kubelet does not start
    { cat /proc/cpuinfo && echo 'cpu MHz : 1000.0'; } >"$WORK/$node/cpuinfo" && mount --bind "$WORK/$node/cpuinfo" /proc/cpuinfo || return 1
  fi
  mount --make-rshared /
  touch "$WORK/$node/made"
  exec sleep infinity
}

# make_node NODE: the namespaces, the network and the cgroups of a node.
make_node() {
  local node=$1 other
  mkdir -p "$WORK/$node"
  export -f hold_node
  export WORK
  daemon "$node" unshare --mount --net --uts -- bash -c "hold_node $node"
  HOLDER[$node]=${DAEMONS[-1]}
  within 20 test -e "$WORK/$node/made" || { cat "$WORK/$node.log" && return 1; }
  ip link add "$node" type veth peer name eth0 netns "${HOLDER[$node]}" && ip link set "$node" master nodes up || return 1
  on_node "$node" ip addr add "${ADDRESS[$node]}/16" dev eth0 && on_node "$node" ip link set eth0 up && on_node "$node" ip link set lo up || return 1
  on_node "$node" ip route add default via "$HEAD" && ip route add "${POD_NET[$node]}.0/24" via "${ADDRESS[$node]}" || return 1
  for other in "${NODES[@]}"; do
    [[ $other == "$node" ]] || on_node "$node" ip route add "${POD_NET[$other]}.0/24" via "${ADDRESS[$other]}" || return 1
  done
  on_node "$node" sysctl -qw net.ipv4.ip_forward=1
  make_cgroups "$node"
}

# node_daemon NODE NAME COMMAND…: starts a daemon on a node, for the first time or again. PID[NODE-NAME] is its process.
node_daemon() {
  local node=$1 name=$2
  shift 2
  exec_in_cgroup "$node" nsenter --target "${HOLDER[$node]}" --mount --net --uts -- "$@" >>"$WORK/$node-$name.log" 2>&1 </dev/null &
  PID[$node-$name]=$!
}

# kill_node_daemon NODE NAME
kill_node_daemon() {
  kill -KILL "${PID[$1-$2]}"
  wait "${PID[$1-$2]}" 2>/dev/null || true
  unset "PID[$1-$2]"
}

# --- the daemons of a node -----------------------------------------------------------------------------------

# write_on_node NODE FILE: writes stdin to the file.
write_on_node() { on_node "$1" tee "$2" >/dev/null; }

# systemd_cgroup_options: with the driver systemd, prints the option of the runtime, whose table of options ends the page's example, and a
# table of options for runc.
systemd_cgroup_options() {
  [[ $CGROUP_DRIVER != systemd ]] || printf '%s\n' 'SystemdCgroup = true' '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]' 'SystemdCgroup = true'
}

# shim_runtime: prints the table of a runtime with its own shim, if there is such a class.
shim_runtime() {
  [[ -x $SHIM ]] || return 0
  shim_options >"$WORK/shim.toml"
  printf '%s\n' "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.$RUNTIME_NAME-shim]" "runtime_type = \"$SHIM\"" \
    "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.$RUNTIME_NAME-shim.options]" "ConfigPath = \"$WORK/shim.toml\""
}

# configure_node NODE: what ocirun needs comes from ocirun-engines(7), and so does the handler runc.
configure_node() {
  local node=$1 memory
  on_node "$node" mkdir -p /etc/containerd /etc/cni/net.d /etc/kubernetes/manifests /var/lib/kubelet/seccomp || return 1
  write_on_node "$node" /etc/containerd/config.toml <<END
$(from_page CRI 1)
$(systemd_cgroup_options)
$(shim_runtime)
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "localhost/busybox:latest"
restrict_oom_score_adj = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
END
  write_on_node "$node" /etc/cni/net.d/10-bridge.conflist <<END
{"cniVersion": "0.4.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipam": {"type": "host-local",
   "ranges": [[{"subnet": "${POD_NET[$node]}.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": "/run/containerd/addresses"}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
  # One GiB remains for pods: one pod can cause an eviction, and the host keeps its memory.
  memory=$(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) - 1024 * 1024))
  write_on_node "$node" /var/lib/kubelet/config.yaml <<END
volumePluginDir: /var/lib/kubelet/plugins
$(from_page KUBERNETES 1 | sed "s/^cgroupDriver: .*/cgroupDriver: $CGROUP_DRIVER/")
cgroupRoot: /$OCIRUN_TEST_MARK$node
failSwapOn: false
oomScoreAdj: 0
protectKernelDefaults: true
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
clusterDNS: [10.96.0.10]
resolvConf: /etc/kubernetes/resolv.conf
staticPodPath: /etc/kubernetes/manifests
systemReserved: {memory: ${memory}Ki}
evictionHard: {memory.available: 200Mi}
evictionPressureTransitionPeriod: 5s
imageGCHighThresholdPercent: 100
syncFrequency: 10s
fileCheckFrequency: 2s
kubeAPIQPS: 50
kubeAPIBurst: 100
END
  write_on_node "$node" /etc/kubernetes/resolv.conf <<<'nameserver 10.96.0.10'
  cp "$KUBECONFIG" "$WORK/$node/kubeconfig"
}

start_node_containerd() {
  node_daemon "$1" containerd containerd
  within 60 on_ctr "$1" version
}
on_ctr() { on_node "$1" ctr --address /run/containerd/containerd.sock --namespace k8s.io "${@:2}"; } # NODE WORD…
start_kubelet() {
  node_daemon "$1" kubelet kubelet --config=/var/lib/kubelet/config.yaml --kubeconfig="$WORK/$1/kubeconfig" --hostname-override="$1" \
    --node-ip="${ADDRESS[$1]}" --container-runtime=remote --container-runtime-endpoint=unix:///run/containerd/containerd.sock
}
start_proxy() {
  node_daemon "$1" proxy kube-proxy --kubeconfig="$WORK/$1/kubeconfig" --hostname-override="$1" --cluster-cidr=10.88.0.0/16 --proxy-mode=iptables --bind-address="${ADDRESS[$1]}" \
    --oom-score-adj=0 --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
}

start_node() {
  make_node "$1" && configure_node "$1" && start_node_containerd "$1" &&
    on_ctr "$1" images import "$WORK/oci.tar" && on_ctr "$1" images tag localhost/busybox:latest "$IMAGE" || return 1
  start_kubelet "$1"
  start_proxy "$1"
}
nodes_are_ready() { kubectl wait --for=condition=Ready --timeout=1s node "${NODES[@]}"; }
start_nodes() {
  local node
  for node in "${NODES[@]}"; do start_node "$node" || { tail -n 20 "$WORK/$node"*.log && return 1; }; done
  # Shows the fatal messages too: the programs of Kubernetes begin them with F.
  within 180 nodes_are_ready || { tail -n 20 "$WORK"/n?-*.log; grep -h '^F' "$WORK"/n?-*.log; return 1; }
}

# --- the end -------------------------------------------------------------------------------------------------

# stop_nodes: ends the daemons of the nodes that run and then, in case a check has failed, everything that is left in the nodes' cgroups.
stop_nodes() {
  local name node
  for name in proxy kubelet containerd; do
    for node in "${NODES[@]}"; do [[ -z ${PID[$node-$name]:-} ]] || kill_node_daemon "$node" "$name"; done
  done
  kill_in_cgroups
}
