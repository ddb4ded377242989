# shellcheck shell=bash disable=SC2016,SC2034 # texts for the shells of containers; what life.bash reads
# Bundles and commands for life.bash.

export PATH=$PATH:/usr/sbin:/sbin
here=$(dirname "${BASH_SOURCE[0]}")
ROOT=$WORK/root BUNDLE=$WORK/bundle ID=${OCIRUN_TEST_MARK:-life-}$$

# The architecture as seccomp calls it, which copy of the executable its build runs from (CMakeLists.txt: OCIRUN_SEALED_ENTRY), the size of a
# word, and the personality LINUX32 after execve(2), at which Linux for riscv64 drops it (also that of setarch(8)).
SEALED=memory BITS=64 PERSONALITY=00000008
case $ARCH in
  amd64) SECCOMP_NAME=SCMP_ARCH_X86_64 SEALED=overlay ;;
  arm64) SECCOMP_NAME=SCMP_ARCH_AARCH64 SEALED=overlay ;;
  armhf) SECCOMP_NAME=SCMP_ARCH_ARM BITS=32 ;;
  i386) SECCOMP_NAME=SCMP_ARCH_X86 BITS=32 ;;
  ppc64el) SECCOMP_NAME=SCMP_ARCH_PPC64LE ;;
  riscv64) SECCOMP_NAME=SCMP_ARCH_RISCV64 PERSONALITY=00000000 ;;
  s390x) SECCOMP_NAME=SCMP_ARCH_S390X ;;
esac

runtime() { "$RUNTIME" --root "$ROOT" "$@"; }
features() { "$RUNTIME" features | jq -e "$1"; }

# config FILTER [JQ-OPTION…]: edits config.json.
config() { jq "$1" "$BUNDLE/config.json" "${@:2}" >"$WORK/config.json" && mv "$WORK/config.json" "$BUNDLE/config.json"; }

