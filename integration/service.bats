# ocirun as the program of a service: socket activation (LISTEN_FDS) and readiness (NOTIFY_SOCKET).

load lib/common

# --- socket activation -------------------------------------------------------------------------------

# activated COUNT COMMAND…: runs it with LISTEN_FDS=COUNT and LISTEN_PID, as a service manager does.
activated() { timeout --foreground -k 2 30 bash -c 'export LISTEN_FDS=$1 LISTEN_PID=$$ SECRET=leak; shift; exec "$@"' - "$@"; }

@test "LG-2 sockets of a service manager reach the program, with LISTEN_FDS and its own LISTEN_PID" {
  script 'echo "$LISTEN_FDS $LISTEN_PID $$"; cat <&3; cat <&4; cat <&5; env'
  run activated 2 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" 3<<<three 4<<<four 5<<<five
  output_mentions $'2 1 1\nthree\nfour'
  output_never_mentions five
  output_never_mentions leak
}

@test "LG-2 what --preserve-fds names comes after the sockets" {
  script 'echo "$LISTEN_FDS"; cat <&3; cat <&4; cat <&5'
  run activated 1 "$OCIRUN" --root "$ROOT" run --preserve-fds 1 --bundle "$BUNDLE" "$ID" 3<<<three 4<<<four 5<<<five
  output_mentions $'1\nthree\nfour'
  output_never_mentions five
}

@test "LG-2 create keeps the sockets for start, in a pid namespace of another's too" {
  drop_namespace pid
  script 'exec >/result; echo "$LISTEN_FDS"; [ "$LISTEN_PID" = "$$" ] && cat <&3'
  activated 1 "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null 3<<<three >"$TMP/output" 2>&1 4>&- ||
    show_output
  start
  eventually status_is stopped
  equal $'1\nthree' "$(<"$BUNDLE/rootfs/result")"
}

@test "LG-2 exec hands sockets over to its own process" {
  create_and_start
  run activated 1 "$OCIRUN" --root "$ROOT" exec "$ID" sh -c '[ "$LISTEN_PID" = "$$" ] && echo "$LISTEN_FDS" && cat <&3' 3<<<three
  succeeds $'1\nthree'
}

@test "LG-2 sockets that are meant for another process stay away" {
  script 'env; cat <&3'
  LISTEN_FDS=1 LISTEN_PID=1 run ocirun run --bundle "$BUNDLE" "$ID" 3<<<three
  output_never_mentions LISTEN
  output_never_mentions three
}

@test "LG-2 LISTEN_FDS that cannot be is an error" {
  run activated many "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
  exits 1
  output_mentions "LISTEN_FDS=many: must be a number from 0 to 1000"
  run activated 2 "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" 3<<<three 4>&-
  exits 1
  output_mentions "LISTEN_FDS=2, --preserve-fds 0: descriptor 4 is not open: bad file descriptor"
}

# --- readiness -----------------------------------------------------------------------------------------

# notifier TEXT: the container's program is a script in which `tell LINE…` sends one message to NOTIFY_SOCKET, by perl, which every
# Debian has.
notifier() {
  add_mount '{"destination": "/usr", "source": "/usr", "options": ["rbind", "ro"]}'
  ln -sfn usr/lib "$BUNDLE/rootfs/lib"
  ln -sfn usr/lib64 "$BUNDLE/rootfs/lib64"
  printf '%s\n' '#!/usr/bin/perl' 'use Socket; socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or die $!;' \
    'send($s, join("\n", @ARGV), 0, sockaddr_un($ENV{NOTIFY_SOCKET})) // die "tell: $!\n";' >"$BUNDLE/rootfs/bin/tell"
  chmod 755 "$BUNDLE/rootfs/bin/tell"
  script "$1"
}

# supervised [OPTION…] -- [OPTION…]: `run` under lib/notify-receiver; the first options are for the receiver, the others for run.
supervised() {
  local options=()
  while [[ $1 != -- ]]; do options+=("$1"); shift; done
  shift
  timeout --foreground -k 2 60 "$LIB/notify-receiver" --pid-file "$TMP/pid" "${options[@]}" "$TMP/notify" \
    "$OCIRUN" --root "$ROOT" run --pid-file "$TMP/pid" --bundle "$BUNDLE" "$@" "$ID"
}

has_ended() { grep -q '^status' "$TMP/helper.log"; }

@test "run tells the service manager what the container tells, as the service's main process" {
  notifier 'tell READY=1 STATUS=up; tell STOPPING=1; exit 7'
  run supervised --
  succeeds $'READY=1 STATUS=up MAINPID=COMMAND\nSTOPPING=1\nstatus 7'
}

@test "run --detach returns when the container is ready, which is the main process then" {
  notifier 'until [ -e /go ]; do sleep 0.05; done; tell READY=1; exec sleep 1000'
  helper supervised -- --detach
  eventually status_is running
  run has_ended
  exits 1
  touch "$BUNDLE/rootfs/go"
  eventually has_ended
  equal $'READY=1 MAINPID=INIT\nBARRIER=1\nstatus 0' "$(<"$TMP/helper.log")"
}

