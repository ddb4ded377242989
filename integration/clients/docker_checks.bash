# shellcheck shell=bash
# The checks of the lists docker and docker-shim: a dockerd of its own, which starts its own containerd, without bridge and iptables.
# $RUNTIME_ENTRY is the runtime's entry in daemon.json.
# shellcheck disable=SC2016 # what is quoted is for the shell in the container

export DOCKER_HOST=unix:///run/docker.sock DOCKER_CONFIG=$WORK/client DOCKER_BUILDKIT=0
DOCKER=/usr/bin/docker # Debian's, even if PATH has another one
docker() { "$DOCKER" "$@"; }
export -f docker
export DOCKER

start_docker() {
  daemon dockerd dockerd --host "$DOCKER_HOST" --data-root "$WORK/data" --exec-root /run/docker-exec --pidfile /run/docker.pid \
    --bridge=none --iptables=false --ip6tables=false --ip-masq=false --userland-proxy=false --live-restore \
    --config-file "$WORK/daemon.json" "$@"
  eventually docker version
}
mkdir -p "$WORK/client"
cat >"$WORK/daemon.json" <<END
{
  "runtimes": {"tested": $RUNTIME_ENTRY},
  "default-runtime": "tested",
  "exec-opts": ["native.cgroupdriver=$CGROUP_DRIVER"]
}
END
# shellcheck source=integration/clients/inspect_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/inspect_checks.bash"
check "dockerd starts" traced start_docker
import_image() { docker import "$(image_archive)" busybox; }
check "import of an image" import_image
B=busybox
run() { docker run --rm --network none "$@"; }
NOT_FOUND=126 # the status of exec
[[ $(docker version -f '{{.Server.Version}}') != 2[89].* ]] || NOT_FOUND=127

# --- run -------------------------------------------------------------------------------------------------
check_output "run prints" hello run $B echo hello
check_status "run returns the program's status" 7 run $B sh -c 'exit 7'
check_status "a program that is not found is 127" 127 run $B nosuch
check_status "a path that does not exist is 127" 127 run $B /no/such
check_status "a file that may not be executed is 126" 126 run $B /etc/noexec
check_status "a directory is 126" 126 run $B /etc
check_output "an environment variable" value run -e NAME=value $B sh -c 'echo $NAME'
check_output "a working directory that is made" /made run -w /made $B pwd
check_output "a user by name" 1000:1000 run -u user $B sh -c 'echo $(id -u):$(id -g)'
check_output "supplementary groups" "1000 2001" run -u 1000:1000 --group-add 2001 $B id -G
check_output "a hostname" box run --hostname box $B hostname
check_output "stdin is passed on" typed bash -c "echo typed | docker run -i --rm --network none $B cat"
check_output "a read-only root" no run --read-only $B sh -c 'touch /x 2>/dev/null && echo yes || echo no'
check_output "tmpfs" tmpfs run --tmpfs /mnt $B sh -c 'stat -f -c %T /mnt'
check_output "no capabilities" "CapEff:	0000000000000000" run --cap-drop ALL $B grep CapEff /proc/self/status
check_output "one capability" "CapEff:	0000000000002000" run --cap-drop ALL --cap-add NET_RAW $B grep CapEff /proc/self/status
check_output "no new privileges" "NoNewPrivs:	1" run --security-opt no-new-privileges $B grep NoNewPrivs /proc/self/status
check_output "the engine's seccomp filter" "Seccomp:	2" run $B grep Seccomp: /proc/self/status
check_output "without seccomp" "Seccomp:	0" run --security-opt seccomp=unconfined $B grep Seccomp: /proc/self/status
echo '{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"names": ["mkdir", "mkdirat"], "action": "SCMP_ACT_ERRNO"}]}' >"$WORK/profile.json"
check_output "a seccomp profile of one's own" no run --security-opt "seccomp=$WORK/profile.json" $B sh -c 'mkdir /x 2>/dev/null && echo yes || echo no'
check "privileged" run --privileged $B true
check_output "an ulimit" 512 run --ulimit nofile=512:512 $B sh -c 'ulimit -n'
check_output "a sysctl" 7 run --sysctl net.ipv4.ip_default_ttl=7 $B cat /proc/sys/net/ipv4/ip_default_ttl
check_output "shm size" 1024 run --shm-size 1m $B sh -c 'df -k /dev/shm | tail -1 | awk "{print \$2}"'
check_output "a device" c run --device /dev/zero:/dev/myzero $B sh -c 'test -c /dev/myzero && echo c'
check "a device rule" run --device-cgroup-rule 'c 42:* rmw' $B true
check_output "masked and read-only paths" "0 no" run $B sh -c 'echo $(wc -c </proc/keys) $(echo 1 2>/dev/null >/proc/sys/kernel/panic && echo yes || echo no)'
check_output "init" tini run --init $B sh -c 'tr "\0" " " </proc/1/cmdline | grep -q init && echo tini'
check_output "the host's pid namespace" no run --pid host $B sh -c 'test $$ = 1 && echo yes || echo no'
check_output "the host's ipc and uts namespaces" "$(hostname)" run --ipc host --uts host $B hostname
check_output "the host's network" lo docker run --rm --network host $B ls /sys/class/net
check_output "a terminal" /dev/pts/0 run_with_terminal "docker run -it --rm --network none $B tty"
check_output "the terminal's size" "33 44" run_with_terminal "stty rows 33 cols 44; docker run -it --rm --network none $B sh -c 'sleep 0.5; stty size'"

