# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
load lib/accidents

# veth NAME: makes a pair NAME, NAME-peer on the host. teardown removes it.
veth() { ip link add "$1" type veth peer name "$1-peer"; }

teardown() {
  ip -o link | grep -o '[a-z0-9]*-peer' | sort -u | xargs -r -n 1 ip link del 2>/dev/null || true
  common_teardown
}

@test "L-29 a device moves into the container, up, with its name, its addresses and its MTU" {
  veth nda
  ip addr add 10.9.8.7/24 dev nda
  ip link set nda mtu 1400
  config '.linux.netDevices = {nda: {}}'
  inside 'ip -o addr show nda | grep -o 10.9.8.7/24; ip -o link show nda | grep -o "mtu 1400"; ip -o link show nda | grep -oE "[<,]UP[,>]"'
  succeeds
  output_mentions 10.9.8.7/24
  output_mentions "mtu 1400"
  output_mentions UP
}

@test "L-29 a device keeps its IPv6 address" {
  [[ -e /proc/net/if_inet6 ]] || skip "this kernel has no IPv6"
  veth nda
  ip addr add fd00:9::7/64 dev nda
  config '.linux.netDevices = {nda: {}}'
  inside 'ip -o addr show nda | grep -o fd00:9::7/64'
  succeeds fd00:9::7/64
}

@test "L-29 a device is renamed, and %d finds a free number" {
  veth nda
  veth ndb
  config '.linux.netDevices = {nda: {name: "eth0"}, ndb: {name: "net%d"}}'
  inside 'ls /sys/class/net | xargs'
  succeeds "eth0 lo net0"
}

@test "L-29 a missing device, a bad name and a taken name are refused and nothing has moved" {
  veth nda
  veth ndb
  refused nosuchdev '.linux.netDevices = {nosuchdev: {}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "sixteen-letters-"}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "a/b"}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "."}}'
  refused /linux/netDevices/nda/name '.linux.netDevices = {nda: {name: "a b"}}'
  refused lo '.linux.netDevices = {nda: {name: "lo"}}'
  refused eth0 '.linux.netDevices = {nda: {name: "eth0"}, ndb: {name: "eth0"}}'
  ip link show nda >/dev/null
  ip link show ndb >/dev/null
}

@test "L-29 net devices without an own network namespace are refused" {
  veth nda
  refused network '.linux.netDevices = {nda: {}} | del(.linux.namespaces[] | select(.type == "network"))'
}

@test "L-29 a create that fails after the move leaves the device on the host with its name and address" {
  veth nda
  ip addr add 10.9.8.7/24 dev nda
  refused createRuntime '.linux.netDevices = {nda: {name: "eth0"}} | .hooks.createRuntime = [{path: "/bin/false"}]'
  ip -o addr show nda | grep -q 10.9.8.7/24
}

# --- a create that is killed

# marked_veth NAME: makes a veth that is up and has addresses, and remembers it for is_as_it_was.
marked_veth() {
  veth "$1"
  ip addr add 10.9.8.7/24 dev "$1" label "$1:web"
  ip addr add 10.9.8.8/24 dev "$1"
  [[ ! -e /proc/net/if_inet6 ]] || ip addr add fd00:9::7/64 dev "$1" nodad
  ip link set "$1" up
  remember_device "$1"
}

remember_device() { looks_of "$1" >"$TMP/$1.before"; }
# Prints the device's properties without its index, its link state and those that belong to the peer.
looks_of() {
  ip -o link show "$1" | grep -oE '[<,]UP[,>]|mtu [0-9]+|link/ether [0-9a-f:]+'
  ip -o addr show "$1" scope global | sed -E 's/^[0-9]+: //'
}
is_as_it_was() { equal "$(<"$TMP/$1.before")" "$(looks_of "$1")"; }
is_pinned() { grep -q "$ROOT/$ID/netns" /proc/self/mountinfo; }

@test "L-29 delete --force brings the devices of a create back that SIGKILL ended" {
  marked_veth nda
  veth ndb # down, without addresses
  remember_device ndb
  config '.linux.netDevices = {nda: {name: "eth0"}, ndb: {name: "net%d"}}'
  waits_in_a_hook createRuntime
  run ip link show nda
  [[ $status != 0 ]]
  is_pinned
  create_is_killed
  is_pinned
  ocirun delete --force "$ID"
  is_as_it_was nda
  is_as_it_was ndb
  ocirun delete --force "$ID"
  is_as_it_was nda
}

@test "L-29 the same out of a network namespace that was joined, where the container's names are others' too" {
  ip netns add "$ID-net"
  ip -n "$ID-net" link add nda type veth peer name other
  marked_veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}} | (.linux.namespaces[] | select(.type == "network")).path = $p' --arg p "/run/netns/$ID-net"
  waits_in_a_hook createRuntime
  ip -n "$ID-net" link set eth0 name renamed # hooks may rename devices
  create_is_killed
  ocirun delete --force "$ID"
  is_as_it_was nda
  equal "lo nda other" "$(ip netns exec "$ID-net" ls /sys/class/net | xargs)"
  ip netns del "$ID-net"
  umount /run/netns && rmdir /run/netns
}

@test "L-29 delete --force while a hook of create lasts brings the devices back, and create takes none again" {
  marked_veth nda
  config '.linux.netDevices = {nda: {}}'
  waits_in_a_hook createRuntime
  ocirun delete --force "$ID"
  is_as_it_was nda
  ip link set nda down
  remember_device nda
  pgrep -fx "sleep 1003" | xargs -r kill -KILL
  status=0
  wait "$CREATING" || status=$?
  [[ $status == 1 ]]
  is_as_it_was nda
}

