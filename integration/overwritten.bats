# The runtime's file is overwritten in place while its containers run. Whether the kernel refuses the write or not, no container is
# harmed.
load lib/common

IMAGES=/var/cache/ocirun

# A tmpfs for the images of these tests alone, because other test runs on this machine keep images too.
setup() {
  [[ -d $IMAGES ]] || mkdir -m 700 "$IMAGES"
  mount -t tmpfs -o mode=700 images "$IMAGES"
  common_setup
}
teardown() {
  common_teardown
  umount -l "$IMAGES"
}

WAYS=(cp truncation dd)
UNTIL_GO='echo >/ready; until [ -e /go ]; do usleep 10000; done; exit 7'

# make_runtimes: makes a copy of the runtime for each way of overwriting. A new file runs from memory, an older one from an image.
make_runtimes() {
  local way
  for way in "${WAYS[@]}"; do cp "$OCIRUN" "$TMP/$way"; done
}

# keep_images: runs the copies until all of them run from images.
keep_images() {
  local way
  needs_kept_image
  program /bin/true
  for way in "${WAYS[@]}"; do eventually keeps_an_image "$TMP/$way"; done
}

keeps_an_image() {
  "$1" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- || return
  compgen -G "$IMAGES/*-$(stat -c '%i-%s-%Z' "$1")-*" >/dev/null
}

# overwrite WAY: changes the content of a copy in one of the ways that make no new file.
overwrite() {
  case $1 in
    cp) cp "$(command -v bash)" "$TMP/cp" ;;
    truncation) : >"$TMP/truncation" ;;
    dd) dd if=/dev/zero of="$TMP/dd" bs=64k count=64 conv=notrunc status=none ;;
  esac
} 2>/dev/null

# in_the_foreground WAY COMMAND…: overwrites the copy while the command waits for its program. The program ends with 7, and so must
# the command.
in_the_foreground() {
  local pid ended=0
  rm -f "$BUNDLE/rootfs/ready" "$BUNDLE/rootfs/go"
  "$TMP/$1" --root "$ROOT" "${@:2}" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- &
  pid=$!
  eventually exists "$BUNDLE/rootfs/ready"
  overwrite "$1" || true
  touch "$BUNDLE/rootfs/go"
  wait "$pid" || ended=$?
  [[ $ended == 7 ]] || { echo "$1: status $ended"; show_output; return 1; }
}

foreground_runs_end_well() {
  local way
  script "$UNTIL_GO"
  for way in "${WAYS[@]}"; do
    in_the_foreground "$way" run --bundle "$BUNDLE" "$ID"
    is_gone "$ROOT/$ID"
  done
}

@test "a foreground run outlives its executable's content, and takes the container away" {
  make_runtimes
  foreground_runs_end_well
  make_runtimes
  keep_images
  foreground_runs_end_well
}

foreground_execs_end_well() {
  local way
  for way in "${WAYS[@]}"; do in_the_foreground "$way" exec "$ID" sh -c "$UNTIL_GO"; done
}

@test "a foreground exec outlives its executable's content" {
  make_runtimes
  keep_images
  program sleep 1000
  create_and_start
  foreground_execs_end_well
  rm "${WAYS[@]/#/$TMP/}"
  make_runtimes
  foreground_execs_end_well
}

created_containers_start() {
  local way
  script 'echo >/ready; exec sleep 1000'
  for way in "${WAYS[@]}"; do
    rm -f "$BUNDLE/rootfs/ready"
    OCIRUN=$TMP/$way create
    overwrite "$way" || true
    start
    eventually exists "$BUNDLE/rootfs/ready"
    status_is running
    ocirun delete --force "$ID"
  done
}

@test "a created container starts after its executable was overwritten" {
  make_runtimes
  created_containers_start
  make_runtimes
  keep_images
  created_containers_start
}

@test "a container of run --detach stays when the executable was overwritten" {
  local way
  make_runtimes
  keep_images
  script 'echo >/ready; exec sleep 1000'
  for way in "${WAYS[@]}"; do
    rm -f "$BUNDLE/rootfs/ready"
    OCIRUN=$TMP/$way attempt run --detach --bundle "$BUNDLE" "$ID"
    succeeds
    overwrite "$way" || true
    eventually exists "$BUNDLE/rootfs/ready"
    ocirun exec "$ID" true
    ocirun delete --force "$ID"
  done
}

