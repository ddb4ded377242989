# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# What a restore must not do to the host, whatever config.json and the images say, and what it must leave alone. What needs criu is
# skipped where `criu check` fails. In a machine, which may also be --cgroup v1:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_host.bats
load lib/common
load lib/criu

teardown() {
  ip link del nda 2>/dev/null || true
  common_teardown
}

@test "images of a container in the host's network get no sysctl, device or hook of a new network namespace" {
  needs_criu
  drop_namespace network
  run_counter
  ocirun checkpoint "$ID"
  local before
  before=$(</proc/sys/net/ipv4/ip_unprivileged_port_start)
  ip link add nda type veth peer name ndb
  config '.linux.namespaces += [{type: "network"}] | .linux.sysctl = {"net.ipv4.ip_unprivileged_port_start": "77"}
    | .linux.netDevices = {nda: {name: "eth7"}} | .hooks = {createRuntime: [{path: "/bin/sh", args: ["sh", "-c", $c]}]}' --arg c "echo ran >$TMP/hook"
  restore_fails
  output_mentions "the container of the images has no network namespace of its own"
  restore_fails --trust-images
  equal "$before" "$(</proc/sys/net/ipv4/ip_unprivileged_port_start)"
  ip link show nda
  [[ ! -e $TMP/hook ]]
  status_is stopped
}

@test "a forged mount whose root leads up shows no file of the host, in a user namespace with CAP_SYS_ADMIN either" {
  needs_criu
  user_namespace
  config '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"] | unique)'
  mkdir -p "$BUNDLE/rootfs/opt"
  run_counter
  ocirun checkpoint "$ID"
  forge_image "$(basename checkpoint/mountpoints-*.img)" "top = [x for x in images['entries'] if x['mountpoint'] == '/'][0]
dev = [x for x in images['entries'] if x['mountpoint'] == '/dev'][0]
new = dict(dev, mnt_id=9999, root='/../../../../../../../../etc', mountpoint='/opt', parent_mnt_id=top['mnt_id'])
for key in ('shared_id', 'master_id', 'ext_key'): new.pop(key, None)
images['entries'].append(new)"
  restore_fails
  output_mentions 'a mount with the path "/../../'
  status_is stopped
}

@test "a bind with rslave is restored, and mounts of the host go on to reach it" {
  needs_criu
  mkdir "$TMP/data"
  mount -t tmpfs none "$TMP/data"
  mount --make-shared "$TMP/data"
  mkdir "$TMP/data/below"
  add_mount "{\"destination\": \"/data\", \"type\": \"bind\", \"source\": \"$TMP/data\", \"options\": [\"rbind\", \"rslave\"]}"
  run_counter
  ocirun checkpoint "$ID"
  restore
  goes_on
  mount -t tmpfs none "$TMP/data/below"
  ocirun exec "$ID" grep -q " /data/below " /proc/self/mountinfo
  ocirun exec "$ID" grep " /data " /proc/1/mountinfo | grep master:
  ocirun delete --force "$ID"
  umount "$TMP/data/below" "$TMP/data"
}

@test "without cgroups, restored processes are in the caller's cgroup, and those of the images are not made" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  ocirun --cgroup-manager disabled restore --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>"$TMP/errors" 3>&- 4>&-
  goes_on
  equal "$(sort /proc/self/cgroup)" "$(sort "/proc/$(init_pid)/cgroup")"
  [[ ! -e /sys/fs/cgroup/$ID && ! -e /sys/fs/cgroup/memory/$ID ]]
  ocirun --cgroup-manager disabled delete --force "$ID"
}

@test "forged properties of cgroups give no device" {
  needs_criu
  has_v1 devices || skip "cgroup v2 has no files of device rules"
  run_counter
  ocirun checkpoint --manage-cgroups-mode full "$ID"
  forge_image cgroup.img "devices = [c for c in images['entries'][0]['controllers'] if c['cnames'] == ['devices']][0]['dirs'][0]
devices.setdefault('properties', []).append({'name': 'devices.allow', 'value': 'a *:* rwm', 'perms': {'mode': 0o200, 'uid': 0, 'gid': 0}})"
  restore_fails --manage-cgroups-mode full
  output_mentions '"devices.allow": the device rules are those of config.json'
}

