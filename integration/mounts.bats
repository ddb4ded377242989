load lib/common
load lib/mounts

@test "M-1 mounts are made in the order of the list" {
  mkdir "$TMP/a"
  touch "$TMP/a/from-a"
  tmpfs /mnt size=1m
  bind /mnt/sub "$TMP/a" bind
  inside 'ls /mnt /mnt/sub'
  succeeds
  output_mentions from-a
  config '.mounts |= .[:-2] + [.[-1], .[-2]]'
  inside 'ls /mnt'
  succeeds ""
}

@test "M-2 a destination that begins with the host's path of the root filesystem is a warning, and a path in the container" {
  add_mount '{"destination": "'"$BUNDLE"'/rootfs/data", "type": "tmpfs", "source": "tmpfs"}'
  inside "grep -c ' $BUNDLE/rootfs/data ' /proc/self/mountinfo"
  succeeds "ocirun: warning: /mounts/7/destination: $BUNDLE/rootfs/data begins with the root filesystem's path on the host; a destination is a path in the container, so this mount is $BUNDLE/rootfs$BUNDLE/rootfs/data on the host
1"
  config ".mounts[7].destination = \"${BUNDLE}/rootfs-other\""
  inside "grep -c ' $BUNDLE/rootfs-other ' /proc/self/mountinfo"
  succeeds 1
}

@test "M-2 destination is required; a relative one is below / and a warning" {
  refused /mounts/7/destination '.mounts += [{type: "tmpfs", source: "tmpfs"}]'
  refused /mounts/7/destination '.mounts += [{destination: "", type: "tmpfs", source: "tmpfs"}]'
  tmpfs mnt/rel
  script 'grep -c " /mnt/rel " /proc/self/mountinfo'
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds 1
  [[ $stderr == *mnt/rel* ]]
}

@test "M-3 a bind source is absolute or relative to the bundle; a missing one is named" {
  echo hello >"$BUNDLE/data"
  bind /data data bind
  cd /
  inside 'cat /data'
  succeeds hello
  refused "$TMP/nowhere" '.mounts += [{destination: "/x", source: $s, options: ["bind"]}]' --arg s "$TMP/nowhere"
}

@test "M-4 type bind without the option bind or rbind is refused with that advice" {
  refused rbind '.mounts += [{destination: "/x", type: "bind", source: "/etc"}]'
}

@test "M-4 a bind's type does not matter" {
  echo hello >"$TMP/file"
  add_mount '{"destination": "/file", "type": "whatever", "source": "'"$TMP/file"'", "options": ["bind"]}'
  inside 'cat /file'
  succeeds hello
}

@test "M-5 a mount without type that is no bind, and an unknown type, are refused" {
  refused /mounts/7 '.mounts += [{destination: "/x", source: "tmpfs"}]'
  refused nosuchfs '.mounts += [{destination: "/x", type: "nosuchfs", source: "x"}]'
}

@test "M-6 unknown options go to the filesystem, which may refuse them" {
  tmpfs /mnt size=64k mode=0710 uid=7
  inside "stat -c '%a %u' /mnt; $(options_of /mnt)"
  succeeds
  output_mentions "710 7"
  output_mentions size=64k
  refused /x '.mounts += [{destination: "/x", type: "tmpfs", source: "tmpfs", options: ["bogus=1"]}]'
}

@test "M-7 a bind with an option for the filesystem is refused" {
  refused size=1m '.mounts += [{destination: "/x", source: "/etc", options: ["bind", "size=1m"]}]'
}

@test "M-8 one of uidMappings and gidMappings without the other is refused" {
  refused gidMappings '.mounts += [{destination: "/x", source: "/etc", options: ["bind", "idmap"], uidMappings: [{containerID: 0, hostID: 5, size: 1}]}]'
  refused uidMappings '.mounts += [{destination: "/x", source: "/etc", options: ["bind", "idmap"], gidMappings: [{containerID: 0, hostID: 5, size: 1}]}]'
}

@test "M-8 idmap without mappings and without a user namespace is refused" {
  refused idmap '.mounts += [{destination: "/x", source: "/etc", options: ["bind", "idmap"]}]'
  refused idmap '.mounts += [{destination: "/x", source: "/etc", options: ["rbind", "ridmap"]}]'
}

@test "M-8 idmap shows the files under other owners" {
  needs_idmapped_tmpfs
  mkdir "$TMP/owned"
  touch "$TMP/owned/file"
  chown 0:0 "$TMP/owned/file"
  add_mount '{"destination": "/mnt", "source": "'"$TMP/owned"'", "options": ["bind", "idmap"],
    "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}], "gidMappings": [{"containerID": 0, "hostID": 5000, "size": 10}]}'
  inside 'stat -c "%u %g" /mnt/file'
  succeeds "4000 5000"
}

