# The candidates that bash, zsh and fish offer at a command line. Each shell runs on a terminal and completes itself
# (lib/completion). The tests of a shell that is not installed are skipped.
load lib/common

setup() {
  common_setup
  PATH=$(dirname "$OCIRUN"):$PATH
  TYPED=() EXPECTED=
}

# offered LINE [WORD…]: expects exactly these candidates, in any order, for the last word of the line. Checked by all_by.
offered() {
  TYPED+=("$1")
  EXPECTED+="$1: $(printf '%s\n' "${@:2}" | LC_ALL=C sort -u | paste -sd' ')"$'\n'
}

# all_by SHELL: the shell offers the candidates that were announced by `offered`.
all_by() {
  local line index=0 found=
  "$OCIRUN" completion "$1" >"$TMP/script"
  LC_ALL=C "$LIB/completion" "$1" "$TMP/script" "${TYPED[@]}" >"$TMP/words"
  while IFS= read -r line; do
    found+="${TYPED[index]}: $line"$'\n'
    index=$((index + 1))
  done <"$TMP/words"
  diff <(echo "$EXPECTED") <(echo "$found") || { echo "$1: < expected, > found"; return 1; }
}

needs_shell() { command -v "$1" >/dev/null || skip "$1 is not installed"; }

# Prints the options of --help, long and with their letters, and --help itself.
options_of() { # WORD…
  "$OCIRUN" "$@" --help | sed -nE 's/^  ((-.), |    )(--[a-z0-9-]+).*/\2 \3/p' | tr ' ' '\n' | grep .
  printf '%s\n' --help -h
}
# commands [pod]: `ocirun --help` has one in each line, `ocirun pod --help` several, with two blanks behind them.
commands() {
  if [[ $* == pod ]]; then
    "$OCIRUN" pod --help | sed -nE 's/^  ([a-z]+( [a-z]+)*)  .*/\1/p' | tr ' ' '\n'
  else
    "$OCIRUN" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z]+) .*/\1/p'
  fi
}

# completes_the_table SHELL: every command, and every option of each command, is offered; those of `pod` as well.
completes_the_table() {
  local shell=$1 command
  needs_shell "$shell"
  # shellcheck disable=SC2046 # a word each
  offered "ocirun " $(commands)
  # shellcheck disable=SC2046
  offered "ocirun -" $(options_of)
  for command in $(commands); do
    [[ $command != pod ]] || continue
    # shellcheck disable=SC2046
    offered "ocirun $command -" $(options_of "$command")
  done
  if has_pods; then
    # shellcheck disable=SC2046
    offered "ocirun pod " $(commands pod)
    [[ $(commands pod | wc -l) -ge 21 ]]
    for command in $(commands pod); do
      # shellcheck disable=SC2046
      offered "ocirun --log-level debug pod $command -" $(options_of pod "$command")
    done
  fi
  all_by "$shell"
}

# Directories such as pods, their containers, volumes and networks have.
completes_names_of_pods() {
  local data="--data $TMP/data"
  needs_shell "$1"
  has_pods || skip "this build has no pods"
  mkdir -p data/pods/{web/containers/{app,log},db/containers/app} data/volumes/store data/networks/back data/elsewhere
  mkdir 'data/pods/$(touch evil)' 'data/pods/a;touch evil' $'data/pods/\e[31mred'
  ln -s ../elsewhere data/pods/link
  offered "ocirun pod logs $data " db web
  offered "ocirun pod logs --data=$TMP/data w" web
  offered "ocirun pod exec $data -c " app log
  offered "ocirun pod exec $data -c log " web
  offered "ocirun pod exec $data web s"
  offered "ocirun pod exec $data -itc " app log
  offered "ocirun pod exec -t --in" --interactive
  offered "ocirun pod exec -it --in" # it is given
  offered "ocirun pod exec --work" --workdir
  offered "ocirun pod logs $data web --container=" app log
  offered "ocirun pod stop $data web " db
  offered "ocirun pod kill $data web SIGTE" SIGTERM
  offered "ocirun pod cp $data /y we" web:
  offered "ocirun pod cp $data web:/x --container=" app log
  offered "ocirun pod volumes $data remove " store
  offered "ocirun pod run $data --network " back
  offered "ocirun pod run $data --volume " store
  offered "ocirun pod status --format=j" json
  offered "ocirun pod run --replace=" always
  offered "ocirun pod run --net h" host
  offered "ocirun pod status --data $TMP/nosuch "
  mkdir files
  touch files/file
  offered "ocirun pod run --env-file=$TMP/files/fi" "$TMP/files/file"
  all_by "$1"
  equal "" "$(find "$TMP" -name evil -o -name nosuch)"
}

completes_values() {
  local end
  needs_shell "$1"
  offered "ocirun --log-format " text json
  offered "ocirun --log-format=j" json
  offered "ocirun --debug --log-level " debug info warning error
  offered "ocirun --rootless=" true false auto
  offered "ocirun --log-format json --cgroup-manager s" systemd
  offered "ocirun ps --format " table json
  offered "ocirun exec -c CAP_SYS_A" CAP_SYS_ADMIN
  offered "ocirun exec --cap CAP_CHOWN --cap CAP_NET_B" CAP_NET_BIND_SERVICE CAP_NET_BROADCAST
  offered "ocirun kill web TE" TERM
  offered "ocirun kill --all web SIGTE" SIGTERM
  offered "ocirun kill web TERM K"
  offered "ocirun completion " bash zsh fish
  mkdir -p files/folder
  touch files/file
  cd files || return
  offered "ocirun create --pid-file=$TMP/files/fi" "$TMP/files/file"
  offered "ocirun update --resources fi" file
  # zsh and fish append a slash to a directory.
  if [[ $1 != bash ]]; then end=/; fi
  offered "ocirun validate f" "folder${end:-}"
  offered "ocirun run --bundle f" "folder${end:-}"
  offered "ocirun exec --cwd f"
  all_by "$1"
}

