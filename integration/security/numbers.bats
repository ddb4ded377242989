# Attacks by ids, paths and numbers: path traversal, integer overflow, partial parsing.
# shellcheck disable=SC2016 # jq's variables
load harness

@test "runc CVE-2021-43784 thousands of mappings are an error, never a container with other ones" {
  local n
  for n in 341 6000 70000; do
    refused Mappings '.linux.namespaces += [{type: "user"}] | .linux.gidMappings = [{containerID: 0, hostID: 0, size: 1}]
      | .linux.uidMappings = [range($n) | {containerID: ., hostID: (. + 100000), size: 1}]' --argjson n "$n"
  done
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
  config '.linux.namespaces += [{type: "user"}] | .linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
    | .linux.uidMappings = [range(300) | {containerID: ., hostID: (. + 100000), size: 1}]'
  chown -R 100000:100000 "$BUNDLE/rootfs"
  inside 'awk "{print \$1, \$2, \$3}" /proc/self/uid_map | xargs -n 3' # the most lines that the kernel accepts
  maps_are_those_of_the_document
  config 'del(.linux.uidMappings[-1])'
  detector_catches maps_are_those_of_the_document
}

maps_are_those_of_the_document() { prints "$(jq -r '.linux.uidMappings[] | "\(.containerID) \(.hostID) \(.size)"' "$BUNDLE/config.json")"; }

# Strings with lengths around 65536 in all fields: the container is as requested, or the document is refused.
@test "runc CVE-2021-43784 a text of 64 KiB less one, and one, and a megabyte, in any field, is whole or refused" {
  local field size
  local fields=(.hostname .domainname .process.cwd '.process.args[3]' '.process.env[2]' .process.user.username
    .process.apparmorProfile .process.selinuxLabel .linux.mountLabel .linux.cgroupsPath .root.path '.mounts[0].destination'
    '.mounts[1].source' '.mounts[1].type' '.mounts[1].options[0]' '.linux.namespaces[0].path' '.linux.maskedPaths[0]'
    '.linux.readonlyPaths[0]' '.annotations.a' '.linux.sysctl["kernel.domainname"]' '.linux.rootfsPropagation'
    '.process.rlimits[0].type' '.hooks.createRuntime[0].path' '.linux.intelRdt.closID' '.linux.seccomp.syscalls[0].names[0]'
    '.linux.devices[0].path' '.process.capabilities.bounding[0]')
  script 'echo $(hostname) $(cat /proc/self/uid_map)'
  cp "$BUNDLE/config.json" "$TMP/kept.json"
  for field in "${fields[@]}"; do
    for size in 65535 65537 1048576; do
      jq "$field = (\"/\" + (\"a\" * ($size - 1)))" "$TMP/kept.json" >"$BUNDLE/config.json"
      attempt run --bundle "$BUNDLE" "$ID"
      is_whole_or_refused || { echo "at $field, $size bytes"; return 1; }
    done
  done
  status=0 output="box 0 100000 1"
  detector_catches is_whole_or_refused
}

