load lib/common
load lib/mounts

@test "option ro, nosuid, nodev, noexec and their opposites, on tmpfs and on a bind" {
  mkdir "$TMP/dir"
  tmpfs /a ro nosuid nodev noexec
  bind /b "$TMP/dir" bind ro nosuid nodev noexec
  bind /c "$TMP/dir" bind nosuid suid noexec exec ro rw nodev dev
  inside "$(options_of /a); $(options_of /b); $(options_of /c); touch /a/x; touch /b/x; touch /c/y && echo written"
  matches '^ro,nosuid,nodev,noexec,relatime '
  output_mentions $'\nro,nosuid,nodev,noexec,relatime '
  output_mentions $'\nrw,relatime '
  output_mentions "touch: /a/x: Read-only file system"
  output_mentions "touch: /b/x: Read-only file system"
  output_mentions written
}

@test "option atime: noatime, strictatime, relatime, nodiratime" {
  tmpfs /a noatime
  tmpfs /b strictatime
  tmpfs /c nodiratime
  tmpfs /d noatime atime
  inside "for m in /a /b /c /d; do grep \" \$m \" /proc/self/mountinfo | cut -d' ' -f6; done"
  succeeds $'rw,noatime\nrw\nrw,nodiratime,relatime\nrw,relatime'
}

# bind_hint OPTION HINT: a bind with this option is refused with the hint. tmpfs_hint: a tmpfs gets the option, with a warning.
bind_hint() {
  refused "/mounts/7/options/1: a bind mount takes no filesystem-specific option, and \"$1\" is none of the known mount options ($2)" \
    '.mounts += [{destination: "/mnt", source: "/etc", options: ["rbind", $option]}]' --arg option "$1"
}
tmpfs_hint() {
  cp "$BUNDLE/config.json" "$TMP/config.kept"
  config '.mounts += [{destination: "/mnt", type: "tmpfs", options: [$option]}]' --arg option "$1"
  run ocirun validate "$BUNDLE"
  mv "$TMP/config.kept" "$BUNDLE/config.json"
  succeeds
  output_mentions "warning: /mounts/7/options/0: \"$1\" is no mount option, and goes to the filesystem ($2)"
}

@test "M-6 M-7 a word of Docker's and podman's command lines: the message says what to write in config.json" {
  local word
  for word in readonly read-only read_only ReadOnly; do bind_hint "$word" 'did you mean ro?'; done
  bind_hint readwrite 'did you mean rw?'
  bind_hint recursive 'did you mean rbind?'
  for word in z Z; do bind_hint "$word" 'ocirun relabels no files: leave it out, and run chcon on the source'; done
  bind_hint U 'ocirun changes no owners: leave it out, and run chown on the source, or use idmap'
  bind_hint nocopy "a word of Docker's volumes: leave it out"
  for word in cached delegated consistent; do bind_hint "$word" 'a word of Docker Desktop: leave it out'; done
  bind_hint ro,nosuid 'each word between commas is an element of its own'
  bind_hint noexce 'did you mean noexec?'
  bind_hint RPRIVATE 'did you mean rprivate?'
  refused '"size=1m" is none of the known mount options' '.mounts += [{destination: "/mnt", source: "/etc", options: ["bind", "size=1m"]}]'
  ! contains "$TMP/errors" '(' || { cat "$TMP/errors"; return 1; }
  tmpfs_hint readonly 'did you mean ro?'
  tmpfs_hint ro,nosuid 'each word between commas is an element of its own'
  refused '"readonly"' '.mounts += [{destination: "/mnt", type: "tmpfs", source: "tmpfs", options: ["readonly"]}]'
  config '.mounts += [{destination: "/mnt", source: "/etc", options: ["rbind,ro"]}]'
  run ocirun validate "$BUNDLE"
  exits 1 '/mounts/7/options/0: "rbind,ro" is no mount option, and goes to the filesystem (each word between commas is an element of its own)'
  output_mentions '/mounts/7/type: is missing'
  config '.mounts[7].options = ["rbind", "readonly", "Z"]' # every one is told
  run ocirun validate "$BUNDLE"
  exits 1 '"readonly"'
  output_mentions '"Z"'
}

