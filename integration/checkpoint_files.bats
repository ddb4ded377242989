# shellcheck disable=SC2016 # jq's variables, and those of inner shells
# Files, memory and namespaces of forged images: what criu would do with them as root of the host before the restored processes are
# compared. What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_files.bats
load lib/common
load lib/criu

# A directory of the host, in which nothing has been made or removed since 2001.
hosts_directory() {
  mkdir -p "$TMP/hosts"
  old "$TMP/hosts"
}

@test "the path of a deleted file leads criu to no file of the host, not through the /proc of another process either" {
  needs_criu
  with_a_deleted_file
  checkpoint_counter
  hosts_directory
  forge_image files.img "[x['reg'].update(name='../../../../../../../../proc/1/root$TMP/hosts/evil') for x in images['entries'] if x['type'] == 'REG' and x['reg']['name'].startswith('/below/gone')]"
  restore_fails
  output_mentions 'is not plain'
  is_not_written "$TMP/hosts"
  mend
  ln -s "/proc/1/root$TMP/hosts" "$BUNDLE/rootfs/link"
  forge_image files.img "[x['reg'].update(name='/link/evil') for x in images['entries'] if x['type'] == 'REG' and x['reg']['name'].startswith('/below/gone')]"
  restore_fails
  output_mentions 'criu would make or remove the file "/link/evil": a symlink is a part of the path'
  is_not_written "$TMP/hosts"
  rm -rf "$BUNDLE/rootfs/below"
  ln -s "/proc/1/root$TMP/hosts" "$BUNDLE/rootfs/below"
  mend
  restore_fails
  output_mentions 'a symlink is a part of the path'
  is_not_written "$TMP/hosts"
}

@test "images without a mount namespace, or without any, are refused before criu works in the host's" {
  needs_criu
  with_a_deleted_file
  checkpoint_counter
  hosts_directory
  forge_image files.img "[x['reg'].update(name='$TMP/hosts/evil') for x in images['entries'] if x['type'] == 'REG' and x['reg']['name'].startswith('/below/gone')]"
  forge_image inventory.img "images['entries'][0]['root_ids'].update(mnt_ns_id=9)"
  forge_image ids-1.img "images['entries'][0].update(mnt_ns_id=9)"
  cp checkpoint/mountpoints-*.img checkpoint/mountpoints-9.img
  restore_fails
  output_mentions "the container of the images has no mount namespace of its own"
  restore_fails --trust-images
  output_mentions "the container of the images has no mount namespace of its own"
  is_not_written "$TMP/hosts"
}
