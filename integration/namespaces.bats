load lib/common
source "$LIB/sleeper.bash"
load lib/accidents

declare -gA FILES=([pid]=pid [network]=net [ipc]=ipc [uts]=uts [mount]=mnt [cgroup]=cgroup [time]=time [user]=user)

# namespace_of PID TYPE: prints "net:[4026531840]".
namespace_of() { readlink "/proc/$1/ns/${FILES[$2]}"; }

@test "L-1 L-2 each type in the list is a new namespace, time and user included" {
  needs_time_namespaces
  local type
  config '.linux.namespaces += [{type: "time"}]'
  user_namespace
  create
  for type in "${!FILES[@]}"; do
    [[ $(namespace_of "$(init_pid)" "$type") != "$(namespace_of self "$type")" ]] || { echo "same: $type"; return 1; }
  done
}

@test "L-1 an unknown type is refused" {
  refused /linux/namespaces/6/type '.linux.namespaces += [{type: "bogus"}]'
  refused /linux/namespaces/6/type '.linux.namespaces += [{}]'
}

@test "L-2 an empty path counts as absent" {
  config '.linux.namespaces[0].path = ""'
  create
  [[ $(namespace_of "$(init_pid)" pid) != "$(namespace_of self pid)" ]]
}

@test "L-3 namespaces are joined by path: network, ipc, uts" {
  local type
  sleeper --net --ipc --uts
  config 'del(.hostname)'
  for type in network ipc uts; do set_namespace "$type" "/proc/$SLEEPER/ns/${FILES[$type]}"; done
  create_and_start
  for type in network ipc uts; do
    equal "$(namespace_of "$SLEEPER" "$type")" "$(namespace_of "$(init_pid)" "$type")"
  done
}

@test "L-3 a pid namespace is joined: the container is seen from the first member" {
  sleeper --pid --mount-proc
  set_namespace pid "/proc/$SLEEPER/ns/pid"
  create_and_start
  equal "$(namespace_of "$SLEEPER" pid)" "$(namespace_of "$(init_pid)" pid)"
  equal "$(namespace_of "$SLEEPER" pid)" "$(readlink "/proc/$(init_pid)/ns/pid_for_children")"
}

@test "L-3 P-14 in a joined pid namespace the OOM score is the one of the document" {
  sleeper --pid --mount-proc
  config '.process.oomScoreAdj = 321'
  set_namespace pid "/proc/$SLEEPER/ns/pid"
  inside 'cat /proc/self/oom_score_adj'
  succeeds 321
}

@test "L-3 user, mount and cgroup namespaces are joined" {
  sleeper --user --map-root-user --cgroup
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
  set_namespace user "/proc/$SLEEPER/ns/user"
  set_namespace cgroup "/proc/$SLEEPER/ns/cgroup"
  config 'del(.mounts[] | select(.type == "cgroup" or .type == "devpts" or .type == "mqueue"))'
  create_and_start
  equal "$(namespace_of "$SLEEPER" user)" "$(namespace_of "$(init_pid)" user)"
  equal "$(namespace_of "$SLEEPER" cgroup)" "$(namespace_of "$(init_pid)" cgroup)"
}

@test "L-3 a path that is relative, missing, no namespace or of another type is refused" {
  refused /linux/namespaces/0/path '.linux.namespaces[0].path = "proc/self/ns/pid"'
  refused "/linux/namespaces/1/path: join the network namespace: open /no/such/ns" '.linux.namespaces[1].path = "/no/such/ns"'
  refused /etc/passwd '.linux.namespaces[1].path = "/etc/passwd"'
  refused network '.linux.namespaces[1].path = "/proc/self/ns/ipc"'
  refused network '.linux.namespaces[1].path = "/proc/self/ns/user"'
}