# Makes a created, a running, a paused and a stopped container.
make_containers() {
  local name
  for name in made running paused; do
    ocirun create --bundle "$BUNDLE" "$ID-$name" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
    config '.linux.cgroupsPath += "x"'
  done
  program true
  ocirun create --bundle "$BUNDLE" "$ID-stopped" </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
  for name in running paused stopped; do ocirun start "$ID-$name"; done
  ocirun pause "$ID-paused"
  eventually stopped_is_stopped
}
stopped_is_stopped() { [[ $(ocirun state "$ID-stopped" | jq -r .status) == stopped ]]; }

completes_ids() {
  local typed="ocirun --root $ROOT"
  local made=$ID-made running=$ID-running paused=$ID-paused stopped=$ID-stopped
  needs_shell "$1"
  make_containers
  offered "$typed start " "$made"
  offered "ocirun --root=$ROOT start $ID" "$made"
  offered "$typed pause " "$made" "$running"
  offered "$typed resume " "$paused"
  offered "$typed exec --user 0:0 " "$made" "$running"
  offered "$typed exec --ignore-paused " "$made" "$running" "$paused"
  offered "$typed kill -- " "$made" "$running" "$paused"
  offered "$typed kill -a " "$made" "$running" "$paused" "$stopped"
  offered "$typed update --pids-limit 5 " "$made" "$running" "$paused"
  offered "$typed delete " "$stopped"
  offered "$typed delete --force " "$made" "$running" "$paused" "$stopped"
  offered "$typed state " "$made" "$running" "$paused" "$stopped"
  offered "$typed state $made $ID"
  offered "$typed exec $running -"
  offered "$typed exec $running s"
  all_by "$1"
}

# Tries names with a command substitution, of a directory in the state root and in the typed line: no shell may execute it.
# shellcheck disable=SC2016 # nobody is to expand these
runs_nothing() {
  needs_shell "$1"
  mkdir -m 711 strange
  mkdir 'strange/$(touch evil)' 'strange/a;touch evil' 'strange/`touch evil`'
  offered "ocirun --root $TMP/strange state "
  offered 'ocirun --root $(touch${IFS}evil) state '
  offered "ocirun --root '\`touch evil\`' state "
  [[ $1 != fish ]] || offered 'ocirun --root (touch evil) state '
  all_by "$1"
  equal "" "$(find "$TMP" -name evil)"
}

@test "bash completes each command and option" { completes_the_table bash; }
@test "zsh completes each command and option" { completes_the_table zsh; }
@test "fish completes each command and option" { completes_the_table fish; }

@test "bash completes values of options, signals, files and directories" { completes_values bash; }
@test "zsh completes values of options, signals, files and directories" { completes_values zsh; }
@test "fish completes values of options, signals, files and directories" { completes_values fish; }

@test "bash completes ids of containers that the command takes" { completes_ids bash; }
@test "zsh completes ids of containers that the command takes" { completes_ids zsh; }
@test "fish completes ids of containers that the command takes" { completes_ids fish; }

@test "bash completes names of pods, containers, volumes and networks" { completes_names_of_pods bash; }
@test "zsh completes names of pods, containers, volumes and networks" { completes_names_of_pods zsh; }
@test "fish completes names of pods, containers, volumes and networks" { completes_names_of_pods fish; }

@test "what lies in the state root or in the line is never run by the completion of bash" { runs_nothing bash; }
@test "what lies in the state root or in the line is never run by the completion of zsh" { runs_nothing zsh; }
@test "what lies in the state root or in the line is never run by the completion of fish" { runs_nothing fish; }

@test "the completion scripts have no fault that their shells or shellcheck can see" {
  local shell
  for shell in bash zsh fish; do
    "$OCIRUN" completion "$shell" >"$TMP/script.$shell"
    ! command -v "$shell" >/dev/null || "$shell" -n "$TMP/script.$shell"
  done
  ! command -v shellcheck >/dev/null || shellcheck -s bash "$TMP/script.bash"
}

@test "the command behind completion prints no error, and reads nothing but the line's own directories" {
  local line
  for line in "" "x" "--root" "--root /nosuch state" "--rootless=maybe state" "state --nosuch" "pod" "pod x" "pod logs --data /nosuch" "pod --data"; do
    # shellcheck disable=SC2086 # a word each
    run --separate-stderr "$OCIRUN" __complete $line ""
    equal "0 " "$status $stderr"
  done
  run --separate-stderr "$OCIRUN" __complete
  equal "0  " "$status $output $stderr"
  [[ ! -e /nosuch ]]
  if has_pods && command -v strace >/dev/null; then
    mkdir -p data/pods/web/containers/app
    echo '{' >data/pods/web/pod.json
    strace -f -qq -o trace -e trace=openat,open "$OCIRUN" __complete pod exec --data "$TMP/data" -c "" >output
    equal app "$(<output)"
    ! grep 'data.*pod.json' trace
  fi
}