@test "M-8 ridmap covers what is mounted below, idmap does not" {
  needs_idmapped_tmpfs
  local option
  mkdir -p "$TMP/owned/sub"
  mount -t tmpfs tmpfs "$TMP/owned/sub"
  touch "$TMP/owned/sub/file"
  for option in ridmap:4000 idmap:0; do
    config '.mounts |= .[:7]'
    add_mount '{"destination": "/mnt", "source": "'"$TMP/owned"'", "options": ["rbind", "'"${option%:*}"'"],
      "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}], "gidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}]}'
    inside 'stat -c %u /mnt/sub/file'
    succeeds "${option#*:}"
  done
  umount "$TMP/owned/sub"
}

# below_earlier OPTIONS [MAPPINGS]: /b binds a source that lies in the rootfs below /a, where the mount before has put it.
below_earlier() {
  config '.mounts |= .[:7]'
  add_mount '{"destination": "/a", "source": "'"$TMP/data"'", "options": ["rbind", "rw"]}'
  add_mount '{"destination": "/b", "source": "'"$BUNDLE/rootfs/a/sub"'", "options": ['"$1"']'"${2:-}"'}'
}

# bats test_tags=exhaustive
@test "M-3 M-8 a bind's source may lie below an earlier mount of the document" {
  local options ids
  mkdir -p "$TMP/data/sub"
  echo there >"$TMP/data/sub/file"
  for ids in host user; do
    if [[ $ids == user ]]; then
      user_namespace
      chown -R 100000:100000 "$TMP/data"
    fi
    for options in '"bind"' '"bind", "ro"' '"rbind", "ro", "nosuid", "rslave"' '"rbind", "rshared"'; do
      below_earlier "$options"
      inside 'cat /b/file; grep " /b " /proc/self/mountinfo'
      succeeds
      output_mentions there
      if [[ $options == *ro* ]]; then matches " /b ro,"; else matches " /b rw,"; fi
    done
    # The source is the directory that the earlier mount has put there, not the empty one of the host below it.
    mkdir -p "$BUNDLE/rootfs/a/sub"
    for options in '"bind", "ro"' '"rbind", "rslave"'; do
      below_earlier "$options"
      inside 'cat /b/file'
      succeeds there
    done
    rm -r "$BUNDLE/rootfs/a"
  done
}

# bats test_tags=exhaustive
@test "M-3 a source below the root filesystem is no file that a symlink of a volume or of the image leads to" {
  local options ids
  mkdir "$TMP/data"
  ln -s /etc "$TMP/data/sub"
  ln -s /etc "$BUNDLE/rootfs/escape"
  for ids in host user; do
    [[ $ids == host ]] || user_namespace
    for options in '"bind"' '"rbind", "ro"' '"rbind", "rslave"' '"rbind", "rslave", "ro"'; do
      below_earlier "$options"
      attempt run --bundle "$BUNDLE" "$ID"
      exits 1 "/mounts/8: mount /b"
      output_mentions "no such file or directory"
      config '.mounts[8].source = $s | .mounts[7] = {destination: "/a", type: "tmpfs", source: "tmpfs"}' \
        --arg s "$BUNDLE/rootfs/escape/hostname"
      attempt run --bundle "$BUNDLE" "$ID"
      exits 1 "a symlink on this path leads out of the root filesystem $BUNDLE/rootfs"
      config 'del(.mounts[7:])'
    done
  done
}

# bats test_tags=exhaustive
@test "M-8 an id-mapped bind's source may lie below an earlier mount of the document" {
  needs_idmapped_tmpfs
  local map=', "uidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}], "gidMappings": [{"containerID": 0, "hostID": 4000, "size": 10}]'
  mkdir -p "$TMP/data/sub"
  touch "$TMP/data/sub/file"
  below_earlier '"bind", "idmap", "ro"' "$map"
  inside 'stat -c %u /b/file; grep -o " /b ro" /proc/self/mountinfo'
  succeeds $'4000\n /b ro'
  user_namespace
  below_earlier '"bind", "idmap"'
  inside 'stat -c %u /b/file'
  succeeds 0
}

@test "M-9 a mount on something in /proc is refused, lxcfs's files are not" {
  echo fake >"$TMP/file"
  refused /proc/self/attr '.mounts += [{destination: "/proc/self/attr", type: "tmpfs", source: "tmpfs"}]'
  refused /proc/sys '.mounts += [{destination: "/proc/sys", type: "tmpfs", source: "tmpfs"}]'
  refused /proc '.mounts += [{destination: "/proc", source: $s, options: ["bind"]}]' --arg s "$TMP"
  bind /proc/meminfo "$TMP/file" bind
  inside 'cat /proc/meminfo'
  succeeds fake
}

