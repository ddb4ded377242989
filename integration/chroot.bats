# ocirun in a chroot: a rescue system, or a builder's root. The kernel separates only a mount point from the host's mounts.

load lib/common

setup() {
  common_setup
  program /bin/echo fine
}

# in_chroot BEFORE OPTION…: `ocirun run OPTION…` in a directory that shows the host's programs, below mounts that are shared as a host's
# are. BEFORE prepares the directory, which is $1 there. Sets $status and $output.
in_chroot() {
  local root=$TMP/root before=$1
  mkdir -p "$root"
  cat >"$TMP/enter" <<'END'
mount --make-rprivate /
mount --make-rshared /
eval "$2"
mkdir -p "$1/proc" "$1/sys" "$1/dev" "$1/run" "$1/tmp" "$1/bin" "$1/bundle"
for directory in proc sys dev; do mount --rbind "/$directory" "$1/$directory"; mount --make-rslave "$1/$directory"; done
cp "$3" "$1/bin/ocirun"
cp -a "$4/." "$1/bundle"
shift 4
exec chroot "$@"
END
  run unshare --mount bash "$TMP/enter" "$root" "$before" "$OCIRUN" "$BUNDLE" \
    "$root" /bin/ocirun --root /run/state run --bundle /bundle "${@:2}" "$ID"
  rm -rf --one-file-system "$root"
}

@test "a chroot whose directory is no mount point: the error says the cause and the cure, with --no-pivot too" {
  local option
  for option in "" --no-pivot; do
    in_chroot : ${option:+"$option"}
    exits 1 "/ is not a mount point, because this is a chroot: before chroot DIR, do mount --rbind DIR DIR, in a mount namespace of its own \
(unshare --mount) or with --no-pivot: mount: invalid argument"
  done
}

@test "the cure for a chroot works: its directory mounted on itself, with --no-pivot or in a mount namespace of its own" {
  in_chroot 'mount --rbind "$1" "$1"' --no-pivot
  succeeds fine
  in_chroot 'mount --make-rprivate /; mount --rbind "$1" "$1"'
  succeeds fine
}

@test "a chroot below a shared mount: the error of pivot_root says to use --no-pivot" {
  in_chroot 'mount --rbind "$1" "$1"'
  exits 1 "pivot_root leaves neither an initramfs nor a chroot below a shared mount: use --no-pivot"
}
