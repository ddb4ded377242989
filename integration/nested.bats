# Containers in containers: ocirun started in an ocirun container, by root and by an ordinary user.
# shellcheck disable=SC2016 # jq's variables, and those of inner shells
load lib/common
load lib/ordinary-user

# nest FILTER [COMMAND]: puts the runtime, a rootfs and three bundles at /mnt/n of the container. Each bundle runs the command, then
# the next bundle.
nest() {
  local level=1 inner=(echo deepest)
  if ldd "$OCIRUN" 2>&1 | grep -q "libc\.so"; then skip "a container's root lacks the libraries of a dynamic build"; fi
  mount -t tmpfs -o mode=755 tmpfs /mnt
  mkdir -p /mnt/n/b{1,2,3}
  cp "$OCIRUN" /mnt/n/ocirun
  cp -a "$BUNDLE/rootfs" /mnt/n/rootfs
  mkdir -p /mnt/n/rootfs/mnt/n
  for level in 3 2 1; do
    jq "$1"' | .process.args = ["sh", "-c", $inner] | .root = {path: "/mnt/n/rootfs", readonly: true}
      | .process.noNewPrivileges = false | del(.linux.maskedPaths, .linux.readonlyPaths)
      | .process.capabilities = (["CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_SETFCAP", "CAP_MKNOD", "CAP_CHOWN",
          "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_NET_ADMIN", "CAP_NET_BIND_SERVICE", "CAP_KILL", "CAP_AUDIT_WRITE"]
          | {bounding: ., effective: ., permitted: .})
      | .mounts += [{destination: "/mnt/n", type: "bind", source: "/mnt/n", options: ["rbind"]},
                    {destination: "/run", type: "tmpfs", source: "tmpfs"}]' \
      "$BUNDLE/config.json" --arg inner "${inner[*]}" --argjson level $level >/mnt/n/b$level/config.json
    inner=("cat /sys/fs/cgroup/pids.max /sys/fs/cgroup/pids/pids.max 2>/dev/null; ${2:-true}; /mnt/n/ocirun run --bundle /mnt/n/b$level inner$level 2>&1")
  done
}

# nest_with_limits [COMMAND]: nest, as root, with limits at each level.
nest_with_limits() {
  ROOT=$TMP/root-of-root
  nest 'del(.linux.uidMappings, .linux.gidMappings, (.linux.namespaces[] | select(.type == "user")))
    | .linux.resources = {devices: [{allow: true, access: "rwm"}], pids: {limit: (100 - $level)}}
    | (.mounts[] | select(.destination == "/sys/fs/cgroup")).options -= ["ro"]' "$@"
  BUNDLE=/mnt/n/b1
  run_container
  umount /mnt
}

@test "R-26 ocirun in an ocirun container in an ocirun container: privileged, limits hold at each level" {
  # On v2 a cgroup with processes cannot enable controllers: the outer container's process moves to a child cgroup.
  local aside=true
  if pure_v2; then aside='mkdir /sys/fs/cgroup/aside; echo 0 >/sys/fs/cgroup/aside/cgroup.procs'; fi
  nest_with_limits "$aside"
  succeeds
  output_mentions $'99\n98\ndeepest'
}

@test "ocirun in an ocirun container that holds processes in its cgroup: on v2 a limit is refused with the reason" {
  needs_v2 "a rule of v2"
  nest_with_limits
  exits 1 "/sys/fs/cgroup holds processes"
  output_mentions /linux/resources/pids/limit
}

@test "ocirun in an ocirun container in an ocirun container: an ordinary user's" {
  nest '.linux.uidMappings[0].hostID = 0 | .linux.gidMappings[0].hostID = 0'
  BUNDLE=/mnt/n/b1
  edit_as_user '.linux.uidMappings[0].hostID = 12345 | .linux.gidMappings[0].hostID = 12345'
  chown -R 12345:12345 /mnt/n
  run_user
  umount /mnt
  succeeds
  output_mentions deepest
}
