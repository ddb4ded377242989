load lib/common

# hook KIND SHELL-TEXT [JSON]: appends a hook that runs the text with the host's sh; JSON is merged into it.
hook() {
  config '.hooks[$k] += [{path: "/bin/sh", args: ["sh", "-c", $t]} + $more]' \
    --arg k "$1" --arg t "$2" --argjson more "${3:-null}"
}

record() { cat "$TMP/record" 2>/dev/null; }

@test "H-1 H-6 all six kinds run, in order, each list in its own order" {
  local kind
  for kind in poststop poststart startContainer createContainer createRuntime prestart; do
    [[ $kind == startContainer ]] || hook "$kind" "echo $kind 1 >>$TMP/record"
    [[ $kind == startContainer ]] || hook "$kind" "echo $kind 2 >>$TMP/record"
  done
  hook startContainer 'echo startContainer >>/record'
  script 'cat /record >/copy; sleep 1000'
  create
  equal $'prestart 1\nprestart 2\ncreateRuntime 1\ncreateRuntime 2\ncreateContainer 1\ncreateContainer 2' "$(record)"
  [[ ! -e $BUNDLE/rootfs/record ]]
  start
  contains "$TMP/record" "poststart 2"
  eventually contains "$BUNDLE/rootfs/copy" startContainer
  ocirun delete --force "$ID"
  equal $'poststart 1\npoststart 2\npoststop 1\npoststop 2' "$(record | tail -n 4)"
}

@test "H-2 a hook's path is required and absolute" {
  local kind
  for kind in prestart createRuntime createContainer startContainer poststart poststop; do
    refused "/hooks/$kind/0/path" '.hooks[$k] = [{path: "bin/true"}]' --arg k "$kind"
    refused "/hooks/$kind/0/path" '.hooks[$k] = [{}]' --arg k "$kind"
  done
}

@test "H-2 a hook that does not exist fails create and is named" {
  refused /no/such/hook '.hooks.createRuntime = [{path: "/no/such/hook"}]'
}

@test "H-3 args has argv[0]; without args argv[0] is the path" {
  printf '#!/bin/sh\ntr "\\0" " " </proc/$$/cmdline >%s\n' "$TMP/record" >"$TMP/hook"
  chmod +x "$TMP/hook"
  script true
  config '.hooks.prestart = [{path: $p}]' --arg p "$TMP/hook"
  run_container
  equal "/bin/sh $TMP/hook " "$(record)"
  config '.hooks.prestart = [{path: "/usr/bin/env", args: ["env", "sh", "-c", "echo $0 $1 >" + $f, "zero", "one"]}]' --arg f "$TMP/record"
  run_container
  equal "zero one" "$(record)"
}

@test "H-4 env is the hook's whole environment, an empty list too" {
  script true
  hook createRuntime "tr '\\0' '\\n' </proc/self/environ >$TMP/record" '{"env": ["A=1", "B=2"]}'
  INHERITED=no run_container
  equal $'A=1\nB=2' "$(record)"
  config 'del(.hooks)'
  hook createRuntime "tr '\\0' '\\n' </proc/\$\$/environ >$TMP/record" '{"env": []}'
  INHERITED=no run_container
  equal "" "$(record)"
}

@test "H-4 SD-17 a hook on the host without env has the runtime's environment, whatever the document's version" {
  local version kind
  for version in 1.0.2 0.5.0-dev; do
    config '.ociVersion = $v | .hooks = {}' --arg v "$version"
    for kind in prestart createRuntime poststart poststop; do
      [[ $version == 1.* || $kind != create* ]] || continue
      hook "$kind" "echo $kind \$INHERITED >>$TMP/record"
    done
    rm -f "$TMP/record"
    INHERITED=yes create
    INHERITED=yes start
    INHERITED=yes ocirun delete --force "$ID"
    if [[ $version == 1.* ]]; then
      equal $'prestart yes\ncreateRuntime yes\npoststart yes\npoststop yes' "$(record)"
    else
      equal $'prestart yes\npoststart yes\npoststop yes' "$(record)"
    fi
  done
}

@test "H-4 a createContainer hook without env has PATH alone: it is in the container's pid namespace" {
  script true
  hook createContainer "echo \"\$INHERITED \$PATH\" >$TMP/record"
  INHERITED=no create
  equal " /usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" "$(record)"
}