@test "M-6 an option of a filesystem that looks like several, or like a mount option, is no warning" {
  local option
  for option in lowerdir=/a,upperdir=/b size=1m mode=755 rootcontext=x noexce; do
    config '.mounts[7] = {destination: "/mnt", type: "overlay", options: [$option]}' --arg option "$option"
    run ocirun validate "$BUNDLE"
    succeeds
    output_never_mentions /mounts
  done
}

# atime_binds: adds binds below /m, one for each atime mode of the source and each atime option of the bind.
atime_binds() {
  local mode option
  config '.mounts |= .[:7]'
  for mode in noatime relatime strictatime nodiratime,relatime; do
    for option in - atime relatime noatime strictatime nostrictatime norelatime diratime nodiratime; do
      bind "/m/$mode/$option" "$TMP/$mode" bind "${option/#-/defaults}"
    done
  done
  mkdir -p "$BUNDLE/rootfs/m"
  script 'grep " /m/" /proc/self/mountinfo | while read -r _ _ _ _ path options _; do echo "${path#/m/} $options"; done'
}

# The expected result of each bind: "MODE/OPTION OPTIONS-IN-MOUNTINFO"; the option "-" stands for none.
ATIME_BINDS='noatime/- rw,noatime
noatime/atime rw,relatime
noatime/relatime rw,relatime
noatime/noatime rw,noatime
noatime/strictatime rw
noatime/nostrictatime rw,relatime
noatime/norelatime rw,noatime
noatime/diratime rw,noatime
noatime/nodiratime rw,noatime,nodiratime
relatime/- rw,relatime
relatime/atime rw,relatime
relatime/relatime rw,relatime
relatime/noatime rw,noatime
relatime/strictatime rw
relatime/nostrictatime rw,relatime
relatime/norelatime rw,relatime
relatime/diratime rw,relatime
relatime/nodiratime rw,nodiratime,relatime
strictatime/- rw
strictatime/atime rw,relatime
strictatime/relatime rw,relatime
strictatime/noatime rw,noatime
strictatime/strictatime rw
strictatime/nostrictatime rw,relatime
strictatime/norelatime rw
strictatime/diratime rw
strictatime/nodiratime rw,nodiratime
nodiratime,relatime/- rw,nodiratime,relatime
nodiratime,relatime/atime rw,nodiratime,relatime
nodiratime,relatime/relatime rw,nodiratime,relatime
nodiratime,relatime/noatime rw,noatime,nodiratime
nodiratime,relatime/strictatime rw,nodiratime
nodiratime,relatime/nostrictatime rw,nodiratime,relatime
nodiratime,relatime/norelatime rw,nodiratime,relatime
nodiratime,relatime/diratime rw,relatime
nodiratime,relatime/nodiratime rw,nodiratime,relatime'

@test "a bind with an atime option has that mode, whatever its source has; without one it has the source's" {
  local mode
  for mode in noatime relatime strictatime nodiratime,relatime; do
    mkdir "$TMP/$mode"
    mount -t tmpfs -o "$mode" tmpfs "$TMP/$mode"
  done
  atime_binds
  run_container
  succeeds "$ATIME_BINDS"
  if has_system_call open_tree && has_system_call move_mount; then # then ocirun can give another mode in a user namespace
    user_namespace
    run_container
    succeeds "$ATIME_BINDS"
  fi
  umount "$TMP"/{noatime,relatime,strictatime,"nodiratime,relatime"}
}

@test "option sync, dirsync, lazytime and nosymfollow" {
  tmpfs /a sync dirsync lazytime
  tmpfs /b nosymfollow
  inside "$(options_of /a); $(options_of /b)"
  succeeds
  output_mentions sync
  output_mentions dirsync
  output_mentions lazytime
  output_mentions nosymfollow
}

@test "option iversion, mand, loud, silent, defaults and their opposites are known" {
  tmpfs /a defaults silent loud iversion noiversion nolazytime async nomand symfollow norelatime nostrictatime diratime
  inside 'echo fine'
  succeeds fine
}