@test "of what a container tells, only what is its own to say goes on" {
  notifier 'tell MAINPID=1 FDSTORE=1 BARRIER=1 EXTEND_TIMEOUT_USEC=9 X; tell READY=2; tell READY=1 READY=1 "$(printf "\r")" \
    "STATUS=$(printf "\033")" "STATUS=$(printf "\302\233")" MAINPID=1; tell "STATUS=$(printf %600s)"; tell "X=$(printf %5000s)" RELOADING=1;
    tell RELOADING=1 MONOTONIC_USEC=12 WATCHDOG=1 WATCHDOG_USEC=1; tell WATCHDOG=trigger MONOTONIC_USEC=1x; tell ""'
  run supervised --
  succeeds $'READY=1 MAINPID=COMMAND\nRELOADING=1 MONOTONIC_USEC=12 WATCHDOG=1\nstatus 0'
}

@test "an ordinary user in a user namespace reaches NOTIFY_SOCKET, and cannot change it" {
  user_namespace
  config '.process.user = {uid: 1000, gid: 1000} | .mounts += [{destination: "/run", type: "tmpfs", source: "tmpfs"}]'
  notifier 'tell READY=1 && ! rm -f "$NOTIFY_SOCKET" 2>/dev/null && echo kept'
  run supervised --
  succeeds
  output_mentions kept
  output_mentions "READY=1 MAINPID=COMMAND"
}

@test "a program that ends before it is ready is an error of run --detach, and nothing is left" {
  program true
  run supervised -- --detach
  output_mentions "the program ended before it told NOTIFY_SOCKET that it is ready"
  output_mentions "status 1"
  run ocirun state "$ID"
  exits 1
}

@test "run --detach that waits for readiness ends by SIGTERM, and nothing is left" {
  helper supervised -- --detach
  eventually status_is running
  kill -TERM "$(ps -o ppid= -p "$(init_pid)")"
  eventually has_ended
  contains "$TMP/helper.log" "status 143"
  run ocirun state "$ID"
  exits 1
}

@test "a service manager that cannot be reached is a warning" {
  program env
  NOTIFY_SOCKET=$TMP/none run_container
  succeeds
  output_mentions "warning: NOTIFY_SOCKET=$TMP/none: connect: no such file or directory"
  output_never_mentions NOTIFY_SOCKET=/run/notify
  NOTIFY_SOCKET=vsock:2:1234 run_container
  output_mentions "NOTIFY_SOCKET=vsock:2:1234: must be an absolute path or @name, of at most 107 bytes"
}

@test "a document with a NOTIFY_SOCKET of its own keeps it" {
  config '.process.env += ["NOTIFY_SOCKET=/mine"]'
  script 'echo "$NOTIFY_SOCKET"; ls /run'
  run supervised -- --detach
  output_mentions /mine
  output_mentions "status 0" # the order of both lines varies: nobody waits for the container
  output_never_mentions notify
}

@test "run holds the same descriptors after many messages as before" {
  local supervisor before
  notifier 'tell READY=1; until [ -e /go ]; do sleep 0.05; done
    i=0; while [ $i -lt 40 ]; do i=$((i + 1)); tell STATUS=$i; done
    while :; do tell STATUS=all; sleep 0.2; done'
  helper supervised --
  eventually contains "$TMP/helper.log" READY=1
  supervisor=$(ps -o ppid= -p "$(init_pid)" | tr -d ' ')
  before=$(descriptors_of "$supervisor")
  touch "$BUNDLE/rootfs/go"
  eventually contains "$TMP/helper.log" STATUS=all
  equal "$before" "$(descriptors_of "$supervisor")"
  ocirun kill "$ID" KILL
  eventually has_ended
}

@test "a flood of messages holds up neither run nor its end" {
  notifier 'tell READY=1; trap "exit 5" TERM; while :; do tell STATUS=busy; done'
  helper supervised --
  eventually contains "$TMP/helper.log" STATUS=busy
  ocirun kill "$ID" TERM
  eventually has_ended
  contains "$TMP/helper.log" "status 5"
}

@test "a flood before READY=1 is held back too, and READY=1 gets through" {
  notifier 'exec perl -MSocket -e "socket(my \$s, AF_UNIX, SOCK_DGRAM, 0); my \$to = sockaddr_un(\$ENV{NOTIFY_SOCKET});
    send(\$s, \"STATUS=\$_\", 0, \$to) for 1 .. 1000; send(\$s, q(READY=1), 0, \$to); exit 5"'
  local begin=$SECONDS passed
  run supervised --
  output_mentions "READY=1 MAINPID=COMMAND"
  output_mentions "status 5"
  passed=$(grep -c ^STATUS <<<"$output")
  [[ $passed -le $((33 * (SECONDS - begin + 2))) ]] || { echo "$passed of 1000 in $((SECONDS - begin)) s"; return 1; }
}

@test "a service manager that does not read does not hold up the container" {
  notifier 'tell READY=1; n=0; while [ $n -lt 14 ]; do tell STATUS=$n; n=$((n + 1)); done; exit 5'
  run supervised --deaf --
  succeeds
  output_mentions "NOTIFY_SOCKET: tell the service manager: resource temporarily unavailable"
  output_mentions "status 5"
}
