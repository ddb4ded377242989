#!/usr/bin/env bash
# The check list of podman as root, with conmon and private storage.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container
ENGINE=podman
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=integration/clients/podman_setup.bash
source "$(dirname "${BASH_SOURCE[0]}")/podman_setup.bash"

podman_setup
check "import of an image" podman import -q "$(image_archive)" localhost/busybox

run() { podman run --rm --network none "$@"; }
B=localhost/busybox

# --- run -------------------------------------------------------------------------------------------------
check_output "run prints" hello run $B echo hello
check_status "run returns the program's status" 7 run $B sh -c 'exit 7'
check_status "a program that is not found is 127" 127 run $B nosuch
check_status "a path that does not exist is 127" 127 run $B /no/such
check_status "a file that may not be executed is 126" 126 run $B /etc/noexec
check_status "a directory is 126" 126 run $B /etc
check_mentions "the error names the program" "nosuch" run $B nosuch
check_output "an environment variable" value run -e NAME=value $B sh -c 'echo $NAME'
check_output "a working directory" /tmp run -w /tmp $B pwd
check_output "a user by name" "1000:1000" run -u user $B sh -c 'echo $(id -u):$(id -g)'
check_output "supplementary groups" "1000 2000" run -u user --group-add 2000 $B id -G
check_output "a hostname" box run --hostname box $B hostname
check_output "stdin is passed on" typed bash -c "echo typed | podman run -i --rm --network none $B cat"
check_output "a read-only root" "no" run --read-only $B sh -c 'touch /x 2>/dev/null && echo yes || echo no'
check_output "tmpfs" "tmpfs" run --tmpfs /mnt $B sh -c 'stat -f -c %T /mnt'
check_output "no capabilities" "CapEff:	0000000000000000" run --cap-drop all $B grep CapEff /proc/self/status
check_output "one capability" "CapEff:	0000000000002000" run --cap-drop all --cap-add net_raw $B grep CapEff /proc/self/status
check_output "no new privileges" "NoNewPrivs:	1" run --security-opt no-new-privileges $B grep NoNewPrivs /proc/self/status
check_output "the engine's seccomp filter" "Seccomp:	2" run $B grep Seccomp: /proc/self/status
check_output "without seccomp" "Seccomp:	0" run --security-opt seccomp=unconfined $B grep Seccomp: /proc/self/status
check "privileged" run --privileged $B true
check_output "an ulimit" 512 run --ulimit nofile=512:512 --ulimit nproc=512:512 $B sh -c 'ulimit -n'
check_output "a sysctl" 7 run --sysctl net.ipv4.ip_default_ttl=7 $B cat /proc/sys/net/ipv4/ip_default_ttl
check_output "an umask" 0077 run --umask 0077 $B sh -c umask
check_output "shm size" 1024 run --shm-size 1m $B sh -c 'df -k /dev/shm | tail -1 | awk "{print \$2}"'
check_output "a device" "c" run --device /dev/zero:/dev/myzero $B sh -c 'test -c /dev/myzero && echo c'
check_output "init" "1" run --init $B sh -c 'grep -c -E "podman-init|catatonit" /proc/1/cmdline'
check_output "the host's pid namespace" "no" run --pid host $B sh -c 'test $$ = 1 && echo yes || echo no'
check_output "the host's ipc and uts namespaces" "$(hostname)" run --ipc host --uts host $B hostname
check_output "the host's network" "lo" podman run --rm --network host $B sh -c 'ls /sys/class/net'
check "without cgroups" run --cgroups=disabled $B true
check_output "a rootfs without an image" hello podman run --rm --network none --rootfs "$WORK/image" echo hello
check_output "descriptors are preserved" "from 3" bash -c "podman run --rm --network none --preserve-fds 1 $B sh -c 'cat <&3' 3<<<'from 3'"
check_output "a terminal" "/dev/pts/0" run_with_terminal "podman run -it --rm --network none $B tty"
check_output "the terminal's size" "33 44" run_with_terminal "stty rows 33 cols 44; podman run -it --rm --network none $B sh -c 'sleep 0.5; stty size'"

# --- limits ----------------------------------------------------------------------------------------------
check_limit memory "a memory limit" 67108864 run --memory 64m $B
check_limit pids "a pids limit" 33 run --pids-limit 33 $B
check_limit quota "a cpu quota" 50000 run --cpus 0.5 $B
check "cpu shares" has_shares 256 run --cpu-shares 256 $B
check_limit cpus "a cpuset" 0 run --cpuset-cpus 0 $B
check_status "a memory hog is killed" 137 run --memory 16m --memory-swap 16m $B sh -c 'x=x; while :; do x=$x$x; done'

# --- volumes ---------------------------------------------------------------------------------------------
mkdir -p "$WORK/volume/sub"
echo inside >"$WORK/volume/file"
check_output "a volume" inside run -v "$WORK/volume:/mnt" $B cat /mnt/file
check_output "a read-only volume" no run -v "$WORK/volume:/mnt:ro" $B sh -c 'touch /mnt/x 2>/dev/null && echo yes || echo no'
check_output "a named volume" kept bash -c "podman run --rm --network none -v named:/data $B sh -c 'echo kept >/data/f' && podman run --rm --network none -v named:/data $B cat /data/f"
for kind in shared rshared; do check_output "mounts below a volume that is $kind go both ways" "in out" propagation $kind; done
for kind in slave rslave; do check_output "mounts below a volume that is $kind go in only" in propagation $kind; done
for kind in private rprivate; do check_output "mounts below a volume that is $kind go nowhere" "" propagation $kind; done
check_output "a mount option" noexec run --mount "type=bind,source=$WORK/volume,target=/mnt,bind-propagation=private" -v "$WORK/volume:/mnt2:noexec" $B sh -c 'grep -o noexec /proc/self/mounts | sort -u'
check_output "a secret" hidden bash -c "echo hidden | podman secret create mine - >/dev/null && podman run --rm --network none --secret mine $B cat /run/secrets/mine"

