# The advisory classes: each attack must be refused or have no effect outside the container.
# A decoy directory of the host is listed before and after; one changed, new or missing inode fails the test.
load lib/common

setup() {
  common_setup
  DECOY=$TMP/decoy
  mkdir -p "$DECOY/sub"
  echo secret >"$DECOY/file"
  DECOY_BEFORE=$(list_decoy)
}

teardown() {
  local after
  after=$(list_decoy)
  common_teardown
  equal "$DECOY_BEFORE" "$after"
}

list_decoy() { find "$DECOY" -printf '%p %y %m %U:%G %s %i %l\n' | sort; }

@test "the decoy notices a change (control)" {
  local before
  before=$(list_decoy)
  touch "$DECOY/new"
  [[ $before != "$(list_decoy)" ]]
  rm "$DECOY/new"
}

@test "runc CVE-2021-30465 crun CVE-2019-18837 a destination never leads out of the root by symbolic links" {
  local target up=../../../../../../../../../../../..
  echo data >"$TMP/source"
  for target in "$DECOY" "$up$DECOY" "/proc/1/root$DECOY" "/proc/self/cwd$DECOY"; do
    rm -rf "$BUNDLE/rootfs/link"
    ln -s "$target" "$BUNDLE/rootfs/link"
    config '.mounts |= .[:7] + [{destination: "/link/made", type: "tmpfs", source: "tmpfs"},
      {destination: "/link/bound", source: $s, options: ["bind"]}, {destination: "/link/dir", source: "/etc", options: ["bind"]}]' \
      --arg s "$TMP/source"
    script 'true'
    run_container
    [[ $status == 0 || $status == 1 ]]
  done
}

@test "runc CVE-2021-30465 CVE-2024-45310 a destination that is swapped during create never leads out" {
  local n
  mkdir -p "$BUNDLE/rootfs/race"
  ln -s "$DECOY" "$BUNDLE/rootfs/other"
  helper python3 -c '
import ctypes, os, sys
libc, a, b = ctypes.CDLL(None), sys.argv[1].encode(), sys.argv[2].encode()
while True: libc.renameat2(-100, a, -100, b, 2)' "$BUNDLE/rootfs/race" "$BUNDLE/rootfs/other"
  add_mount '{"destination": "/race/deep/dir", "type": "tmpfs", "source": "tmpfs"}'
  add_mount '{"destination": "/race/file", "source": "/etc/passwd", "options": ["bind"]}'
  script 'true'
  for n in {1..40}; do
    run_container
    [[ $status == 0 || $status == 1 ]] || found
  done
}

@test "runc CVE-2019-16884 CVE-2025-52881 a covered /proc/sys gets no sysctl write, or create fails" {
  config '.linux.sysctl = {"net.ipv4.ip_default_ttl": "77"}
    | .hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c", "mount -t tmpfs tmpfs " + $r + "/proc/sys && mkdir -p " + $r + "/proc/sys/net/ipv4 && touch " + $r + "/proc/sys/net/ipv4/ip_default_ttl"],
       env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}]' --arg r "$BUNDLE/rootfs"
  attempt create --bundle "$BUNDLE" "$ID"
  [[ $status == 1 ]] || equal 77 "$(nsenter -t "$(init_pid)" -n cat /proc/sys/net/ipv4/ip_default_ttl)"
}

@test "runc CVE-2025-31133 a /dev/null that was replaced is not bound over masked paths" {
  echo hidden >"$BUNDLE/rootfs/secret"
  config '.linux.maskedPaths = ["/secret"]
    | .hooks.createContainer = [{path: "/bin/sh", args: ["sh", "-c", "rm -f " + $r + "/dev/null; ln -s " + $d + "/file " + $r + "/dev/null"], env: ["PATH=/bin"]}]' \
    --arg r "$BUNDLE/rootfs" --arg d "$DECOY"
  inside 'stat -c %t:%T /secret; cat /secret; echo overwritten >/secret'
  [[ $status == 1 ]] || matches '^1:3'
  never_mentions hidden
  never_mentions secret$'\n'
}

@test "runc CVE-2025-52565 a /dev/console that is a symbolic link is not followed" {
  config '.process.terminal = true | del(.mounts[] | select(.destination == "/dev"))'
  mkdir "$BUNDLE/rootfs/dev/pts"
  echo payload >"$BUNDLE/rootfs/payload"
  ln -s /payload "$BUNDLE/rootfs/dev/console"
  script 'grep " /payload " /proc/self/mountinfo; cat /payload'
  run timeout 20 "$LIB/pty" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  never_mentions "/payload rw"
  equal payload "$(<"$BUNDLE/rootfs/payload")"
}