@test "L-29 a container that lives has neither the journal nor the mount" {
  veth nda
  config '.linux.netDevices = {nda: {}}'
  create
  ! is_pinned || { echo "a mount is left"; return 1; }
  [[ ! -e $ROOT/$ID/netns && ! -e $ROOT/$ID/netdevices ]]
}

@test "L-29 a mover that is killed at any of its messages to the kernel fails create, and the device is as it was" {
  local number
  marked_veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}}'
  cp "$OCIRUN" "${OCIRUN%/*}/ocirun-netdevice" "$TMP"
  mv "$TMP/ocirun-netdevice" "$TMP/real"
  printf '#!/bin/sh\n[ "$1" = move ] || exec %s/real "$@"\nexec strace -qq -o /dev/null -e trace=sendto -e inject=sendto:signal=KILL:when=$(cat %s/number) %s/real "$@"\n' "$TMP" "$TMP" "$TMP" >"$TMP/ocirun-netdevice"
  chmod 755 "$TMP/ocirun-netdevice"
  for number in 1 2 3 4 5 6 7 8 9; do
    echo $number >"$TMP/number"
    OCIRUN=$TMP/ocirun attempt create --bundle "$BUNDLE" "$ID"
    exits 1 /linux/netDevices/nda
    is_as_it_was nda
    [[ ! -e $ROOT/$ID ]]
  done
}

@test "L-29 a delete --force that is killed while it brings devices back can be given again" {
  local number
  marked_veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}}'
  for number in 1 2 3 4 5 6 7 8; do
    waits_in_a_hook createRuntime
    create_is_killed
    strace -f -qq -o /dev/null -e trace=sendto -e inject=sendto:signal=KILL:when=$number "$OCIRUN" --root "$ROOT" delete --force "$ID" >"$TMP/deleted" 2>&1 || true
    [[ -e $ROOT/$ID ]] || { echo "message $number killed nobody"; cat "$TMP/deleted"; return 1; }
    ocirun delete --force "$ID"
    is_as_it_was nda
  done
}

@test "L-29 a name that was taken on the host meanwhile: delete --force says so, keeps the state, and can be given again" {
  marked_veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}}'
  waits_in_a_hook createRuntime
  create_is_killed
  ip link add nda type veth peer name x-peer
  attempt delete --force "$ID"
  exits 1 "ocirun: delete $ID: bring the network devices back to the host ($ROOT/$ID/netdevices lists them, $ROOT/$ID/netns keeps their network namespace)"
  output_mentions "network device nda: name it nda (a device has that name already; rename that one): netlink: file exists"
  ip link del nda
  ocirun delete --force "$ID"
  is_as_it_was nda
}

@test "L-29 a device that somebody has removed is a warning of delete --force" {
  veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}}'
  waits_in_a_hook createRuntime
  ip link del nda-peer
  create_is_killed
  attempt delete --force "$ID"
  exits 0 "the network device nda was found neither on the host nor in the container's network namespace"
}

@test "L-29 a journal or a kept namespace that is something else and delete --force still removes everything" {
  local file way
  for file in netdevices netns; do
    for way in empty garbage directory link fifo; do
      echo "$file $way"
      veth nda
      config '.linux.netDevices = {nda: {name: "eth0"}}'
      waits_in_a_hook createRuntime
      create_is_killed
      [[ $file == netdevices ]] || umount "$ROOT/$ID/netns"
      rm "$ROOT/$ID/$file"
      case $way in
        empty) : >"$ROOT/$ID/$file" ;;
        garbage) head -c 300000 "$OCIRUN" >"$ROOT/$ID/$file" ;;
        directory) mkdir "$ROOT/$ID/$file" ;;
        link) ln -s /etc/passwd "$ROOT/$ID/$file" ;;
        fifo) mkfifo "$ROOT/$ID/$file" ;;
      esac
      run timeout 20 "$OCIRUN" --root "$ROOT" delete --force "$ID"
      if [[ $file == netns ]]; then
        exits 1 "netns is not the container's network namespace here"
        rm -r "$ROOT/$ID/netns"
        run timeout 20 "$OCIRUN" --root "$ROOT" delete --force "$ID"
      fi
      succeeds
      [[ ! -e $ROOT/$ID ]]
      ip link del nda-peer 2>/dev/null || true # nda-peer does not exist if nda is lost
    done
  done
}

@test "L-29 a mover that does not end is killed, and a signal to create ends it at once" {
  marked_veth nda
  config '.linux.netDevices = {nda: {name: "eth0"}}'
  cp "$OCIRUN" "$TMP"
  printf '#!/bin/sh\n[ "$1" = move ] || exec %s/ocirun-netdevice "$@"\nexec sleep 1004\n' "${OCIRUN%/*}" >"$TMP/ocirun-netdevice"
  chmod 755 "$TMP/ocirun-netdevice"
  OCIRUN=$TMP/ocirun attempt create --bundle "$BUNDLE" "$ID"
  exits 1 "/linux/netDevices/nda: $TMP/ocirun-netdevice: it did not end within 10 s and was killed"
  is_as_it_was nda
  "$TMP/ocirun" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >"$TMP/created" 2>&1 3>&- 4>&- &
  CREATING=$!
  eventually pgrep -fx "sleep 1004"
  kill -TERM "$CREATING"
  status=0
  wait "$CREATING" || status=$?
  equal 143 "$status" # not 1, the status after ten seconds of waiting
  is_as_it_was nda
}