@test "L-3 T-4 T-5 the runtime's own mount namespace, and its own uts namespace with a name, are refused" {
  refused "/linux/namespaces/5/path: /proc/self/ns/mnt is the mount namespace of the runtime itself, and the host's root would change" \
    'del(.linux.namespaces[] | select(.type == "mount")) | .linux.namespaces += [{type: "mount", path: "/proc/self/ns/mnt"}]'
  set_namespace uts /proc/self/ns/uts
  refused "/hostname: /proc/self/ns/uts is the uts namespace of the runtime itself, and the host would be renamed" '.hostname = "renamed"'
  refused "/domainname: /proc/self/ns/uts is the uts namespace" 'del(.hostname) | .domainname = "renamed"'
  config 'del(.hostname)'
  inside hostname
  succeeds "$(hostname)"
}

@test "L-3 L-35 a fifo as a namespace's path keeps nobody waiting, whoever looks at it first" {
  mkfifo "$TMP/fifo"
  set_namespace network "$TMP/fifo"
  refused "$TMP/fifo is not a network namespace"
  refused "$TMP/fifo is not a network namespace" '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
}

@test "L-3 a namespace kept by a bind mount is joined" {
  touch "$TMP/net"
  unshare --net="$TMP/net" true
  set_namespace network "$TMP/net"
  create
  equal "net:[$(stat -L -c %i "$TMP/net")]" "$(namespace_of "$(init_pid)" network)"
  umount "$TMP/net"
}

@test "L-4 a type that is not in the list is the runtime's" {
  local type
  for type in network ipc uts cgroup pid; do drop_namespace "$type"; done
  config 'del(.hostname)'
  create
  for type in network ipc uts cgroup pid; do
    equal "$(namespace_of self "$type")" "$(namespace_of "$(init_pid)" "$type")"
  done
}

@test "L-4 without a mount namespace the program is confined to the rootfs, and the host's mounts stay" {
  drop_namespace mount
  config 'del(.linux.maskedPaths, .linux.readonlyPaths) | .mounts = []'
  inside 'ls / | tr "\n" " "; cat /etc/passwd | head -n 1'
  succeeds
  output_mentions "root:x:0:0:root:/root:/bin/sh"
  output_never_mentions work
}

# engine_mount: a mount on the rootfs, as an engine makes it, and a document without a mount namespace.
engine_mount() {
  mount --bind "$BUNDLE/rootfs" "$BUNDLE/rootfs"
  drop_namespace mount
  config 'del(.linux.maskedPaths, .linux.readonlyPaths) | .mounts = []'
}
mounts_on_rootfs() { grep -c " $BUNDLE/rootfs " /proc/self/mountinfo; }

@test "L-4 without a mount namespace delete takes away the container's own mount, and not an engine's" {
  engine_mount
  create
  equal 2 "$(mounts_on_rootfs)"
  ocirun delete --force "$ID"
  equal 1 "$(mounts_on_rootfs)"
  inside true
  succeeds
  equal 1 "$(mounts_on_rootfs)"
  umount "$BUNDLE/rootfs"
}

@test "L-4 a create that fails before it mounts anything leaves an engine's mount alone" {
  engine_mount
  refused nosuch '.linux.sysctl = {"net.ipv4.nosuch": "1"}'
  equal 1 "$(mounts_on_rootfs)"
  umount "$BUNDLE/rootfs"
}

@test "L-4 delete --force after a crash takes away what the container mounted, and nothing else" {
  local try
  engine_mount
  for try in still-there unmounted; do
    waits_in_a_hook prestart
    create_is_killed
    equal 2 "$(mounts_on_rootfs)"
    [[ $try == still-there ]] || { eventually umount "$BUNDLE/rootfs"; umount "$BUNDLE/rootfs"; mount --bind "$BUNDLE/rootfs" "$BUNDLE/rootfs"; }
    ocirun delete --force "$ID"
    equal 1 "$(mounts_on_rootfs)"
  done
  umount "$BUNDLE/rootfs"
}

@test "L-4 M-16 a mount on / without a mount namespace is refused" {
  drop_namespace mount
  config 'del(.linux.maskedPaths, .linux.readonlyPaths)'
  refused "wants a mount namespace" '.mounts = [{destination: "/", type: "tmpfs", source: "tmpfs"}]'
}

@test "L-5 a type that is there twice is refused" {
  refused /linux/namespaces/6 '.linux.namespaces += [{type: "pid"}]'
}

@test "L-6 in a new pid namespace the program is pid 1" {
  inside 'echo $$'
  succeeds 1
}

