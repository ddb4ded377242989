# What a container can learn of ocirun's caller: the environment and the command line of the process that became its own.
# shellcheck disable=SC2016 # what is quoted runs in containers
load harness

# The spy is a program in the container that reads the environment and the command line of each process that it sees.
start_spy() {
  with_python
  cat >"$BUNDLE/rootfs/attack/spy" <<'SPY'
import os
def log(line): open("/attack/log", "a").write(line + "\n")
def look(pid):
    for file, secret in (("environ", b"callers-secret"), ("cmdline", b"secret-word")):
        try:
            read = open(f"/proc/{pid}/{file}", "rb").read()
            if secret in read: log(f"{file}: {read}")
            if read.startswith(b"ocirun: init\0"): log("saw init")
        except OSError: pass
open("/attack/ready", "w")
while True:
    for pid in os.listdir("/proc"):
        if pid.isdigit(): look(pid)
SPY
  program python3 /attack/spy
  create_and_start
  eventually exists "$BUNDLE/rootfs/attack/ready"
}

spy_saw() { grep -q "$1" "$BUNDLE/rootfs/attack/log" 2>/dev/null; }
nothing_was_read() { ! grep -v "saw init" "$BUNDLE/rootfs/attack/log"; }

# The spy sees the processes of another container too, whose init joins the pid namespace.
@test "execs and a container that joins the pid namespace show nothing of their caller, with CAP_SYS_ADMIN and CAP_PERFMON either" {
  local n
  capabilities CAP_SYS_ADMIN CAP_PERFMON CAP_DAC_READ_SEARCH
  start_spy
  export HIDDEN=callers-secret
  for n in {1..40}; do ocirun exec --env PASSWORD=secret-word "$ID" true; done
  config '(.linux.namespaces[] | select(.type == "pid")).path = $p | .process.args = ["true"] | .linux.cgroupsPath += "-joined"' \
    --arg p "/proc/$(init_pid)/ns/pid"
  for n in {1..20}; do ocirun run --bundle "$BUNDLE" "$ID-secret-word" </dev/null; done
  eventually spy_saw "saw init"
  nothing_was_read
  helper nsenter -t "$(init_pid)" -p -- sh -c "sleep 1000; :" secret-word # a program of the host in the pid namespace, with the caller's environment
  eventually spy_saw environ
  detector_catches nothing_was_read
}

# shows_nothing PID: the process shows neither the caller's command line nor its environment.
shows_nothing() {
  equal "ocirun: init" "$(tr '\0' '\n' <"/proc/$1/cmdline")" && equal "" "$(tr -d '\0' <"/proc/$1/environ")"
}

@test "a created init shows no more than its name, whatever namespaces it joined, and however short its command line was" {
  local id=$ID length
  export HIDDEN=callers-secret
  create
  shows_nothing "$(init_pid)"
  ocirun delete --force "$ID"
  helper unshare --net sleep 1000
  eventually other_net
  set_namespace network "/proc/$HELPER/ns/net"
  config '.linux.namespaces += [{type: "time"}]'
  create # by a stage
  shows_nothing "$(init_pid)"
  ocirun delete --force "$ID"
  config 'del(.linux.namespaces[] | select(.type == "time"))'
  cd "$BUNDLE"
  # From 10 bytes on: an empty name of the program.
  for ID in i id id1 id12; do
    (
      unset "${!BATS@}" "${!LC_@}"
      exec -a '' env -i "$OCIRUN" --root "$ROOT" create "$ID"
    ) </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
    shows_nothing "$(init_pid)"
    ocirun delete --force "$ID"
  done
  ID=$id
}
other_net() { [[ $(readlink "/proc/$HELPER/ns/net") != "$(readlink /proc/self/ns/net)" ]]; }

@test "hooks in the container's namespaces have nothing of the caller in their memory, nor has the init that they see" {
  config '.hooks = {createContainer: [{path: "/bin/sh", args: ["sh", "-c", "cat /proc/self/environ >$1", "sh", $record]}],
    startContainer: [{path: "/bin/sh", args: ["sh", "-c", "cat /proc/1/cmdline /proc/1/environ >/tmp/start"]}]}' --arg record "$TMP/record"
  capabilities CAP_SYS_ADMIN CAP_DAC_OVERRIDE
  program true
  HIDDEN=callers-secret create
  HIDDEN=callers-secret start
  equal "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$(tr "\\0" "\\n" <"$TMP/record" | grep -v ^PWD=)"
  equal "ocirun: init" "$(tr '\0' '\n' <"$BUNDLE/rootfs/tmp/start" | grep .)"
}

# The kernel lets CAP_SYS_PTRACE read all memory: what is not there cannot be read.
@test "the memory of a created init has no trace of the caller's environment" {
  export HIDDEN=callers-secret-in-the-environment
  create
  python3 - "$(init_pid)" "$HIDDEN" <<'END'
import sys
pid, secret = sys.argv[1], sys.argv[2].encode()
for line in open(f"/proc/{pid}/maps"):
    start, end = (int(n, 16) for n in line.split()[0].split("-"))
    if "r" not in line.split()[1] or "[v" in line: continue
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(start)
        if secret in memory.read(end - start): sys.exit(f"found in {line}")
END
}