# --- limits ----------------------------------------------------------------------------------------------
check_limit memory "a memory limit" 67108864 run --memory 64m $B
check_limit reservation "a memory reservation" 33554432 run --memory-reservation 32m $B
check_limit pids "a pids limit" 33 run --pids-limit 33 $B
check_limit quota "a cpu quota" 50000 run --cpus 0.5 $B
check "cpu shares" has_shares 256 run --cpu-shares 256 $B
check_limit cpus "a cpuset" 0 run --cpuset-cpus 0 $B
check_status "a memory hog is killed" 137 run --memory 16m --memory-swap 16m $B sh -c 'x=x; while :; do x=$x$x; done'
parent=/${OCIRUN_TEST_MARK}parent
[[ $CGROUP_DRIVER == cgroupfs ]] || parent=tested.slice
below_parent() {
  docker run -d --name child --network none --cgroup-parent "$parent" $B sleep 1000 &&
    grep -E ":(memory)?:.*$parent/" "/proc/$(docker inspect -f '{{.State.Pid}}' child)/cgroup" && docker rm -f child
}
check "a cgroup parent" below_parent

# --- volumes ---------------------------------------------------------------------------------------------
mkdir -p "$WORK/volume"
echo inside >"$WORK/volume/file"
check_output "a volume" inside run -v "$WORK/volume:/mnt" $B cat /mnt/file
check_output "a file as a volume" inside run -v "$WORK/volume/file:/etc/deep/file" $B cat /etc/deep/file
check_output "a read-only volume" no run -v "$WORK/volume:/mnt:ro" $B sh -c 'touch /mnt/x 2>/dev/null && echo yes || echo no'
check_output "a named volume" kept bash -c "docker run --rm --network none -v named:/data $B sh -c 'echo kept >/data/f' && docker run --rm --network none -v named:/data $B cat /data/f"
check_output "a slave volume" inside bash -c "mount --make-rshared / 2>/dev/null; docker run --rm --network none -v $WORK/volume:/mnt:rslave $B cat /mnt/file"

# --- the container beside its document ---------------------------------------------------------------------
inspect_setup
docker run -d --name seen --network none --memory 64m -v "$WORK/shown:/shown:ro" -v "$WORK/note:/etc/note" $B sleep 1000 >/dev/null
check_inspection "$(docker inspect -f '{{.Id}}' seen)"
docker rm -f seen >/dev/null