@test "H-4 a hook inherits what the caller of the runtime had, and no variable of the runtime's own" {
  script true
  hook prestart "env | cut -d= -f1 | sort >$TMP/record"
  hook poststop "env | cut -d= -f1 | sort >>$TMP/record"
  env -i PATH="$PATH" INHERITED=yes "$OCIRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null
  # The hook's shell sets these variables itself.
  equal "INHERITED PATH" "$(grep -vxE 'PWD|SHLVL|OLDPWD|_' "$TMP/record" | sort -u | xargs)"
}

@test "H-4 a startContainer hook without env has the process's environment, with HOME" {
  config '.process.env += ["MINE=yes"] | .process.user = {uid: 1000, gid: 1000}'
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "echo $MINE $HOME $INHERITED. >/tmp/record"]}]'
  INHERITED=yes inside 'cat /tmp/record'
  succeeds "yes /home/web ."
}

@test "H-5 a timeout must be greater than zero" {
  refused /hooks/prestart/0/timeout '.hooks.prestart = [{path: "/bin/true", timeout: 0}]'
  refused /hooks/prestart/0/timeout '.hooks.prestart = [{path: "/bin/true", timeout: -1}]'
}

@test "H-5 a hook that runs over its timeout is killed with its children, and create fails" {
  hook createRuntime 'sleep 1234 & sleep 1235' '{"timeout": 1}'
  refused createRuntime
  contains "$TMP/errors" "timed out after 1 s"
}

@test "H-5 a hook inside its timeout succeeds" {
  hook createRuntime 'sleep 0.1' '{"timeout": 20}'
  inside 'echo fine'
  succeeds fine
}

@test "H-7 H-8 H-9 hooks get the state on stdin, whole and then the end" {
  config '.annotations = {"key": "value"}'
  hook prestart "cat >$TMP/prestart"
  hook createRuntime "cat >$TMP/createRuntime"
  hook createContainer "cat >$TMP/createContainer"
  hook poststart "cat >$TMP/poststart"
  hook poststop "cat >$TMP/poststop"
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "cat >/startContainer"]}]'
  create
  local pid kind
  pid=$(init_pid)
  start
  ocirun kill "$ID" KILL
  eventually status_is stopped
  ocirun delete "$ID"
  mv "$BUNDLE/rootfs/startContainer" "$TMP/"
  for kind in prestart createRuntime createContainer startContainer poststart poststop; do
    equal "$ID $BUNDLE value" "$(jq -r '"\(.id) \(.bundle) \(.annotations.key)"' "$TMP/$kind")"
    [[ $(jq -r .ociVersion "$TMP/$kind") =~ ^[0-9]+\.[0-9]+\.[0-9]+ ]]
  done
  equal "$pid created" "$(jq -r '"\(.pid) \(.status)"' "$TMP/prestart")"
  equal "$pid created" "$(jq -r '"\(.pid) \(.status)"' "$TMP/createRuntime")"
  equal "1 created" "$(jq -r '"\(.pid) \(.status)"' "$TMP/createContainer")"
  equal "1 created" "$(jq -r '"\(.pid) \(.status)"' "$TMP/startContainer")"
  equal "$pid running" "$(jq -r '"\(.pid) \(.status)"' "$TMP/poststart")"
  equal stopped "$(jq -r .status "$TMP/poststop")"
}

@test "H-7 a hook that does not read its stdin is no error, also with a state larger than a pipe" {
  config '.annotations = {"big": ("x" * 200000)}'
  hook createRuntime true
  hook createRuntime 'wc -c >'"$TMP/record"
  inside 'echo fine'
  succeeds fine
  [[ $(record) -gt 200000 ]]
}

@test "H-10 runtime hooks run in the runtime's namespaces, createContainer in the container's before the pivot" {
  local here
  here="$(readlink /proc/self/ns/mnt) $(readlink /proc/self/ns/net)"
  hook prestart "echo \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/net) >$TMP/prestart"
  hook createRuntime "echo \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/net) >$TMP/createRuntime"
  hook createContainer "echo \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/net) >$TMP/createContainer"
  hook createContainer "ls $BUNDLE/rootfs/dev >$TMP/dev"
  hook poststart "echo \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/net) >$TMP/poststart"
  hook poststop "echo \$(readlink /proc/self/ns/mnt) \$(readlink /proc/self/ns/net) >$TMP/poststop"
  create_and_start
  local pid there
  pid=$(init_pid)
  there="$(readlink "/proc/$pid/ns/mnt") $(readlink "/proc/$pid/ns/net")"
  ocirun delete --force "$ID"
  for kind in prestart createRuntime poststart poststop; do equal "$here" "$(<"$TMP/$kind")"; done
  equal "$there" "$(<"$TMP/createContainer")"
  contains "$TMP/dev" null # the hook ran after the mounts and devices were made
}

