# `ocirun pod exec`: the terminal, the user, variables and the directory of a program in a container of a pod.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# a_pod [YAML-LINE…]: a pod with the container "app", whose program runs until the pod is deleted.
a_pod() {
  container app 'echo up; while :; do sleep 0.1; done' "$@"
  run_pod --detach
}
shell() { pod exec "$POD" sh -c "$1"; } # as the container's own user

# in_terminal [PTY-OPTION…] -- [EXEC-OPTION…] POD PROGRAM…: `pod exec` on a terminal.
in_terminal() {
  local of_pty=()
  while [[ $1 != -- ]]; do of_pty+=("$1") && shift; done
  run "$LIB/pty" "${of_pty[@]}" "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" "${@:2}"
}

# The ids of a program, and its supplementary groups.
identity='echo $(id -u):$(id -g) $(sed -n "s/^Groups:[[:space:]]*//p" /proc/self/status)'

@test "without options exec passes standard input and the exit status; -i, --stdin and --interactive change nothing" {
  local option
  a_pod
  for option in "" -i --stdin --interactive "-i --stdin"; do
    # shellcheck disable=SC2086 # several options
    run pod exec $option "$POD" sh -c 'cat; test -t 0; echo $?; exit 7' <<<"from the caller"
    exits 7
    prints $'from the caller\n1'
  done
  run pod exec -i "$POD" -- echo -i
  succeeds -i
}

@test "-it, -ti and -i -t give a terminal: TERM, its size, what is typed, the exit status; the caller's settings are restored" {
  local option
  a_pod
  for option in -it -ti "-i -t" "--stdin --tty" "--interactive --tty" -t; do
    # shellcheck disable=SC2086 # several options
    TERM=vt220 in_terminal --size 31x97 --when ready --input 'typed\n' -- $option "$POD" sh -c \
      'tty; stty size; echo $TERM; echo ready; read -r line; echo "got $line"; exit 6'
    output_mentions $'/dev/pts/0\n31 97\nvt220\nready'
    output_mentions "got typed"
    output_mentions "status 6"
    output_never_mentions "terminal changed"
  done
  in_terminal --size 24x80 --when ready --resize 33x44 -- -it "$POD" sh -c \
    'trap "stty size; exit 0" WINCH; echo ready; while :; do sleep 0.02; done'
  prints $'ready\n33 44\nstatus 0'
  in_terminal -- -itu web -e A=1 -w /tmp "$POD" sh -c 'tty; id -u; echo $A; pwd'
  prints $'/dev/pts/0\n1000\n1\n/tmp\nstatus 0'
  in_terminal --when ready --input '\x03' -- -it "$POD" sh -c \
    'trap "echo INT; exit 9" INT; echo ready; while :; do sleep 0.02; done'
  output_mentions INT
  output_mentions "status 9"
}

@test "-t without a terminal of the caller still gives the program one; TERM is the container's, if it has one" {
  a_pod
  run env TERM=vt220 "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" -t "$POD" sh -c 'tty; echo $TERM; exit 5' </dev/null
  exits 5
  prints $'/dev/pts/0\nvt220'
  TERM=vt220 in_terminal -- -t -e TERM=linux "$POD" sh -c 'echo $TERM'
  prints $'linux\nstatus 0'
  TERM=vt220 in_terminal -- -t -u web "$POD" sh -c 'echo $TERM'
  prints $'vt220\nstatus 0'
  TERM=$'\xff' in_terminal -- -t "$POD" sh -c 'echo ${TERM-none}'
  prints $'none\nstatus 0'
  TERM=vt220 run pod exec "$POD" sh -c 'echo ${TERM-none}'
  succeeds none
  pod delete --force "$POD"
  rm app.yaml
  a_pod 'env: [{name: TERM, value: dumb}]'
  TERM=vt220 in_terminal -- -t "$POD" sh -c 'echo $TERM'
  prints $'dumb\nstatus 0'
}

@test "an unknown letter among letters is named, and a value stands apart" {
  run pod exec -itx "$POD" true
  exits 1 "unknown option -x in -itx"
  run pod exec -ituweb "$POD" true
  exits 1 "unknown option -ituweb (did you mean -it -u web?)"
  run pod exec -uweb "$POD" true
  exits 1 "unknown option -uweb (did you mean --user, or -u web?)"
  run pod exec -itu
  exits 1 "--user: a value (USER[:GROUP]) is missing"
}

