#!/usr/bin/env bash
# The check list of Kubernetes: a control plane and two nodes, whose kubelets call the runtime through containerd's CRI. The cluster has
# a RuntimeClass for runc, for the runtime under test, and for this runtime with its own shim if the shim lies beside the runtime: each check
# runs once with each class, in a Kubernetes namespace of that name. Then thirty pods are started with each class by turns, twice.
ENGINE=kubernetes
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=integration/clients/lib.bash
source "$HERE/lib.bash"
# shellcheck source=integration/clients/containerd_setup.bash
source "$HERE/containerd_setup.bash"
# shellcheck source=integration/clients/kubernetes_cgroups.bash
source "$HERE/kubernetes_cgroups.bash"
# shellcheck source=integration/clients/kubernetes_setup.bash
source "$HERE/kubernetes_setup.bash"
# shellcheck source=integration/clients/kubernetes_workloads.bash
source "$HERE/kubernetes_workloads.bash"
# shellcheck source=integration/clients/kubernetes_pods.bash
source "$HERE/kubernetes_pods.bash"
# shellcheck source=integration/clients/kubernetes_exported.bash
source "$HERE/kubernetes_exported.bash"
# shellcheck source=integration/clients/kubernetes_nodes.bash
source "$HERE/kubernetes_nodes.bash"

PROGRAMS=$("$HERE/kubernetes-programs" --print) || { echo "no programs of Kubernetes: run $HERE/kubernetes-programs" >&2 && exit 1; }
mkdir "$WORK/bin" && ln -s "$RUNTIME" "$WORK/bin/$RUNTIME_NAME"
export PATH=$PROGRAMS:$WORK/bin:$PATH HOME=$WORK # kubectl keeps a cache in the home
IMAGE=localhost/busybox:1 # not :latest, which a kubelet would pull
CLASSES=(runc "$RUNTIME_NAME")
SHIM=${RUNTIME%/*}/containerd-shim-ocirun-v2
[[ ! -x $SHIM ]] || CLASSES+=("$RUNTIME_NAME-shim")
[[ $RUNTIME_NAME != runc ]] || { echo "kubernetes compares with runc by itself" && end_list && exit; }

# --- functions ---------------------------------------------------------------------------------------------

PAGE=$HERE/../../man/ocirun-engines.7
# from_page SECTION NUMBER: prints an example of ocirun-engines(7), with the paths and names of this test in the place of the page's.
from_page() {
  awk -v section=".Sh $1" -v number="$2" '
    /^\.Sh / { inside = $0 == section }
    inside && /^\.Ed/ { shown = 0 }
    shown { gsub(/\\e/, "\\"); print }
    inside && /^\.Bd -literal/ { shown = ++count == number }' "$PAGE" | of_this_test
}
of_this_test() { sed "s|/usr/sbin/ocirun|@|g; s|\bocirun\b|$RUNTIME_NAME|g; s|@|$RUNTIME|g; s|\bIMAGE\b|$IMAGE|g"; }

k() { kubectl --namespace "$CLASS" "$@"; }

# pod_spec CONTAINER [SPEC]: prints the specification of a pod with one container and these fields, in JSON. SPEC may have more containers.
pod_spec() {
  jq -nc --arg class "$CLASS" --arg image "$IMAGE" --argjson container "$1" --argjson spec "${2:-null}" \
    '({runtimeClassName: $class, terminationGracePeriodSeconds: 1} + $spec) | .containers = [{name: "main"} + $container] + (.containers // []) |
     .containers[].image = $image | if .initContainers then .initContainers[].image = $image else . end'
}

# create KIND NAME JSON: creates an object of a group of the API, such as apps/v1/Deployment.
create() {
  jq -nc --arg group "${1%/*}" --arg kind "${1##*/}" --arg name "$2" --argjson rest "$3" \
    '{apiVersion: $group, $kind, metadata: {$name, labels: {app: $name}}} + $rest' | k apply -f -
}
create_pod() { create v1/Pod "$1" "{\"spec\": $(pod_spec "${@:2}")}"; } # NAME CONTAINER [SPEC]
template() { jq -nc --arg name "$1" --argjson spec "$(pod_spec "${@:2}")" '{metadata: {labels: {app: $name}}, $spec}'; } # NAME CONTAINER [SPEC]

# field PATH NAME: a field of a pod, by a filter of jq. field_is PATH NAME VALUE.
field() { k get pod "$2" -o json | jq -r "$1"; }
field_is() { [[ $(field "$1" "$2") == "$3" ]]; }
is_over() { [[ $(field .status.phase "$1") =~ Succeeded|Failed ]]; }
phase_is() { field_is .status.phase "$1" "$2"; }
is_ready() { k wait --for=condition=Ready pod/"$1" --timeout=180s || { k describe pod "$1" && return 1; }; }
start() { create_pod "$@" && is_ready "$1"; } # NAME CONTAINER [SPEC]
sh_c() { jq -nc --arg script "$1" '{command: ["sh", "-c", $script]}'; } # a container that runs this script
remove() { k delete pod "$@" --wait=false; }

