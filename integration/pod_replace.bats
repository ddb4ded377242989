# `ocirun pod run --replace`: the same pod again, a changed one, one that cannot be made.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

pid_of_app() { says '.containers[0].pid'; }
starts_anew() { # OPTION…: the pod has another process after `run --replace`
  local old
  old=$(pid_of_app)
  run_pod --detach --replace "$@" || show_output
  [[ $(pid_of_app) != "$old" ]]
}
does_nothing() { # OPTION…
  local old
  old=$(pid_of_app)
  run_pod --detach --replace "$@" || show_output
  equal "$old" "$(pid_of_app)"
}
# says_run TEXT: what the last run_pod has said contains the text.
says_run() { has "$1" "$(<output)"; }
counter() { container app "echo $1; exec sleep 1000"; }

@test "--replace of the same document does nothing, and says so; a changed document or option starts anew" {
  counter one
  run_pod --detach --replace
  equal "$POD" "$(<output)"
  local first
  first=$(pid_of_app)
  does_nothing
  says_run "the pod \"$POD\" runs already, and its document, options and images are the same: nothing was replaced"
  equal "$POD" "$(tail -n 1 output)"
  run_pod --replace # in the foreground, too
  equal "$first" "$(pid_of_app)"

  rm app.yaml && counter two
  starts_anew
  says_run "stopping the pod \"$POD\", which may take 1 s"
  equal "$POD" "$(tail -n 1 output)"
  run ! kill -0 "$first"
  eventually has_lines app 1
  equal two "$(pod logs "$POD")"

  starts_anew --restart never
  starts_anew --restart never --grace 2
  does_nothing --restart never --grace 2 --wait-ready --keep
  starts_anew --restart never --grace 2 --env A=1
  starts_anew --restart never --grace 2 --env A=2 --label a=b
  does_nothing --restart never --grace 2 --env A=2 --label a=b
  run run_pod --detach
  equal 1 "$status"
  says_run "--replace replaces it"
}

@test "--replace starts anew when an image, the content of a secret or the directory of a volume has changed" {
  cat >app.yaml <<'END'
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: app}
spec:
  template:
    spec:
      containers:
      - image: base
        command: [/bin/sh, -c, "while :; do nc -l -p $PORT </dev/null >/dev/null; done"] # the pod has to be ready
        env: [{name: PW, valueFrom: {secretKeyRef: {name: db, key: password}}}]
        volumeMounts: [{name: v, mountPath: /v}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
END
  mkdir one two keys && echo secret >keys/password
  run_pod --detach --replace --secret db=keys --volume data=one
  does_nothing --secret "db=$PWD/keys" --volume "data=$PWD/one" # the same directories
  starts_anew --secret db=keys --volume data=two
  starts_anew --secret db=keys --volume data=two:ro
  echo other >keys/password
  starts_anew --secret db=keys --volume data=two:ro
  rm -r images
  make_image images base '{"Entrypoint":["/bin/sh","-c"],"Env":["FROM=new"]}' "$BUNDLE/rootfs"
  starts_anew --secret db=keys --volume data=two:ro
  does_nothing --secret db=keys --volume data=two:ro
}

@test "--replace keeps the pod that runs if the new one cannot be made" {
  counter one
  run_pod --detach --replace
  local first
  first=$(pid_of_app)
  sed -i 's/image: base/image: absent/' app.yaml
  run run_pod --detach --replace
  equal 1 "$status"
  says_run absent
  equal "running $first" "$(says '"\(.status) \(.containers[0].pid)"')"

  mkdir "data/pods/.$POD.4194304" # of a trial that was killed: no process has this pid
  rm app.yaml && container app 'exec sleep 1000' 'config: [{path: /bin, value: x}]' # a file over a directory of the image
  run run_pod --detach --replace
  equal 1 "$status"
  says_run "the pod \"$POD\" stays as it is"
  says_run /bin
  equal "running $first" "$(says '"\(.status) \(.containers[0].pid)"')"
  equal "$POD" "$(ls -A data/pods)" # nothing of the trial is left
  pod delete --force "$POD"
  mkdir "data/pods/.$POD.4194304" "data/pods/.$POD.x.4194304" # of a delete that was killed, and of another pod
  pod delete "$POD"
  equal ".$POD.x.4194304" "$(ls -A data/pods)"
  run pod delete "$POD"
  equal 1 "$status"
  output_mentions "there is no pod \"$POD\""
}