@test "M-10 runc CVE-2019-19921 a /proc or /sys that is a symbolic link is refused" {
  mkdir "$BUNDLE/rootfs/fake"
  rmdir "$BUNDLE/rootfs/proc"
  ln -s fake "$BUNDLE/rootfs/proc"
  refused /proc
  rm "$BUNDLE/rootfs/proc"
  mkdir "$BUNDLE/rootfs/proc"
  rmdir "$BUNDLE/rootfs/sys"
  ln -s fake "$BUNDLE/rootfs/sys"
  refused /sys
}

@test "M-11 missing mount points are made: a directory, a file, and parents with 0755" {
  mkdir "$TMP/dir"
  echo hello >"$TMP/file"
  bind /new/deep/dir "$TMP/dir" bind
  bind /new/deep/file "$TMP/file" bind
  inside 'stat -c %a /new /new/deep; cat /new/deep/file; test -d /new/deep/dir && echo dir'
  succeeds $'755\n755\nhello\ndir'
}

@test "M-11 a directory over a file and a file over a directory say: not a directory" {
  echo x >"$TMP/file"
  refused "not a directory" '.mounts += [{destination: "/etc/passwd", source: "/etc", options: ["bind"]}]'
  refused "not a directory" '.mounts += [{destination: "/etc", source: $s, options: ["bind"]}]' --arg s "$TMP/file"
}

@test "M-11 symbolic links in a destination are followed inside the root, dangling ones too" {
  mkdir "$TMP/dir"
  echo hello >"$TMP/file"
  ln -s /real "$BUNDLE/rootfs/link"
  ln -s ../../../../etc/made "$BUNDLE/rootfs/dangling"
  bind /link/sub "$TMP/dir" bind
  bind /dangling "$TMP/file" bind
  inside 'cat /etc/made; grep -c " /real/sub " /proc/self/mountinfo'
  succeeds $'hello\n1'
  [[ ! -e /real && ! -e /etc/made ]]
}

# inner CONTROLLER: prints the path at which the container sees its own cgroup.
inner() { if pure_v2; then echo /sys/fs/cgroup; else echo "/sys/fs/cgroup/$1"; fi; }

@test "M-12 the cgroup mount shows the container's own part as its root" {
  inside 'ls /sys/fs/cgroup; cat /proc/self/cgroup | cut -d: -f3 | sort -u'
  succeeds
  output_mentions memory
  matches $'\n/$'
}

@test "M-12 a read-only cgroup mount refuses a write from inside" {
  inside 'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mkdir $d/evil 2>/dev/null && echo "made in $d"; done; exit 0'
  succeeds ""
}

@test "M-12 a writable cgroup mount takes a sub-cgroup, and only below the container's own" {
  config '.mounts[6].options -= ["ro"]'
  make_cgroups "$ID-other"
  inside "cd $(inner memory) && mkdir sub && ls -d \$PWD/sub; ls -d $ID-other; exit 0"
  remove_cgroups "$ID-other"
  output_mentions "$(inner memory)/sub"
  output_mentions "No such file"
}

@test "M-12 without a cgroup namespace the container's own part is bound" {
  drop_namespace cgroup
  make_cgroups "$ID-other"
  inside "cd $(inner memory) && grep -cx 1 cgroup.procs; ls -d $ID-other; exit 0"
  remove_cgroups "$ID-other"
  matches '^1'
  output_mentions "No such file"
}

