# Attacks by a fake or covered /proc or /sys.
# shellcheck disable=SC2016 # what is quoted runs in containers and hooks
load harness

sysctl_of() { nsenter -t "$1" -n cat /proc/sys/net/ipv4/ip_default_ttl; }

# sysctl_arrived PID: the sysctl of the process's network namespace has the value of config.json.
sysctl_arrived() { equal 77 "$(sysctl_of "$1")"; }

# Makes a file in the image at the path of the sysctl.
FAKE_SYSCTL='mkdir -p $R/proc/sys/net/ipv4 && echo 0 >$R/proc/sys/net/ipv4/ip_default_ttl'

@test "runc CVE-2019-16884 a bound or covered /proc is refused; the write never lands in a fake" {
  local mount
  mkdir -p "$TMP/fake"/{self/attr,sys/net/ipv4}
  touch "$TMP/fake/self/attr/exec" "$TMP/fake/sys/net/ipv4/ip_default_ttl"
  config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"}'
  for mount in '{"destination": "/proc", "source": "'"$TMP/fake"'", "options": ["bind"]}' \
    '{"destination": "/proc", "source": "'"$TMP/fake"'", "options": ["rbind", "ro"]}' \
    '{"destination": "/proc", "type": "tmpfs", "source": "tmpfs"}' \
    '{"destination": "/proc/sys", "type": "tmpfs", "source": "tmpfs"}' \
    '{"destination": "/proc/sys/net", "source": "'"$TMP/fake/sys/net"'", "options": ["bind"]}' \
    '{"destination": "/proc/self/attr", "type": "tmpfs", "source": "tmpfs"}' \
    '{"destination": "/proc/self/../self/attr", "type": "tmpfs", "source": "tmpfs"}' \
    '{"destination": "//proc/./1", "type": "tmpfs", "source": "tmpfs"}'; do
    refused /proc '.mounts += [$m]' --argjson m "$mount"
    equal 0 "$(find "$TMP/fake" -type f -size +0 | wc -l)"
  done
  add_mount '{"destination": "/proc", "source": "'"$TMP/fake"'", "options": ["bind"]}'
  script 'echo >/started; sleep 1000'
  naive_beside
  detector_catches sysctl_arrived "$HELPER"
}

@test "runc CVE-2019-16884 a link in the image is no way round: /elsewhere that is /proc/self is refused or stays a plain directory" {
  add_mount '{"destination": "/elsewhere/attr", "type": "tmpfs", "source": "tmpfs"}'
  plant /elsewhere /proc/self
  script 'grep " /proc/" /proc/self/mounts | grep tmpfs | grep attr; exit 0'
  run_container
  ended 0 1
  attributes_are_not_covered
  status=0 output="tmpfs /proc/1/attr tmpfs rw 0 0"
  detector_catches attributes_are_not_covered
}

attributes_are_not_covered() { output_never_mentions "/attr tmpfs"; }

@test "runc CVE-2019-19921 CVE-2023-27561 CVE-2023-28642 youki CVE-2025-54867 a /proc or /sys that is a link is refused" {
  local name target
  for name in proc sys; do
    for target in "$DECOY" "$UP$DECOY" /fake fake ./fake ../fake; do
      mkdir -p "$BUNDLE/rootfs/fake"
      plant "/$name" "$target"
      refused "/$name"
      rm "$BUNDLE/rootfs/$name"
      mkdir "$BUNDLE/rootfs/$name"
    done
  done
  script 'cat /proc/self/mounts /fake/self/mounts'
  plant /proc fake
  run_container
  exits 1
  proc_is_not_elsewhere
  run_naive
  detector_catches proc_is_not_elsewhere
}

proc_is_not_elsewhere() { output_never_mentions " /fake proc "; }

@test "runc CVE-2019-19921 a shared volume at /proc's place, swapped by the neighbour, is refused or ours" {
  local n
  mkdir -p "$TMP/shared/proc" "$BUNDLE/rootfs/fake"
  config '.mounts |= [{destination: "/shared", source: $s, options: ["bind"]}] + .' --arg s "$TMP/shared"
  plant /proc shared/proc
  script 'cat /proc/self/mounts /shared/proc/self/mounts'
  for n in 1 2; do
    run_container
    exits 1
    volume_has_no_proc
  done
  run_naive
  detector_catches volume_has_no_proc
}

volume_has_no_proc() { output_never_mentions " /shared/proc proc "; }

@test "runc CVE-2025-52881 youki CVE-2025-62596 a hook that covers /proc/sys redirects no sysctl" {
  config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"}'
  container_hook 'mount -t tmpfs tmpfs $R/proc/sys && '"$FAKE_SYSCTL"
  script 'echo >/started; sleep 1000'
  create
  sysctl_arrived "$(init_pid)"
  naive_beside
  detector_catches sysctl_arrived "$HELPER"
}