@test "L-6 pid 1's children are reaped by it, and end with it" {
  script 'sleep 4321 & echo started; exit 0'
  run_container
  succeeds started
}

@test "L-8 a new network namespace has its loopback up" {
  inside 'ip -o addr show lo | grep -o "inet 127.0.0.1"; cat /sys/class/net/lo/flags'
  succeeds $'inet 127.0.0.1\n0x9'
}

@test "L-12 time offsets are applied" {
  needs_time_namespaces
  config '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {monotonic: {secs: 864000}, boottime: {secs: 1728000, nanosecs: 5}}'
  inside 'cat /proc/self/timens_offsets; cut -d. -f1 /proc/uptime'
  succeeds
  matches 'monotonic +864000 +0'
  matches 'boottime +1728000 +5'
  [[ ${lines[-1]} -gt 1728000 ]]
}

@test "L-12 a time namespace is joined" {
  needs_time_namespaces
  sleeper --time --boottime 5000000
  config '.linux.namespaces += [{type: "time", path: $p}]' --arg p "/proc/$SLEEPER/ns/time"
  inside 'cut -d. -f1 /proc/uptime'
  succeeds
  [[ $output -gt 5000000 ]]
}

@test "L-12 offsets without a new time namespace, and values out of range, are refused" {
  refused timeOffsets '.linux.timeOffsets = {monotonic: {secs: 1}}'
  refused timeOffsets '.linux.namespaces += [{type: "time", path: "/proc/self/ns/time"}] | .linux.timeOffsets = {monotonic: {secs: 1}}'
  refused nanosecs '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {monotonic: {nanosecs: 1000000000}}'
  refused timeOffsets '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {realtime: {secs: 1}}'
}

@test "L-9 user namespace: root inside is a plain user outside, files have inner owners" {
  user_namespace
  script 'id -u; stat -c %u /bin/busybox; cat /proc/self/uid_map | xargs; touch /made; sleep 1000'
  create
  equal "100000" "$(stat -c %u "/proc/$(init_pid)")"
  ocirun delete --force "$ID"
  script 'id -u; stat -c %u /bin/busybox; cat /proc/self/uid_map | xargs; touch /made'
  run_container
  succeeds $'0\n0\n0 100000 65536'
  equal 100000 "$(stat -c %u "$BUNDLE/rootfs/made")"
}

@test "L-9 the capabilities of a user namespace hold inside only" {
  user_namespace
  capabilities CAP_SYS_ADMIN CAP_NET_ADMIN CAP_CHOWN
  inside 'mount -t tmpfs tmpfs /tmp && echo mounted; ip link set lo down && echo down; chown 5 /etc/passwd && echo chown
    echo x >/proc/sysrq-trigger'
  output_mentions mounted
  output_mentions down
  output_mentions chown
  output_never_mentions "panic"
  [[ $status != 0 ]]
}

@test "L-9 a user namespace with default mounts, devices, hostname and a cgroup mount works" {
  user_namespace
  config '.linux.sysctl = {"net.ipv4.ip_forward": "1"}'
  ! kernel_is 5 19 || config '.linux.sysctl."kernel.shmmax" = "100000000"' # before, only the host could set it
  inside 'echo x >/dev/null && head -c 3 /dev/zero | wc -c; hostname; ls /sys/fs/cgroup /sys/fs/cgroup/memory 2>/dev/null | grep -q ^memory[.] && echo memory; cat /proc/sys/net/ipv4/ip_forward; test -c /dev/ptmx && echo ptmx'
  succeeds $'3\nbox\nmemory\n1\nptmx'
}

@test "L-9 several mappings, host ids first or last in the object" {
  config '.linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{hostID: 100000, containerID: 0, size: 1000}, {containerID: 1000, hostID: 200000, size: 10}]
    | .linux.gidMappings = [{size: 5000, containerID: 0, hostID: 100000}]'
  chown -R 100000:100000 "$BUNDLE/rootfs"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
  inside 'cat /proc/self/uid_map /proc/self/gid_map | tr -s " "'
  succeeds $' 0 100000 1000\n 1000 200000 10\n 0 100000 5000'
}