@test "-u takes names and numbers of the container's passwd and group, with the groups of a named user" {
  printf 'extra:x:1001:web\nother:x:1002:bin\nadmin:x:1003:root\n' >>"$BUNDLE/rootfs/etc/group"
  rm -rf images
  make_image images base '{}' "$BUNDLE/rootfs"
  a_pod
  local user
  for user in web 1000; do equal "1000:1000 1000 1001" "$(pod exec -u "$user" "$POD" sh -c "$identity")"; done
  equal "1000:1001 1001" "$(pod exec --user web:extra "$POD" sh -c "$identity")"
  equal "1000:7 7" "$(pod exec --user=1000:7 "$POD" sh -c "$identity")"
  equal "4000:0 0" "$(pod exec -u 4000 "$POD" sh -c "$identity")" # who is not in passwd
  equal "0:0 0 1003" "$(pod exec -u root "$POD" sh -c "$identity")"
  shell 'echo late:x:2000:2001::/var/late:/bin/sh >>/etc/passwd' # the files are the container's, as they are now
  equal "2000:2001 2001" "$(pod exec -u late "$POD" sh -c "$identity")"
  run pod exec -u nobody2 "$POD" true
  exits 1 'pod exec: --user: the user "nobody2" is not in /etc/passwd of the container'
  run pod exec -u web:none "$POD" true
  exits 1 'pod exec: --user: the group "none" is not in /etc/group of the container'
  for user in "" : :web web: $'\e[31m:'; do
    run pod exec -u "$user" "$POD" true
    exits 1 'must be USER or USER:GROUP, names or numbers'
    output_never_mentions $'\e'
  done
}

@test "with -u a user other than root has no capabilities, and HOME is the user's unless something sets it" {
  printf 'homeless:x:3000:3000:::/bin/sh\nlate:x:2000:2001::/var/late:/bin/sh\n' >>"$BUNDLE/rootfs/etc/passwd"
  rm -rf images
  make_image images base '{}' "$BUNDLE/rootfs"
  a_pod
  local capabilities='sed -n "s/^Cap\(Inh\|Prm\|Eff\|Amb\):[[:space:]]*//p" /proc/self/status | sort -u'
  equal 0000000000000000 "$(pod exec -u web "$POD" sh -c "$capabilities")"
  equal "$(shell "$capabilities")" "$(pod exec -u 0 "$POD" sh -c "$capabilities")"
  equal "$(shell 'grep CapBnd /proc/self/status')" "$(pod exec -u web "$POD" grep CapBnd /proc/self/status)"
  run pod exec -u web "$POD" chown web /tmp
  [[ $status != 0 ]] || fail_with_output
  equal /root "$(shell 'echo $HOME')"
  equal /var/late "$(pod exec -u late "$POD" sh -c 'echo $HOME')"
  equal / "$(pod exec -u homeless "$POD" sh -c 'echo $HOME')"
  equal / "$(pod exec -u 4000 "$POD" sh -c 'echo $HOME')"
  equal /root "$(pod exec -u root "$POD" sh -c 'echo $HOME')"
  equal /mine "$(pod exec -u late -e HOME=/mine "$POD" sh -c 'echo $HOME')"
  pod delete --force "$POD"
  rm app.yaml
  a_pod 'env: [{name: HOME, value: /given}]'
  equal /given "$(pod exec -u late "$POD" sh -c 'echo $HOME')"
}

@test "-e sets variables, also over the container's, and takes the caller's value of a name alone" {
  local user
  a_pod 'env: [{name: OWN, value: container}]'
  for user in "" "--user web"; do
    # shellcheck disable=SC2086 # two words or none
    equal "1 last two words= here none image" "$(FROM_HERE=here pod exec $user -e A=1 -e OWN=first --env OWN=last -e "B=two words=" \
      -e FROM_HERE -e NOT_HERE "$POD" sh -c 'echo $A $OWN $B $FROM_HERE ${NOT_HERE-none} $FROM')"
    # shellcheck disable=SC2086 # two words or none
    equal "empty" "$(pod exec $user -e OWN= "$POD" sh -c 'echo ${OWN:-empty}')"
  done
  run pod exec -e =secret "$POD" true
  exits 1 '--env "=...": must be NAME=VALUE or NAME'
  output_never_mentions secret
  run pod exec -e "" "$POD" true
  exits 1 '--env "": must be NAME=VALUE or NAME'
}