@test "option rro makes what is mounted below read-only too, ro does not" {
  needs_system_call mount_setattr "a recursive option"
  mkdir -p "$TMP/tree/sub"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  bind /shallow "$TMP/tree" rbind ro
  bind /deep "$TMP/tree" rbind rro
  inside 'touch /shallow/sub/x && echo shallow; touch /deep/sub/x; touch /deep/x'
  output_mentions shallow
  output_mentions "touch: /deep/sub/x: Read-only file system"
  output_mentions "touch: /deep/x: Read-only file system"
  umount "$TMP/tree/sub"
}

@test "options rnosuid, rnodev, rnoexec, rnosymfollow and their opposites reach below" {
  needs_system_call mount_setattr "a recursive option"
  mkdir -p "$TMP/tree/sub"
  mount -t tmpfs tmpfs "$TMP/tree/sub"
  bind /a "$TMP/tree" rbind rnosuid rnodev rnoexec rnosymfollow
  inside "$(options_of /a/sub)"
  matches '^rw,nosuid,nodev,noexec,relatime,nosymfollow '
  mount -o remount,bind,nosuid,nodev,noexec "$TMP/tree/sub"
  config '.mounts[7].options = ["rbind", "rsuid", "rdev", "rexec", "rrw", "rnoatime"]'
  inside "$(options_of /a/sub)"
  matches '^rw,noatime '
  umount "$TMP/tree/sub"
}

@test "options rrelatime, rstrictatime, ratime, rdiratime, rnodiratime, rnorelatime, rnostrictatime are accepted" {
  needs_system_call mount_setattr "a recursive option"
  local option
  mkdir "$TMP/dir"
  for option in rrelatime rstrictatime ratime rdiratime rnodiratime rnorelatime rnostrictatime rsymfollow; do
    config '.mounts |= .[:7]'
    bind /a "$TMP/dir" rbind "$option"
    inside 'echo fine'
    succeeds fine
  done
}

@test "option tmpcopyup fills a tmpfs with what it covers: owners, modes, links and devices included" {
  mkdir -p "$BUNDLE/rootfs/src/deep"
  echo hello >"$BUNDLE/rootfs/src/deep/file"
  chmod 4755 "$BUNDLE/rootfs/src/deep/file"
  chown 3:4 "$BUNDLE/rootfs/src/deep/file"
  chmod 4755 "$BUNDLE/rootfs/src/deep/file"
  ln -s deep/file "$BUNDLE/rootfs/src/link"
  ln -s /etc/shadow "$BUNDLE/rootfs/src/outside"
  tmpfs /src tmpcopyup
  inside 'cat /src/link; stat -c "%a %u:%g" /src/deep/file; readlink /src/outside; echo new >/src/new'
  succeeds $'hello\n4755 3:4\n/etc/shadow'
  [[ ! -e $BUNDLE/rootfs/src/new ]]
  refused tmpcopyup '.mounts += [{destination: "/x", source: "/etc", options: ["bind", "tmpcopyup"]}]'
}

@test "option tmpcopyup: mode=, uid= and gid= win over the covered directory, which gives the others" {
  mkdir "$BUNDLE"/rootfs/{all,mode,uid,gid,none}
  touch "$BUNDLE/rootfs/all/file"
  chown 3:4 "$BUNDLE"/rootfs/{all,mode,uid,gid,none}
  chmod 2750 "$BUNDLE"/rootfs/{all,mode,uid,gid,none}
  tmpfs /all tmpcopyup mode=1777 uid=7 gid=8
  tmpfs /mode mode=0701 tmpcopyup
  tmpfs /uid tmpcopyup uid=7 ro
  tmpfs /gid tmpcopyup gid=8
  tmpfs /none tmpcopyup
  inside 'stat -c "%a %u:%g" /all /mode /uid /gid /none; ls /all'
  succeeds $'1777 7:8\n701 3:4\n2750 7:4\n2750 3:8\n2750 3:4\nfile'
}