@test "runc CVE-2026-41579 crun CVE-2026-47766 a /dev that is a symbolic link makes nothing outside" {
  local target
  for target in "$DECOY" "../../../../../../../../..$DECOY"; do
    rm -rf "$BUNDLE/rootfs/dev"
    ln -s "$target" "$BUNDLE/rootfs/dev"
    config 'del(.mounts[] | select(.destination | startswith("/dev")))'
    inside true
    [[ $status == 0 || $status == 1 ]]
  done
}

@test "a /dev/null in the image that is a symbolic link does not divert stdio" {
  config 'del(.mounts[] | select(.destination | startswith("/dev")))'
  rm -rf "$BUNDLE/rootfs/dev"
  mkdir "$BUNDLE/rootfs/dev"
  echo payload >"$BUNDLE/rootfs/payload"
  ln -s /payload "$BUNDLE/rootfs/dev/null"
  program echo written
  ocirun run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>"$TMP/errors" || true
  equal payload "$(<"$BUNDLE/rootfs/payload")"
  equal "666 0:0" "$(stat -c '%a %u:%g' /dev/null)"
}

@test "runc CVE-2024-21626 a cwd in /proc/self/fd never leaves the root, for run and exec" {
  local n
  for n in {3..12}; do
    config '.process.cwd = "/proc/self/fd/'"$n"'"'
    inside 'pwd; ls ../../../../../etc/debian_version ../../../../..'"$REPO"
    [[ $status != 0 ]]
    never_mentions $'\n../../../../../etc/debian_version'
  done
  config '.process.cwd = "/" | .process.args = ["sleep", "1000"]'
  create_and_start
  for n in {3..12}; do
    run ocirun exec --cwd "/proc/self/fd/$n" "$ID" sh -c 'ls ../../../../../etc/debian_version'
    [[ $status != 0 ]]
  done
}

