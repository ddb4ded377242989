# shellcheck shell=bash disable=SC2016 # what is quoted is for the shell in the container
# The checks of the lists swarm and swarm-shim: one node, whose services run up to fifty replicas at once, in a machine twenty. All its cgroups
# are below the list's own cgroup or slice $PARENT, in the hierarchy $CGROUPS. Then three nodes, which run exported stacks. $RUNTIME_ENTRY is
# the runtime's entry in daemon.json.

export DOCKER_HOST=unix:///run/docker.sock DOCKER_CONFIG=$WORK/client
DOCKER=/usr/bin/docker # Debian's, even if PATH has another one
docker() { "$DOCKER" "$@"; }
PARENT=/${OCIRUN_TEST_MARK}swarm CGROUPS=/sys/fs/cgroup/memory
[[ $CGROUP_VERSION == 1 ]] || CGROUPS=/sys/fs/cgroup
[[ $CGROUP_DRIVER == cgroupfs ]] || PARENT=tested.slice
MANY=50
[[ $CGROUP_DRIVER == cgroupfs ]] || MANY=20

start_docker() {
  daemon dockerd dockerd --host "$DOCKER_HOST" --data-root "$WORK/data" --exec-root /run/docker-exec --pidfile /run/docker.pid \
    --bridge=none --iptables=false --ip6tables=false --ip-masq=false --userland-proxy=false --cgroup-parent "$PARENT" \
    --config-file "$WORK/daemon.json"
  within 60 docker version
}
mkdir -p "$WORK/client"
cat >"$WORK/daemon.json" <<END
{
  "runtimes": {"tested": $RUNTIME_ENTRY},
  "default-runtime": "tested",
  "exec-opts": ["native.cgroupdriver=$CGROUP_DRIVER"]
}
END
check "dockerd starts" start_docker
check "swarm init" docker swarm init --advertise-addr 127.0.0.1
import_image() { docker import "$(image_archive)" localhost/busybox; }
check "import of an image" import_image
IMAGE=localhost/busybox # a name from which Docker pulls nothing

# --- functions ---------------------------------------------------------------------------------------------

# service NAME OPTION… -- COMMAND…: makes a service and does not wait for its replicas. By default it is on the host's network.
service() {
  local name=$1 options=(--network host)
  shift
  while [[ $1 != -- ]]; do
    [[ $1 != --network ]] || options=()
    options+=("$1") && shift
  done
  docker service create --detach --no-resolve-image --name "$name" "${options[@]}" "$IMAGE" "${@:2}"
}

# A program that ends on SIGTERM, as a service should.
LOOP=(sh -c 'trap "exit 0" TERM; sleep 1000 & wait')

containers() { docker ps -q --no-trunc --filter "label=com.docker.swarm.service.name=$1"; }
number_of() { containers "$1" | wc -l; }
replicas() { docker service ls --filter "name=$1" --format '{{.Replicas}}'; }
is_at() { [[ $(replicas "$1") == "$2/$2" && $(number_of "$1") == "$2" ]]; }
tasks() { docker service ps --no-trunc --format "{{.$2}}" "$1"; }
task_tells() { tasks "$1" "$2" | grep -q "$3"; }

# comes_to NAME NUMBER: waits until the service has this number of running replicas. tell_time shows the seconds, which are
# meaningful only on an idle machine.
comes_to() {
  local began=${EPOCHREALTIME/./}
  within 120 is_at "$1" "$2" || { docker service ps "$1" | head -n 20 && return 1; }
  TOOK=$(((${EPOCHREALTIME/./} - began) / 100000))
}
scaled() { docker service scale --detach "$1=$2" && comes_to "$1" "$2"; }
tell_time() { echo "$ENGINE: $1 in $((TOOK / 10)).$((TOOK % 10)) s"; }