# new_bundle [FILTER [JQ-OPTION…]]: the bundle as it was at first, and the edit.
new_bundle() {
  [[ -d $BUNDLE ]] || { rootfs "$BUNDLE/rootfs" && cp "$CALL" "$BUNDLE/rootfs/bin/call"; }
  jq --arg id "$ID" '.linux.cgroupsPath = "/" + $id' "$here/../lib/config.json" >"$BUNDLE/config.json"
  if [[ $# != 0 ]]; then config "$@"; fi
}

program() { config '.process.args = $ARGS.positional' --args -- "$@"; }

# inside TEXT: runs the text by the shell of a container, in the foreground.
inside() {
  program sh -c "$1"
  runtime run --bundle "$BUNDLE" "$ID"
}

program_is_missing() {
  program /nonexistent
  runtime run --bundle "$BUNDLE" "$ID"
}

inside_with_large_file() {
  truncate -s 5368709120 "$WORK/volume/large" && printf end | dd of="$WORK/volume/large" bs=1M oflag=seek_bytes seek=5368709117 conv=notrunc status=none
  config '.mounts += [{destination: "/etc/large", source: $v, options: ["bind"]}]' --arg v "$WORK/volume/large"
  inside 'tail -c 3 /etc/large'
  rm "$WORK/volume/large"
}

# A container's program must not keep the list's pipes.
created() {
  program sleep 1000
  runtime create --bundle "$BUNDLE" "$ID" >"$WORK/create" 2>&1 </dev/null || { cat "$WORK/create" && return 1; }
}
started() { created && runtime start "$ID"; }
exec_in_new() { started && runtime exec "$ID" call "$@"; }
state_of() { runtime state "$ID" | jq -r "$1"; }
is_stopped() { [[ $(state_of .status) == stopped ]]; }

# limit_is CONTROLLER V1_FILE=VALUE V2_FILE=VALUE
limit_is() {
  local expected=$2
  if pure_v2; then expected=$3; fi
  [[ ${expected#*=} == "$(limit "$1" "${2%%=*}" "${3%%=*}")" ]] || { echo "found: $(limit "$1" "${2%%=*}" "${3%%=*}")" && return 1; }
}

# runs_from_a_copy: the container's init is an image at the root of an overlay, or in memory, as `features` says.
runs_from_a_copy() {
  local executable expected='/memfd:ocirun*'
  executable=$(readlink "/proc/$(state_of .pid)/exe")
  [[ $SEALED == memory ]] || expected='/ocirun-[0-9]*'
  # shellcheck disable=SC2053 # a pattern
  [[ $executable == $expected ]] || { echo "$executable" && return 1; }
}

# own_profile RULE: a profile that allows all but what the rule says.
own_profile() { new_bundle '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: [$a], syscalls: [$r]}' --arg a "$SECCOMP_NAME" --argjson r "$(jq -nc "$1")"; }

# wide_arguments: conditions look at all 64 bits of an argument: 4294967298 is 2 in the low half and 1 in the high half. The argument 4 is
# for personality(2) itself, which ignores the high half.
wide_arguments() {
  [[ $BITS == 64 ]] || return 0
  own_profile '{names: ["personality"], action: "SCMP_ACT_ERRNO", errnoRet: 77, args: [{index: 0, value: 4294967298, op: "SCMP_CMP_EQ"}]}'
  check_output "seccomp: equality of 64 bits" "77 0 0" inside 'echo $(call personality 4294967298) $(call personality 2) $(call personality 4294967296)'
  own_profile '{names: ["personality"], action: "SCMP_ACT_ERRNO", errnoRet: 77, args: [{index: 0, value: 4294967298, op: "SCMP_CMP_GT"}]}'
  check_output "seccomp: order of 64 bits" "0 77 77 0" \
    inside 'echo $(call personality 4294967298) $(call personality 4294967299) $(call personality 8589934592) $(call personality 3)'
  own_profile '{names: ["personality"], action: "SCMP_ACT_ERRNO", errnoRet: 77,
    args: [{index: 0, value: 30064771072, valueTwo: 8589934592, op: "SCMP_CMP_MASKED_EQ"}]}'
  check_output "seccomp: a mask of the high half" "77 0 0" \
    inside 'echo $(call personality 8589934594) $(call personality 4294967298) $(call personality 2)'
}

# --- pods ------------------------------------------------------------------------------------------

pod() { "$RUNTIME" pod "$1" --data "$WORK/pods" "${@:2}"; }
pod_status() { pod status --format json life | jq -r "$1"; }
pod_started() {
  cat >"$WORK/pod.yaml" <<'POD'
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: life}
spec:
  containers:
    - name: only
      image: base
      resources: {cpu: {required: 0.1}, memory: {required: 16M}}
      cmd: [/bin/sh, -c]
      args: ["echo hello; call unshare 268435456; trap 'exit 0' TERM; while :; do sleep 0.1; done"]
POD
  # shellcheck source=integration/lib/image.bash
  source "$here/../lib/image.bash"
  make_image "$WORK/images" base '{"Env":["PATH=/bin"]}' "$BUNDLE/rootfs"
  pod run --images "$WORK/images" --net none --grace 2 --detach "$WORK/pod.yaml" >"$WORK/pod.log" 2>&1 </dev/null || { cat "$WORK/pod.log" && return 1; }
}
pod_has_logs() { [[ $(pod logs life | wc -l) == 2 ]]; }

pod_checks() {
  new_bundle
  check "pod: run" pod_started
  check "pod: it runs" eventually pod_has_logs
  check_output "pod: status" running pod_status .status
  check_output "pod: the program's output; its seccomp profile refuses a user namespace" $'hello\n1' pod logs life
  check "pod: stop" pod stop life
  check_output "pod: the exit status" 0 pod_status '.containers[0].exitCode'
  check "pod: delete" pod delete life
}

nothing_is_left() {
  [[ -z $(cgroups "$ID") ]] || { cgroups "$ID" && return 1; }
  [[ -z $(find "$ROOT" -mindepth 1 -maxdepth 1 2>/dev/null) ]] || { ls "$ROOT" && return 1; }
  if grep "$BUNDLE" /proc/self/mountinfo; then return 1; fi
}