@test "M-12 controllers that are mounted together keep their links" {
  needs_v1 "hierarchies of several controllers"
  local controller mounted=()
  for controller in cpu cpuacct memory pids devices freezer; do ! has_v1 "$controller" || mounted+=("$controller"); done
  [[ ${#mounted[@]} != 0 ]]
  inside "for c in ${mounted[*]}; do test -e /sys/fs/cgroup/\$c/cgroup.procs || echo \"no \$c\"; done"
  succeeds ""
}

@test "M-14 a tmpfs without a mode takes that of the directory it covers" {
  mkdir -m 1750 "$BUNDLE/rootfs/covered"
  tmpfs /covered
  inside 'stat -c %a /covered'
  succeeds 1750
}

@test "M-16 a mount on / becomes the root" {
  mv "$BUNDLE/rootfs" "$TMP/other"
  mkdir "$BUNDLE/rootfs"
  config '.mounts = [{destination: "/", source: $s, options: ["bind", "ro"]}] + .mounts' --arg s "$TMP/other"
  inside 'touch /file; ls / | grep -c bin; cat /proc/self/comm'
  output_mentions "Read-only file system"
  output_mentions $'1\ncat'
}

@test "option bind takes one mount, rbind takes the tree" {
  mkdir -p "$TMP/tree/sub"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  touch "$TMP/tree/sub/below"
  bind /one "$TMP/tree" bind
  bind /all "$TMP/tree" rbind
  inside 'ls /one/sub; ls /all/sub'
  succeeds below
  umount "$TMP/tree/sub"
}

@test "options shared, slave, private and unbindable set the propagation" {
  mkdir "$TMP/dir"
  mount --bind "$TMP/dir" "$TMP/dir"
  mount --make-shared "$TMP/dir"
  bind /shared "$TMP/dir" bind shared
  bind /slave "$TMP/dir" bind slave
  bind /private "$TMP/dir" bind private
  bind /unbindable "$TMP/dir" bind unbindable
  inside 'for m in shared slave private unbindable; do echo "$m: $(grep " /$m " /proc/self/mountinfo | sed "s/ - .*//" | cut -d" " -f7-)"; done'
  succeeds
  matches 'shared: shared:[0-9]+'
  matches 'slave: master:[0-9]+'
  matches $'private: ?\n'
  matches 'unbindable: unbindable'
  umount "$TMP/dir"
}

@test "option rshared, rslave, rprivate and runbindable set it below too" {
  mkdir -p "$TMP/tree/sub"
  mount --bind "$TMP/tree" "$TMP/tree"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  mount --make-rshared "$TMP/tree"
  bind /slave "$TMP/tree" rbind rslave
  bind /private "$TMP/tree" rbind rprivate
  bind /shared "$TMP/tree" rbind rshared
  inside 'for m in slave private shared; do echo "$m: $(grep " /$m/sub " /proc/self/mountinfo | sed "s/ - .*//" | cut -d" " -f7-)"; done'
  matches 'slave: master:[0-9]+'
  matches $'private: ?\n'
  matches 'shared: shared:'
  umount "$TMP/tree/sub" "$TMP/tree"
}

@test "a mount that the host makes later arrives through rslave, and not through rprivate" {
  mkdir -p "$TMP/tree/later"
  mount --bind "$TMP/tree" "$TMP/tree"
  mount --make-shared "$TMP/tree"
  bind /slave "$TMP/tree" rbind rslave
  bind /private "$TMP/tree" rbind rprivate
  create_and_start
  mount -t tmpfs tmpfs "$TMP/tree/later"
  touch "$TMP/tree/later/file"
  run ocirun exec "$ID" ls /slave/later /private/later
  output_mentions $'/slave/later:\nfile'
  equal 1 "$(grep -cx file <<<"$output")"
  ocirun delete --force "$ID"
  umount "$TMP/tree/later" "$TMP/tree"
}

@test "option remount changes a mount that is there" {
  tmpfs /mnt
  add_mount '{"destination": "/mnt", "type": "tmpfs", "source": "tmpfs", "options": ["remount", "ro"]}'
  inside "$(options_of /mnt)"
  matches '^ro,'
}

@test "a file can be bound, read-only, over a file of the rootfs" {
  echo replaced >"$TMP/hosts"
  echo original >"$BUNDLE/rootfs/etc/hosts"
  bind /etc/hosts "$TMP/hosts" bind ro
  inside 'cat /etc/hosts; echo x >/etc/hosts'
  output_mentions replaced
  output_mentions "Read-only file system"
  equal original "$(<"$BUNDLE/rootfs/etc/hosts")"
}

@test "the default filesystems work: pts, shm, mqueue, sysfs read-only" {
  inside 'mount | grep -E " on (/proc|/dev|/dev/pts|/dev/shm|/dev/mqueue|/sys) " | wc -l; touch /dev/shm/x && echo shm; touch /sys/x'
  output_mentions 6
  output_mentions shm
  output_mentions "Read-only file system"
}

@test "nothing of the host's mount table is seen from inside" {
  inside 'cat /proc/self/mountinfo'
  succeeds
  output_never_mentions "$TMP/root"
  output_never_mentions pivot
  equal 1 "$(cut -d' ' -f5 <<<"$output" | grep -cx /)"
}

@test "L-30 rootfsPropagation is what the container's root has; an unknown value is refused" {
  local value
  for value in private:- slave:- shared:shared unbindable:unbindable; do
    config '.linux.rootfsPropagation = $v' --arg v "${value%:*}"
    inside 'grep " / / " /proc/self/mountinfo || grep " / " /proc/self/mountinfo | head -n 1'
    succeeds
    matches " ${value#*:}"
  done
  refused rootfsPropagation '.linux.rootfsPropagation = "public"'
}

@test "with rbind and slave a mount made in the container does not reach the host, below a mount of the tree neither" {
  mkdir -p "$TMP/tree/sub"
  mount --bind "$TMP/tree" "$TMP/tree"
  mount --make-shared "$TMP/tree"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  mkdir "$TMP/tree/sub/deep"
  capabilities CAP_SYS_ADMIN
  local option
  for option in slave rslave; do
    bind "/$option" "$TMP/tree" rbind "$option"
    inside "mount -t tmpfs inner /$option/sub/deep && grep -c ' inner ' /proc/self/mountinfo"
    succeeds 1
    [[ $(</proc/self/mountinfo) != *" inner "* ]]
  done
  umount "$TMP/tree/sub" "$TMP/tree"
}

@test "L-30 a mount made in the container never reaches the host, with a shared rootfs too" {
  mount --bind "$BUNDLE" "$BUNDLE"
  mount --make-shared "$BUNDLE"
  config '.linux.rootfsPropagation = "shared"'
  capabilities CAP_SYS_ADMIN
  inside 'mount -t tmpfs tmpfs /tmp && touch /tmp/inner'
  succeeds
  [[ ! -e $BUNDLE/rootfs/tmp/inner ]]
  umount -R "$BUNDLE"
}

@test "L-31 masked files read as empty, masked directories are empty and read-only, missing ones do not matter" {
  mkdir "$BUNDLE/rootfs/secret"
  echo x >"$BUNDLE/rootfs/secret/file"
  echo x >"$BUNDLE/rootfs/password"
  config '.linux.maskedPaths = ["/secret", "/password", "/no/such", "/proc/keys", "/password"]'
  inside 'ls /secret; touch /secret/x; cat /password; stat -c %t:%T /password; cat /proc/keys | wc -c'
  succeeds $'touch: /secret/x: Read-only file system\n1:3\n0'
}

@test "L-31 L-32 a path that stands in a list twice is masked, or made read-only, once" {
  mkdir "$BUNDLE"/rootfs/{secret,fixed}
  touch "$BUNDLE/rootfs/password"
  config '.linux.maskedPaths = ["/secret", "/password", "/secret", "/password", "/password"]
    | .linux.readonlyPaths = ["/fixed", "/fixed", "/proc/sys", "/fixed"]'
  inside 'cut -d" " -f5 /proc/self/mountinfo | grep -xE "/secret|/password|/fixed|/proc/sys" | sort; touch /fixed/x /secret/x'
  output_mentions $'/fixed\n/password\n/proc/sys\n/secret\ntouch: /fixed/x: Read-only file system\ntouch: /secret/x: Read-only file system'
}

@test "L-31 L-32 relative masked and read-only paths are refused" {
  refused /linux/maskedPaths/0 '.linux.maskedPaths = ["proc/kcore"]'
  refused /linux/readonlyPaths/0 '.linux.readonlyPaths = ["proc/sys"]'
}

@test "L-32 read-only paths cannot be written, keep their flags, and missing ones do not matter" {
  mkdir "$BUNDLE/rootfs/fixed"
  echo x >"$BUNDLE/rootfs/fixed/file"
  config '.linux.readonlyPaths = ["/fixed", "/no/such", "/proc/sys", "/dev/shm"]'
  inside "cat /fixed/file; touch /fixed/new; echo 1 >/proc/sys/vm/drop_caches; $(options_of /dev/shm)"
  output_mentions x
  output_mentions "touch: /fixed/new: Read-only file system"
  output_mentions "can't create /proc/sys/vm/drop_caches: Read-only file system"
  output_mentions "ro,nosuid,nodev,noexec"
}

@test "L-31 L-32 the whole root: read-only it cannot be written, masked it is refused" {
  local path
  ln -s / "$BUNDLE/rootfs/whole"
  for path in / // /whole; do
    config '.linux.readonlyPaths = [$p]' --arg p "$path"
    inside 'touch /new; echo still >/dev/shm/there && cat /dev/shm/there'
    output_mentions "touch: /new: Read-only file system"
    output_mentions still
  done
  config 'del(.linux.readonlyPaths)'
  for path in / /whole; do refused "mask $path: the root itself cannot be masked" '.linux.maskedPaths = [$p]' --arg p "$path"; done
}

@test "L-33 masked or read-only paths without an own mount namespace are refused" {
  refused mount 'del(.linux.namespaces[] | select(.type == "mount"))'
}
