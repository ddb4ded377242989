load lib/common

device() { config '.linux.devices += [$d]' --argjson d "$1"; }

@test "L-27 the default devices are there, with their numbers, and usable" {
  inside 'for d in null zero full random urandom tty; do stat -c "%n %F %t:%T %a %u:%g" /dev/$d; done
    echo x >/dev/null && echo written; head -c 2 /dev/urandom | wc -c; echo x >/dev/full'
  output_mentions "/dev/null character special file 1:3 666 0:0"
  output_mentions "/dev/zero character special file 1:5 666 0:0"
  output_mentions "/dev/full character special file 1:7 666 0:0"
  output_mentions "/dev/random character special file 1:8 666 0:0"
  output_mentions "/dev/urandom character special file 1:9 666 0:0"
  output_mentions "/dev/tty character special file 5:0 666 0:"
  output_mentions $'written\n2'
  output_mentions "No space left on device"
}

@test "L-27 LG-4 the links in /dev are there, also when the image has some of them" {
  inside 'for l in fd stdin stdout stderr ptmx; do echo "$l $(readlink /dev/$l)"; done'
  succeeds $'fd /proc/self/fd\nstdin /proc/self/fd/0\nstdout /proc/self/fd/1\nstderr /proc/self/fd/2\nptmx pts/ptmx'
  config 'del(.mounts[] | select(.destination == "/dev"))'
  ln -s /proc/self/fd "$BUNDLE/rootfs/dev/fd"
  inside 'readlink /dev/fd; readlink /dev/stdin'
  succeeds $'/proc/self/fd\n/proc/self/fd/0'
}

@test "L-27 without a terminal there is no /dev/console" {
  inside 'ls /dev/console'
  output_mentions "No such file"
}

@test "L-27 a /dev that is bound from the host is left as it is" {
  mkdir "$TMP/dev"
  mknod -m 666 "$TMP/dev/null" c 1 3
  config 'del(.mounts[] | select(.destination | startswith("/dev")))'
  add_mount '{"destination": "/dev", "source": "'"$TMP/dev"'", "options": ["bind"]}'
  inside 'ls /dev | xargs'
  succeeds null
}

@test "L-20 L-21 L-22 L-23 L-24 devices of each type are made anywhere, with mode and owner" {
  device '{"type": "c", "path": "/dev/deep/mem", "major": 1, "minor": 1, "fileMode": 416, "uid": 5, "gid": 6}'
  device '{"type": "u", "path": "/elsewhere/zero", "major": 1, "minor": 5}'
  device '{"type": "b", "path": "/dev/loop77", "major": 7, "minor": 77, "fileMode": 384}'
  device '{"type": "p", "path": "/dev/pipe", "fileMode": 511}'
  script 'stat -c "%F %t:%T %a %u:%g" /dev/deep/mem /elsewhere/zero /dev/loop77 /dev/pipe'
  run bash -c 'umask 077; exec "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds $'character special file 1:1 640 5:6\ncharacter special file 1:5 666 0:0\nblock special file 7:4d 600 0:0\nfifo 0:0 777 0:0'
}

@test "L-20 L-21 L-22 L-23 a wrong type, path, mode or a missing number is refused" {
  refused /linux/devices/0/type '.linux.devices = [{type: "x", path: "/dev/x", major: 1, minor: 1}]'
  refused /linux/devices/0/path '.linux.devices = [{type: "c", path: "dev/x", major: 1, minor: 1}]'
  refused /linux/devices/0/path '.linux.devices = [{type: "c", path: "", major: 1, minor: 1}]'
  refused /linux/devices/0 '.linux.devices = [{type: "c", path: "/dev/x", major: 1}]'
  refused /linux/devices/0/fileMode '.linux.devices = [{type: "c", path: "/dev/x", major: 1, minor: 1, fileMode: 65535}]'
}

@test "L-21 a file that is there and does not match is refused, one that matches is kept" {
  touch "$BUNDLE/rootfs/etc/node"
  refused /etc/node '.linux.devices = [{type: "c", path: "/etc/node", major: 1, minor: 5}]'
  rm "$BUNDLE/rootfs/etc/node"
  mknod "$BUNDLE/rootfs/etc/node" c 1 3
  refused /etc/node '.linux.devices = [{type: "c", path: "/etc/node", major: 1, minor: 5}]'
  device '{"type": "c", "path": "/etc/node", "major": 1, "minor": 3}'
  inside 'stat -c %t:%T /etc/node'
  succeeds 1:3
}

