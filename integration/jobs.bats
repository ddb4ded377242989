load lib/common
# Job control: containers with a terminal as jobs of an interactive shell.

# shell [BASH OPTION…]: starts an interactive bash on a terminal, without line editing, so that the terminal's settings at the
# prompt are those of a job.
shell() {
  config '.process.terminal = true'
  mkdir -p "$TMP/shell"
  helper env -i PATH="$PATH" TERM=dumb PS1='$ ' HISTFILE= "$LIB/shell-terminal" "$TMP/shell" \
    bash --norc --noprofile "${@:---noediting}" -i
  eventually exists "$TMP/shell/tty"
  TTY=$(<"$TMP/shell/tty")
  types 'PS1="% "'
  eventually shows '% '
  SETTINGS=$(stty -F "$TTY" -a)
}

# types TEXT: types the text and Enter. keys TEXT: types the text with the escapes of printf '%b'.
types() { keys "$1\r"; }
keys() { printf '%b' "$1" >"$TMP/shell/keys"; }

# Shown when `eventually` fails: the terminal's screen, and the output of the helper.
show_why() { cat "$TMP/shell/screen" "$TMP/helper.log" 2>/dev/null || true; }

shows() { contains "$TMP/shell/screen" "$1"; }
never_shows() { ! shows "$1" || { cat "$TMP/shell/screen"; return 1; }; }

# at_the_prompt: waits until the shell executes a typed command.
at_the_prompt() {
  PROMPTS=$((${PROMPTS:-0} + 1))
  types "echo prompt-\$((1000+$PROMPTS))"
  eventually shows "prompt-$((1000 + PROMPTS))"
}

is_raw() { [[ " $(stty -F "$TTY" -a) " == *" -icanon "*" -echo "* ]]; }
settings_are_back() { [[ $(stty -F "$TTY" -a) == "$SETTINGS" ]]; }
settings_are_the_shells() { diff <(echo "$SETTINGS") <(stty -F "$TTY" -a); }

# The command lines that are typed. ends_shell exits from a shell that is at its prompt.
run_line() { echo "$OCIRUN --root $ROOT run --bundle $BUNDLE $ID"; }
exec_line() { echo "$OCIRUN --root $ROOT exec --tty $ID answers"; }
ends_shell() {
  keys 'exit\r'
  eventually has_ended "$HELPER"
}

state_of() { sed -n 's/^State:\t\(.\).*/\1/p' "/proc/$1/status"; }
is_asleep() { [[ $(state_of "$1") == S ]]; }
is_stopped() { [[ $(state_of "$1") == T ]]; }
# stops SIGNAL PID: stops the process and waits for that, so that it does not read the keys that are typed afterwards.
stops() {
  kill "-$1" "$2"
  eventually is_stopped "$2"
}
parent_of() { sed -n 's/^PPid:\t//p' "/proc/$1/status"; }
# cpu_time PID: prints its CPU time in hundredths of a second.
cpu_time() { sed 's/.*) //' "/proc/$1/stat" | awk '{print $12 + $13}'; }
is_idle() {
  local before
  before=$(cpu_time "$1")
  sleep 2
  [[ $(($(cpu_time "$1") - before)) -le 3 ]]
}

# job: prints the pid of the last job's first process, the runtime.
job() {
  rm -f "$TMP/job"
  types "echo \$! >$TMP/job.new; mv $TMP/job.new $TMP/job"
  eventually exists "$TMP/job"
  cat "$TMP/job"
}

# Makes the program /bin/answers, which answers each line, and prints the size of the window.
answers() {
  cat >"$BUNDLE/rootfs/bin/answers" <<'END'
#!/bin/sh
trap 'echo trapped' TSTP
echo ready
while read -r line; do
  echo "got <$line> in $(stty size)"
  [ "$line" != end ] || exit 5
done
echo eof
END
  chmod +x "$BUNDLE/rootfs/bin/answers"
}
runs_answers() {
  answers
  program answers
}
# in_background [BASH OPTION…], in_foreground: start a shell and a container that runs /bin/answers as the shell's job.
in_background() {
  runs_answers
  shell "$@"
  types "$(run_line) &"
  eventually shows ready
}
in_foreground() {
  runs_answers
  shell
  types "$(run_line)"
  eventually shows ready
  eventually is_raw
}

