# Hosts on which neither a file in memory nor a file in /var/cache can be executed: commands run from a sealed copy all the same.
# shellcheck disable=SC2016 # what runs in a namespace
load lib/common

setup() {
  common_setup
  [[ -e /proc/sys/vm/memfd_noexec ]] || skip "needs Linux 6.3"
}

# hardened SHELL-COMMANDS: runs them where no file in memory may be executed, in pid and mount namespaces of their own, which the sysctl
# belongs to. $OCIRUN, $ROOT, $BUNDLE, $ID and $TMP are set.
hardened() {
  export OCIRUN ROOT BUNDLE ID TMP
  timeout 60 unshare --mount --pid --fork --kill-child --mount-proc bash -e -c "echo 2 >/proc/sys/vm/memfd_noexec; $1" </dev/null 3>&- 4>&-
}

NOEXEC='mount -t tmpfs -o noexec none /var/cache'
READ_ONLY='mount -t tmpfs -o ro none /var/cache'
FULL='mount -t tmpfs -o size=4k none /var/cache; head -c 9000 /dev/zero >/var/cache/file 2>/dev/null || true'
PLACES='for place in /tmp /run /dev/shm; do mount -t tmpfs -o noexec,mode=1777 none $place; done'

@test "run and exec work with /var/cache noexec, read-only or full, and no file in memory that may be executed" {
  local cache
  program sleep 1000
  for cache in "$NOEXEC" "$READ_ONLY" "$FULL"; do
    run hardened "$cache; mount -t tmpfs none /mnt
      $OCIRUN --root /mnt/root run --detach --bundle $BUNDLE $ID >/mnt/log 2>&1 || { cat /mnt/log; exit 1; }
      $OCIRUN --root /mnt/root exec $ID echo inside
      $OCIRUN --root /mnt/root delete --force $ID"
    succeeds inside || { echo "$cache"; return 1; }
  done
}

@test "the copy that runs then is in no place of the host, and nobody can write to it" {
  program true
  run hardened "$READ_ONLY; mount -t tmpfs none /mnt
    $OCIRUN --root /mnt/root create --bundle $BUNDLE $ID >/mnt/log 2>&1 || { cat /mnt/log; exit 1; }
    exe=/proc/\$($OCIRUN --root /mnt/root state $ID | jq .pid)/exe
    readlink \$exe
    cmp \$exe $OCIRUN
    (echo >>\$exe) 2>&1 | sed 's/.*: //'
    chmod 777 \$exe 2>&1 | sed 's/.*: //'
    $OCIRUN --root /mnt/root delete --force $ID
    grep -c ' /ocirun ' /proc/self/mountinfo || true"
  succeeds "/ocirun
Text file busy
Read-only file system
0" || [[ $output == "/ocirun
Read-only file system
Read-only file system
0" ]]
}

@test "where the kernel has no fsopen the copy is in a tmpfs by mount(2)" {
  program echo ran
  run hardened "$READ_ONLY; mount -t tmpfs none /mnt; $LIB/without fsopen -- $OCIRUN --root /mnt/root run --bundle $BUNDLE $ID"
  succeeds ran
}

@test "an ordinary user runs containers there too, whatever the mount options of other places are" {
  local place=/run/t/hardened$BATS_TEST_NUMBER
  mkdir -m 755 "$place"
  cp -r "$BUNDLE" "$place/bundle"
  cp "$OCIRUN" "$place/ocirun"
  rm "$place/bundle/config.json"
  chown 1000:1000 "$place/bundle"
  setpriv --reuid 1000 --regid 1000 --clear-groups "$place/ocirun" spec --rootless --bundle "$place/bundle"
  BUNDLE=$place/bundle config '.process.terminal = false | .process.args = ["echo", "ran"]'
  mkdir -m 700 "$place/xdg"
  chown -R 1000:1000 "$place"
  run hardened "cd $place; mount --bind $place $place; mount --bind . /mnt; $READ_ONLY; $PLACES
    setpriv --reuid 1000 --regid 1000 --clear-groups env XDG_RUNTIME_DIR=/mnt/xdg /mnt/ocirun --cgroup-manager disabled run --bundle /mnt/bundle x"
  rm -rf "$place"
  succeeds ran
}

@test "without any place for a copy, the error names each place and its reason" {
  run timeout 60 unshare --user --map-root-user --mount --pid --fork --kill-child --mount-proc bash -e -c "
    echo 2 >/proc/sys/vm/memfd_noexec; echo 0 >/proc/sys/user/max_user_namespaces; $READ_ONLY
    setpriv --bounding-set -sys_admin $OCIRUN --root $TMP/none run --bundle $BUNDLE $ID" </dev/null 3>&- 4>&-
  exits 1 "no sealed copy of the executable can run: a file in memory: the sysctl vm.memfd_noexec is 2: permission denied"
  output_mentions "; a tmpfs that is mounted nowhere: make a user namespace: "
  if has_kept_images; then
    output_mentions "; /var/cache/ocirun: "
    output_mentions "read-only file system"
  else
    output_mentions "; /var/cache/ocirun: this build keeps no image there"
  fi
  [[ ! -e $TMP/none ]]
}

@test "hooks get the state of the container there" {
  program true
  config '.hooks = {"poststop": [{"path": "/bin/cp", "args": ["cp", "/proc/self/fd/0", $f]}]}' --arg f "$TMP/state"
  hardened "mount -t tmpfs none /mnt; $OCIRUN --root /mnt/root run --bundle $BUNDLE $ID"
  equal "$ID" "$(jq -r .id "$TMP/state")"
}