image_of_init() { readlink "/proc/$(init_pid)/exe"; }

@test "the process of a foreground run is called ocirun, from memory and from an image" {
  local round
  needs_kept_image
  cp "$OCIRUN" "$TMP/cp"
  for round in memory image; do
    program sleep 1000
    helper "$TMP/cp" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    eventually status_is running
    equal ocirun "$(<"/proc/$HELPER/comm")"
    [[ $round == memory ]] || [[ $(readlink "/proc/$HELPER/exe") == /ocirun-* ]]
    ocirun delete --force "$ID"
    program /bin/true
    eventually keeps_an_image "$TMP/cp"
  done
}

# runs_from_image EXECUTABLE [WRAPPER…]: `run` in the foreground, started by the wrapper, runs from an image and maps nothing of the
# executable. Sets $output to its mappings, $was_executed to 1 if the image was executed, 0 if it was mapped.
runs_from_image() {
  program sleep 1000
  helper "${@:2}" "$1" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  eventually status_is running
  [[ $(readlink "/proc/$HELPER/exe") == /ocirun-* ]]
  output=$(<"/proc/$HELPER/maps")
  output_mentions " /ocirun-"
  output_never_mentions "$1"
  equal "$1 --root $ROOT run --bundle $BUNDLE $ID " "$(tr '\0' ' ' <"/proc/$HELPER/cmdline")"
  was_executed=$(grep -c -z _OCIRUN_DIRECTORY= "/proc/$HELPER/environ") || true
  ocirun delete --force "$ID"
}

@test "an image takes the executable's place in the process, and is executed where the kernel does not allow this" {
  needs_system_call fsopen
  local was_executed
  needs_kept_image
  [[ $(uname -m) == x86_64 ]] || skip "on other processors images are executed"
  cp "$OCIRUN" "$TMP/cp"
  program /bin/true
  eventually keeps_an_image "$TMP/cp"
  runs_from_image "$TMP/cp"
  equal 0 "$was_executed"
  runs_from_image "$TMP/cp" "$REPO/integration/lib/without" PR_SET_MM --
  equal 1 "$was_executed"
}

# If the executable lies on an overlay, the kernel accepts another file although a mapping of the executable is left (no EBUSY).
@test "an image takes the place of an executable on an overlay, and none of its mappings is left" {
  needs_system_call fsopen
  local was_executed
  needs_kept_image
  [[ $(uname -m) == x86_64 ]] || skip "on other processors images are executed"
  mkdir "$TMP/lower" "$TMP/lower2" "$TMP/merged"
  cp "$OCIRUN" "$TMP/lower/runtime"
  mount -t overlay -o "lowerdir=$TMP/lower:$TMP/lower2" overlay "$TMP/merged"
  program /bin/true
  eventually keeps_an_image "$TMP/merged/runtime"
  runs_from_image "$TMP/merged/runtime"
  equal 0 "$was_executed"
  output_never_mentions /runtime
  umount "$TMP/merged"
}

# damage WAY IMAGE. changed: another entry point in the ELF header, as another version of the program may have.
damage() {
  case $1 in
    emptied) : >"$2" ;;
    shortened) truncate -s 1M "$2" ;;
    changed) printf 12345678 | dd of="$2" bs=1 seek=24 conv=notrunc status=none ;;
  esac
}

@test "a damaged image, and one of another program, is not run but made anew" {
  needs_kept_image
  needs_system_call fsopen
  local way image
  cp "$OCIRUN" "$TMP/cp"
  program /bin/true
  eventually keeps_an_image "$TMP/cp"
  image=$(compgen -G "$IMAGES/*-$(stat -c '%i-%s-%Z' "$TMP/cp")-*")
  for way in emptied shortened changed; do
    damage "$way" "$image"
    program sleep 1000
    OCIRUN=$TMP/cp create
    equal "/memfd:ocirun (deleted)" "$(image_of_init)"
    ocirun delete --force "$ID"
    cmp "$TMP/cp" "$image"
    OCIRUN=$TMP/cp create
    [[ $(image_of_init) == /ocirun-* ]]
    ocirun delete --force "$ID"
  done
}