@test "H-10 a startContainer hook's path is looked up in the container and runs with the program's rights" {
  printf '#!/bin/sh\nid -u >/tmp/record\ngrep CapEff /proc/self/status >>/tmp/record\n' >"$BUNDLE/rootfs/inner-hook"
  chmod +x "$BUNDLE/rootfs/inner-hook"
  config '.hooks.startContainer = [{path: "/inner-hook"}] | .process.user = {uid: 1000, gid: 1000}'
  inside 'cat /tmp/record'
  succeeds $'1000\nCapEff:\t0000000000000000'
}

@test "H-10 the working directory is the bundle, of createContainer hooks the container's root, of startContainer hooks /" {
  local kind
  for kind in prestart createRuntime createContainer poststart poststop; do hook "$kind" "echo $kind \$(pwd) >>$TMP/record; echo >made-by-$kind-$ID"; done
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "pwd >/record; echo >made-by-startContainer"]}]'
  create_and_start
  ocirun delete --force "$ID"
  equal "prestart $BUNDLE
createRuntime $BUNDLE
createContainer $BUNDLE/rootfs
poststart $BUNDLE
poststop $BUNDLE" "$(record)"
  equal / "$(<"$BUNDLE/rootfs/record")"
  for kind in prestart createRuntime poststart poststop; do exists "$BUNDLE/made-by-$kind-$ID"; done
  exists "$BUNDLE/rootfs/made-by-createContainer-$ID"
  exists "$BUNDLE/rootfs/made-by-startContainer"
}

@test "H-11 H-14 a failing prestart, createRuntime or createContainer hook fails create, leaves nothing, and poststop runs" {
  local kind
  hook poststop "echo poststop >>$TMP/record"
  for kind in prestart createRuntime createContainer; do
    rm -f "$TMP/record"
    refused "$kind" '.hooks[$k] = [{path: "/bin/true"}, {path: "/bin/sh", args: ["sh", "-c", "echo some reason >&2; exit 3"]},
      {path: "/bin/sh", args: ["sh", "-c", "echo later >>" + $f]}]' --arg k "$kind" --arg f "$TMP/record"
    contains "$TMP/errors" "error running $kind hook #1 (/bin/sh): exit status 3"
    contains "$TMP/errors" "some reason"
    equal poststop "$(record)"
  done
  config 'del(.hooks)'
  create # the failed create has freed the id
}

@test "H-11 a hook that dies by a signal fails create" {
  refused "signal" '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "kill -KILL $$"]}]'
}

@test "H-11 a failing startContainer hook fails start, destroys the container, and poststop runs" {
  hook poststop "echo poststop >>$TMP/record"
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "echo some reason >&2; exit 4"]}]'
  script 'touch /ran'
  create
  run ocirun start "$ID"
  exits 1 "startContainer hook #0 (/bin/sh): exit status 4"
  output_mentions "some reason"
  [[ ! -e $BUNDLE/rootfs/ran ]]
  run ocirun state "$ID"
  exits 1 "does not exist"
  equal poststop "$(record)"
}

@test "H-11 run with a failing startContainer hook leaves nothing" {
  config '.hooks.startContainer = [{path: "/bin/false"}]'
  inside 'echo ran'
  exits 1 startContainer
  [[ ! -e $ROOT/$ID ]]
}

@test "OP-3 a start that is killed in the startContainer hook has started the container, which the next one is told" {
  config '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "echo >/in-hook; until [ -e /go ]; do sleep 0.1; done"]}]'
  create
  helper "$OCIRUN" --root "$ROOT" start "$ID"
  eventually exists "$BUNDLE/rootfs/in-hook"
  kill -KILL "$HELPER"
  run ocirun start "$ID"
  exits 1 "the container was started already"
  touch "$BUNDLE/rootfs/go"
  eventually status_is running
}

