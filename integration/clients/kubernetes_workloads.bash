# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# Checks of kubernetes.bash: what controllers do with pods, and how pods begin and end.

# A program that serves its version, ends on SIGTERM, and is not ended before the nodes have taken it off the service.
WEB='{"command": ["sh", "-c", "mkdir /tmp/www; echo $VERSION >/tmp/www/index.html; trap \"exit 0\" TERM; httpd -f -p 80 -h /tmp/www & wait"],
  "env": [{"name": "VERSION", "value": "1"}], "readinessProbe": {"httpGet": {"path": "/", "port": 80}, "periodSeconds": 1},
  "lifecycle": {"preStop": {"exec": {"command": ["sleep", "5"]}}}}'

# deployment NAME REPLICAS CONTAINER [SPEC]
deployment() {
  create apps/v1/Deployment "$1" "{\"spec\": {\"replicas\": $2, \"selector\": {\"matchLabels\": {\"app\": \"$1\"}}, \"template\": $(template "$1" "${@:3}")}}"
}
rolled_out() { k rollout status deployment/"$1" --timeout=300s; }
scaled() { k scale deployment/"$1" --replicas="$2" && rolled_out "$1" && within 120 has_pods "$1" "$2"; }
pods_of() { k get pods -l "app=$1" -o json; }
has_pods() { [[ $(pods_of "$1" | jq '.items | length') == "$2" ]]; }

# runtime_of NODE ID: the path of the runtime, which the shim has written into the bundle; "" if containerd's configuration has no path.
runtime_of() {
  local bundle=/run/containerd/io.containerd.runtime.v2.task/k8s.io/$2
  if [[ $CLASS == *-shim ]]; then on_node "$1" jq -r .runtime "$bundle/shim.json"; else on_node "$1" cat "$bundle/runtime"; fi
}
all_with_the_runtime() {
  local node id number=0
  while read -r node id; do
    [[ $(runtime_of "$node" "$id") == "$1" ]] || { echo "$node $id" && return 1; }
    number=$((number + 1))
  done < <(pods_of web | jq -r '.items[] | .spec.nodeName + " " + (.status.containerStatuses[].containerID | ltrimstr("containerd://"))')
  [[ $number == 10 ]]
}
binary() { [[ $CLASS == runc ]] || echo "$RUNTIME"; }
first_of_web() { deployment web 1 "$WEB" '{"terminationGracePeriodSeconds": 10}' && rolled_out web; }
down_to_two() {
  local uid
  pods_of web | jq -r '.items[].metadata.uid' | sort >"$WORK/ten" && [[ $(wc -l <"$WORK/ten") == 10 ]] || return 1
  scaled web 2 && pods_of web | jq -r '.items[].metadata.uid' | sort >"$WORK/two" && [[ $(wc -l <"$WORK/two") == 2 ]] || return 1
  while read -r uid; do within 60 no_cgroup_of "$uid" || return 1; done < <(comm -23 "$WORK/ten" "$WORK/two")
  while read -r uid; do ! no_cgroup_of "$uid" || return 1; done <"$WORK/two"
}
no_cgroup_of() { [[ -z $(pod_cgroups "$1") ]]; }

# request ADDRESS: requests a page until the file $WORK/enough exists, and prints each answer.
request() { while [[ ! -e $WORK/enough ]]; do curl -fsS --max-time 10 "http://$1/" 2>&1 || echo "failed"; sleep 0.02; done; }
rolling_update() {
  local address client
  create v1/Service web '{"spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]}}' && scaled web 4 || return 1
  address=$(k get service web -o jsonpath='{.spec.clusterIP}')
  within 60 curl -fsS --max-time 5 "http://$address/" || return 1
  rm -f "$WORK/enough"
  request "$address" >"$WORK/answers" &
  client=$!
  k set env deployment/web VERSION=2 && rolled_out web && within 60 has_pods web 4
  local rc=$?
  touch "$WORK/enough"
  wait "$client"
  sort "$WORK/answers" | uniq -c | tr -s ' '
  [[ $rc == 0 && $(sort -u "$WORK/answers" | paste -sd' ') == '1 2' && $(tail -n 1 "$WORK/answers") == 2 ]]
}
rolled_back() { k set env deployment/web VERSION=3 && rolled_out web && k rollout undo deployment/web && rolled_out web && within 60 serves 2; }
serves() { [[ $(curl -fsS --max-time 5 "http://$(k get service web -o jsonpath='{.spec.clusterIP}')/") == "$1" ]]; }

