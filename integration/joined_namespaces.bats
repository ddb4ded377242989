# Namespaces of the host that a container joins, and the mounts that show them: with a user namespace, a new one cannot mount them.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
source "$LIB/sleeper.bash"

# host_namespaces: $SLEEPER is in network, ipc, pid and cgroup namespaces that the host owns: with the interface "of-joined", the message
# queue "of-joined", and the first process "of-joined".
host_namespaces() {
  helper unshare --net --ipc --pid --mount --cgroup --mount-proc --fork --kill-child bash -c 'exec -a of-joined sleep 10000'
  eventually pgrep -P "$HELPER" -f of-joined >/dev/null
  SLEEPER=$(pgrep -P "$HELPER" -f of-joined)
  nsenter -t "$SLEEPER" -n ip link add of-joined type veth peer name its-peer
  nsenter -t "$SLEEPER" -m -i sh -c 'mount -t mqueue mqueue /mnt && : >/mnt/of-joined'
}

# with_user KIND: the document has a new user namespace, joins one, or has none.
with_user() {
  case $1 in
    new) user_namespace ;;
    joined)
      local of_host=$SLEEPER
      sleeper --user
      echo "0 100000 65536" >"/proc/$SLEEPER/uid_map"
      echo "0 100000 65536" >"/proc/$SLEEPER/gid_map"
      user_namespace
      set_namespace user "/proc/$SLEEPER/ns/user"
      SLEEPER=$of_host
      ;;
  esac
}

@test "L-3 M-13 a joined network, pid, ipc or cgroup namespace of the host: sysfs, proc, mqueue and cgroups show it, with any user namespace" {
  local user kind document file
  shown() { [[ $kind != "$1" && $kind != all ]] && echo 0 || echo 1; } # whether the container must see the joined namespace of this kind
  host_namespaces
  document=$(<"$BUNDLE/config.json")
  for user in absent new joined; do
    for kind in network pid ipc cgroup all; do
      echo "# user namespace: $user, joined: $kind"
      echo "$document" >"$BUNDLE/config.json"
      with_user "$user"
      [[ $kind != network && $kind != all ]] || set_namespace network "/proc/$SLEEPER/ns/net"
      for file in pid ipc cgroup; do
        [[ $kind != "$file" && $kind != all ]] || set_namespace "$file" "/proc/$SLEEPER/ns/$file"
      done
      inside 'echo "net:" $(ls /sys/class/net); echo "mqueue:" $(ls /dev/mqueue); echo "first:" $(tr "\0" " " </proc/1/cmdline)
        ls /sys/fs/cgroup | grep -c .'
      succeeds
      equal "$(shown network)" "$(grep -co '^net: .*of-joined' <<<"$output")"
      equal "$(shown ipc)" "$(grep -co '^mqueue: of-joined$' <<<"$output")"
      equal "$(shown pid)" "$(grep -co '^first: of-joined' <<<"$output")"
      [[ ${lines[-1]} != 0 ]] || fail_with_output
    done
  done
}

@test "L-3 M-13 the mounts of a joined namespace of the host keep their protection against root of a new user namespace" {
  host_namespaces
  user_namespace
  capabilities CAP_SYS_ADMIN CAP_DAC_OVERRIDE
  set_namespace network "/proc/$SLEEPER/ns/net"
  set_namespace ipc "/proc/$SLEEPER/ns/ipc"
  set_namespace pid "/proc/$SLEEPER/ns/pid"
  config '(.mounts[] | select(.destination == "/proc")).options = ["nosuid", "noexec", "nodev", "ro"]'
  inside 'for place in /proc /sys; do mount -o remount,bind,rw $place; done; mount -o remount,bind,exec,suid /dev/mqueue
    umount /sys; grep -E " (/proc|/sys|/dev/mqueue) " /proc/self/mountinfo | cut -d" " -f5,6'
  succeeds
  equal 3 "$(grep -c "ermission denied\|not permitted" <<<"$output")"
  output_mentions "/proc ro,nosuid,nodev,noexec"
  output_mentions "/sys ro,nosuid,nodev,noexec"
  output_mentions "/dev/mqueue rw,nosuid,nodev,noexec"
}