@test "run & and Enter: the container goes on, nothing is read, the terminal is the shell's, and no time is used" {
  in_background
  local runner
  runner=$(job)
  types ''
  types 'echo for-$((20+22))'
  eventually shows for-42
  settings_are_the_shells
  at_the_prompt
  sleep 1
  settings_are_the_shells
  equal running "$(state status)"
  is_idle "$runner"
  never_shows "got <"
  never_shows eof
  equal "$runner" "$(parent_of "$(init_pid)")"
}

@test "fg of a job that runs: raw mode, the window's size as it is by now, and what is typed arrives" {
  in_background
  at_the_prompt
  stty -F "$TTY" rows 33 cols 44
  SETTINGS=$(stty -F "$TTY" -a)
  types fg
  eventually is_raw
  types hello
  eventually shows 'got <hello> in 33 44'
  types end
  eventually shows 'got <end>'
  eventually settings_are_back
  types 'echo status-$?'
  eventually shows status-5
  ends_shell
}

@test "SIGTSTP stops the runtime and not the container: the settings come back, and fg goes on" {
  in_foreground
  local runner
  runner=$(parent_of "$(init_pid)")
  stops TSTP "$runner"
  at_the_prompt
  settings_are_the_shells
  shows Stopped
  equal running "$(state status)"
  [[ $(state_of "$(init_pid)") == S ]]
  stty -F "$TTY" rows 33 cols 44
  SETTINGS=$(stty -F "$TTY" -a)
  types fg
  eventually is_raw
  types again
  eventually shows 'got <again> in 33 44'
  stops TSTP "$runner"
  at_the_prompt
  settings_are_the_shells
  types fg
  eventually is_raw
  types end
  eventually settings_are_back
  types 'echo status-$?'
  eventually shows status-5
  never_shows trapped
  ends_shell
}

@test "SIGTTIN and a SIGSTOP stop it too: bg leaves the terminal alone, fg takes it again" {
  in_foreground
  local runner signal
  runner=$(parent_of "$(init_pid)")
  for signal in TTIN STOP; do
    stops "$signal" "$runner"
    at_the_prompt
    settings_are_the_shells
    types bg
    at_the_prompt
    eventually is_asleep "$runner"
    settings_are_the_shells
    is_idle "$runner"
    types fg
    eventually is_raw
    types "after-$signal"
    eventually shows "got <after-$signal>"
  done
  types end
  eventually settings_are_back
  ends_shell
}

@test "bg: what the container writes appears, and its end leaves the shell's settings alone" {
  script 'echo ready; until [ -e /run/go ]; do sleep 0.05; done; seq 1 2000; echo last; exit 6'
  shell
  types "$(run_line)"
  eventually shows ready
  eventually is_raw
  stops TSTP "$(parent_of "$(init_pid)")"
  at_the_prompt
  types bg
  at_the_prompt
  types 'stty -ixany ixoff'
  at_the_prompt
  SETTINGS=$(stty -F "$TTY" -a)
  ocirun exec "$ID" touch /run/go
  eventually shows last
  equal 2000 "$(tr -d '\r' <"$TMP/shell/screen" | grep -cxE '(% )?[0-9]+')"
  types 'wait %1; echo status-$?'
  eventually shows status-6
  settings_are_the_shells
  ends_shell
}

@test "stty tostop: output of a job in the background stops it, as any job, and fg shows it" {
  script 'echo ready; read -r line; echo "got <$line>"'
  shell
  types 'stty tostop'
  at_the_prompt
  SETTINGS=$(stty -F "$TTY" -a)
  types "$(run_line) &"
  eventually status_is running
  local runner
  runner=$(parent_of "$(init_pid)")
  eventually is_stopped "$runner"
  at_the_prompt
  settings_are_the_shells
  never_shows ready
  types 'jobs -l'
  eventually shows 'Stopped (tty output)'
  types fg
  eventually shows ready
  eventually is_raw
  types hello
  eventually shows 'got <hello>'
  eventually settings_are_back
  ends_shell
}