job_is() { k wait --for="condition=$2" job/"$1" --timeout=180s; }
job() {
  create batch/v1/Job six "{\"spec\": {\"completions\": 6, \"parallelism\": 3, \"template\": $(template six "$(sh_c 'echo done')" '{"restartPolicy": "Never"}')}}" &&
    job_is six complete && [[ $(k logs -l app=six --tail=-1 | grep -c 'done') == 6 ]] && k delete job six
}
failing_job() {
  create batch/v1/Job bad "{\"spec\": {\"backoffLimit\": 1, \"template\": $(template bad "$(sh_c 'exit 3')" '{"restartPolicy": "Never"}')}}" && job_is bad failed &&
    [[ $(pods_of bad | jq -c '[.items[].status.containerStatuses[0].state.terminated | .exitCode, .reason] | unique') == '[3,"Error"]' ]] && k delete job bad
}
# It is made at the beginning and checked at the end, because the shortest schedule is a minute.
make_cron_job() {
  create batch/v1beta1/CronJob minutely "{\"spec\": {\"schedule\": \"* * * * *\", \"jobTemplate\": {\"spec\": {\"template\": $(template minutely "$(sh_c 'echo on time')" '{"restartPolicy": "Never"}')}}}}"
}
cron_job_ran() { k logs -l app=minutely --tail=-1 | grep 'on time'; }
cron_job() { within 150 cron_job_ran && k delete cronjob minutely; }