@test "without the field in config.json, a forged OOM score below 0 is found out" {
  needs_criu
  config 'del(.process.oomScoreAdj)'
  run_counter
  ocirun checkpoint "$ID"
  forge "core['tc'].update(oom_score_adj=-1000)"
  restore_fails
  output_mentions "has an OOM score of -1000: without /process/oomScoreAdj"
}

@test "images and logs are not written to a directory in which others may put links" {
  run_counter
  broken_criu
  mkdir -m 0777 "$TMP/open"
  chmod 0777 "$TMP/open"
  run ocirun --criu "$TMP/criu" checkpoint --image-path "$TMP/open" "$ID"
  exits 1 "--image-path $TMP/open: other users may write to it (mode 0777)"
  run ocirun --criu "$TMP/criu" checkpoint --work-path "$TMP/open" "$ID"
  exits 1 "--work-path $TMP/open: other users may write to it"
  status_is running
}

@test "hostname and ipc sysctls are those of config.json, not those of forged images" {
  needs_criu
  config '.hostname = "box" | .linux.sysctl = {"kernel.shmmax": "1000000"}'
  run_counter
  ocirun checkpoint "$ID"
  forge_image "$(basename checkpoint/utsns-*.img)" "images['entries'][0].update(nodename='forged')"
  config '.linux.sysctl = {"kernel.shmmax": "2000000"}'
  restore
  goes_on
  equal "box 2000000" "$(ocirun exec "$ID" sh -c 'echo $(hostname) $(cat /proc/sys/kernel/shmmax)')"
}

# fails_beside_a_child [OPTION…]: a restore of which the caller has a child already, such as the `tee` of a shell.
fails_beside_a_child() {
  local command
  printf -v command '%q ' "$OCIRUN" --root "$ROOT" restore --detach --bundle "$BUNDLE" "$ID"
  bash -c 'sleep 1000 & echo $! >"$2"; eval "exec $1"' _ "$command" "$TMP/child" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}

@test "a restore that fails does not kill the children that its caller had" {
  needs_criu
  run_counter
  ocirun checkpoint "$ID"
  forge "core['tc'].update(oom_score_adj=-1000)"
  config '.process.oomScoreAdj = 0'
  ! fails_beside_a_child || return 1
  contains "$TMP/output" "has an OOM score of -1000"
  kill "$(<"$TMP/child")" # fails if there is no such process
}

@test "checkpoint --lazy-pages that a signal ends lets the container run on" {
  needs_criu
  run_counter
  run ocirun checkpoint --lazy-pages "$ID"
  exits 1 "--lazy-pages: give --page-server ADDRESS:PORT"
  mkfifo "$TMP/status"
  exec 9<>"$TMP/status"
  helper "$OCIRUN" --root "$ROOT" checkpoint --lazy-pages --page-server 127.0.0.1:5001 --status-fd 9 --image-path "$TMP/images" "$ID"
  IFS= read -r -d "" -n 1 -t 60 -u 9 _
  exec 9>&-
  kill "$HELPER"
  eventually has_ended "$HELPER"
  goes_on
  status_is running
}

@test "the two outputs of a restored process are those of restore, each its own" {
  needs_criu
  script 'i=0; while :; do i=$((i + 1)); echo out; echo err >&2; echo $i >/tmp/n; sleep 0.05; done'
  ocirun run --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >/dev/null) 2> >(cat >/dev/null) 3>&- 4>&-
  eventually exists "$BUNDLE/rootfs/tmp/n"
  ocirun checkpoint "$ID"
  ocirun restore --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >"$TMP/out") 2> >(cat >"$TMP/err") 3>&- 4>&-
  eventually contains "$TMP/out" out
  eventually contains "$TMP/err" err
  equal out "$(sort -u "$TMP/out")"
}
