#!/usr/bin/env bash
# The check list of Slurm: a controller and two nodes on one kernel, each node in network and UTS namespaces of its own. An
# ordinary user runs bundles by srun --container; slurmd queries, kills and deletes the containers as root.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
ENGINE=slurm
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

WORKER=12345 HOME_DIR=$WORK/home # the user
export SLURM_CONF=$WORK/slurm/slurm.conf
NODES=(n1 n2)
STATES=/run/oci/worker # the state root of the user's containers
TESTED=("$RUNTIME" --rootless=true --root="$STATES")
# The user may not make cgroups here. The option keeps ocirun's warning of that out of each job's output.
[[ $RUNTIME_NAME != ocirun ]] || TESTED+=(--log-level=error)

# --- the cluster -------------------------------------------------------------------------------------------

make_user() {
  local file
  { cat /etc/passwd && echo "worker:x:$WORKER:$WORKER::$HOME_DIR:/bin/sh"; } >"$WORK/passwd"
  { cat /etc/group && echo "worker:x:$WORKER:"; } >"$WORK/group"
  printf '127.0.0.1 localhost\n10.66.0.254 head\n' >"$WORK/hosts"
  for file in passwd group hosts; do mount --bind "$WORK/$file" "/etc/$file" || return 1; done
  install -d -o $WORKER -g $WORKER "$HOME_DIR" "$WORK/bundles"
  install -d -o $WORKER -g $WORKER -m 0700 "$STATES"
}
AS_USER=(setpriv --reuid "$WORKER" --regid "$WORKER" --clear-groups env -i --chdir="$HOME_DIR" HOME="$HOME_DIR" USER=worker
  PATH=/usr/bin:/bin SLURM_CONF="$SLURM_CONF")
as_user() { "${AS_USER[@]}" "$@"; }

# Makes a bridge, and for each node namespaces that are bound to files: /run/netns/n1 and /run/uts/n1.
make_network() {
  local number node
  hostname head
  mkdir -p /run/netns /run/uts
  ip link add nodes type bridge && ip addr add 10.66.0.254/24 dev nodes && ip link set nodes up || return 1
  for number in 1 2; do
    node=${NODES[number - 1]}
    touch "/run/netns/$node" "/run/uts/$node"
    unshare --net="/run/netns/$node" --uts="/run/uts/$node" hostname "$node" &&
      ip link add "$node" type veth peer name eth0 netns "$node" && ip link set "$node" master nodes up &&
      ip -n "$node" addr add "10.66.0.$number/24" dev eth0 && ip -n "$node" link set eth0 up && ip -n "$node" link set lo up || return 1
  done
}

configure() {
  local by_slurm=${TESTED[*]/%worker/%u}
  mkdir -p "$WORK/slurm" "$WORK/state" "$WORK/spool/n1" "$WORK/spool/n2"
  cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=head(10.66.0.254)
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$WORK/state
SlurmdSpoolDir=$WORK/spool/%n
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
KillWait=5
SlurmdParameters=config_overrides
NodeName=n1 NodeAddr=10.66.0.1 CPUs=8 RealMemory=1000
NodeName=n2 NodeAddr=10.66.0.2 CPUs=8 RealMemory=1000
PartitionName=all Nodes=n1,n2 Default=YES State=UP
END
  echo 'CgroupPlugin=cgroup/v1' >"$WORK/slurm/cgroup.conf"
  # Without exec a shell stays between Slurm and the runtime, and Slurm's signals reach only the shell.
  cat >"$WORK/slurm/oci.conf" <<END
RunTimeRun="exec $by_slurm run --bundle %b %n.%u.%j.%s.%t"
RunTimeQuery="exec $by_slurm state %n.%u.%j.%s.%t"
RunTimeKill="exec $by_slurm kill -a %n.%u.%j.%s.%t"
RunTimeDelete="exec $by_slurm delete --force %n.%u.%j.%s.%t"
END
}

start_munge() {
  install -d /run/munge
  (umask 077 && head -c 1024 /dev/urandom >"$WORK/munge.key")
  daemon munged munged --foreground --key-file="$WORK/munge.key" --socket=/run/munge/munge.socket.2 \
    --pid-file=/run/munge/munged.pid --log-file="$WORK/munge.log" --seed-file="$WORK/munge.seed"
  eventually bash -c 'munge -n | unmunge' || { cat "$WORK"/munge*.log && return 1; }
}

start_cluster() {
  local node
  daemon slurmctld slurmctld -D
  for node in "${NODES[@]}"; do daemon "slurmd-$node" nsenter --net="/run/netns/$node" --uts="/run/uts/$node" slurmd -D -N "$node"; done
  within 60 all_idle || { sinfo; tail -n 20 "$WORK"/slurm*.log; return 1; }
}
all_fit() { [[ $(sinfo -h -N -t idle,mixed,allocated -o %N | wc -l) == 2 ]]; }
all_idle() { [[ $(sinfo -h -t idle -o %D) == 2 ]]; }