# prints NAME EXPECTED SCRIPT [CONTAINER [SPEC]]: a pod runs a shell script to the end, and its log is EXPECTED.
prints() {
  local name=$1 expected=$2 container spec rc=0
  container=$(jq -nc --argjson script "$(sh_c "$3")" --argjson rest "${4:-null}" '$script + $rest')
  spec=$(jq -nc --argjson rest "${5:-null}" '{restartPolicy: "Never"} + $rest')
  create_pod "$name" "$container" "$spec" && within 180 is_over "$name" && [[ $(k logs "$name" -c main) == "$expected" ]] || rc=1
  [[ $rc == 0 ]] || { echo "expected: $expected" && k logs "$name" --all-containers; k describe pod "$name"; }
  remove "$name"
  return "$rc"
}

# on_each_node FUNCTION…: calls it with the name of each node.
on_each_node() { for node in "${NODES[@]}"; do "$@" "$node" || return 1; done; }

# --- the cluster -------------------------------------------------------------------------------------------

trap stop_nodes EXIT # the sandbox waits for cgroups to become empty
check "credentials" make_credentials
check "a network" make_network
check "an image" make_image '"Cmd":["sleep","100000"],'
check "a control plane" start_control_plane
check "two nodes are ready" start_nodes
if [[ $FAILED != 0 ]]; then stop_nodes; end_list; exit 1; fi

make_class() {
  if [[ $CLASS == "$RUNTIME_NAME" ]]; then
    from_page KUBERNETES 2 | kubectl apply -f -
  else
    kubectl apply -f - <<<"{\"apiVersion\": \"node.k8s.io/v1\", \"kind\": \"RuntimeClass\", \"metadata\": {\"name\": \"$CLASS\"}, \"handler\": \"$CLASS\"}"
  fi && kubectl create namespace "$CLASS" && within 30 k get serviceaccount default
}

# The lines of ocirun-engines(7), from the RuntimeClass to the list of the node's containers. runc has a pod on the same node.
as_the_page_says() {
  local node web other rc=0
  from_page KUBERNETES 2 >"$RUNTIME_NAME.yaml"
  from_page KUBERNETES 3 >web.yaml
  bash -euxc "$(from_page KUBERNETES 4)" && node=$(kubectl get pod web -o jsonpath='{.spec.nodeName}') || return 1
  kubectl run other --image="$IMAGE" --overrides="{\"spec\": {\"runtimeClassName\": \"runc\", \"nodeName\": \"$node\"}}" && kubectl wait --for=condition=Ready --timeout=120s pod/other || return 1
  web=$(id_of web) other=$(id_of other)
  on_node "$node" bash -euxc "$(from_page KUBERNETES 5)" >"$WORK/listed" || rc=1
  tr -s ' ' <"$WORK/listed" | cut -d' ' -f1-3
  grep -q "^$web .* running " "$WORK/listed" && [[ $(grep -c ' running ' "$WORK/listed") == 2 ]] && grep -q "^$other .* unknown " "$WORK/listed" || rc=1
  kubectl delete pod web other
  forget_cgroups
  return "$rc"
}
id_of() { kubectl get pod "$1" -o jsonpath='{.status.containerStatuses[0].containerID}' | sed 's|containerd://||'; }
on_some_nodes() {
  bash -euxc "$(sed -n 's/^\.Ql kubectl label node NODE \([a-z=]*\) ,/kubectl label node n2 \1/p' "$PAGE" | of_this_test)" &&
    { from_page KUBERNETES 2 && from_page KUBERNETES 6; } | kubectl apply -f - && deployment selected 4 "$(sh_c 'sleep 1000')" && rolled_out selected &&
    [[ $(pods_of selected | jq -c '[.items[].spec.nodeName] | unique') == '["n2"]' ]] && from_page KUBERNETES 2 | kubectl apply -f - && k delete deployment selected
}

declare -A RESULTS
for CLASS in "${CLASSES[@]}"; do
  before=$PASSED,$FAILED
  ENGINE="kubernetes: $CLASS"
  check "a RuntimeClass" make_class
  if [[ $CLASS == "$RUNTIME_NAME" ]]; then
    check "as ocirun-engines(7) says" as_the_page_says
    check "on nodes with a label alone, as ocirun-engines(7) says" on_some_nodes
  fi
  check_workloads
  check_pods
  if [[ $CLASS == "$RUNTIME_NAME" ]] && "$RUNTIME" pod --help >/dev/null 2>&1; then check_exported; fi
  check_nodes
  forget_cgroups
  RESULTS[$CLASS]="$((PASSED - ${before%,*})) passed, $((FAILED - ${before#*,})) failed"
  # As in a comparison, the last line of the list does not count runc.
  [[ $CLASS != runc ]] || PASSED=${before%,*} FAILED=${before#*,}
done
ENGINE=kubernetes
for round in 1 2; do
  for CLASS in "${CLASSES[@]}"; do check "thirty pods with $CLASS, round $round" thirty; done
done
stop_nodes
cat "$WORK/figures"
for CLASS in "${CLASSES[@]}"; do echo "kubernetes: $CLASS: ${RESULTS[$CLASS]}"; done
end_list