# --- fifty -------------------------------------------------------------------------------------------------
fifty() { service web --replicas $MANY --limit-memory 32m --limit-cpu 0.5 --limit-pids 20 --stop-grace-period 20s --env VERSION=1 -- "${LOOP[@]}" && comes_to web $MANY; }
check "fifty replicas" fifty
tell_time "0 to $MANY"
STATES=$(echo /run/docker-exec/runtime-*/moby) # "runtime-runc" before Docker 23, then by the runtime's name
all_with_the_runtime() {
  containers web | sort >"$WORK/containers"
  "$RUNTIME" --root "$STATES" list -q | sort >"$WORK/states"
  diff "$WORK/containers" "$WORK/states"
}
check "each of them is the runtime's" all_with_the_runtime
# in_all COMMAND…: runs it in all replicas, and prints each distinct output with the number of replicas that gave it.
in_all() { containers web | while read -r id; do docker exec "$id" "$@" </dev/null; done | sort | uniq -c | tr -s ' '; }
check_output "each has its memory limit" " $MANY 33554432" limit_inside memory in_all
check_output "each has its cpu quota" " $MANY 50000" limit_inside quota in_all
check_output "each has its pids limit" " $MANY 20" limit_inside pids in_all
check_output "each is pid 1 of its own namespace" " $MANY sh" in_all cat /proc/1/comm
check "scaled to ten" scaled web 10
tell_time "$MANY to 10"
no_more_than() {
  [[ $("$RUNTIME" --root "$STATES" list -q | wc -l) == "$1" ]] &&
    [[ $(find "$CGROUPS/$PARENT" -mindepth 1 -maxdepth 1 -type d | wc -l) == "$1" ]]
}
check "of the forty no state and no cgroup is left" within 30 no_more_than 10
check "scaled to fifty again" scaled web $MANY
tell_time "10 to $MANY"
check "each of them is the runtime's again" all_with_the_runtime
scaled web 10 >/dev/null

# --- what happens to them ------------------------------------------------------------------------------------
updated() {
  docker service update --detach --update-parallelism 5 --update-delay 0s --update-monitor 1s --env-add VERSION=2 web &&
    within 120 update_is completed web && comes_to web 10
}
update_is() { [[ $(docker service inspect -f '{{.UpdateStatus.State}}' "$2") == "$1" ]]; }
check "a rolling update" updated
check_output "all are new" " 10 2" in_all sh -c 'echo $VERSION'
rolled_back() {
  docker service update --detach --update-parallelism 5 --update-monitor 10s --update-failure-action rollback --args "sh -c 'exit 3'" web &&
    within 120 update_is rollback_completed web && comes_to web 10
}
check "an update that fails is rolled back" rolled_back
check_output "all are as before" " 10 2" in_all sh -c 'echo $VERSION'
replaced_after() { # COMMAND…: with the victim's id
  local victim
  victim=$(containers web | head -n 1)
  "$@" "$victim" && within 60 gone "$victim" && comes_to web 10
}
gone() { ! containers web | grep -q "$1"; }
kill_program() { kill -KILL "$(docker inspect -f '{{.State.Pid}}' "$1")"; }
kill_by_runtime() { "$RUNTIME" --root "$STATES" kill "$1" KILL; }
check "a killed replica is replaced" replaced_after docker kill
check "one whose program is killed is replaced" replaced_after kill_program
check "one that the runtime kills behind Docker's back is replaced" replaced_after kill_by_runtime
check "one that is removed by force is replaced" replaced_after docker rm -f
drained() {
  docker node update --availability drain "$(hostname)" && within 60 no_container &&
    docker node update --availability active "$(hostname)" && comes_to web 10
}
no_container() { [[ -z $(docker ps -q) ]]; }
check "a node is drained and filled again" drained
check "the logs of all are one" bash -c ': | "$0" service logs web' "$DOCKER"

# --- kinds of services -----------------------------------------------------------------------------------------
global() { service everywhere --mode global -- "${LOOP[@]}" && comes_to everywhere 1; }
check "a global service" global
job() { service job --mode replicated-job --replicas 12 --max-concurrent 4 -- sh -c 'echo done' && within 60 job_is_done; }
job_is_done() { [[ $(replicas job) == "0/4 (12/12 completed)" ]]; }
check "a job of twelve, four at once" job
logs_of_job() { docker service logs --raw job | grep -c 'done'; }
check_output "each of the twelve has printed" 12 logs_of_job
ends_with() { # STATE ERROR COMMAND…
  local state=$1 error=$2
  shift 2
  service ends --restart-condition none -- "$@" && within 30 task_tells ends CurrentState "$state" && task_tells ends Error "$error"
  local rc=$?
  tasks ends CurrentState
  tasks ends Error
  docker service rm ends
  return $rc
}
check "status 0 completes" ends_with Complete '^$' sh -c 'exit 0'
check "another status is told" ends_with Failed 'non-zero exit (7)' sh -c 'exit 7'
killed() {
  service killed --restart-condition none -- sleep 1000 && comes_to killed 1 && docker kill --signal KILL "$(containers killed)" &&
    within 30 task_tells killed Error 'non-zero exit (137)' && docker service rm killed
}
check "a signal is told" killed
check "a program that is not found is told by name" ends_with Failed 'exec: "nosuch": executable file not found' nosuch
check "one that may not be executed is told by name" ends_with Failed 'exec: "/etc/noexec":.* permission denied' /etc/noexec
healthy() {
  service healthy --health-cmd 'test -e /tmp/ready' --health-interval 1s --health-retries 100 -- sh -c 'sleep 2; touch /tmp/ready; sleep 1000' &&
    comes_to healthy 1 && [[ $(docker exec "$(containers healthy)" ls /tmp/ready) == /tmp/ready ]] && docker service rm healthy
}
check "a replica runs when its health check says so" healthy
prints() { # EXPECTED SERVICE-ARGUMENT…
  local expected=$1
  shift
  service prints --restart-condition none "$@" && within 30 task_tells prints CurrentState Complete && within 10 logs_are "$expected"
  local rc=$?
  docker service logs --raw prints
  docker service rm prints
  return $rc
}
logs_are() { [[ $(docker service logs --raw prints 2>&1) == "$1" ]]; }
with_secret() {
  printf 'hidden' | docker secret create key - && printf 'setting' | docker config create settings - &&
    prints 'hidden 400 tmpfs setting no' --secret source=key,target=key,mode=0400 --config source=settings,target=/etc/settings -- \
      sh -c 'echo $(cat /run/secrets/key) $(stat -L -c %a /run/secrets/key) $(stat -f -c %T /run/secrets/key) $(cat /etc/settings) $(touch /run/secrets/key 2>/dev/null && echo yes || echo no)'
}
check "a secret and a config" with_secret
check "a user, a directory, a hostname, and names from a template" prints '1000 /home box-1 web.1' \
  --user user --workdir /home --hostname 'box-{{.Task.Slot}}' --env 'NAME=web.{{.Task.Slot}}' -- sh -c 'echo $(id -u) $(pwd) $(hostname) $NAME'