@test "L-9 mappings without a user namespace, a user namespace without mappings, size 0 and overlaps are refused" {
  refused uidMappings '.linux.uidMappings = [{containerID: 0, hostID: 0, size: 1}]'
  refused Mappings '.linux.namespaces += [{type: "user"}]'
  refused /linux/uidMappings '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 0}] | .linux.gidMappings = [{containerID: 0, hostID: 0, size: 1}]'
  refused uidMappings '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 0, size: 10}, {containerID: 5, hostID: 100, size: 10}] | .linux.gidMappings = [{containerID: 0, hostID: 0, size: 1}]'
  refused /linux/uidMappings/0 '.linux.namespaces += [{type: "user"}] | .linux.uidMappings = [{containerID: 0, hostID: 0}] | .linux.gidMappings = [{containerID: 0, hostID: 0, size: 1}]'
}

@test "P-19 a user that the mappings lack is refused" {
  user_namespace
  refused /process/user/uid '.process.user.uid = 70000'
  refused /process/user/gid '.process.user.gid = 70000'
}

@test "L-10 a user namespace by path with the same mappings is accepted, with others refused" {
  sleeper --user
  echo "0 100000 65536" >"/proc/$SLEEPER/uid_map"
  echo "0 100000 65536" >"/proc/$SLEEPER/gid_map"
  user_namespace
  set_namespace user "/proc/$SLEEPER/ns/user"
  create
  equal "$(namespace_of "$SLEEPER" user)" "$(namespace_of "$(init_pid)" user)"
  ocirun delete --force "$ID"
  refused uidMappings '.linux.uidMappings[0].size = 5'
}

@test "L-10 exec runs in a user namespace that was joined and has no root, or a root among users alone" {
  local ids uids gids
  for ids in "5 5" "0 5" "5 0"; do
    read -r uids gids <<<"$ids"
    sleeper --user
    echo "$uids 100000 10" >"/proc/$SLEEPER/uid_map"
    echo "$gids 100000 10" >"/proc/$SLEEPER/gid_map"
    config '.process.user = {uid: 5, gid: 5} | del(.linux.uidMappings, .linux.gidMappings, .mounts[] | select(.type == "devpts" or .type == "cgroup"))'
    chown -R 100000:100000 "$BUNDLE/rootfs"
    chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
    drop_namespace user
    config '.linux.namespaces += [{type: "user", path: $p}]' --arg p "/proc/$SLEEPER/ns/user"
    create_and_start
    run ocirun exec "$ID" sh -c 'id -u; id -g'
    succeeds $'5\n5'
    ocirun delete --force "$ID"
  done
}

@test "L-11 the rootfs keeps its owners" {
  chown 7:8 "$BUNDLE/rootfs/etc/passwd"
  inside true
  succeeds
  equal 7:8 "$(stat -c %u:%g "$BUNDLE/rootfs/etc/passwd")"
}

# attack PATH: prints a script that tries, with CAP_SYS_ADMIN in its user namespace, to get rid of mounts and flags. It prints each
# success.
attack() {
  cat <<END
mount -o remount,bind,rw $1/ && echo "$1/ remounted"
mount -o remount,bind,rw,suid,dev,exec $1/ && echo "$1/ remounted with all"
touch $1/x && echo "$1/ written"
umount $1/below && echo "$1/below uncovered"
umount -l $1/below && echo "$1/below uncovered lazily"
mount -o remount,bind,rw $1/below && echo "$1/below remounted"
touch $1/below/x && echo "$1/below written"
cat $1/below/secret && echo "secret read"
END
}

