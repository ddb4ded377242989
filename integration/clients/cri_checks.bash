# shellcheck shell=bash
# The checks of the lists cri and cri-shim: containerd's CRI plugin, called over gRPC as a kubelet does, with pods on the host's network.
# $RUNTIME_TYPE is the shim, and the lines of $SHIM_OPTIONS are its options.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
# shellcheck source=integration/clients/containerd_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/containerd_setup.bash"

mkdir -p "$WORK/logs"
common() {
  cat <<END
root = "$WORK/root"
state = "/run/c8d"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs"]
[grpc]
address = "/run/c8d.sock"
[ttrpc]
address = "/run/c8d.ttrpc"
END
}
# runtimes PLUGIN LINE LINE: the options of the runtime. PLUGIN is the name that containerd 1 or 2 has for the plugin; the lines belong to
# the plugin and to its table "containerd".
runtimes() {
  cat <<END
[plugins."$1"]
restrict_oom_score_adj = true
$2
[plugins."$1".containerd]
default_runtime_name = "tested"
$3
[plugins."$1".containerd.runtimes.tested]
runtime_type = "$RUNTIME_TYPE"
[plugins."$1".containerd.runtimes.tested.options]
$SHIM_OPTIONS
END
}
if [[ $(containerd --version) == *containerd/v2\ * ]]; then
  { echo 'version = 3' && common && runtimes io.containerd.cri.v1.runtime '' ''; } >"$WORK/config.toml"
  cat >>"$WORK/config.toml" <<END
[plugins."io.containerd.cri.v1.images"]
snapshotter = "native"
[plugins."io.containerd.cri.v1.images".pinned_images]
sandbox = "localhost/busybox:latest"
END
else
  { echo 'version = 2' && common && runtimes io.containerd.grpc.v1.cri 'sandbox_image = "localhost/busybox:latest"' 'snapshotter = "native"'; } >"$WORK/config.toml"
fi
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cri() { "$HERE/cri-client" /run/c8d.sock "$@"; }
start_containerd() { daemon containerd containerd --config "$WORK/config.toml" && eventually cri Version; }
check "containerd starts with CRI" start_containerd
import_image() { make_image '"Cmd":["sleep","1000"],' && import k8s.io; }
check "import of an image" import_image

PARENT=/${OCIRUN_TEST_MARK}pods
[[ $CGROUP_DRIVER == cgroupfs ]] || PARENT=/tested.slice/tested-pods.slice
# pod_config NAME: prints the configuration of a pod. It is on the host's network, because no CNI plugins are installed.
pod_config() {
  jq -nc --arg n "$1" --arg parent "$PARENT" --arg logs "$WORK/logs" '{metadata: {name: $n, uid: $n, namespace: "default"},
    log_directory: $logs, linux: {cgroup_parent: $parent, security_context: {namespace_options: {network: 2, pid: 1}}}}'
}
# container CONFIG-JSON: creates and starts a container in the pod; prints its id.
container() {
  local id
  id=$(cri CreateContainer "$(jq -nc --arg pod "$POD" --argjson config "$1" --argjson sandbox "$(pod_config "$POD_NAME")" '{pod_sandbox_id: $pod, sandbox_config: $sandbox,
    config: ({image: {image: "localhost/busybox:latest"}, metadata: {name: $config.name}} + ($config | del(.name)))}')" | jq -r .container_id) || return
  cri StartContainer "{\"container_id\": \"$id\"}" >/dev/null && echo "$id"
}
by_id() { cri "$1" "{\"container_id\": \"$2\"}"; }
execute() {
  local id=$1
  shift
  cri ExecSync "$(jq -nc --arg id "$id" '{container_id: $id, cmd: $ARGS.positional, timeout: 10}' --args -- "$@")" | jq -r '(.stdout // "" | @base64d), .exit_code // 0' | sed '/^$/d' | paste -sd' '
}
state_is() { [[ $(by_id ContainerStatus "$1" | jq -r '.status.state // 0') == "$2" ]]; }
remove() { cri StopContainer "{\"container_id\": \"$1\", \"timeout\": 1}" && by_id RemoveContainer "$1"; }

POD_NAME=pod-$$
# run_pod [HANDLER]: starts a pod with this runtime handler, the name in a RuntimeClass; without HANDLER with the default one.
run_pod() { POD=$(cri RunPodSandbox "{\"config\": $(pod_config "$POD_NAME"), \"runtime_handler\": \"${1:-}\"}" | jq -r .pod_sandbox_id) && [[ -n $POD ]]; }
check_mentions "a handler that is not configured is refused" 'no runtime for "nosuch" is configured' cri RunPodSandbox "{\"config\": $(pod_config "$POD_NAME"), \"runtime_handler\": \"nosuch\"}"
by_default() { run_pod '' && cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" && cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}"; }
check "RunPodSandbox with the default handler" by_default
check "RunPodSandbox with a RuntimeClass's handler" run_pod tested
pod_is_ready() { [[ $(cri PodSandboxStatus "{\"pod_sandbox_id\": \"$POD\"}" | jq -r '.status.state // 0') == 0 ]]; }
check "the sandbox is ready" pod_is_ready

