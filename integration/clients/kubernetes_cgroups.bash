# shellcheck shell=bash disable=SC2016 # what is quoted is for awk
# The cgroups of the nodes of kubernetes.bash. With the driver cgroupfs, the cgroups of a node are below $OCIRUN_TEST_MARK$NODE in each
# hierarchy of cgroup v1. With the driver systemd, they are below the slice of this name, and cgroup v2 is the only hierarchy.

# make_cgroups NODE: makes the cgroup of a node with every controller, because the kubelet wants them in its root. With cgroupfs also the
# cgroup `daemons` in it.
make_cgroups() {
  local hierarchy name=$OCIRUN_TEST_MARK$1 file
  if [[ $CGROUP_DRIVER == systemd ]]; then
    systemctl start "$name.slice" && systemctl set-property --runtime "$name.slice" CPUAccounting=yes MemoryAccounting=yes TasksAccounting=yes
    return
  fi
  while read -r hierarchy; do
    mkdir -p "$hierarchy/$name" || return 1
    for file in cpuset.cpus cpuset.mems; do
      [[ ! -e $hierarchy/$file ]] || cat "$hierarchy/$file" >"$hierarchy/$name/$file" || return 1
    done
  done < <(findmnt -rn -t cgroup -o TARGET)
  mkdir -p "/sys/fs/cgroup/"{cpuacct,memory}"/$name/daemons"
}

# exec_in_cgroup NODE COMMAND…: executes the command in a cgroup of the node: a new scope, or the cgroup `daemons`.
exec_in_cgroup() {
  local name=$OCIRUN_TEST_MARK$1 file
  shift
  [[ $CGROUP_DRIVER != systemd ]] || exec systemd-run --quiet --scope --slice="$name.slice" -- "$@"
  for file in /sys/fs/cgroup/{cpuacct,memory}/"$name"/daemons/cgroup.procs; do echo "$BASHPID" >"$file" || exit 1; done
  exec "$@"
}

# node_cgroups: prints the directories of the cgroups of both nodes.
node_cgroups() {
  if [[ $CGROUP_DRIVER == systemd ]]; then
    compgen -G "/sys/fs/cgroup/${OCIRUN_TEST_MARK}n?.slice"
  else
    compgen -G "/sys/fs/cgroup/*/${OCIRUN_TEST_MARK}n?"
  fi
}

# pod_cgroups [UID]: prints the cgroups of pods, or of this pod alone. A slice has "_" where the UID has "-".
pod_cgroups() { node_cgroups | xargs -I{} find {} -type d \( -name "pod${1:-*}" -o -name "*-pod${1//-/_}*.slice" \); }

# cpu: the microseconds of processor time that the cgroups of both nodes have used.
cpu() {
  if [[ $CGROUP_DRIVER == systemd ]]; then
    node_cgroups | sed 's|$|/cpu.stat|' | xargs awk '$1 == "usage_usec" {sum += $2} END {printf "%d\n", sum}'
  else
    cat /sys/fs/cgroup/cpuacct/"$OCIRUN_TEST_MARK"n?/cpuacct.usage | awk '{sum += $1} END {printf "%d\n", sum / 1000}'
  fi
}

# forget_cgroups: removes what runc has left, before the next class is looked at: on a hybrid host runc makes cgroups of pods in the
# unified hierarchy too, which the kubelet does not know.
forget_cgroups() { find /sys/fs/cgroup/unified/"$OCIRUN_TEST_MARK"n? -depth -type d -path '*/pod*' -exec rmdir {} + 2>/dev/null || true; }

# kill_in_cgroups: kills everything that is left in the nodes' cgroups.
kill_in_cgroups() {
  local pid
  while read -r pid; do kill -KILL "$pid" 2>/dev/null; done < <(node_cgroups | xargs -I{} find {} -name cgroup.procs -exec cat {} + 2>/dev/null)
}