@test "H-12 a start that is killed in a poststart hook takes the hook with it; the container runs on" {
  config '.hooks.poststart = [{path: "/bin/sleep", args: ["sleep", "1004"]}]'
  create
  helper "$OCIRUN" --root "$ROOT" start "$ID"
  eventually pgrep -fx "sleep 1004" >/dev/null
  kill -KILL "$HELPER"
  eventually eval '! pgrep -fx "sleep 1004" >/dev/null'
  status_is running
  equal alive "$(ocirun exec "$ID" echo alive)"
  ocirun delete --force "$ID"
  [[ ! -e $ROOT/$ID ]]
}

@test "H-12 LC-9 a failing poststart hook fails start, stops and destroys the container, and poststop runs" {
  hook poststop "echo poststop >>$TMP/record"
  hook poststart "exit 5"
  create
  local pid
  pid=$(init_pid)
  run ocirun start "$ID"
  exits 1 "poststart hook #0 (/bin/sh): exit status 5"
  eventually is_gone "/proc/$pid"
  run ocirun state "$ID"
  exits 1 "does not exist"
  equal poststop "$(record)"
}

@test "H-13 LC-13 a failing poststop hook is a warning, the rest runs, and delete succeeds" {
  hook poststop "exit 6"
  hook poststop "echo second >>$TMP/record"
  create
  run ocirun delete --force "$ID"
  succeeds
  output_mentions "poststop"
  equal second "$(record)"
  [[ ! -e $ROOT/$ID ]]
}

@test "H-12 a failing poststart hook leaves a container alone that was made anew under its id meanwhile" {
  hook poststart "touch $TMP/hook; while [ ! -e $TMP/go ]; do sleep 0.02; done; exit 5"
  create
  "$OCIRUN" --root "$ROOT" start "$ID" </dev/null >"$TMP/said" 2>&1 3>&- 4>&- &
  eventually exists "$TMP/hook"
  ocirun delete --force "$ID"
  config 'del(.hooks)'
  create_and_start
  touch "$TMP/go"
  status=0
  wait $! || status=$?
  equal 1 "$status"
  contains "$TMP/said" "the container was deleted while its poststart hooks ran" || { cat "$TMP/said" && false; }
  status_is running
}

@test "H-11 poststop runs once when a delete takes a container away whose create is in its hooks" {
  hook createRuntime "touch $TMP/hook; while [ ! -e $TMP/go ]; do sleep 0.02; done"
  hook poststop "echo poststop >>$TMP/record"
  "$OCIRUN" --root "$ROOT" create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&- 4>&- &
  eventually exists "$TMP/hook"
  ocirun delete --force "$ID"
  touch "$TMP/go"
  status=0
  wait $! || status=$?
  equal 1 "$status"
  equal poststop "$(record)"
}

@test "LC-9 poststart runs after the program was executed" {
  # Reads /proc/PID/exe: execve changes it before it closes the socket that tells ocirun of the exec; /proc/PID/cmdline changes later.
  hook poststart "readlink /proc/\$(grep -o '\"pid\":[0-9]*' | cut -d: -f2)/exe >$TMP/record"
  create_and_start
  [[ $(record) == */bin/busybox ]] || { record && false; }
}

@test "LC-9 poststart runs even if the program is gone by then" {
  hook poststart "echo poststart >$TMP/record"
  program true
  run_container
  succeeds
  equal poststart "$(record)"
}

@test "LC-12 LC-13 run ends with the poststop hooks, after the container is gone" {
  hook poststop "ls -d /sys/fs/cgroup/$ID /sys/fs/cgroup/*/$ID >$TMP/record 2>/dev/null; echo done >>$TMP/record"
  inside true
  succeeds
  equal "done" "$(record)"
}

@test "a hook may call state: no lock is held while it runs" {
  hook createRuntime "timeout 60 $OCIRUN --root $ROOT state $ID >$TMP/record"
  hook poststart "timeout 60 $OCIRUN --root $ROOT state $ID >>$TMP/record"
  create_and_start
  [[ $(jq -r .status "$TMP/record" | xargs) =~ ^creat(ing|ed)\ running$ ]]
}

@test "a hook gets no descriptor but its standard ones" {
  hook createRuntime "ls /proc/self/fd | tr '\\n' ' ' >$TMP/record" '{"env": ["PATH=/bin"]}'
  script true
  run ocirun run --bundle "$BUNDLE" "$ID" 7</etc/passwd
  succeeds
  equal "0 1 2 3 " "$(record)"
}

