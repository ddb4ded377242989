load lib/common

terminal() { config '.process.terminal = true'; }

# end_of_terminal: waits until the terminal is closed, and prints its output without carriage returns.
end_of_terminal() {
  eventually exists "$TMP/tty.end"
  tr -d '\r' <"$TMP/tty.end"
}

# listen [OPTION…]: starts lib/console: a console socket at $TMP/c; the terminal's output goes to $TMP/tty.
listen() {
  rm -f "$TMP/c" "$TMP"/tty*
  helper "$LIB/console" "$TMP/c" "$TMP/tty" "$@"
  eventually exists "$TMP/c"
}

# receives PATTERN: waits for the message to the console socket, and compares what lib/console says of the message.
receives() {
  eventually exists "$TMP/tty.meta"
  grep -qE "$1" "$TMP/tty.meta" || { cat "$TMP/tty.meta"; return 1; }
}

@test "P-2 create of a terminal needs a console socket, and a socket needs a terminal" {
  refused console '.process.terminal = true'
  listen
  attempt create --bundle "$BUNDLE" --console-socket "$TMP/c" "$ID"
  exits 1 terminal
  [[ ! -e $ROOT/$ID ]]
}

@test "P-2 run --detach of a terminal needs a console socket too" {
  terminal
  attempt run --detach --bundle "$BUNDLE" "$ID"
  exits 1 console
}

@test "P-2 a console socket that is not there is an error that leaves nothing" {
  terminal
  attempt create --bundle "$BUNDLE" --console-socket "$TMP/nobody" "$ID"
  exits 1 "$TMP/nobody"
  [[ ! -e $ROOT/$ID ]]
}

@test "P-2 a console socket that nobody accepts at is told after ten seconds, and leaves nothing" {
  terminal
  # Makes a console socket whose backlog of one connection is full.
  helper python3 -c 'import socket, sys, time
listener, first = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen(0)
first.connect(sys.argv[1])
open(sys.argv[2], "w").close()
time.sleep(100)' "$TMP/full" "$TMP/taken"
  eventually exists "$TMP/taken"
  attempt create --bundle "$BUNDLE" --console-socket "$TMP/full" "$ID"
  exits 1 "has not accepted for 10 s"
  [[ ! -e $ROOT/$ID ]]
}

@test "P-2 the console socket gets one message with one terminal, before create returns" {
  terminal
  listen
  script 'tty; echo hello'
  create --console-socket "$TMP/c"
  receives '^descriptors=1 name=.+ tty=True size=.* more=0$'
  start
  equal $'/dev/pts/0\nhello' "$(end_of_terminal)"
}

@test "P-2 a relative console socket belongs to the caller's directory" {
  terminal
  listen
  cd "$TMP"
  create --console-socket c
  receives '^descriptors=1 '
}

@test "P-2 the terminal is the program's controlling one, on all three descriptors and /dev/console" {
  terminal
  listen
  script 'test -t 0 && test -t 1 && test -t 2 && echo all; echo through >/dev/tty; echo console >/dev/console
    stat -c %t:%T /dev/console /dev/pts/0 | uniq | wc -l'
  create --console-socket "$TMP/c"
  start
  equal $'all\nthrough\nconsole\n1' "$(end_of_terminal)"
}

@test "P-2 the terminal that an engine gets ends lines with return and newline, as its raw terminal needs" {
  terminal
  listen
  script 'echo one; echo two'
  create --console-socket "$TMP/c"
  start
  eventually exists "$TMP/tty.end"
  equal $'one\r\ntwo\r' "$(<"$TMP/tty.end")"
}

@test "P-2 the terminal belongs to the program's user" {
  terminal
  listen
  config '.process.user = {uid: 1000, gid: 1000}'
  script 'stat -c %u /dev/pts/0'
  create --console-socket "$TMP/c"
  start
  equal 1000 "$(end_of_terminal)"
}

@test "P-2 what is typed arrives" {
  terminal
  listen --input 'typed\n'
  script 'read -r line; echo "got $line"'
  create --console-socket "$TMP/c"
  start
  [[ $(end_of_terminal) == *"got typed"* ]]
}

@test "P-3 consoleSize is the terminal's first size" {
  terminal
  config '.process.consoleSize = {height: 17, width: 83}'
  listen
  script 'stty size'
  create --console-socket "$TMP/c"
  receives 'size=\(17, 83\)'
  start
  equal "17 83" "$(end_of_terminal)"
}

@test "P-3 consoleSize without a terminal has no effect, whatever it holds, and a warning says so" {
  config '.process.consoleSize = {height: -5}'
  inside 'echo fine'
  succeeds
  output_mentions fine
  output_mentions "/process/consoleSize: has no effect, because terminal is not true"
}

@test "P-3 consoleSize needs both sides and the kernel's range" {
  refused /process/consoleSize '.process.consoleSize = {height: 5} | .process.terminal = true'
  refused /process/consoleSize/width '.process.consoleSize = {height: 5, width: 65536} | .process.terminal = true'
}

@test "P-2 run in the foreground copies the terminal, leaves the caller's as it was, and gives the status" {
  terminal
  script 'tty; echo hello; exit 6'
  run "$LIB/pty" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  prints $'/dev/pts/0\nhello\nstatus 6'
}