@test "L-26 the same numbers twice are a warning at most" {
  device '{"type": "c", "path": "/dev/a", "major": 1, "minor": 5}'
  device '{"type": "c", "path": "/dev/b", "major": 1, "minor": 5}'
  inside 'stat -c %t:%T /dev/a /dev/b | uniq'
  output_mentions 1:5
}

@test "L-25 in a user namespace a device is the host's, bound" {
  user_namespace
  inside 'echo x >/dev/null && echo null; head -c 1 /dev/zero | wc -c; stat -c %t:%T /dev/full'
  succeeds $'null\n1\n1:7'
  inside 'for d in null zero full random urandom tty; do grep -c " /dev/$d ro,nosuid,noexec" /proc/self/mountinfo; done | xargs'
  succeeds "1 1 1 1 1 1"
  refused /dev/no-such-device '.linux.devices = [{type: "c", path: "/dev/no-such-device", major: 240, minor: 7}]'
}

@test "L-24 in a user namespace a mode or an owner that the host's node does not have is a warning" {
  local node
  user_namespace
  node="$(stat -c %a:%u:%g /dev/full)"
  equal 666:0:0 "$node"
  device '{"type": "c", "path": "/dev/full", "major": 1, "minor": 7, "fileMode": 384, "uid": 5, "gid": 6}'
  inside 'stat -c %a /dev/full'
  succeeds "ocirun: warning: /linux/devices/0: mode 0600 and owner 5:6 cannot be given in a user namespace: /dev/full is the host's node, bound, and keeps its mode 0666 and its owner, the host's 0:0
666"
  config '.linux.devices[0].fileMode = 438'
  inside 'stat -c %a /dev/full'
  output_mentions "/linux/devices/0: owner 5:6 cannot be given"
  config '.linux.devices[0] |= (.uid = 0 | .gid = 0)' # engines write this into every device
  inside 'stat -c %a /dev/full'
  succeeds 666
  device '{"type": "p", "path": "/dev/pipe", "fileMode": 384, "uid": 5, "gid": 6}'
  inside 'stat -c "%a %u:%g" /dev/pipe'
  succeeds "600 5:6"
}

@test "R-10 a device that no rule allows cannot be opened, made ones included" {
  device '{"type": "c", "path": "/dev/kmsg-copy", "major": 1, "minor": 11}'
  capabilities CAP_MKNOD CAP_DAC_OVERRIDE CAP_SYSLOG CAP_SYS_ADMIN
  inside 'head -c 1 /dev/kmsg-copy; mknod /dev/mine c 1 11; echo after'
  output_mentions "Operation not permitted"
  output_mentions after
}

@test "R-10 rules apply in order: the last that matches wins" {
  device '{"type": "c", "path": "/dev/copy", "major": 1, "minor": 11}'
  capabilities CAP_SYSLOG
  config '.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, minor: 11, access: "rw"}]'
  inside 'exec 3</dev/copy && echo opened'
  succeeds opened
  config '.linux.resources.devices += [{allow: false, type: "c", major: 1, minor: 11, access: "rw"}]'
  inside 'exec 3</dev/copy && echo opened'
  output_mentions "Operation not permitted"
}

@test "R-10 rules take letters in any order, wildcards and a minor of -1" {
  config '.linux.resources.devices += [{allow: true, type: "c", major: 42, minor: -1, access: "rmw"},
    {allow: true, type: "b", access: "m"}, {allow: true, type: "c", major: 10, access: "r"}]'
  create
  if [[ -e /sys/fs/cgroup/devices/$ID/devices.list ]]; then
    contains "/sys/fs/cgroup/devices/$ID/devices.list" "c 42:* rwm"
    contains "/sys/fs/cgroup/devices/$ID/devices.list" "b *:* m"
    contains "/sys/fs/cgroup/devices/$ID/devices.list" "c 10:* r"
  fi
}

@test "R-10 a rule without allow, or with a wrong type or access, is refused" {
  refused /linux/resources/devices/0 '.linux.resources.devices = [{type: "c", access: "rwm"}]'
  refused /linux/resources/devices/0/type '.linux.resources.devices = [{allow: true, type: "x", access: "rwm"}]'
  refused /linux/resources/devices/0/access '.linux.resources.devices = [{allow: true, type: "c", access: "rx"}]'
}

@test "the host's devices are not touched" {
  inside 'chmod 600 /dev/null /dev/zero; chown 5:5 /dev/null'
  equal "666 0:0" "$(stat -c '%a %u:%g' /dev/null)"
}

@test "LG-3 a /dev/null given as stdio keeps its owner when the program is another user" {
  config '.process.user = {uid: 1000, gid: 1000}'
  program true
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>/dev/null
  equal "666 0:0" "$(stat -c '%a %u:%g' /dev/null)"
}
