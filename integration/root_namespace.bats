# Linux 7.0 makes a mount namespace of the root filesystem alone (OPEN_TREE_NAMESPACE). These tests hold on an older kernel too, where
# the container gets a copy of the host's mount namespace; on a newer one they also look at the way that was taken.
load lib/common
load lib/mounts

setup() {
  common_setup
  command -v strace >/dev/null || skip "needs strace"
}

# has_root_namespaces: an older kernel refuses the flag before it looks at the descriptor.
has_root_namespaces() {
  python3 -c 'import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(428, -1, b"", 2)
sys.exit(ctypes.get_errno() == 22)'
}

# traced WAY SCRIPT: runs the script in the container, and checks the way in which the mounts were made: in a root namespace ("alone"), in a
# copy after that had failed ("both"), or in a copy ("copy").
traced() {
  local entered=0 pivoted=1
  script "exec 2>&1; $2"
  run -0 timeout 60 strace -f -qq -o "$TMP/trace" -e trace=setns,pivot_root "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  if has_root_namespaces; then
    case $1 in
      alone) entered=1 pivoted=0 ;;
      both) entered=2 ;; # there and back
    esac
  fi
  equal "$entered $pivoted" "$(grep -c 'setns(.*CLONE_NEWNS.* = 0' "$TMP/trace") $(grep -c 'pivot_root(.* = 0' "$TMP/trace")"
}

@test "the mounts of a container are its own alone, and below its root lies nothing" {
  capabilities CAP_SYS_ADMIN CAP_SYS_CHROOT
  config '.linux.maskedPaths = ["/proc/kcore", "/tmp"] | .linux.readonlyPaths = ["/proc/sys"]'
  mkdir "$TMP/dir"
  echo hello >"$TMP/dir/file"
  bind /dir "$TMP/dir" rbind ro
  traced alone 'cat /dir/file; touch /dir/new; cut -d" " -f5 /proc/self/mountinfo | sort | uniq | xargs; stat -c %t:%T /dev/null
    umount -l / || true; chroot /proc/1/root ls -d /dir; cd /; ls -d ../../dir'
  output_mentions $'hello\ntouch: /dir/new: Read-only file system\n/ /dev /dev/mqueue /dev/pts /dev/shm /dir /proc'
  output_mentions $'\n1:3\n'
  [[ $output != *"$BUNDLE"* ]]
}

@test "mounts in the container do not reach the host, and with rslave alone those of the host arrive" {
  mkdir -p "$TMP/tree"/{slave,private}
  mount --bind "$TMP/tree" "$TMP/tree"
  mount --make-shared "$TMP/tree"
  mount --bind "$BUNDLE" "$BUNDLE"
  mount --make-shared "$BUNDLE"
  mount --make-shared /dev/null
  bind /slave "$TMP/tree" rbind rslave
  bind /private "$TMP/tree" rbind rprivate
  bind /plain "$TMP/tree" rbind
  capabilities CAP_SYS_ADMIN
  traced alone 'for i in slave private plain; do mount -t tmpfs inner /$i/private; done; mount -t tmpfs inner /tmp
    grep -c " inner " /proc/self/mountinfo; grep " /proc/kcore " /proc/self/mountinfo | grep -c "shared:\|master:"; true'
  equal $'4\n0' "$output"
  [[ $(</proc/self/mountinfo) != *" inner "* ]]
  program sleep 1000
  create_and_start
  mount -t tmpfs outer "$TMP/tree/slave"
  ocirun exec "$ID" sh -c 'grep " outer " /proc/self/mountinfo | cut -d" " -f5 | xargs' >"$TMP/seen"
  equal /slave/slave "$(<"$TMP/seen")"
  ocirun delete --force "$ID"
  umount "$TMP/tree/slave" "$TMP/tree" "$BUNDLE"
  mount --make-private /dev/null
}

@test "M-3 a source that an earlier mount of the container contains is found in a copy of the host's mounts" {
  tmpfs /data
  mkdir -p "$BUNDLE/rootfs/data/sub"
  touch "$BUNDLE/rootfs/data/sub/of-the-image"
  bind /here "$BUNDLE/rootfs/data" bind
  traced copy 'ls /here'
  equal "" "$output"
}

@test "a tree with a pinned mount namespace is bound, which the kernel refuses in a newer namespace" {
  mkdir "$TMP/tree"
  mount -t tmpfs --make-private tmpfs "$TMP/tree"
  touch "$TMP/tree"/{pinned,file}
  pins() { unshare --mount="$TMP/tree/pinned" true 2>"$TMP/refused"; } # refused where the new namespace has a smaller number
  eventually pins
  bind /tree "$TMP/tree" rbind
  traced both 'ls /tree'
  output_mentions file
  umount "$TMP/tree/pinned" "$TMP/tree"
}

@test "L-34 whether SELinux is on is asked of the host, not of the image" {
  config '.linux.mountLabel = "system_u:object_r:container_file_t:s0:c1,c2"'
  rm -rf "$BUNDLE/rootfs/proc"
  mkdir "$BUNDLE/rootfs/proc"
  mkfifo "$BUNDLE/rootfs/proc/filesystems"
  traced alone 'echo hello'
  output_mentions hello
}

@test "hooks before the change of the root see the host's mounts from the container" {
  local kind
  for kind in prestart createRuntime createContainer; do
    config ".hooks = {$kind: [{path: \"/bin/sh\", args: [\"sh\", \"-c\", \"cat >/dev/null; ls $TMP >$TMP/$kind\"]}]}"
    traced copy 'echo hello'
    output_mentions hello
    contains "$TMP/$kind" bundle
  done
}

@test "what the container asks of the host's files makes a copy of the host's mounts" {
  mkdir -p "$TMP"/{lower,upper,work}
  touch "$TMP/lower/below"
  add_mount "$(jq -n --arg t "$TMP" '{destination: "/over", type: "overlay", source: "overlay", options: ["lowerdir=\($t)/lower", "upperdir=\($t)/upper", "workdir=\($t)/work"]}')"
  traced copy 'ls /over'
  equal below "$output"
}