# bundle NAME [FILTER]: makes a bundle of the user by `spec --rootless`, and edits its config.json by a filter of jq. Its root
# lies in the bundle, because Slurm does not find it elsewhere.
bundle() {
  local path=$WORK/bundles/$1
  mkdir -p "$path"
  rootfs "$path/rootfs"
  chown -R $WORKER:$WORKER "$path"
  (cd "$path" && setpriv --reuid $WORKER --regid $WORKER --clear-groups "$RUNTIME" spec --rootless) &&
    jq ".process.terminal = false | ${2:-.}" "$path/config.json" >"$path/new" && mv "$path/new" "$path/config.json"
}

check "an ordinary user" make_user
check "a network of two nodes" make_network
configure
check "munge" start_munge
check "slurmctld and two slurmd" start_cluster
check "a bundle of the user's" bundle box ".mounts += [{destination: \"/mnt\", type: \"bind\", source: \"$HOME_DIR\", options: [\"bind\"]}]"
BOX=$WORK/bundles/box

# --- functions ---------------------------------------------------------------------------------------------

srun() { as_user timeout 100 srun --quiet "$@"; }
run() { srun --container="$BOX" "$@"; }
# batch NAME SBATCH-OPTION…: submits a job and sets $JOB to its number. Its output is in the user's home, in files NAME.INDEX.
batch() { JOB=$(as_user sbatch --parsable --job-name "$1" --output="$HOME_DIR/%x.%a" "${@:2}"); }
# in_background NAME COMMAND…: runs COMMAND by srun in the background, and sets $ID to the container's id when it runs.
in_background() {
  srun --job-name "$1" --nodelist n1 --container="$BOX" "${@:2}" >"$WORK/background" 2>&1 &
  BACKGROUND=$!
  within 30 has_job "$1" && JOB=$(squeue -h -o %i -n "$1") && ID=n1.worker.$JOB.0.0 && within 30 is_running "$ID"
}
has_job() { [[ -n $(squeue -h -t running -n "$1") ]]; }
ends_with() { # STATUS: the srun of in_background ends with it
  local status=0
  wait "$BACKGROUND" || status=$?
  [[ $status == "$1" ]] || { echo "status $status" && cat "$WORK/background" && return 1; }
}
is_running() { [[ $("${TESTED[@]}" state "$1" | jq -r .status) == running ]]; }
job_tells() { scontrol show job "$1" | grep "$2"; }
nothing_of() { ! pgrep -fx "$1" && [[ -z $(find "$STATES" -name "n1.worker.$JOB.*") ]]; } # COMMAND-LINE: no process, no state

# --- srun ----------------------------------------------------------------------------------------------------
# Slurm's time limits are minutes long, so that the job starts here and is checked at the end.
batch limited --time 1 --nodelist n2 --wrap "srun --container=$BOX sleep 1111"
LIMITED=$JOB
check_output "srun prints" hello run echo hello
check_status "status 0" 0 run true
check_status "another status" 7 run sh -c 'exit 7'
check_status "128 and a signal's number" 143 run sh -c 'sh -c "kill \$\$"; exit $?'
typed() { echo typed | run cat; }
check_output "stdin is passed on" typed typed
much() { head -c 1000000 /dev/zero | run cat | wc -c; }
check_output "a megabyte goes in and out" 1000000 much
separate() { run sh -c 'echo out; echo err >&2' 2>/dev/null; }
check_output "stdout and stderr are two" out separate
check_output "the user is root inside, and nobody else outside" "0 0 $WORKER 1" run sh -c 'echo $(id -u) $(awk "{print \$1, \$2, \$3}" /proc/self/uid_map)'
check_output "a job's environment" "value 1" run --export=ALL,NAME=value sh -c 'echo $NAME $SLURM_NTASKS'
check_output "pid and UTS namespaces of its own" "1 $RUNTIME_NAME" run sh -c 'echo $$ $(hostname)'
check_output "the capabilities of the bundle" 0000000020000420 run sh -c 'awk "/CapEff/ {print \$2}" /proc/self/status'
check_output "the root is read-only" no run sh -c 'touch /x 2>/dev/null && echo yes || echo no'
bundle node 'del(.hostname) | .linux.namespaces -= [{type: "uts"}]'
node() { srun --container="$WORK/bundles/node" "$@"; }
check_output "the network is the node's" 10.66.0.2 node --nodelist n2 sh -c 'ip -o -4 addr show eth0 | sed "s|.*inet ||; s|/.*||"'
on_two() { node --nodes 2 --label hostname | sort | paste -sd ' '; }
check_output "a job on two nodes" "0: n1 1: n2" on_two
check_output "a terminal" yes run_with_terminal "${AS_USER[*]} srun --quiet --pty --container=$BOX sh -c 'test -t 0 && test -t 1 && echo yes'"
many_at_once() {
  local number pids=()
  for number in {1..16}; do
    run echo "$number" >"$WORK/many.$number" 2>&1 &
    pids+=($!)
  done
  for number in {1..16}; do wait "${pids[number - 1]}" && [[ $(<"$WORK/many.$number") == "$number" ]] || return 1; done
}
check "sixteen jobs at once" many_at_once