@test "--replace keeps the pod that runs if the program of the new one is not there; a program that a volume brings is accepted" {
  counter one
  run_pod --detach --replace
  local first program
  first=$(pid_of_app)
  keeps() { # STATUS TEXT PROGRAM
    sed -i "s|cmd: .*|cmd: [$3]|" app.yaml
    run "-$1" run_pod --detach --replace
    says_run "the pod \"$POD\" stays as it is: app.yaml:"
    says_run "container \"app\": exec: $2"
    equal "running $first" "$(says '"\(.status) \(.containers[0].pid)"')"
  }
  keeps 127 '"/bin/nothing": stat /bin/nothing: no such file or directory' /bin/nothing
  keeps 127 '"nothing": executable file not found in $PATH' nothing
  keeps 126 '"/etc": it is a directory, not a program: permission denied' /etc
  keeps 126 '"/etc/passwd": it has no x bit (chmod +x in the image): permission denied' /etc/passwd

  # What is there: by PATH, by a symlink that leads outside where it is not resolved in the image, in a volume, behind a symlink to one.
  mkdir -p layer/opt vol/sub
  cp "$(command -v busybox)" layer/opt/busybox
  ln -s /opt/busybox layer/opt/absolute
  ln -s ../../../../opt/busybox layer/opt/upwards
  ln -s /v/sub layer/opt/into
  cp "$(command -v busybox)" vol/sub/busybox
  make_image images more '{"Entrypoint":["/bin/sh","-c"],"Env":["PATH=/nowhere:opt:/opt"]}' "$BUNDLE/rootfs" layer
  rm app.yaml
  container app 'exec sleep 1000'
  sed -i 's|image: base|image: more|; s|args: .*|args: [sh, -c, "exec /opt/busybox sleep 1000"]|' app.yaml
  printf '    %s\n' 'resources: {cpu: {required: 0.1}, memory: {required: 8M}, volumes: [{name: v, mountPath: /v, accessMode: RO}]}' >>app.yaml
  sed -i '0,/    resources:/{/    resources:/d}' app.yaml
  for program in /opt/absolute /opt/upwards opt/busybox busybox /v/sub/busybox /opt/into/busybox; do
    sed -i "s|cmd: .*|cmd: [$program]|" app.yaml
    run_pod --detach --replace --volume "v=$TMP/vol" || show_output
    equal running "$(says .status)"
  done

  # The runtime makes /new for the mount, and the working directory.
  sed -i 's|mountPath: /v,|mountPath: /new/v,|; s|cmd: .*|cmd: [/new/v/sub/busybox]|' app.yaml
  starts_anew --volume "v=$TMP/vol"
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: shop}' spec: \
    '  containers: [{name: app, image: base, workingDir: /made, command: [../bin/sh, -c, "exec sleep 1000"]}]' >app.yaml
  starts_anew
}

@test "--replace takes the place of a pod that has ended, was killed or was cut off" {
  counter one
  run_pod --detach --replace
  pod stop "$POD"
  run_pod --detach --replace
  equal running "$(says .status)"
  local supervisor
  supervisor=$(says .supervisor)
  kill -KILL "$supervisor"
  eventually is_now .supervisor null
  run_pod --detach --replace
  equal running "$(says .status)"
  pod delete --force "$POD"
  mkdir "data/pods/$POD"
  run_pod --detach --replace
  equal running "$(says .status)"
}