# hidden_source: makes a directory that the container's root may not search. In it lies a directory with a mount that covers a secret and
# is read-only on the host. Only the flags of the mounts make it unwritable.
hidden_source() {
  mkdir -p "$TMP/hidden/dir/below"
  echo secret >"$TMP/hidden/dir/below/secret"
  mount -t tmpfs tmpfs "$TMP/hidden/dir/below"
  chmod 777 "$TMP/hidden/dir" "$TMP/hidden/dir/below"
  mount -o remount,bind,ro "$TMP/hidden/dir/below"
  chmod 700 "$TMP/hidden"
}
nothing_undone() {
  output_never_mentions uncovered
  output_never_mentions remounted
  output_never_mentions written
  output_never_mentions "secret read"
}
# withstands OPTIONS: binds the hidden source to /mnt with these options; the attack must fail.
withstands() {
  config 'del(.mounts[] | select(.destination == "/mnt"))'
  add_mount '{"destination": "/mnt", "source": "'"$TMP/hidden/dir"'", "options": '"$1"'}'
  inside "grep ' /mnt' /proc/self/mountinfo
    $(attack /mnt)
    echo tried"
  output_mentions tried
  nothing_undone
}
reveal_source() { umount "$TMP/hidden/dir/below"; }

@test "a user namespace cannot undo what its host made read-only, nor look below a mount of its host's" {
  hidden_source
  chmod 711 "$TMP/hidden"
  user_namespace
  capabilities CAP_SYS_ADMIN
  add_mount '{"destination": "/mnt", "source": "'"$TMP/hidden/dir"'", "options": ["rbind"]}'
  inside "touch /mnt/mine && echo writable
    $(attack /mnt | grep below)"
  output_mentions writable
  nothing_undone
  reveal_source
}

@test "lxc CVE-2015-1334 a user namespace cannot undo the flags that config.json gives a bind" {
  local options
  hidden_source
  chmod 711 "$TMP/hidden"
  user_namespace
  capabilities CAP_SYS_ADMIN
  for options in '["rbind", "ro"]' '["rbind", "ro", "nosuid", "nodev"]' '["rbind", "ro", "rslave"]'; do
    withstands "$options"
  done
  reveal_source
}

@test "a user namespace cannot undo the flags of a mount that the runtime opened for it" {
  local options all=('["rbind", "ro", "nosuid"]' '["rbind", "ro", "nosuid", "rslave"]')
  if has_idmapped_tmpfs; then all+=('["rbind", "rro", "idmap"]'); fi
  hidden_source
  user_namespace
  capabilities CAP_SYS_ADMIN
  for options in "${all[@]}"; do
    withstands "$options"
    output_mentions "/mnt/below ro"
  done
  config 'del(.mounts[] | select(.destination == "/mnt"))'
  add_mount '{"destination": "/mnt", "source": "'"$TMP/hidden/dir"'", "options": ["rbind", "rw"]}'
  inside 'touch /mnt/mine && echo writable' # the control: without the flag the container can write
  output_mentions writable
  reveal_source
}

@test "a user namespace cannot uncover what its host mounted below a rootfs that it may not reach" {
  mkdir "$BUNDLE/rootfs/below"
  user_namespace
  capabilities CAP_SYS_ADMIN
  echo secret >"$BUNDLE/rootfs/below/secret"
  mount -t tmpfs -o mode=777 tmpfs "$BUNDLE/rootfs/below"
  mount -o remount,bind,ro "$BUNDLE/rootfs/below"
  chmod 700 "$BUNDLE"
  inside "$(attack '' | grep below)
    echo tried"
  output_mentions tried
  nothing_undone
  umount "$BUNDLE/rootfs/below"
}

@test "what is mounted in an id-mapped mount never reaches the host" {
  needs_idmapped_tmpfs
  mkdir "$TMP/volume"
  mount -t tmpfs tmpfs "$TMP/volume"
  mount --make-shared "$TMP/volume"
  mkdir "$TMP/volume/sub"
  capabilities CAP_SYS_ADMIN
  add_mount '{"destination": "/mnt", "source": "'"$TMP/volume"'", "options": ["bind", "idmap"],
    "uidMappings": [{"containerID": 0, "hostID": 0, "size": 1000}], "gidMappings": [{"containerID": 0, "hostID": 0, "size": 1000}]}'
  script 'mount -t tmpfs tmpfs /mnt/sub && touch /mnt/sub/inner /mnt/done; sleep 1000'
  create_and_start
  eventually exists "$TMP/volume/done"
  [[ ! -e $TMP/volume/sub/inner ]]
  run grep -c "$TMP/volume/sub" /proc/self/mountinfo
  prints 0
  ocirun delete --force "$ID"
  umount "$TMP/volume"
}