# --- how containers begin and end --------------------------------------------------------------------------
liveness() {
  create_pod live "$(jq -c '. + {livenessProbe: {exec: {command: ["test", "-e", "/tmp/alive"]}, periodSeconds: 1, failureThreshold: 2}}' \
    <<<"$(sh_c 'trap "exit 4" TERM; touch /tmp/alive; sleep 3; rm /tmp/alive; while :; do sleep 0.1; done')")" &&
    within 120 restarted live && field_is '.status.containerStatuses[0].lastState.terminated.exitCode' live 4 && remove live
}
restarted() { [[ $(field '.status.containerStatuses[0].restartCount' "$1") -gt 0 ]]; }
readiness() {
  start ready "$(jq -c '. + {readinessProbe: {exec: {command: ["test", "-e", "/tmp/ready"]}, periodSeconds: 1, failureThreshold: 1}}' \
    <<<"$(sh_c 'sleep 2; touch /tmp/ready; sleep 1000')")" && k exec ready -- rm /tmp/ready &&
    k wait --for=condition=Ready=false pod/ready --timeout=60s && k exec ready -- touch /tmp/ready && is_ready ready && field_is '.status.containerStatuses[0].restartCount' ready 0 && remove ready
}
startup() {
  start slow "$(jq -c '. + {startupProbe: {httpGet: {path: "/", port: 80}, periodSeconds: 1, failureThreshold: 100}, livenessProbe: {httpGet: {path: "/", port: 80}, periodSeconds: 1}}' \
    <<<"$(sh_c 'sleep 4; mkdir /tmp/www; echo up >/tmp/www/index.html; exec httpd -f -p 80 -h /tmp/www')")" && field_is '.status.containerStatuses[0].restartCount' slow 0 && remove slow
}
VOLUME='"volumes": [{"name": "data", "emptyDir": {}}]' MOUNT='"volumeMounts": [{"name": "data", "mountPath": "/mnt"}]'
init_containers() {
  prints init 'one two three' 'echo $(cat /mnt/log) three' "{$MOUNT}" "{$VOLUME, \"initContainers\": [
    {\"name\": \"one\", \"command\": [\"sh\", \"-c\", \"sleep 1; echo one >>/mnt/log\"], $MOUNT}, {\"name\": \"two\", \"command\": [\"sh\", \"-c\", \"echo two >>/mnt/log\"], $MOUNT}]}"
}
failing_init() {
  create_pod badinit "$(sh_c 'echo never')" '{"restartPolicy": "Never", "initContainers": [{"name": "one", "command": ["sh", "-c", "exit 5"]}]}' && within 120 phase_is badinit Failed &&
    field_is '.status.initContainerStatuses[0].state.terminated.exitCode' badinit 5 && field_is '.status.containerStatuses[0].state.waiting.reason' badinit PodInitializing && remove badinit
}
# ends NAME EXPECTED CONTAINER: a container ends, and its exit code, reason and message are as expected.
ends() {
  local found
  create_pod "$1" "$3" '{"restartPolicy": "Never"}' && within 180 has_ended "$1"
  found=$(field '.status.containerStatuses[0].state.terminated | "\(.exitCode) \(.reason) \(.message // "")"' "$1")
  echo "$found"
  remove "$1"
  [[ $found == "$2" || ($2 == *'*' && $found == *"${2%\*}"*) ]]
}
has_ended() { [[ $(field '.status.containerStatuses[0].state.terminated != null' "$1") == true ]]; }
oom_killed() { ends oom '137 OOMKilled ' '{"command": ["dd", "if=/dev/zero", "of=/dev/null", "bs=100M", "count=1"], "resources": {"limits": {"memory": "32Mi"}}}'; }
not_found() { ends nosuch '128 StartError *' '{"command": ["nosuch"]}' | tee "$WORK/message" && grep -F 'exec: "nosuch": executable file not found in $PATH' "$WORK/message"; }
# The hook runs first, then the signal. Both write to a directory of the node.
stopping() {
  start stops "$(jq -c '. + {lifecycle: {preStop: {exec: {command: ["sh", "-c", "echo hook >>/mnt/log; sleep 1"]}}}, volumeMounts: [{name: "node", mountPath: "/mnt"}]}' \
    <<<"$(sh_c 'trap "echo signal >>/mnt/log; sleep 1; echo end >>/mnt/log; exit 0" TERM; while :; do sleep 0.1; done')")" \
    "{\"terminationGracePeriodSeconds\": 30, \"nodeName\": \"n1\", \"volumes\": [{\"name\": \"node\", \"hostPath\": {\"path\": \"/var/log/$CLASS\", \"type\": \"DirectoryOrCreate\"}}]}" &&
    k delete pod stops --timeout=60s && [[ $(on_node n1 cat "/var/log/$CLASS/log" | paste -sd' ') == 'hook signal end' ]]
}
# 256 shares are a weight of 35 on cgroup v2, and of 10 with runc before 1.3.2.
limits() {
  local expected='67108864 50000 256'
  [[ $CGROUP_VERSION == 1 ]] || expected="67108864 50000 $([[ $CLASS == runc ]] && echo 10 || echo 35)"
  prints limits "$expected" "cd /sys/fs/cgroup; echo \$(cut -d' ' -f1 ${LIMIT[memory]} ${LIMIT[quota]} ${LIMIT[shares]})" \
    '{"resources": {"requests": {"cpu": "250m"}, "limits": {"cpu": "500m", "memory": "64Mi"}}}'
}

check_workloads() {
  check "a CronJob is made" make_cron_job
  check "a Deployment of one replica" first_of_web
  check "scaled to ten" scaled web 10
  check "each replica is the runtime's" all_with_the_runtime "$(binary)"
  check "scaled to two: of the eight no cgroup is left" down_to_two
  check "a rolling update without a failed request" rolling_update
  check "an update is undone" rolled_back
  check "a Job of six, three at once" job
  check "a Job that fails tells the status" failing_job
  check "a liveness probe restarts a container" liveness
  check "a readiness probe takes a pod off and on" readiness
  check "a startup probe waits" startup
  check "init containers run one after the other" init_containers
  check "an init container that fails is told" failing_init
  check "an exit code and a message" ends message '3 Error why' "$(sh_c 'printf why >/dev/termination-log; exit 3')"
  check "an OOM-killed container's reason" oom_killed
  check "a program that is not found is told" not_found
  check "the hook, then SIGTERM, within the grace period" stopping
  check "limits are in the cgroup" limits
}