@test "exec --tty & and Enter, fg, SIGTSTP, bg: as run" {
  answers
  create_and_start
  shell
  types "$(exec_line) &"
  eventually shows ready
  local runner
  runner=$(job)
  types ''
  at_the_prompt
  settings_are_the_shells
  is_idle "$runner"
  never_shows "got <"
  stty -F "$TTY" rows 33 cols 44
  SETTINGS=$(stty -F "$TTY" -a)
  types fg
  eventually is_raw
  types hello
  eventually shows 'got <hello> in 33 44'
  stops TSTP "$runner"
  at_the_prompt
  settings_are_the_shells
  types bg
  at_the_prompt
  [[ $(state_of "$runner") == S ]]
  settings_are_the_shells
  types fg
  eventually is_raw
  keys '\004'
  eventually has_ended "$runner"
  eventually settings_are_back
  ends_shell
}

@test "a shell that edits its lines keeps its keys while the container runs beside it" {
  in_background --norc
  types ''
  keys 'echo left-$((20+20))\002\002\01772\r' # moves two characters back, deletes one, types 2 instead
  eventually shows left-42
  types fg
  eventually is_raw
  sleep 0.5
  types hello
  eventually shows 'got <hello>'
  types end
  eventually is_prompted_after_the_end
  at_the_prompt
  never_shows eof
  ends_shell
}
# What is typed before goes to the program, which may have ended.
is_prompted_after_the_end() { [[ $(<"$TMP/shell/screen") == *'got <end>'*'% ' ]]; }

# taker COMMAND…: a parent process that runs the command in the foreground. At the first SIGUSR1 the parent takes the terminal without
# signalling the command; at the second it reads a line and gives the terminal back.
taker() {
  cat >"$TMP/taker" <<'END'
import os, signal, subprocess, sys, termios
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
settings = termios.tcgetattr(0)
child = subprocess.Popen(sys.argv[1:], preexec_fn=os.setpgrp)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
os.tcsetpgrp(0, child.pid)
signal.sigwait([signal.SIGUSR1])
os.tcsetpgrp(0, os.getpgrp())
termios.tcsetattr(0, termios.TCSANOW, settings)
print("taken", flush=True)
signal.sigwait([signal.SIGUSR1])
print("the parent read", input(), flush=True)
os.tcsetpgrp(0, child.pid)
child.wait()
os.tcsetpgrp(0, os.getpgrp())
END
  echo "python3 $TMP/taker $*"
}

@test "a terminal that is taken without a signal is another's until it is given back" {
  runs_answers
  shell
  types "$(taker "$(run_line)")"
  eventually shows ready
  eventually is_raw
  local runner
  runner=$(parent_of "$(init_pid)")
  kill -USR1 "$(parent_of "$runner")"
  eventually shows taken
  settings_are_the_shells
  types 'a line'
  is_idle "$runner" # although input waits at the terminal
  kill -USR1 "$(parent_of "$runner")"
  eventually shows 'the parent read a line'
  eventually is_raw
  types hello
  eventually shows 'got <hello>'
  types end
  eventually settings_are_back
  never_shows eof
  ends_shell
}

@test "a job that no shell can bring to the front is not stopped, reads nothing and uses no time" {
  runs_answers
  shell
  types "bash -c 'set -m; $(run_line) & disown'"
  eventually shows ready
  local runner
  runner=$(parent_of "$(init_pid)")
  types ''
  at_the_prompt
  settings_are_the_shells
  kill -TSTP "$runner"
  is_idle "$runner"
  [[ $(state_of "$runner") == S ]]
  never_shows eof
  never_shows "got <"
  ocirun kill "$ID" KILL
  eventually has_ended "$runner"
}

@test "the terminal of another session has no jobs of ours: it is used from the beginning" {
  runs_answers
  shell
  types "setsid --wait $(run_line)"
  eventually shows ready
  eventually is_raw
  types hello
  eventually shows 'got <hello> in 24 80'
  types end
  eventually settings_are_back
  ends_shell
}

@test "a terminal that hangs up is the end of the input, in the background too" {
  in_background
  local runner
  runner=$(job)
  types 'disown'
  at_the_prompt
  kill "$HELPER"
  eventually has_ended "$runner"
}

@test "the first process of a pid namespace, which no signal stops, does not spin in the background" {
  runs_answers
  shell
  types 'stty tostop'
  at_the_prompt
  SETTINGS=$(stty -F "$TTY" -a)
  types "unshare --pid --fork --mount-proc $(run_line) &"
  eventually shows ready
  local runner
  runner=$(pgrep -P "$(job)")
  types ''
  at_the_prompt
  settings_are_the_shells
  is_idle "$runner"
  never_shows eof
  ocirun delete --force "$ID" || true
  eventually has_ended "$runner"
}
