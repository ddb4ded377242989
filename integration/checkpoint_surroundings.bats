# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# What a restored container has around it beside cgroups: a terminal of the host, the network, sysctls, a keyring. What needs criu is
# skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_surroundings.bats
load lib/common
load lib/criu

@test "checkpoint and restore show their progress on a terminal alone, and remove the line" {
  needs_criu
  run_counter
  printf '#!/bin/sh\nsleep 1\nexec %s "$@"\n' "$(command -v criu)" >"$TMP/criu"
  chmod 755 "$TMP/criu"
  mkfifo "$TMP/keys"
  exec 9<>"$TMP/keys" # the program script ends with its input
  TERM=xterm command script -qec "$(printf '%q ' "$OCIRUN" --root "$ROOT" --criu "$TMP/criu" checkpoint "$ID")" /dev/null <"$TMP/keys" >"$TMP/screen"
  exec 9>&-
  grep -E "checkpoint $ID: [0-9]+ of about [0-9]+ MiB, 0 s" "$TMP/screen"
  equal $'\r\e[K' "$(tail -c 4 "$TMP/screen")"
  ocirun --criu "$TMP/criu" restore --detach --bundle "$BUNDLE" "$ID" </dev/null > >(cat >>"$TMP/printed") 2>"$TMP/errors" 3>&- 4>&-
  equal "" "$(<"$TMP/errors")"
  goes_on
}

# on_terminal FILE COMMAND…: runs ocirun COMMAND in the background on a terminal of its own, whose input is $TMP/keys; FILE has its output.
on_terminal() {
  local command
  printf -v command '%q ' "$OCIRUN" --root "$ROOT" "${@:2}"
  helper bash -c 'exec script -qfc "$1" "$2" <"$3"' _ "$command" "$1" "$TMP/keys"
}

@test "restore --shell-job gives the program the terminal of restore" {
  needs_criu
  script 'echo before; read -r line; echo "after $line"; sleep 1000'
  mkfifo "$TMP/keys"
  exec 9<>"$TMP/keys"
  on_terminal "$TMP/first" run --bundle "$BUNDLE" "$ID"
  eventually contains "$TMP/first" before
  run ocirun checkpoint "$ID"
  exits 1 "give --shell-job"
  ocirun checkpoint --shell-job "$ID"
  eventually is_absent
  on_terminal "$TMP/second" restore --shell-job --bundle "$BUNDLE" "$ID"
  eventually status_is running
  echo word >&9
  exec 9>&-
  eventually contains "$TMP/second" "after word"
  ocirun kill "$ID" KILL
  eventually is_absent
}

# addresses: those of the container's network devices.
addresses() { nsenter --net --target "$(init_pid)" ip -oneline address show; }

@test "--keep-network: without it, a restored network namespace has a loopback device alone, which is up" {
  needs_criu
  run_counter
  nsenter --net --target "$(init_pid)" ip address add 10.9.9.9/32 dev lo
  ocirun checkpoint --keep-network --leave-running "$ID"
  ocirun delete --force "$ID"
  restore --keep-network
  goes_on
  [[ $(addresses) == *10.9.9.9* ]]
  ocirun delete --force "$ID"
  restore
  goes_on
  [[ $(addresses) == *127.0.0.1* && $(addresses) != *10.9.9.9* ]]
  contains "$TMP/errors" "give --keep-network"
  ocirun checkpoint --image-path "$TMP/empty" "$ID"
  restore_fails --keep-network --image-path "$TMP/empty"
  output_mentions "--keep-network: the images do not hold what was in the network namespace"
  restore --empty-ns network --image-path "$TMP/empty"
  goes_on
  [[ $(addresses) == *127.0.0.1* ]]
}

