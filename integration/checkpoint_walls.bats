# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# What criu cannot do to the host while it restores images that somebody has forged, before anything can be compared. What needs criu is
# skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_walls.bats
load lib/common
load lib/criu

teardown() {
  common_teardown
  rm -rf "/tmp/${ID:?}"
}

# add_to_images FIELDS: adds a mount on /opt to the images. The Python dictionary FIELDS changes a copy of the mount on /dev.
add_to_images() {
  mkdir -p "$BUNDLE/rootfs/opt"
  forge_image "$(basename checkpoint/mountpoints-*.img)" "top = [x for x in images['entries'] if x['mountpoint'] == '/'][0]
new = dict([x for x in images['entries'] if x['mountpoint'] == '/dev'][0], mnt_id=9999, mountpoint='/opt', parent_mnt_id=top['mnt_id'], root='/')
for key in ('shared_id', 'master_id', 'ext_key'): new.pop(key, None)
new.update(root_dev='0:119', options='')
new.update($1)
images['entries'].append(new)"
}

@test "a deleted file is restored, and one of forged images is made nowhere on the host" {
  needs_criu
  with_a_deleted_file
  checkpoint_counter
  mkdir "$TMP/hosts"
  old "$TMP/hosts"
  forge_image files.img "[x['reg'].update(name='../../../../../../../..$TMP/hosts/evil') for x in images['entries'] if x['type'] == 'REG' and x['reg']['name'].startswith('/below/gone')]"
  restore_fails
  output_mentions 'is not plain'
  is_not_written "$TMP/hosts"
  mend
  restore
  goes_on
  [[ $(ocirun exec "$ID" readlink /proc/1/fd/7) == /below/gone*" (deleted)" ]]
}

@test "a symlink in the root file system leads criu to no file of the host" {
  needs_criu
  with_a_deleted_file
  checkpoint_counter
  mkdir "$TMP/hosts"
  old "$TMP/hosts"
  rmdir "$BUNDLE/rootfs/below"
  ln -s "$TMP/hosts" "$BUNDLE/rootfs/below"
  restore_fails
  output_mentions 'the file "/below/gone": a symlink is a part of the path'
  is_not_written "$TMP/hosts"
  restore_fails --trust-images
  [[ $(date -r "$TMP/hosts" +%Y) != 2001 ]]
}

@test "images, their pre-dumps and the bundle may lie below /tmp" {
  needs_criu
  mkdir -m 700 "/tmp/$ID"
  cp -a "$BUNDLE" "/tmp/$ID/bundle"
  BUNDLE=/tmp/$ID/bundle
  counter
  run_counting
  ocirun checkpoint --pre-dump --image-path "/tmp/$ID/first" "$ID"
  ocirun checkpoint --parent-path ../first --image-path "/tmp/$ID/second" "$ID"
  restore --image-path "/tmp/$ID/second" --auto-dedup
  goes_on
}

@test "forged images put nothing into file systems of which the host has only one" {
  needs_criu
  counter
  checkpoint_counter
  mkdir "$TMP/files" "$TMP/hosts"
  touch "$TMP/files/evil-$ID"
  tar czf checkpoint/tmpfs-dev-119.tar.gz.img -C "$TMP/files" .
  add_to_images "fstype=3, source='devtmpfs'"
  restore_fails
  output_mentions 'the images mount a file system of type "devtmpfs" on "/opt": the host has only one'
  mount -t devtmpfs none "$TMP/hosts"
  run ls "$TMP/hosts/evil-$ID"
  umount "$TMP/hosts"
  equal 2 "$status"
  mend
  add_to_images "fstype=4, source='binfmt_misc'"
  restore_fails
  output_mentions 'of type "binfmt_misc" on "/opt"'
  mend
  restore
  goes_on
}

@test "forged images mount no other file system: by its name, an overlay, a hierarchy with a program, an unknown one" {
  needs_criu
  counter
  checkpoint_counter
  add_to_images "fstype=16, fsname='ext4', source='/dev/vda1'"
  restore_fails
  output_mentions 'a file system of type "ext4" on "/opt": it could show files of the host'
  mend
  add_to_images "fstype=17, source='overlay', options='lowerdir=/etc'"
  restore_fails
  output_mentions 'of type "overlay"'
  mend
  add_to_images "fstype=12, source='cgroup', options='none,name=evil,release_agent=/tmp/evil'"
  restore_fails
  output_mentions 'cgroups on "/opt" with the option "release_agent=/tmp/evil"'
  mend
  add_to_images "fstype=99, source='x'"
  restore_fails
  output_mentions 'of type "type 99"'
  mend
  add_to_images "fstype=3, ext_key='CRIU:EXTERNAL_DEV_MOUNT', source='devtmpfs'"
  restore_fails
  output_mentions 'of type "devtmpfs"'
  ocirun restore --dry-run --bundle "$BUNDLE" "$ID" >"$TMP/output" 2>&1 && return 1
  grep 'of type "devtmpfs"' "$TMP/output"
}

@test "forged images neither bind nor change a mount of the host by a flag, nor hide a type behind a NUL" {
  needs_criu
  counter
  checkpoint_counter
  add_to_images "fstype=5, source='/', sb_flags='0x1000'"
  restore_fails
  output_mentions 'the images mount "/opt" with the flags 0x1000'
  mend
  ln -s / "$BUNDLE/rootfs/link"
  add_to_images "fstype=5, source='none', mountpoint='/link', sb_flags='0x1020'"
  restore_fails
  output_mentions 'the images mount "/link" with the flags 0x1020'
  mend
  add_to_images "fstype=3, source='devtmpfs', root='/\\x00x'"
  restore_fails
  output_mentions 'field 6 of a mount holds a NUL'
}

@test "forged images load no policies of AppArmor" {
  needs_criu
  counter
  checkpoint_counter
  python3 -c 'import struct, sys
policy = b"\x0a\x01p\x12\x01b"
space = b"\x0a\x02.." + b"\x12" + bytes([len(policy)]) + policy
entry = b"\x0a" + bytes([len(space)]) + space
sys.stdout.buffer.write(struct.pack("<III", 0x54564319, 0x59423047, len(entry)) + entry)' >checkpoint/apparmor.img
  restore_fails
  output_mentions "apparmor.img: criu would load these AppArmor policies into the host's kernel"
}