# --- a container's life ------------------------------------------------------------------------------------
run_one() { docker run -d --name one --network none $B sh -c 'trap "exit 5" TERM; while :; do sleep 0.1; done'; }
field() { docker inspect -f "{{.State.$1}}" one; }
check "run detached" run_one
check_output "inspect names the runtime" tested docker inspect -f '{{.HostConfig.Runtime}}' one
check_output "inspect tells that it runs" running field Status
check_output "exec" hello docker exec one echo hello
check_status "exec returns the status" 9 docker exec one sh -c 'exit 9'
check_status "exec of what is not found is $NOT_FOUND, as this Docker has it" $NOT_FOUND docker exec one nosuch
check_status "exec of a file that may not be executed is 126" 126 docker exec one /etc/noexec
check_output "exec with a user, a directory and a variable" "1000 /tmp v" docker exec -u user -w /tmp -e X=v one sh -c 'echo $(id -u) $(pwd) $X'
check_output "exec reads stdin" typed bash -c "echo typed | docker exec -i one cat"
check_output "exec with a terminal" /dev/pts/0 run_with_terminal "docker exec -it one sh -c 'tty; sleep 0.3'"
check "exec detached" docker exec -d one sh -c 'echo done >/tmp/detached'
check_output "exec detached has run" "done" bash -c 'sleep 0.5; docker exec one cat /tmp/detached'
check "exec privileged" docker exec --privileged one true
has_a_sleep() { [[ $(docker top one) == *sleep* ]]; }
if ps -ef >/dev/null 2>&1; then check "top" eventually has_a_sleep; else skip "top" "ps does not run under this kernel"; fi
check_output "stats" yes bash -c "docker stats --no-stream --format '{{.MemUsage}} {{.PIDs}}' one | grep -qE '^[1-9][0-9.]*[KMG]?i?B / .* [1-9][0-9]*$' && echo yes"
check "run by the runtime's name" run --runtime tested $B true
check "pause" docker pause one
check_output "a paused container is paused" paused field Status
check_status "exec in a paused container is refused" 1 docker exec one true
check "unpause" docker unpause one
update_one() {
  docker update --memory 128m --memory-swap 256m --cpu-shares 512 --pids-limit 50 one && [[ $(limit_inside memory docker exec one) == 134217728 ]] &&
    has_shares 512 docker exec one && [[ $(limit_inside pids docker exec one) == 50 ]]
}
check "update" update_one
live_restore() {
  stop_daemon
  start_docker && [[ $(field Status) == running ]] && [[ $(docker exec one echo alive) == alive ]]
}
check "live restore" live_restore
check "kill with a signal that is caught" docker kill -s TERM one
check_output "it ended with its status" 5 docker wait one
check "start again" docker start one
check "restart" docker restart -t 2 one
check "stop" docker stop -t 5 one
check_output "stop's status" 5 field ExitCode
check "rm" docker rm one
stop_stubborn() {
  docker run -d --name deaf --network none $B sh -c 'trap "" TERM; while :; do sleep 0.1; done' && docker stop -t 1 deaf &&
    [[ $(docker inspect -f '{{.State.ExitCode}}' deaf) == 137 ]] && docker rm deaf
}
check "stop kills what does not listen" stop_stubborn
kill_all() {
  docker run -d --name open --pid host --network none $B sh -c 'sleep 1000 & sleep 1000' && docker rm -f open && eventually bash -c "! pgrep -fx 'sleep 1000'"
}
check "rm by force without a pid namespace kills all" kill_all
logs_are_kept() {
  docker run --name talker --network none $B sh -c 'echo out; echo err >&2' && [[ $(docker logs talker 2>/dev/null) == out ]] &&
    [[ $(docker logs talker 2>&1 >/dev/null) == err ]] && docker rm talker
}
check "logs" logs_are_kept
copy_both_ways() {
  docker run -d --name files --network none $B sleep 100 && echo copied >"$WORK/to" && docker cp "$WORK/to" files:/tmp/to &&
    [[ $(docker exec files cat /tmp/to) == copied ]] && docker cp files:/tmp/to "$WORK/back" && cmp "$WORK/to" "$WORK/back" && docker rm -f files
}
check "cp" copy_both_ways
# The container lives on for a moment: systemd removes the cgroup of a scope at its end, and the shim loses the event.
oom_is_told() {
  docker run --name hog --network none --memory 16m --memory-swap 16m $B sh -c '(x=x; while :; do x=$x$x; done); sleep 2'
  [[ $(docker inspect -f '{{.State.OOMKilled}}' hog) == true ]] && docker rm hog
}
check "an OOM kill is told" oom_is_told
build_an_image() {
  mkdir -p "$WORK/context"
  printf 'FROM %s\nRUN echo built >/built && id -u\nUSER user\nCMD ["cat", "/built"]\n' $B >"$WORK/context/Dockerfile"
  docker build -q --network none -t built "$WORK/context" && [[ $(run built) == built ]]
}
check "build" build_an_image
many_at_once() {
  local number pids=()
  for number in {1..12}; do
    docker run --rm --network none $B echo "$number" >"$WORK/many.$number" &
    pids+=($!)
  done
  for number in {1..12}; do wait "${pids[number - 1]}" && [[ $(<"$WORK/many.$number") == "$number" ]] || return 1; done
}
check "twelve at once" many_at_once
no_runtime_state() { [[ -z $(find /run/docker-exec -path '*/runtime-*/moby/*' -mindepth 3 -maxdepth 3 2>/dev/null) ]]; }
nothing_is_left() { [[ -z $(docker ps -aq) ]] && eventually no_runtime_state; }
check "nothing is left" nothing_is_left

# --- user namespaces: a daemon of its own -------------------------------------------------------------------
remapped() {
  stop_daemon
  echo 'dockremap:300000:65536' >"$WORK/subids"
  mount --bind "$WORK/subids" /etc/subuid && mount --bind "$WORK/subids" /etc/subgid
  { cat /etc/passwd && echo 'dockremap:x:999:999::/:/bin/false'; } >"$WORK/passwd"
  { cat /etc/group && echo 'dockremap:x:999:'; } >"$WORK/group"
  mount --bind "$WORK/passwd" /etc/passwd && mount --bind "$WORK/group" /etc/group
  start_docker --userns-remap dockremap || { tail -n 5 "$WORK/dockerd.log" && return 1; }
  docker import "$(image_archive)" busybox &&
    [[ $(run $B sh -c 'echo $(awk "{print \$2}" /proc/self/uid_map)') == 300000 ]] && run $B touch /root/x && run -v "$WORK/volume:/mnt:ro" $B cat /mnt/file &&
    run --memory 64m --tmpfs /tmp --read-only $B true
}
check "userns-remap" remapped