@test "a pod that ran when the machine went down does not block run; one that had ended keeps its record" {
  counter one
  run_pod --detach
  kill -KILL "$(says .supervisor)"
  eventually is_now .supervisor null
  run run_pod --detach
  equal 1 "$status"
  kill -KILL "$(jq .holder.pid "data/pods/$POD/pod.json")" # a boot ends these, and /run is empty then
  kill -KILL "$(jq .keeper.pid "data/pods/$POD/keeper.json")"
  ocirun delete --force "$POD.app"
  of_another_boot
  run_pod --detach
  equal running "$(says .status)"
  pod stop "$POD"
  of_another_boot
  run run_pod --detach
  equal 1 "$status"
  says_run "a pod \"$POD\" exists"
}
of_another_boot() { sed -i 's/"bootId": "[^"]*"/"bootId": "00000000-0000-0000-0000-000000000000"/' "data/pods/$POD/pod.json"; }

@test "--replace of a pod that another process runs in the foreground" {
  counter one
  run_pod &
  local one=$!
  eventually is_there
  reaches .status running
  rm app.yaml && counter two
  run_pod --detach --replace
  wait "$one" || true
  equal running "$(says .status)"
  eventually has_lines app 1
  equal two "$(pod logs "$POD")"
}

@test "a container with a name that a pod's directory has can be replaced; the filter of --seccomp counts" {
  container lock 'exec sleep 1000'
  container volumes 'exec sleep 1000'
  run_pod --detach --replace --seccomp unconfined
  does_nothing --seccomp unconfined
  starts_anew --seccomp default
  equal 2 "$(awk '/^Seccomp:/ {print $2}' "/proc/$(pid_of_app)/status")"
}

@test "delete and --replace of a pod that has ended leave a pod of the same name in another data directory alone" {
  counter one
  run_pod --detach
  pod stop "$POD"
  ocirun pod run --data "$TMP/other" --images images --net none --grace 1 --detach --name "$POD" app.yaml >"$TMP/output" 2>&1 3>&- 4>&-
  local pid
  pid=$(ocirun pod status --data "$TMP/other" --format json "$POD" | jq '.containers[0].pid')
  pod delete "$POD"
  sleep 0.2
  kill -0 "$pid"
  run run_pod --detach
  equal 1 "$status" # its containers' ids are taken
  kill -0 "$pid"
  POD_DATA=$TMP/other pod delete --force "$POD"
}

@test "a new pod that cannot be started in the place of another one keeps its record, and start tries again" {
  counter one
  run_pod --detach --replace
  mkdir layer
  printf '%s\n' '#!/absent' >layer/script # the trial looks for the program, not for its interpreter
  chmod +x layer/script
  make_image images scripts '{}' "$BUNDLE/rootfs" layer
  rm app.yaml && container app 'exec sleep 1000'
  sed -i 's|image: base|image: scripts|; s|cmd: .*|cmd: [/script]|' app.yaml
  run -1 run_pod --detach --replace
  says_run "the pod \"$POD\" that ran before is removed, and the new one has failed"
  says_run /absent
  equal failed "$(says .status)"
  run -1 quietly pod start "$POD"
  equal failed "$(says .status)"
}

@test "two runs with --replace at once leave one pod" {
  counter one
  run_pod --detach --replace
  local round word pids
  for round in 1 2 3; do
    pids=()
    for word in a b; do
      sed "s/one/$word$round/" app.yaml >"$word.yaml"
      ocirun pod run --data "$TMP/data" --images images --net none --grace 1 --name "$POD" --detach --replace "$word.yaml" >"said.$word" 2>&1 3>&- 4>&- &
      pids+=("$!")
    done
    for word in "${pids[@]}"; do wait "$word" || true; done
    equal running "$(says .status)"
    equal "$POD" "$(ls -A data/pods)"
    equal 1 "$(ocirun list -q | wc -l)"
  done
}