check "a read-only root with a tmpfs" prints 'no tmpfs' --read-only --mount type=tmpfs,target=/mnt -- \
  sh -c 'echo $(touch /x 2>/dev/null && echo yes || echo no) $(stat -f -c %T /mnt)'
mkdir -p "$WORK/volume"
echo inside >"$WORK/volume/file"
check "a volume" prints inside --mount "type=bind,source=$WORK/volume,target=/mnt,readonly" -- cat /mnt/file
check "an init and one capability" prints 'yes 0000000000002000' --init --cap-drop ALL --cap-add CAP_NET_RAW -- \
  sh -c 'echo $(tr "\0" " " </proc/1/cmdline | grep -q init && echo yes) $(awk "/CapEff/ {print \$2}" /proc/self/status)'
check "an ulimit and a sysctl" prints '512 1' --ulimit nofile=512:512 --sysctl kernel.shm_rmid_forced=1 -- \
  sh -c 'echo $(ulimit -n) $(cat /proc/sys/kernel/shm_rmid_forced)'
overlay() {
  docker network create --driver overlay --subnet 10.99.0.0/24 between &&
    service server --network between --endpoint-mode dnsrr --replicas 2 -- sh -c 'echo served >/tmp/index.html; httpd -f -p 80 -h /tmp' &&
    comes_to server 2 && prints served --network between --endpoint-mode dnsrr -- wget -q -O - http://server/index.html
}
TEXT="replicas find and reach each other through an overlay network"
if [[ $CGROUP_DRIVER == cgroupfs ]] || iptables -t nat -S >/dev/null 2>&1; then
  check "$TEXT" overlay
else
  skip "$TEXT" "this kernel has no table nat, by which Docker answers for names"
fi

# --- the end -----------------------------------------------------------------------------------------------
removed() {
  docker service rm web everywhere job && { [[ -z $(containers server) ]] || docker service rm server; } && within 60 no_container && docker container prune --force # Swarm keeps what a job has run
}
check "service rm" removed
# find_cgroups: the cgroups below the parent in every hierarchy. systemd removes an empty slice.
find_cgroups() { find /sys/fs/cgroup/{,*/}"$PARENT" -mindepth 1 -type d 2>/dev/null; }
nothing_is_left() {
  [[ -z $(docker ps -aq) && -z $("$RUNTIME" --root "$STATES" list -q) && -z $(ls "$STATES") ]] &&
    [[ -z $(find_cgroups) ]] && ! pgrep -x containerd-shim &&
    ! grep -E "$WORK.*(merged|rootfs)" /proc/self/mountinfo
}
left_over() {
  within 60 nothing_is_left || { docker ps -a; "$RUNTIME" --root "$STATES" list; find_cgroups; ps -ef; return 1; }
}
check "no container, process, state, cgroup or mount is left" left_over
check "swarm leave" docker swarm leave --force
stop_daemon

# --- what `ocirun pod export` writes -----------------------------------------------------------------------
# shellcheck source=integration/clients/swarm_stack.bash
source "$(dirname "${BASH_SOURCE[0]}")/swarm_stack.bash"
if [[ $CGROUP_DRIVER == cgroupfs ]]; then
  check_stacks
else
  skip "a Swarm of three nodes runs exported stacks" "a node of namespaces has no systemd"
fi
