# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Checks of kubernetes.bash: what `ocirun pod export` makes of workload documents of all kinds runs on the cluster.

EXPORTS=(oam appc radius knative)

# A program that serves its version. On SIGTERM it goes on until the nodes have taken it off the service.
SERVER='["sh", "-c", "mkdir /tmp/www; echo $VERSION >/tmp/www/index.html; trap \"sleep 5; exit 0\" TERM; httpd -f -p 8080 -h /tmp/www & wait"]'

# exported_document KIND VERSION: prints a document.
exported_document() {
  case $1 in
    oam)
      jq -n --argjson words "$SERVER" --arg image "$IMAGE" --arg version "$2" '{apiVersion: "core.oam.dev/v1alpha2", kind: "ContainerizedWorkload", metadata: {name: "oam"}, spec: {containers: [
        {name: "web", $image, cmd: $words, env: [{name: "VERSION", value: $version}], ports: [{name: "http", containerPort: 8080}],
         readinessProbe: {httpGet: {path: "/", port: 8080}, periodSeconds: 1}, resources: {cpu: {required: 0.01}, memory: {required: "8M"}}}]}}'
      ;;
    appc)
      jq -n --argjson words "$SERVER" --arg version "$2" '{acVersion: "0.8.11", acKind: "PodManifest", apps: [{name: "web", image: {id: ("sha512-" + "a" * 128)},
        app: {exec: $words, user: "0", group: "0", environment: [{name: "VERSION", value: $version}], ports: [{name: "http", port: 8080, protocol: "tcp"}]}}]}'
      ;;
    radius)
      jq -n --argjson words "$SERVER" --arg image "$IMAGE" --arg version "$2" '{name: "radius", type: "Radius.Compute/containers@2025-08-01-preview", properties: {containers: {
        web: {$image, command: $words, env: {VERSION: {value: $version}}, ports: {http: {containerPort: 8080, port: 8000}},
              readinessProbe: {httpGet: {path: "/", port: 8080}, periodSeconds: 1}}}}}'
      ;;
    knative)
      jq -n --argjson words "$SERVER" --arg image "$IMAGE" --arg version "$2" '{apiVersion: "serving.knative.dev/v1", kind: "Service", metadata: {name: "knative"}, spec: {template: {spec: {containers: [
        {$image, command: $words, env: [{name: "VERSION", value: $version}], ports: [{containerPort: 8080}], readinessProbe: {httpGet: {path: "/"}, periodSeconds: 1}}]}}}}'
      ;;
  esac
}

# export_of KIND VERSION: writes $WORK/KIND.yaml.
export_of() {
  local options=(--kind Deployment --runtime-class "$RUNTIME_NAME" --name "$1")
  [[ $1 != appc ]] || options+=(--image "web=docker://$IMAGE" --restart always)
  exported_document "$1" "$2" >"$WORK/$1.document" && "$RUNTIME" pod export --to kubernetes "${options[@]}" "$WORK/$1.document" >"$WORK/$1.yaml"
}

exported_address() { k get service "$1" -o jsonpath='{.spec.clusterIP}:{.spec.ports[0].port}'; }
exported_answers() { [[ $(curl -fsS --max-time 5 "http://$(exported_address "$1")/") == "$2" ]]; }
exported_pods() { k get pods -l "app.kubernetes.io/instance=$1" -o json | jq '[.items[] | select(.metadata.deletionTimestamp == null)]'; }
exported_count() { [[ $(exported_pods "$1" | jq length) == "$2" ]]; }

exported_runs() {
  export_of "$1" 1 && cat "$WORK/$1.yaml" && k apply --dry-run=server -f "$WORK/$1.yaml" && k apply -f "$WORK/$1.yaml" && rolled_out "$1" && within 120 exported_answers "$1" 1 &&
    [[ $(exported_pods "$1" | jq -r '.[].spec.runtimeClassName' | sort -u) == "$RUNTIME_NAME" ]]
}
exported_scales() {
  local replicas
  for replicas in 4 2; do k scale deployment/"$1" --replicas="$replicas" && rolled_out "$1" && within 120 exported_count "$1" "$replicas" || return 1; done
}
exported_is_updated() {
  local client rc=0
  rm -f "$WORK/enough"
  request "$(exported_address "$1")" >"$WORK/answers" &
  client=$!
  export_of "$1" 2 && k apply -f "$WORK/$1.yaml" && rolled_out "$1" && within 120 exported_answers "$1" 2 && exported_count "$1" 2 || rc=1
  sleep 6 # the old programs end
  touch "$WORK/enough"
  wait "$client"
  sort "$WORK/answers" | uniq -c | tr -s ' '
  # An App Container pod has no readiness probe: requests may come before its program listens.
  [[ $rc == 0 && $(tail -n 1 "$WORK/answers") == 2 && ($1 == appc || $(sort -u "$WORK/answers" | paste -sd' ') == '1 2') ]]
}

# A node is lost: its kubelet has ended, and its object is deleted. The pods of all documents come back on the other node. Then the node
# comes back.
node_is_lost() {
  local kind rc=0
  kill_node_daemon n2 kubelet && kubectl delete node n2 --timeout=60s || return 1
  for kind in "${EXPORTS[@]}"; do
    if within 240 exported_is_on "$kind" n1 && within 60 exported_answers "$kind" 2; then continue; fi
    rc=1
    echo "$kind"
    exported_pods "$kind" | jq -c '.[].status'
  done
  start_kubelet n2 && within 180 nodes_are_ready || rc=1
  return "$rc"
}
exported_is_on() {
  [[ $(exported_pods "$1" | jq -c '[.[] | select(.status.conditions // [] | any(.type == "Ready" and .status == "True")) | .spec.nodeName]') == "[\"$2\",\"$2\"]" ]]
}
exported_is_deleted() {
  local kind
  for kind in "${EXPORTS[@]}"; do k delete deployment,service -l "app.kubernetes.io/instance=$kind" --timeout=120s || return 1; done
  for kind in "${EXPORTS[@]}"; do within 120 exported_count "$kind" 0 || return 1; done
}

check_exported() {
  local kind
  for kind in "${EXPORTS[@]}"; do
    check "an exported document answers: $kind" exported_runs "$kind"
    check "… is scaled to four and to two" exported_scales "$kind"
    check "… is updated without a failed request" exported_is_updated "$kind"
  done
  check "exported documents lose a node" node_is_lost
  check "exported documents are deleted" exported_is_deleted
}