@test "-w, --workdir and --cwd give the directory; one that is missing or not absolute is an error" {
  local option user
  a_pod
  for user in "" "-u web"; do
    for option in -w --workdir --cwd; do
      # shellcheck disable=SC2086 # two words or none
      equal /tmp "$(pod exec $user $option /tmp "$POD" pwd)"
    done
    # shellcheck disable=SC2086 # two words or none
    run pod exec $user -w /nowhere "$POD" true
    exits 255 "/process/cwd: change to /nowhere: no such file or directory"
  done
  for option in -w --cwd; do
    run pod exec "$option" tmp "$POD" true
    exits 1 '"tmp": must be an absolute path in the container'
  done
  run pod exec -w "" "$POD" true
  exits 1 '--workdir "": must be an absolute path in the container'
  run pod exec -w /tmp --cwd /bin "$POD" true
  exits 1 "--workdir and --cwd are the same option: give one of them"
}

@test "arguments that are not UTF-8 reach the program as they are; with -u, -e and -w they are an error" {
  local options
  a_pod
  equal 'ff 0a' "$(pod exec -i "$POD" echo $'\xff' | od -An -tx1 | xargs)"
  equal 'ff 0a' "$(pod exec -t "$POD" echo $'\xff' | od -An -tx1 | xargs)"
  for options in "-u web" "-e A=1" "-w /tmp"; do
    # shellcheck disable=SC2086 # two words
    run pod exec $options "$POD" echo $'\xff'
    exits 1 'is not UTF-8: --user, --env and --workdir want the whole command line in UTF-8'
  done
  run pod exec -w $'/\xff' "$POD" true
  exits 1 'the directory "/'
  run pod exec -e A=$'secret\xff' "$POD" true
  exits 1 'the value of the variable A is not UTF-8'
  output_never_mentions secret
  run pod exec -u $'\xff' "$POD" true
  exits 1 'is not in /etc/passwd of the container'
}

# hostile SCRIPT WORDS: after the script in the container, -u is an error with these words, at once.
hostile() {
  shell "rm -rf /etc/passwd; $1"
  run timeout 20 "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" -u web "$POD" echo executed
  exits 1 "$2"
  output_never_mentions executed
}

@test "a hostile /etc/passwd: -u opens regular files inside the container alone, and reads no more than 1 MiB" {
  a_pod
  hostile 'mkfifo /etc/passwd' '/etc/passwd of the container is no regular file'
  hostile 'ln -s /dev/zero /etc/passwd' '/etc/passwd of the container is no regular file'
  hostile 'ln -s /dev/pts/ptmx /etc/passwd' '/etc/passwd of the container is no regular file'
  hostile 'mkdir /etc/passwd' '/etc/passwd of the container is no regular file'
  hostile 'ln -s /proc/kmsg /etc/passwd' '/etc/passwd of the container lies in a filesystem of the kernel, such as proc or sysfs'
  hostile 'ln -s /sys/kernel/notes /etc/passwd' '/etc/passwd of the container lies in a filesystem of the kernel'
  hostile 'ln -s passwd /etc/passwd' '/etc/passwd'
  hostile 'ln -s /proc/1/root/etc/passwd /etc/passwd' '/etc/passwd'
  hostile 'head -c 1100000 /dev/zero >/etc/passwd' '/etc/passwd of the container'
  hostile 'ln -s /../../../../../../../../host-only /etc/passwd' 'the user "web" is not in /etc/passwd of the container'
  hostile 'true' 'the user "web" is not in /etc/passwd of the container'
  equal 1000:0 "$(pod exec -u 1000 "$POD" sh -c 'echo $(id -u):$(id -g)')"
  shell 'printf "root:x:0:0::/root:/bin/sh\nweb:x:1000:1000::/h\377:/bin/sh\n\377\377\n::::::\nweb\n" >/etc/passwd' # a home that JSON cannot hold
  equal "1000 /" "$(pod exec -u web "$POD" sh -c 'echo $(id -u) $HOME')"
  shell 'printf "root:x:0:0::/root:/bin/sh\nweb:x:1000:1000::/h\000x:/bin/sh\n" >/etc/passwd'
  equal "1000 /" "$(pod exec -u web "$POD" sh -c 'echo $(id -u) $HOME')"
  shell 'rm /etc/group; mkfifo /etc/group'
  run timeout 20 "$OCIRUN" --root "$ROOT" pod exec --data "$TMP/data" -u web "$POD" true
  exits 1 '/etc/group of the container is no regular file'
  equal fine "$(shell 'echo fine')" # without -u nothing is looked up
}

@test "the program inherits no descriptor of -u, and has the container's limits and OOM score" {
  a_pod
  equal "0 1 2 3" "$(pod exec -u web "$POD" ls /proc/self/fd | xargs)" # 3 is that of ls
  local settings='cat /proc/self/oom_score_adj; ulimit -n; grep -E "Seccomp:|NoNewPrivs:" /proc/self/status'
  equal "$(shell "$settings")" "$(pod exec -u web "$POD" sh -c "$settings")"
}