@test "P-2 run in the foreground types through and follows the window's size" {
  terminal
  script 'trap "stty size; exit 0" WINCH; stty size; echo ready; while :; do sleep 0.02; done'
  run "$LIB/pty" --size 24x80 --when ready --resize 33x44 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  prints $'24 80\nready\n33 44\nstatus 0'
  script 'echo ready; read -r line; echo "got $line"'
  run "$LIB/pty" --when ready --input 'typed\n' "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  output_mentions "got typed"
  output_mentions "status 0"
}

@test "P-2 run in the foreground loses no output of a program that ends at once" {
  terminal
  script 'seq 1 5000'
  run "$LIB/pty" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  equal 5001 "${#lines[@]}"
  equal 5000 "${lines[4999]}"
}

@test "P-2 run of a terminal whose caller has none gives the text without carriage returns" {
  terminal
  script 'test -t 1 && echo tty; echo end'
  run_container
  succeeds $'tty\nend'
}

@test "P-2 run: the end of what stdin brings ends a program that reads to the end" {
  config '.process.terminal = true | .process.args = ["sh", "-c", "cat; echo end"]'
  run bash -c 'printf "line\nrest" | timeout 20 "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  succeeds
  output_mentions end
  run timeout 20 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null
  succeeds end
}

@test "P-2 run: the end of what stdin brings ends a shell that edits its lines" {
  config '.process.terminal = true | .process.args = ["sh"]'
  for _ in 1 2 3; do
    run timeout -k 2 20 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null
    succeeds
    run bash -c 'echo "echo from a pipe" | timeout -k 2 20 "$@"' - "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
    succeeds
    output_mentions $'\nfrom a pipe'
  done
}

@test "P-2 run: a program that turns to single keys while its terminal is asked for its mode sees the end" {
  terminal
  script 'sleep 0.6; echo turns; sleep 0.1; stty -icanon; echo turned; end=$(printf "\004")
    until [ "$(dd bs=1 count=1 2>/dev/null)" = "$end" ]; do :; done'
  run timeout -k 2 20 strace -o "$TMP/trace" -e trace=ioctl -e inject=ioctl:delay_exit=300ms \
    "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null
  succeeds
}

@test "P-2 run: an interrupt typed on the terminal reaches the program, not the runtime" {
  terminal
  script 'trap "echo interrupted; exit 4" INT; echo ready; while :; do sleep 0.02; done'
  run "$LIB/pty" --when ready --input '\x03' "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  output_mentions interrupted
  output_mentions "status 4"
  output_never_mentions "terminal changed"
}

@test "P-2 run: signals reach a program that does not read what stdin brings" {
  terminal
  script 'trap "exit 3" TERM; echo ready; while :; do sleep 0.02; done'
  mkfifo "$TMP/stdin"
  helper sh -c "exec yes >$TMP/stdin"
  local rc=0
  timeout -k 2 20 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" <"$TMP/stdin" >"$TMP/shown" 2>&1 3>&- 4>&- &
  local runner=$!
  eventually contains "$TMP/shown" ready
  eventually waits "$HELPER" # the pipe is full
  kill "$runner"
  wait "$runner" || rc=$?
  equal 3 "$rc"
}

@test "P-2 run: nobody who reads its output, and it still ends at a signal" {
  terminal
  script 'while :; do echo flood; done'
  mkfifo "$TMP/stdout"
  exec 9<>"$TMP/stdout" # opens the FIFO and never reads it
  helper sh -c 'exec "$@" >"$0"' "$TMP/stdout" "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  eventually is_full 9
  sleep 0.5
  ocirun kill "$ID" KILL
  sleep 0.5
  [[ -e /proc/$HELPER ]] # an end now would lose output
  local rc=0
  kill "$HELPER"
  eventually has_ended "$HELPER"
  wait "$HELPER" || rc=$?
  exec 9>&-
  equal 137 "$rc"
}

is_full() { python3 -c 'import select, sys; sys.exit(bool(select.select([], [int(sys.argv[1])], [], 0)[1]))' "$1"; }

@test "exec --tty in the foreground has a terminal of its own" {
  create_and_start
  run "$LIB/pty" "$OCIRUN" --root "$ROOT" exec --tty "$ID" sh -c 'tty; test -t 0 && echo tty; exit 3'
  prints $'/dev/pts/0\ntty\nstatus 3'
}

@test "exec --detach of a terminal sends it to the console socket" {
  create_and_start
  listen
  ocirun exec --detach --tty --console-socket "$TMP/c" --pid-file "$TMP/pid" "$ID" sh -c 'echo from exec'
  equal "from exec" "$(end_of_terminal)"
  receives '^descriptors=1 '
}

@test "exec takes -i, also together with -t: standard input is passed in any case" {
  local option
  create_and_start
  for option in -i --interactive; do
    run ocirun exec "$option" "$ID" cat <<<"from the caller"
    succeeds "from the caller"
  done
  for option in -it -ti "-itu 1000:1000"; do
    # shellcheck disable=SC2086 # several words
    run "$LIB/pty" --when ready --input 'typed\n' "$OCIRUN" --root "$ROOT" exec $option "$ID" sh -c \
      'tty; echo ready; read -r line; echo "got $line"; exit 6'
    output_mentions $'/dev/pts/0\nready'
    output_mentions "got typed"
    output_mentions "status 6"
  done
  run ocirun exec -itx "$ID" true
  exits 255 "unknown option -x in -itx"
}
