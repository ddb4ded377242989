# Attacks by terminals: the caller's, and the container's.
# shellcheck disable=SC2016 # what is quoted runs in containers and hooks
load harness

# run_on_terminal: run_container with the caller's stdio on a terminal.
run_on_terminal() { run timeout 20 "$LIB/pty" "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"; }

@test "runc CVE-2025-52565 a /dev/console of the image that is a link is not followed" {
  local target
  config '.process.terminal = true'
  no_mounts_below /dev
  echo payload >"$BUNDLE/rootfs/payload"
  script 'cat /proc/self/mounts; exit 0'
  for target in /payload ../payload "$DECOY/file" "$UP$DECOY/file" "$DECOY/missing" /proc/self/fd/1; do
    rm -rf "$BUNDLE/rootfs/dev"
    mkdir -p "$BUNDLE/rootfs/dev/pts"
    plant /dev/console "$target"
    run_on_terminal
    console_is_nowhere_else
    decoy_is_unchanged
    equal payload "$(<"$BUNDLE/rootfs/payload")"
  done
  plant /dev/console ../payload
  run_naive
  detector_catches console_is_nowhere_else
}

console_is_nowhere_else() { output_never_mentions " /payload "; }

@test "runc CVE-2025-52565 a /dev/console, ptmx or pts that hooks replace is refused or not followed" {
  local deed
  config '.process.terminal = true'
  echo payload >"$BUNDLE/rootfs/payload"
  script 'cat /proc/self/mounts; tty; exit 0'
  for deed in 'ln -sf ../payload $R/dev/console' 'ln -sf $D/file $R/dev/console' \
    'rm -f $R/dev/ptmx; ln -s $D/ptmx $R/dev/ptmx' 'mount --bind $D/ptmx $R/dev/pts/ptmx' \
    'mount -t tmpfs tmpfs $R/dev/pts; echo x >$R/dev/pts/ptmx' 'mount --bind /dev/null $R/dev/pts/ptmx' \
    'mount -t devpts devpts -o newinstance $R/dev/pts; echo evil >$R/dev/pts/0'; do
    container_hook "$deed"
    run_on_terminal
    console_is_nowhere_else
    decoy_is_unchanged
    equal payload "$(<"$BUNDLE/rootfs/payload")"
  done
  container_hook 'ln -sf ../payload $R/dev/console'
  run_naive
  detector_catches console_is_nowhere_else
}

@test "bubblewrap CVE-2017-5226 the caller's terminal is not the program's: no /dev/tty, no TIOCSTI" {
  with_python
  program python3 -c 'import fcntl, sys, termios
try: open("/dev/tty"); print("has a terminal")
except OSError as error: print(error.strerror)
try: fcntl.ioctl(0, termios.TIOCSTI, b"!"); print("typed")
except OSError as error: print(error.strerror)'
  run_on_terminal
  output_mentions "No such device or address"
  terminal_is_foreign
  # The control: the same program in the session of the terminal, where it may push input.
  mapfile -t words < <(jq -r '.process.args[] | gsub("\n"; "\u0001")' "$BUNDLE/config.json")
  run "$LIB/pty" "${words[@]//$'\001'/$'\n'}"
  detector_catches terminal_is_foreign
}

terminal_is_foreign() { output_never_mentions "has a terminal" && output_never_mentions typed; }

@test "the caller's terminal stays the caller's: its owner would read what is typed there next" {
  config '.process.user = {uid: 1000, gid: 1000}'
  program id -u
  run "$LIB/pty" sh -c '"$@"; stat -L -c "owner %u" /proc/self/fd/1' sh "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  prints $'1000\nowner 0\nstatus 0'
  program sleep 1000
  create_and_start
  run "$LIB/pty" sh -c '"$@"; stat -L -c "owner %u" /proc/self/fd/1' sh "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" exec "$ID" id -u
  prints $'1000\nowner 0\nstatus 0'
  run "$LIB/pty" sh -c 'chown 1000 /proc/self/fd/1; stat -L -c "owner %u" /proc/self/fd/1'
  detector_catches mentions "owner 0"
}

@test "bubblewrap CVE-2017-5226 exec has a session of its own too" {
  create_and_start
  run timeout 20 "$LIB/pty" "${THROUGH[@]}" "$OCIRUN" --root "$ROOT" exec "$ID" sh -c 'echo "has a terminal" >/dev/tty'
  output_mentions "No such device or address"
  terminal_is_foreign
  # The control: a process that enters without a new session has the caller's terminal.
  run timeout 20 "$LIB/pty" nsenter -t "$(init_pid)" -m -p -- sh -c 'echo "has a terminal" >/dev/tty'
  detector_catches terminal_is_foreign
}