# --- mistakes ------------------------------------------------------------------------------------------------
bundle bad '.process.user.umask = 512'
run_bad() { srun --container="$WORK/bundles/bad" true; }
if [[ $RUNTIME_NAME == ocirun ]]; then check_mentions "a mistake in a bundle is told by its place" "/process/user/umask" run_bad; fi
bundle unmapped '.process.user.uid = 5'
run_unmapped() { srun --container="$WORK/bundles/unmapped" true; }
check_status "a user that is not mapped is refused" 1 run_unmapped
check_mentions "a program that is not found is told by name" 'executable file not found in $PATH' run nosuch
check_mentions "one that may not be executed is told by name" '/etc/noexec' run /etc/noexec
no_bundle() { srun --container="$WORK/bundles/nosuch" true; }
check_mentions "a bundle that is not there" "No such file or directory" no_bundle
check "after all that the nodes are fit" within 30 all_fit

# --- sbatch ----------------------------------------------------------------------------------------------------
array() {
  batch array --wait --array 1-12 --wrap "srun --container=$BOX sh -c 'echo task \$SLURM_ARRAY_TASK_ID'"
  sort -V "$HOME_DIR"/array.* | paste -sd ' '
}
check_output "an array of twelve jobs" "$(echo 'task '{1..12})" array
printf '#!/bin/sh\necho "user $(id -u) of $SLURM_JOB_NAME in $(grep -c . /etc/passwd) lines"\nexit 3\n' >"$WORK/script"
contained() {
  local status=0
  batch contained --wait --container="$BOX" "$WORK/script" || status=$?
  echo "$status $(grep -v ^slurmstepd "$HOME_DIR/contained.4294967294")" # without slurmstepd's line about a container's early end
}
check_output "a batch script in a container" "3 user 0 of contained in 2 lines" contained
steps() {
  batch steps --wait --nodes 2 --wrap "srun --container=$BOX echo one; srun --container=$BOX echo two"
  grep -v ^srun: "$HOME_DIR"/steps.* | paste -sd ' '
}
check_output "steps in a job" "one one two two" steps

# --- signals and ends ------------------------------------------------------------------------------------------
signalled() {
  in_background sleeper sh -c 'trap "exit 9" USR1; echo ready; while :; do sleep 0.1; done' && within 30 grep -q ready "$WORK/background" &&
    scancel --signal USR1 "$JOB" && ends_with 9
}
check "a signal reaches the program" signalled
# Ignores srun's status and message for a cancelled job, which depend on a race.
cancelled() { # COMMAND-LINE: cancels the job; no process of this command line and no state is left
  scancel "$JOB"
  wait "$BACKGROUND"
  within 30 nothing_of "$1"
}
listening() {
  in_background sleeper sh -c 'trap "echo told >/mnt/told; exit" TERM; echo ready; sleep 1212 & wait' &&
    within 30 grep -q ready "$WORK/background" && cancelled 'sleep 1212' && [[ $(<"$HOME_DIR/told") == told ]]
}
check "scancel ends a container that listens" listening
deaf() { in_background sleeper sh -c 'sleep 1213 & sleep 1213' && cancelled 'sleep 1213'; }
check "scancel kills one that does not listen, with all that is in it" deaf
killed_at_once() { in_background sleeper sh -c 'sleep 1214 & sleep 1214' && scancel --signal KILL "$JOB" && ends_with 137 && within 30 nothing_of 'sleep 1214'; }
check "scancel --signal KILL" killed_at_once
root_asks() { in_background sleeper sleep 1215 && "${TESTED[@]}" list -q | grep -Fx "$ID" && [[ $("${TESTED[@]}" state "$ID" | jq -r .id) == "$ID" ]]; }
check "root sees the user's container" root_asks
root_kills() { "${TESTED[@]}" kill -a "$ID" KILL && ends_with 137 && within 30 nothing_of 'sleep 1215'; }
check "root's kill --all ends it, without a cgroup" root_kills
root_deletes() { in_background sleeper sleep 1216 && "${TESTED[@]}" delete --force "$ID" && ends_with 137 && within 30 nothing_of 'sleep 1216'; }
check "root's delete --force ends it" root_deletes
check_status "state of what is gone" 1 "${TESTED[@]}" state "$ID"
limited() { within 200 job_tells "$LIMITED" JobState=TIMEOUT && within 30 nothing_of 'sleep 1111'; }
check "a job is ended at its time limit" limited
nothing_is_left() { [[ -z $(squeue -h) && -z $(ls "$STATES") ]] && all_idle && ! pgrep -f "$STATES"; }
check "no job, process or state is left" within 60 nothing_is_left
end_list