@test "an executable that was overwritten runs as what it is now" {
  needs_system_call fsopen
  make_runtimes
  keep_images
  program sleep 1000
  OCIRUN=$TMP/cp create
  [[ $(image_of_init) =~ ^/ocirun-[0-9-]+$ ]]
  ocirun delete --force "$ID"
  echo >>"$TMP/cp"
  OCIRUN=$TMP/cp create
  cmp "$TMP/cp" "/proc/$(init_pid)/exe"
}

@test "images in a directory that others may enter, or that is another user's, are not run" {
  local change
  make_runtimes
  keep_images
  program sleep 1000
  for change in "chmod 755" "chmod 2700" "chown 1"; do
    $change "$IMAGES"
    OCIRUN=$TMP/dd create
    equal "/memfd:ocirun (deleted)" "$(image_of_init)"
    ocirun delete --force "$ID"
    chown 0 "$IMAGES"
    chmod 700 "$IMAGES"
  done
}

@test "images below another user's XDG_RUNTIME_DIR are not run, nor below one that others may write to" {
  local change
  make_runtimes
  keep_images
  mkdir -m 700 "$TMP/session"
  cp -a "$IMAGES" "$TMP/session/ocirun-image"
  chmod 755 "$IMAGES" # others may list it: no longer a safe directory for images
  program sleep 1000
  XDG_RUNTIME_DIR=$TMP/session OCIRUN=$TMP/dd create
  [[ $(image_of_init) =~ ^/ocirun-[0-9-]+$ ]]
  ocirun delete --force "$ID"
  for change in "chown 1000" "chmod 777"; do
    chown 0 "$TMP/session"
    $change "$TMP/session"
    XDG_RUNTIME_DIR=$TMP/session OCIRUN=$TMP/dd create
    equal "/memfd:ocirun (deleted)" "$(image_of_init)"
    ocirun delete --force "$ID"
  done
}

@test "no more than four images are kept" {
  needs_kept_image
  local n
  program /bin/true
  for n in {1..6}; do cp "$OCIRUN" "$TMP/runtime$n"; done
  for n in {1..6}; do eventually keeps_an_image "$TMP/runtime$n"; done
  equal 4 "$(find $IMAGES -type f | wc -l)"
}

@test "a descriptor to preserve that is not open is an error also where no image is kept" {
  cp "$OCIRUN" "$TMP/new"
  run "$TMP/new" --root "$ROOT" run --preserve-fds 1 --bundle "$BUNDLE" "$ID" 3>&-
  exits 1
  output_mentions "descriptor 3 is not open: bad file descriptor"
}

# An ordinary user cannot keep images in root's directory, and could not trust one there.
@test "root of a user namespace keeps its images in XDG_RUNTIME_DIR" {
  needs_kept_image
  needs_system_call fsopen
  local place=/run/t/user$BATS_TEST_NUMBER name images
  mkdir -m 755 "$place"
  cp "$OCIRUN" "$place/runtime"
  cp -r "$BUNDLE" "$place/bundle"
  "$OCIRUN" spec --rootless --force --bundle "$place/bundle" 2>/dev/null || {
    rm "$place/bundle/config.json"
    "$OCIRUN" spec --rootless --bundle "$place/bundle"
  }
  jq '.process.terminal = false | .process.args = ["readlink", "/image"]' "$place/bundle/config.json" >"$TMP/config"
  cp "$TMP/config" "$place/bundle/config.json"
  mkdir -m 700 "$place/xdg"
  chown -R 1000:1000 "$place/bundle" "$place/xdg"
  name=$(stat -c '%i-%s-%Z' "$place/runtime")
  by_user() {
    setpriv --reuid 1000 --regid 1000 --clear-groups env XDG_RUNTIME_DIR="$place/xdg" unshare --user --map-root-user --mount \
      "$place/runtime" --cgroup-manager disabled "$@" </dev/null >/dev/null 2>&1 3>&- 4>&-
  }
  keeps_one() {
    by_user run --bundle "$place/bundle" x || true
    compgen -G "$place/xdg/ocirun-image/*-$name-*" >/dev/null
  }
  eventually keeps_one
  images=$(find "$IMAGES" -type f)
  equal "" "$images"
  rm -rf "$place"
}