# --- user namespaces ---------------------------------------------------------------------------------------
check_output "mapped ids" "         0     100000      65536" run --uidmap 0:100000:65536 --gidmap 0:100000:65536 $B cat /proc/self/uid_map
check_output "mapped ids may use their root" yes run --uidmap 0:100000:65536 --gidmap 0:100000:65536 $B sh -c 'touch /root/x && echo yes'
check_output "an automatic user namespace" yes run --userns auto:size=1000 $B sh -c 'test $(id -u) = 0 && echo yes'
check_output "an id-mapped volume" 0 run --uidmap 0:100000:65536 --gidmap 0:100000:65536 -v "$WORK/volume:/mnt:idmap" $B stat -c %u /mnt/file

# --- the container beside its document ---------------------------------------------------------------------
# shellcheck source=integration/clients/inspect_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/inspect_checks.bash"
inspect_setup
podman run -d --name seen --network none --memory 64m --sysctl net.ipv4.ip_default_ttl=7 -v "$WORK/shown:/shown:ro" -v "$WORK/note:/etc/note" $B sleep 1000 >/dev/null
check_inspection "$(podman inspect -f '{{.Id}}' seen)"
podman rm -f -t 0 seen >/dev/null

# --- a container's life ------------------------------------------------------------------------------------
check "run detached" podman run -d --name one --network none $B sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done'
check_output "inspect tells that it runs" running podman inspect -f '{{.State.Status}}' one
check_output "inspect names the runtime" "$RUNTIME_NAME" podman inspect -f '{{.OCIRuntime}}' one
check_output "exec" hello podman exec one echo hello
check_status "exec returns the status" 9 podman exec one sh -c 'exit 9'
check_status "exec of what is not found is 127" 127 podman exec one nosuch
check_status "exec of a file that may not be executed is 126" 126 podman exec one /etc/noexec
check_output "exec with a user, a directory and a variable" "1000 /tmp v" podman exec -u user -w /tmp -e X=v one sh -c 'echo $(id -u) $(pwd) $X'
check_output "exec reads stdin" typed bash -c "echo typed | podman exec -i one cat"
check_output "exec preserves descriptors" "from 3" bash -c "podman exec --preserve-fds 1 one sh -c 'cat <&3' 3<<<'from 3'"
check_output "exec with a terminal" "/dev/pts/0" run_with_terminal "podman exec -it one tty"
check "exec detached" podman exec -d one sh -c 'echo done >/tmp/detached'
check_output "exec detached has run" "done" bash -c 'sleep 0.5; podman exec one cat /tmp/detached'
check_output "exec privileged" "yes" bash -c "podman exec --privileged one sh -c 'grep CapEff /proc/self/status' | grep -q 'CapEff:.0000000000000000' && echo no || echo yes"
has_a_sleep() { [[ $(podman top one comm) == *sleep* ]]; }
check "top" eventually has_a_sleep
check_output "stats" yes bash -c "podman stats --no-stream --format '{{.MemUsage}} {{.PIDS}}' one | grep -qE '^[1-9][0-9.]*[kMG]?B / .* [1-9][0-9]*$' && echo yes"
check "pause" podman pause one
check_output "a paused container is paused" paused podman inspect -f '{{.State.Status}}' one
check "unpause" podman unpause one
check "update" update_memory
check "kill with a signal that is caught" podman kill -s TERM one
check_output "it ended with its status" 5 podman wait one
check "start again" podman start one
check "stop" podman stop -t 5 one
check_output "stop's status" 5 podman inspect -f '{{.State.ExitCode}}' one
check "restart" podman restart -t 2 one
check "rm by force" podman rm -f -t 1 one
check "logs" logs_are_kept
check "cp" copy_both_ways
check "a health check" healthy
check "attach" attach_sees_output
check_status "stop kills what does not listen" 137 stop_stubborn
check "create, start, wait, rm" create_start_wait
check_status "a start that fails leaves nothing" 0 failed_start_leaves_nothing

# --- the file that cmake --install puts in place ------------------------------------------------------------
if [[ $RUNTIME_NAME == ocirun ]]; then
  check_output "the drop-in is enough for --runtime and --cgroups=disabled" hello with_drop_in podman --runtime ocirun run --rm --network none --cgroups=disabled $B echo hello
fi

# --- hooks, pods, play -------------------------------------------------------------------------------------
check "createRuntime and poststop hooks" hooks_run
check "a pod shares its namespaces" pod_shares
check "play kube" play_kube
if [[ $RUNTIME_NAME == ocirun ]] && "$RUNTIME" pod --help >/dev/null 2>&1; then
  check "play kube of an exported OAM workload" export_of_oam_plays
  check "play kube of an exported Radius resource" export_of_radius_plays
  check "play kube of an exported App Container pod" export_of_appc_plays
fi
check "commit and run the result" commit_and_run
check "build" build_an_image
check "sixteen at once" many_at_once

check "nothing is left" nothing_is_left
end_list