start_one() { ONE=$(container '{"name": "one", "command": ["sh", "-c", "trap \"exit 5\" TERM; while :; do sleep 0.1; done"], "linux": {"resources": {"memory_limit_in_bytes": 67108864, "cpu_shares": 512}}}'); }
check "CreateContainer and StartContainer" start_one
check "it is running" eventually state_is "$ONE" 1
check_output "ExecSync" "hello 0" execute "$ONE" echo hello
check_output "ExecSync returns the status" 9 execute "$ONE" sh -c 'exit 9'
check_mentions "ExecSync of what is not found is told" "executable file not found" execute "$ONE" nosuch
check_output "its memory limit" 67108864 limit_of memory "$ONE"
update() { cri UpdateContainerResources "{\"container_id\": \"$ONE\", \"linux\": {\"memory_limit_in_bytes\": 134217728, \"cpu_quota\": 50000, \"cpu_period\": 100000}}"; }
check "UpdateContainerResources" update
check_output "the new memory limit" 134217728 limit_of memory "$ONE"
check_output "the new cpu quota" 50000 limit_of quota "$ONE"
stats() { [[ $(by_id ContainerStats "$ONE" | jq -r '.stats.cpu.usage_core_nano_seconds.value') -gt 0 && $(by_id ContainerStats "$ONE" | jq -r '.stats.memory.working_set_bytes.value') -gt 0 ]]; }
check "ContainerStats" stats

inside() {
  local id
  id=$(container "$1") && shift && execute "$id" "$@"
  local status=$?
  remove "$id" >/dev/null
  return $status
}
SLEEP='"command": ["sleep", "1000"]'
check_output "a user and groups" "1000 0" inside "{\"name\": \"user\", $SLEEP, \"linux\": {\"security_context\": {\"run_as_user\": {\"value\": 1000}}}}" id -u
check_output "an environment and a directory" "v /tmp 0" inside "{\"name\": \"env\", $SLEEP, \"envs\": [{\"key\": \"X\", \"value\": \"v\"}], \"working_dir\": \"/tmp\"}" sh -c 'echo $X $(pwd)'
check_output "a volume" "data 0" inside "{\"name\": \"volume\", $SLEEP, \"mounts\": [{\"container_path\": \"/mnt\", \"host_path\": \"$WORK/image/etc\", \"readonly\": true}]}" cat /mnt/noexec
check_output "a read-only root" "no 0" inside "{\"name\": \"ro\", $SLEEP, \"linux\": {\"security_context\": {\"readonly_rootfs\": true}}}" sh -c 'touch /x 2>/dev/null && echo yes || echo no'
check_output "no capabilities and no new privileges" "CapEff: 0000000000000000 NoNewPrivs: 1 0" inside "{\"name\": \"caps\", $SLEEP, \"linux\": {\"security_context\": {\"no_new_privs\": true, \"capabilities\": {\"drop_capabilities\": [\"ALL\"]}}}}" sh -c 'grep -E "CapEff|NoNew" /proc/self/status | tr "\t" " " | paste -sd" "'
check_output "the runtime's default seccomp profile" "Seccomp: 2 0" inside "{\"name\": \"seccomp\", $SLEEP, \"linux\": {\"security_context\": {\"seccomp\": {\"profile_type\": 0}}}}" sh -c 'grep Seccomp: /proc/self/status | tr "\t" " "'
check_output "the pod's hostname is the host's" "$(hostname) 0" execute "$ONE" hostname
fails_to_start() {
  ! container '{"name": "broken", "command": ["nosuch"]}' 2>"$WORK/broken" && grep -q 'executable file not found' "$WORK/broken"
}
check "a container that cannot start is told" fails_to_start
exits_with() {
  local id
  id=$(container '{"name": "exits", "command": ["sh", "-c", "exit 3"]}') && eventually state_is "$id" 2 && [[ $(by_id ContainerStatus "$id" | jq .status.exit_code) == 3 ]] && by_id RemoveContainer "$id"
}
check "the exit code is kept" exits_with
checkpoint() {
  cri CheckpointContainer "{\"container_id\": \"$ONE\", \"location\": \"$WORK/checkpoint.tar\"}" && tar -tf "$WORK/checkpoint.tar" | grep pstree.img && state_is "$ONE" 1
}
if [[ $(containerd --version) != *containerd/v2\ * ]]; then
  skip "CheckpointContainer" "containerd 1 has no such call"
elif ! criu check >/dev/null 2>&1; then
  skip "CheckpointContainer" "criu check fails under this kernel"
else
  check "CheckpointContainer" checkpoint
fi
check "StopContainer" cri StopContainer "{\"container_id\": \"$ONE\", \"timeout\": 5}"
check_output "it ended with its status" 5 bash -c "'$HERE/cri-client' /run/c8d.sock ContainerStatus '{\"container_id\": \"$ONE\"}' | jq .status.exit_code"
check "RemoveContainer" by_id RemoveContainer "$ONE"
check "StopPodSandbox" cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
check "RemovePodSandbox" cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}"
none_is_listed() { [[ $(cri ListContainers | jq '.containers // [] | length') == 0 ]]; }
check "nothing is listed" none_is_listed
no_runtime_state() { [[ -z $(find /run/containerd/runc /run/c8d -path '*k8s.io/*' -mindepth 3 2>/dev/null) ]]; }
check "nothing is left" eventually no_runtime_state