# An error message of ocirun, or the container that the rest of the document describes.
is_whole_or_refused() {
  [[ $status == 0 && ${output##*$'\n'} == "box 0 0 4294967295" ]] || [[ $status == 1 && $output == *ocirun:* ]] ||
    { echo "status $status: ${output:0:1000}"; return 1; }
}

@test "crun CVE-2026-30892 exec --user takes whole numbers only, and those exactly" {
  by_runtime_alone "containerd gives the user as numbers of JSON"
  local user
  create_and_start
  for user in 1: :1 x 1:x x:1 -1 1:-1 +1 0x1 1.0 1e0 "1 " " 1" 4294967295 1:4294967295 4294967296 18446744073709551617 1:2:3 '1
2'; do
    run ocirun exec --user "$user" "$ID" sh -c 'echo ran as $(id -u)'
    exits 255
    nothing_ran
  done
  config '.process.user = {uid: 1000, gid: 1000}'
  ocirun delete --force "$ID"
  create_and_start
  run ocirun exec --user "" "$ID" sh -c 'echo ran as $(id -u):$(id -g)' # an empty --user means "not given", not root
  prints "ran as 1000:1000"
  config '.process.user = {uid: 0, gid: 0}'
  ocirun delete --force "$ID"
  create_and_start
  run ocirun exec --user 1 "$ID" sh -c 'echo ran as $(id -u):$(id -g)'
  prints "ran as 1:0"
  detector_catches nothing_ran
  run ocirun exec --user 1:2 "$ID" sh -c 'echo ran as $(id -u):$(id -g)'
  prints "ran as 1:2"
}

nothing_ran() { output_never_mentions "ran as"; }

@test "crun 1.29 an id is a name: no dots alone, slashes, spaces, controls, other letters, or two thousand of them" {
  by_runtime_alone "containerd and the arguments of the shim have rules of their own for ids"
  local id
  mkdir -p "$ROOT" "$DECOY/evil"
  make_decoy
  for id in "" . .. ../evil a/b /abs ../../decoy/sub "a b" "a%2eb/../c" '%2e%2e/x' $'a\nb' $'a\tb' $'\x01' "é" '$(x)' "a;b" '*' "$(printf 'a%.0s' {1..2000})"; do
    attempt create --bundle "$BUNDLE" -- "$id"
    [[ $status != 0 ]] || { echo "was accepted: $id"; return 1; }
    for command in state kill delete start pause; do
      run ocirun "$command" -- "$id"
      [[ $status != 0 ]] || { echo "was accepted by $command: $id"; return 1; }
    done
    root_is_empty
    decoy_is_unchanged
  done
  create
  detector_catches root_is_empty
}

root_is_empty() { equal "" "$(ls -A "$ROOT")"; }

@test "crun 1.29 a cgroupsPath or an exec --cgroup with dots does not leave its place" {
  local path before
  before=$(top_cgroups)
  for path in "../$ID-evil" "../../$ID-evil" "/../$ID-evil" "a/../../$ID-evil" "/$ID/../../$ID-evil" "$ID/../.."; do
    config '.linux.cgroupsPath = $p' --arg p "$path"
    attempt create --bundle "$BUNDLE" "$ID"
    [[ $status == 1 ]] || { echo "was accepted: $path"; return 1; }
    no_evil_cgroup
  done
  config '.linux.cgroupsPath = $p' --arg p "/$ID"
  create_and_start
  for path in .. ../.. "../$ID-evil" "/../.." "/../$ID-evil" a/../../..; do
    run ocirun exec --cgroup "$path" "$ID" true
    [[ $status != 0 ]] || { echo "was accepted: $path"; return 1; }
    no_evil_cgroup
  done
  equal "$before" "$(top_cgroups | grep -v "$ID")"
  make_cgroups "$ID-evil"
  detector_catches no_evil_cgroup
  remove_cgroups "$ID-evil"
}

no_evil_cgroup() { equal "" "$(find /sys/fs/cgroup -maxdepth 3 -name "$ID-evil*")"; }
top_cgroups() { (cd /sys/fs/cgroup && ls -d ./*/ ./*/*/) | grep -F "$OCIRUN_TEST_MARK" | grep -v "$ID" | sort; }

@test "crun 1.28 an annotation of an image chooses no path of the host" {
  config '.annotations = {"run.oci.delegate-cgroup": "../../x", "run.oci.systemd.subgroup": "../../x", "run.oci.handler": "krun",
    "run.oci.mount_context_type": "../x", "org.criu.config": $d, "run.oci.hooks.stdout": ($d + "/out"), "run.oci.hooks.stderr": ($d + "/err"),
    "run.oci.seccomp_bpf_data": $d, "module.wasm.image/variant": "compat", "run.oci.keep_original_groups": "1", "run.oci.pidfd_receiver": ($d + "/s")}
    | .hooks.createRuntime = [{path: "/bin/echo", args: ["echo", "out"]}]' --arg d "$DECOY"
  inside 'id -G'
  succeeds 0
  decoy_is_unchanged
  echo out >"$DECOY/out"
  decoy_was_changed
}