@test "runc CVE-2016-9962 CVE-2024-21626 the waiting init holds no directory of the host" {
  local fd target
  create
  for fd in "/proc/$(init_pid)/fd"/*; do
    target=$(stat -L -c '%F' "$fd")
    [[ $target != directory ]] || grep -q "subset=pid" <(nsenter_mount_of "$fd") || { echo "$fd is $(readlink "$fd")"; return 1; }
  done
  equal 1 "$(cut -d' ' -f5 "/proc/$(init_pid)/mountinfo" | grep -cx /)"
}

# nsenter_mount_of FD-LINK: the mountinfo line of what it refers to, which is empty for a detached mount.
nsenter_mount_of() {
  local id
  id=$(grep mnt_id "/proc/$(init_pid)/fdinfo/$(basename "$1")" | cut -f2)
  grep "^$id " "/proc/$(init_pid)/mountinfo" || true
}

@test "runc CVE-2019-5736 the runtime's binary cannot be had from /proc/PID/exe" {
  cp "$OCIRUN" "$TMP/copy"
  local before
  before=$(sha256sum <"$TMP/copy")
  printf '#!/proc/self/exe\n' >"$BUNDLE/rootfs/evil"
  chmod +x "$BUNDLE/rootfs/evil"
  capabilities CAP_SYS_PTRACE CAP_DAC_OVERRIDE
  script 'while :; do for p in /proc/[0-9]*; do l=$(stat -L -c "%d %i" $p/exe 2>/dev/null) && echo "$l" >>/seen
    (echo x >>$p/exe) 2>/dev/null && echo "wrote $p" >>/wrote; done; done'
  OCIRUN=$TMP/copy create_and_start
  for _ in {1..20}; do "$TMP/copy" --root "$ROOT" exec "$ID" /evil >/dev/null 2>&1 || true; done
  equal "$before" "$(sha256sum <"$TMP/copy")"
  equal 0 "$(grep -cx "$(stat -c '%d %i' "$TMP/copy")" "$BUNDLE/rootfs/seen")"
  [[ $(wc -l <"$BUNDLE/rootfs/seen") -gt 20 ]]
}

# An overlay without an upper layer, or, where the first instructions leave it alone, a sealed file in memory.
@test "runc CVE-2019-5736 init's image is never the host's file and cannot be written, not by root and not when it no longer runs" {
  local way image
  for way in "" _OCIRUN_DIRECTORY=/nowhere; do
    env $way timeout -k 2 30 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&-
    [[ $(stat -L -c '%d %i' "/proc/$(init_pid)/exe") != "$(stat -c '%d %i' "$OCIRUN")" ]]
    exec {image}<"/proc/$(init_pid)/exe"
    ocirun delete --force "$ID"
    cmp "$OCIRUN" "/proc/self/fd/$image"
    refuses_writing "/proc/self/fd/$image"
    exec {image}<&-
  done
  cp "$OCIRUN" "$TMP/control"
  exec {image}<"$TMP/control"
  ! refuses_writing "/proc/self/fd/$image" # the control: a file that is not sealed
}

refuses_writing() { ! (echo more >>"$1") 2>/dev/null; }

@test "runc CVE-2022-29162 a program has no inheritable and no ambient capability unless asked" {
  inside 'grep -E "Cap(Inh|Amb)" /proc/self/status'
  succeeds $'CapInh:\t0000000000000000\nCapAmb:\t0000000000000000'
}

@test "runc CVE-2023-25809 with /sys bound from the host and no cgroup namespace the cgroup tree is not writable" {
  needs_system_call mount_setattr "a recursive option"
  drop_namespace cgroup
  config 'del(.mounts[] | select(.destination | startswith("/sys"))) | .mounts += [{destination: "/sys", source: "/sys", options: ["rbind", "rro"]}]'
  local own=/sys/fs/cgroup/memory
  if pure_v2; then own=/sys/fs/cgroup/$ID; fi
  inside "mkdir $own/evil; mkdir /sys/fs/cgroup/evil; touch /sys/fs/cgroup/x"
  equal 3 "$(grep -c 'Read-only file system' <<<"$output")"
}

@test "runc CVE-2019-19921 CVE-2023-27561 a link at /proc or /sys mounts nothing elsewhere" {
  local name
  for name in proc sys; do
    rm -rf "${BUNDLE:?}/rootfs/$name"
    ln -s "$DECOY" "$BUNDLE/rootfs/$name"
    attempt create --bundle "$BUNDLE" "$ID"
    exits 1
    rm "$BUNDLE/rootfs/$name"
    mkdir "$BUNDLE/rootfs/$name"
  done
}

@test "crun CVE-2025-24965 links planted at what the runtime reads give nothing away" {
  ln -sf "$DECOY/file" "$BUNDLE/rootfs/etc/passwd"
  ln -sf "$DECOY/file" "$BUNDLE/rootfs/etc/group"
  inside 'echo $HOME'
  succeeds /
}

@test "an image's passwd that is a fifo or endless does not hang create" {
  rm "$BUNDLE/rootfs/etc/passwd"
  mkfifo "$BUNDLE/rootfs/etc/passwd"
  script 'echo fine'
  run timeout 20 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  [[ $status != 124 ]]
}

@test "a program that changes its root's propagation or makes mounts leaves none on the host" {
  capabilities CAP_SYS_ADMIN
  inside 'mount --make-rshared / ; mount -t tmpfs tmpfs /tmp; mount -t tmpfs tmpfs /root; exit 0'
  succeeds
}

@test "state that an attacker damages is an error, never another container's signal" {
  local content
  create
  cp "$ROOT/$ID/state.json" "$TMP/kept"
  for content in "" "{" '{"id": 5}' "garbage" $'{"pid": 99999999999999999999}' '{"initPid": 1, "init_pid": 1, "pid": 1}'; do
    echo "$content" >"$ROOT/$ID/state.json"
    run ocirun kill "$ID" KILL
    exits 1
    run ocirun start "$ID"
    exits 1
  done
  cp "$TMP/kept" "$ROOT/$ID/state.json"
  status_is created
}

@test "a state root that other users may write is not used" {
  mkdir -m 777 "$ROOT"
  chown 1000 "$ROOT"
  attempt create --bundle "$BUNDLE" "$ID"
  [[ $status == 1 ]] || { echo "created in a root that belongs to uid 1000"; return 1; }
}

@test "a runtime that is killed at any of many points leaves only what delete --force removes" {
  local delay
  for delay in 0.001 0.002 0.003 0.004 0.005 0.006 0.008 0.010 0.012 0.015 0.020; do
    timeout -s KILL "$delay" "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- || true
    run ocirun delete --force "$ID"
    succeeds
    untraced host_is_unchanged || { print_host_changes; return 1; }
  done
}