@test "a hook's flood of output does not block it, and the error carries the tail" {
  refused "last words" '.hooks.createRuntime = [{path: "/bin/sh",
    args: ["sh", "-c", "head -c 3000000 /dev/zero | tr \"\\\\0\" x; echo last words; exit 1"]}]'
  [[ $(wc -c <"$TMP/errors") -lt 100000 ]]
}

@test "a hook that leaves a child behind does not hold create up" {
  hook createRuntime 'sleep 1005 & true'
  create
  kill "$(pgrep -fx "sleep 1005")" # the hook's child has survived the hook
}

@test "the network that a prestart hook prepares is the container's" {
  hook prestart 'nsenter -t $(grep -o "\"pid\":[0-9]*" | cut -d: -f2) -n ip link add probe type veth' '{"env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]}'
  inside 'ls /sys/class/net | grep -c probe'
  succeeds 1
}

# ends_at SIGNAL STATUS COMMAND…: the command gets the signal while it waits for a hook that ignores signals. The command ends
# with the status, the hook and the hook's child end too, and nothing is left.
ends_at() {
  local rc=0 pid
  rm -f "$TMP/record" "$TMP/pids"
  helper timeout -k 2 30 "$OCIRUN" --root "$ROOT" "${@:3}"
  eventually exists "$TMP/pids"
  pid=$(pgrep -P "$HELPER")
  kill "-$1" "$pid"
  wait "$HELPER" || rc=$?
  equal "$2" "$rc"
  for pid in $(<"$TMP/pids"); do eventually is_gone "/proc/$pid"; done
  untraced host_is_unchanged || { print_host_changes; return 1; }
}

hanging_hook() { hook "$1" "trap '' TERM INT HUP; sleep 1234 & echo \$! \$\$ >$TMP/pids.new; mv $TMP/pids.new $TMP/pids; wait"; }

@test "a signal to create or run ends a hook that hangs, takes everything back, and is told by the status" {
  local kind
  for kind in prestart createRuntime createContainer; do
    config 'del(.hooks)'
    hanging_hook "$kind"
    hook poststop "echo poststop >>$TMP/record"
    ends_at TERM 143 create --bundle "$BUNDLE" "$ID"
    contains "$TMP/helper.log" "stopped by signal 15"
    equal poststop "$(record)"
    ends_at INT 130 run --bundle "$BUNDLE" "$ID"
    equal poststop "$(record)"
    ends_at HUP 129 run --bundle "$BUNDLE" "$ID"
  done
}

@test "a signal to run ends a poststart hook that hangs, and the container" {
  hanging_hook poststart
  hook poststop "echo poststop >>$TMP/record"
  ends_at TERM 143 run --bundle "$BUNDLE" "$ID"
  equal poststop "$(record)"
}

@test "a signal to run ends a poststop hook that hangs; the next one runs, and the status is the program's" {
  script 'exit 7'
  hanging_hook poststop
  hook poststop "echo last >>$TMP/record"
  ends_at TERM 7 run --bundle "$BUNDLE" "$ID"
  contains "$TMP/helper.log" "stopped by signal 15"
  equal last "$(record)"
}

# All hooks run until a file `go` exists, which the test makes when each has been warned of. The path is the same for the host's sh and
# the container's.
@test "a hook without a timeout that lasts is named every ten seconds, whoever runs it" {
  local kind pid
  for kind in createRuntime createContainer startContainer poststart; do
    config '.hooks = {($k): [{path: "/bin/sh", args: ["sh", "-c", "until [ -e /go ] || [ -e " + $go + " ]; do sleep 0.2; done"]}]}
      | .linux.cgroupsPath += $k' --arg k "$kind" --arg go "$BUNDLE/rootfs/go"
    helper "$OCIRUN" --root "$ROOT" --log "$TMP/$kind.log" run --detach --bundle "$BUNDLE" "$ID-$kind"
    eventually exists "$ROOT/$ID-$kind" # then config.json may be changed
  done
  for kind in createRuntime createContainer startContainer poststart; do
    eventually contains "$TMP/$kind.log" "$kind hook #0 (/bin/sh) has no timeout, and has run for 10 s already"
  done
  touch "$BUNDLE/rootfs/go"
  for pid in "${HELPERS[@]}"; do wait "$pid"; done # each `run` succeeds: the warnings had no consequence
}