@test "network devices of config.json move into the restored network namespace" {
  needs_criu
  ip link add nda type veth peer name ndb
  config '.linux.netDevices = {nda: {name: "eth7"}}'
  run_counter
  [[ $(addresses) == *127.0.0.1* ]]
  nsenter --net --target "$(init_pid)" ip link show eth7
  ocirun checkpoint "$ID"
  eventually is_no_device ndb # the kernel removes a pair of devices with the network namespace of one
  ip link add nda type veth peer name ndb
  ip address add 10.9.9.9/32 dev nda
  restore
  goes_on
  nsenter --net --target "$(init_pid)" ip -oneline address show eth7 | grep 10.9.9.9
  ocirun delete --force "$ID"
  eventually is_no_device ndb
}
is_no_device() { ! ip link show "$1" 2>/dev/null; }

@test "sysctls of config.json are set again in restored namespaces, those of network devices after the hooks" {
  needs_criu
  counter
  # The hook makes the network device again, as engines' hooks do.
  config '.linux.sysctl = {"net.ipv4.ip_unprivileged_port_start": "77", "net.ipv4.conf.near.forwarding": "1", "kernel.shmmni": "99", "fs.mqueue.msg_max": "7"}
    | .hooks = {createRuntime: [{path: "/bin/sh", args: ["sh", "-c", $c]}]}' \
    --arg c 'nsenter --net --target $(jq .pid) ip link add near type veth peer name far'
  run_counting
  ocirun checkpoint "$ID"
  restore
  goes_on
  equal "77 1 99 7" "$(ocirun exec "$ID" cat /proc/sys/net/ipv4/ip_unprivileged_port_start /proc/sys/net/ipv4/conf/near/forwarding \
    /proc/sys/kernel/shmmni /proc/sys/fs/mqueue/msg_max | xargs)"
}

# KEYRING: a Python function that returns the number of the session keyring.
KEYRING='
import ctypes, os
keyctl = lambda *words: ctypes.CDLL(None).syscall({"x86_64": 250, "aarch64": 219}[os.uname().machine], *words)
keyring = lambda: keyctl(0, -3, 0)'

# restored_by_a_special_caller: restore, called with another session keyring, an OOM score, an I/O priority and one CPU. Prints the keyring.
restored_by_a_special_caller() {
  local command
  printf -v command '%q ' "$OCIRUN" --root "$ROOT" restore --detach --bundle "$BUNDLE" "$ID"
  python3 -c "$KEYRING
keyctl(1, None)
print(keyring(), flush=True)
open('/proc/self/oom_score_adj', 'w').write('500')
os.sched_setaffinity(0, {0})
os.execlp('ionice', 'ionice', '--class', 'idle', 'sh', '-c', '$command >>$TMP/printed 2>$TMP/errors')" </dev/null 3>&- 4>&-
}

@test "a restored process has from config.json, and not from the caller, what criu does not restore: keyring, CPUs, I/O priority, OOM score 0" {
  needs_criu
  with_python
  python "$KEYRING
def step(number):
    with open('/tmp/keyring', 'w') as file: print(keyring(), file=file)
count()"
  config '.process.ioPriority = {class: "IOPRIO_CLASS_BE", priority: 6} | .process.oomScoreAdj = 0'
  run_counting
  ocirun checkpoint "$ID"
  local keyring pid
  keyring=$(restored_by_a_special_caller)
  rm "$BUNDLE/rootfs/tmp/keyring"
  eventually exists "$BUNDLE/rootfs/tmp/keyring"
  goes_on
  differs_from "$keyring" "$(<"$BUNDLE/rootfs/tmp/keyring")"
  pid=$(init_pid)
  equal "best-effort: prio 6" "$(ionice -p "$pid")"
  equal 0 "$(<"/proc/$pid/oom_score_adj")"
  equal "$(grep Cpus_allowed_list /proc/self/status)" "$(grep Cpus_allowed_list "/proc/$pid/status")"
}
differs_from() { [[ $1 =~ ^[0-9]+$ && $2 =~ ^[0-9]+$ && $1 != "$2" ]]; }