@test "M-8 in a user namespace idmap uses the container's own mappings" {
  needs_idmapped_tmpfs
  mkdir "$TMP/owned"
  touch "$TMP/owned/file"
  user_namespace
  add_mount '{"destination": "/mnt", "source": "'"$TMP/owned"'", "options": ["bind", "idmap"]}'
  inside 'stat -c %u /mnt/file; touch /mnt/new'
  succeeds 0
  equal 0 "$(stat -c %u "$TMP/owned/new")"
}

@test "L-35 sysctls are set in the container and not on the host" {
  local before
  before=$(cat /proc/sys/kernel/shmmax /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/domainname)
  config '.linux.sysctl = {"kernel.shmmax": "123456789", "net.ipv4.ip_forward": "1", "net/ipv4/conf/lo/forwarding": "1",
    "kernel.domainname": "example.org", "fs.mqueue.msg_max": "20"}'
  inside 'cat /proc/sys/kernel/shmmax /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/domainname /proc/sys/fs/mqueue/msg_max'
  succeeds $'123456789\n1\nexample.org\n20'
  equal "$before" "$(cat /proc/sys/kernel/shmmax /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/domainname)"
}

@test "L-35 one value that is given twice, in two spellings or by the field too, is refused" {
  refused '/linux/sysctl/net~1ipv4~1ip_forward: is "net.ipv4.ip_forward" in another spelling' '.linux.sysctl = {"net.ipv4.ip_forward": "1", "net/ipv4/ip_forward": "0"}'
  refused "/linux/sysctl/kernel.domainname: \"x\" is not the name \"a\" in /domainname" '.domainname = "a" | .linux.sysctl = {"kernel.domainname": "x"}'
}

@test "L-35 T-5 kernel.domainname with the value of domainname is a warning" {
  config '.domainname = "example.org" | .linux.sysctl = {"kernel.domainname": "example.org"}'
  inside 'cat /proc/sys/kernel/domainname'
  succeeds
  output_mentions example.org
  output_mentions "warning: /linux/sysctl/kernel.domainname: /domainname sets the same value: leave one of them out"
}

@test "L-35 a sysctl that is not the container's own is refused" {
  refused vm.swappiness '.linux.sysctl = {"vm.swappiness": "1"}'
  refused kernel.core_pattern '.linux.sysctl = {"kernel.core_pattern": "|/evil"}'
  refused net.ipv4.ip_forward '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | del(.linux.namespaces[] | select(.type == "network"))'
  refused kernel.shmmax '.linux.sysctl = {"kernel.shmmax": "1"} | del(.linux.namespaces[] | select(.type == "ipc"))'
  refused net '.linux.sysctl = {"net.ipv4.ip_forward": "1"} | (.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/net"'
  refused kernel.hostname '.linux.sysctl = {"kernel.hostname": "other"}'
  refused net.ipv4.no_such_key '.linux.sysctl = {"net.ipv4.no_such_key": "1"}'
  refused '../' '.linux.sysctl = {"net/../vm/swappiness": "1"}'
}

@test "a root filesystem whose owner the user namespace does not map is named with owner, map and remedy" {
  user_namespace
  chown 0:0 "$BUNDLE/rootfs"
  add_mount '{"destination": "/newdir", "type": "tmpfs", "source": "tmpfs"}'
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "/root/path: $BUNDLE/rootfs belongs to user 0, whom /linux/uidMappings does not map (it maps the host's ids 100000 to 165535)"
  output_mentions "chown -R 100000:100000 $BUNDLE/rootfs"
  output_mentions "/mounts/7: mount /newdir: the destination: make directory: permission denied"
  # Below the rootfs, permission denied has other reasons, and the message must not mention the owner of the rootfs.
  chown 100000:100000 "$BUNDLE/rootfs"
  mkdir "$BUNDLE/rootfs/closed"
  chmod 0 "$BUNDLE/rootfs/closed"
  config '.mounts[7].destination = "/closed/newdir"'
  attempt run --bundle "$BUNDLE" "$ID"
  exits 1 "/mounts/7: mount /closed/newdir"
  [[ $output != *belongs* ]]
}