# A hook makes the interface and covers /proc/sys in the container. The control has such a hook too.
@test "runc CVE-2025-52881 a sysctl of an interface is written late, and is right when a hook has covered /proc/sys" {
  local fake='mount -t tmpfs tmpfs $R/proc/sys && mkdir -p $R/proc/sys/net/ipv4/conf/late0 &&
    echo 0 >$R/proc/sys/net/ipv4/conf/late0/log_martians'
  config '.linux.sysctl = {"net.ipv4.conf.late0.log_martians": "1"}'
  script 'echo >/started; sleep 1000'
  container_hook 'pid=$(jq .pid); nsenter -t $pid -n ip link add late0 type veth && nsenter -t $pid -m sh -c '"'$fake'"
  config '.hooks = {createRuntime: .hooks.createContainer}'
  create
  late_sysctl_arrived "$(init_pid)"
  equal 0 "$(<"/proc/$(init_pid)/root/proc/sys/net/ipv4/conf/late0/log_martians")" # /proc/sys is covered in the container
  container_hook "ip link add late0 type veth && $fake"
  naive_beside
  detector_catches late_sysctl_arrived "$HELPER"
}

late_sysctl_arrived() { equal 1 "$(nsenter -t "$1" -n cat /proc/sys/net/ipv4/conf/late0/log_martians)"; }

@test "runc CVE-2025-52881 a dangerous file of /proc over another is never written: a sysctl lands in its own file" {
  config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"}'
  container_hook 'mount --bind $D/file $R/proc/sys/net/ipv4/ip_default_ttl'
  script 'echo >/started; sleep 1000'
  create
  sysctl_arrived "$(init_pid)"
  decoy_is_unchanged
  naive_beside
  decoy_was_changed
}

@test "a file of the host's /proc that a mount covers does not cost the container its cgroup" {
  by_runtime_alone "the mount covers a file of the process that becomes the runtime"
  needs_system_call fsopen "a procfs that nothing can cover"
  script 'exec sleep 1000'
  unshare -m sh -c 'mount --bind /proc/1/cgroup /proc/$$/cgroup; exec "$@"' - \
    "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/output" 2>&1
  equal "" "$(<"$TMP/output")"
  [[ $(<"/proc/$(init_pid)/cgroup") == *"/$ID"* ]]
}

@test "lxc CVE-2015-1334 exec writes through its own procfs, not through the one that the container has covered" {
  capabilities CAP_SYS_ADMIN
  script 'mount -t tmpfs tmpfs /proc; mkdir -p /proc/self/attr /proc/thread-self; echo 0 >/proc/self/oom_score_adj; echo >/started; sleep 1000'
  create_and_start
  eventually exists "$BUNDLE/rootfs/started"
  # The profile makes the process of exec open a procfs.
  config '.process.args = ["sleep", "1001"] | .process.oomScoreAdj = 123 | .process.apparmorProfile = "unconfined"'
  jq .process "$BUNDLE/config.json" >"$TMP/process.json"
  attempt exec --detach --pid-file "$TMP/pid" --process "$TMP/process.json" "$ID"
  if has_system_call fsopen; then
    succeeds
    score_is_123 "$(<"$TMP/pid")"
  else # ocirun cannot mount a procfs of its own and must use the container's
    exits 255 "/proc is not the root of a procfs: something is mounted over it"
  fi
  # The control enters the container and writes to /proc there.
  helper nsenter -t "$(init_pid)" -m -- chroot / sh -c 'echo 123 >/proc/self/oom_score_adj; exec sleep 1002'
  detector_catches score_is_123 "$HELPER"
}

score_is_123() { equal 123 "$(<"/proc/$1/oom_score_adj")"; }

@test "lxc CVE-2016-8649 CVE-2017-5985 a namespace path is proven to be a namespace of that type" {
  local path
  mkfifo "$TMP/fifo"
  for path in "$DECOY/file" "$DECOY" "$TMP/fifo" /dev/null /proc/self/ns/uts /proc/self/ns/mnt /proc/self/status; do
    refused 'join the network namespace' '(.linux.namespaces[] | select(.type == "network")).path = $p' --arg p "$path"
  done
  # The control: setns(2) without a type accepts the wrong namespace, and the process stays in the host's network.
  helper python3 -c 'import ctypes, os, time
assert ctypes.CDLL(None).setns(os.open("/proc/self/ns/uts", os.O_RDONLY), 0) == 0
print("joined", flush=True); time.sleep(1000)'
  eventually contains "$TMP/helper.log" joined
  detector_catches other_network
  helper unshare --net sleep 1000
  eventually other_network
  set_namespace network "/proc/$HELPER/ns/net" # a network namespace is joined
  create
  equal "$(readlink "/proc/$HELPER/ns/net")" "$(readlink "/proc/$(init_pid)/ns/net")"
}

other_network() { [[ $(readlink "/proc/$HELPER/ns/net") != "$(readlink /proc/self/ns/net)" ]]; }
