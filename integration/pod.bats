# Workload documents: what `ocirun pod` prints. tests/pods has the rules of each document.

load lib/common

# document [SED-SCRIPT]: an OAM document of one container, changed by the script, as app.yaml.
document() {
  sed "${1:-}" >app.yaml <<'END'
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata:
  name: web
spec:
  containers:
    - name: server
      image: example/server:1
      resources:
        cpu: {required: 0.5}
        memory: {required: 64M}
      env:
        - name: ADMIN
          value: me
      readinessProbe:
        tcpSocket: {port: 8080}
END
}

@test "a good document is told by kind, name and containers" {
  document
  run --separate-stderr "$OCIRUN" pod validate app.yaml
  succeeds
  equal 'app.yaml is valid: OAM ContainerizedWorkload "web" with 1 container' "$output"
  equal "" "$stderr"
  run --separate-stderr "$OCIRUN" pod validate - <app.yaml
  succeeds
  equal 'standard input is valid: OAM ContainerizedWorkload "web" with 1 container' "$output"
}

@test "every fault is told with line, column and pointer, and the status is 1" {
  document 's/value: me/value: 12/; s/readinessProbe/readinesProbe/; s/64M/64X/'
  run --separate-stderr "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  equal 3 "$(grep -c '^error: app\.yaml:' <<<"$output")"
  output_mentions 'error: app.yaml:11:28: /spec/containers/0/resources/memory/required: must be a whole number above 0 '
  output_mentions 'error: app.yaml:14:18: /spec/containers/0/env/0/value: must be a string, not 12: write "12" in quotes'
  output_mentions 'error: app.yaml:16:9: /spec/containers/0/readinesProbe: unknown name (did you mean readinessProbe?)'
  equal "ocirun: pod validate: 3 errors" "$stderr"
}

@test "what only the operator has is needed, and no error" {
  document '/env:/i\      config: [{path: /etc/db, fromParam: db}]'
  run "$OCIRUN" pod validate app.yaml
  succeeds
  output_mentions 'needs: app.yaml:12:16: /spec/containers/0/config/0: the parameter "db": --param db=VALUE'
  output_mentions 'app.yaml is valid'
}

@test "each of several files is checked" {
  document
  printf 'a: 1\n' >other.yaml
  run "$OCIRUN" pod validate other.yaml app.yaml
  equal 1 "$status"
  output_mentions 'error: other.yaml:1:1: the document: has an unknown kind: a workload document is one of: OAM '
  output_mentions 'app.yaml is valid'
  run "$OCIRUN" pod validate none.yaml app.yaml
  equal 1 "$status"
  output_mentions 'error: none.yaml: open none.yaml: no such file or directory'
  output_mentions 'app.yaml is valid'
}

@test "control characters of a document do not reach the terminal" {
  document '/env:/i\      config: [{path: /etc/db, fromParam: "\\e]0;x\\a"}]'
  run "$OCIRUN" pod validate app.yaml
  succeeds
  output_mentions '\x1b]0;x\x07'
  [[ $output != *$'\e'* ]]
  document '/env:/i\      config: [{path: /etc/db, fromParam: "a\nother.yaml is valid"}]'
  run "$OCIRUN" pod validate app.yaml
  equal 2 "${#lines[@]}" # no line is forged
}

@test "mistakes on the command line are told" {
  run "$OCIRUN" pod
  equal 1 "$status"
  output_mentions 'ocirun: pod: a command is missing; see ocirun pod --help'
  run "$OCIRUN" pod valdate
  output_mentions 'unknown command "valdate" (did you mean validate?)'
  local words
  for words in ps=status rm=delete down=stop up=run inspect=status; do # of podman, Docker and Compose
    run "$OCIRUN" pod "${words%=*}"
    equal 1 "$status"
    output_mentions "unknown command \"${words%=*}\" (did you mean ${words#*=}?); see ocirun pod --help"
  done
  run "$OCIRUN" pod validate
  output_mentions 'ocirun: pod validate: FILE... | --profile knative BUNDLE... is missing'
  run "$OCIRUN" pod validate --bundle x
  output_mentions 'unknown option --bundle; see --help'
  run "$OCIRUN" pod validate --profil=knative x
  output_mentions 'unknown option --profil (did you mean --profile?)'
  run "$OCIRUN" pod validate none.yaml
  output_mentions 'ocirun: pod validate: none.yaml: open none.yaml: no such file or directory'
  run "$OCIRUN" --rot x pod validate app.yaml
  equal 1 "$status"
  output_mentions 'unknown option --rot (did you mean --root?)'
}

@test "the options of ocirun stand before pod" {
  document
  run "$OCIRUN" --root "$PWD/state" --log log pod validate app.yaml
  succeeds
  output_mentions 'app.yaml is valid'
}

@test "--help tells the commands" {
  local words
  for words in "pod --help" "pod help" "help pod"; do
    # shellcheck disable=SC2086
    run "$OCIRUN" $words
    succeeds
    output_mentions ' validate plan '
  done
  # On one screen, with each command that completion knows.
  local word
  ((${#lines[@]} <= 24))
  [[ $(wc -l <<<"$output") -le 24 && -z $(grep -E '.{81}' <<<"$output") ]]
  for word in $("$OCIRUN" __complete pod '' | cut -f 1); do [[ $word == -* ]] || output_mentions " $word "; done
  run "$OCIRUN" pod validate --help
  succeeds
  output_mentions 'usage: ocirun pod validate [OPTION...] FILE...'
}

@test "AC-5 the seed's App Container example is refused, because its image ids are no hashes" {
  [[ -n ${OCIRUN_SPEC_DIR:-} && -d $OCIRUN_SPEC_DIR/../seeds ]] || skip "there is no seeds/ beside OCIRUN_SPEC_DIR"
  awk '/^```json/ {inside = 1; next} /^```/ {inside = 0} inside' "$OCIRUN_SPEC_DIR"/../seeds/001* >seed.json
  run "$OCIRUN" pod validate seed.json
  equal 1 "$status"
  equal 3 "$(grep -c 'not reified: "sha512-..." is no hash of an image' <<<"$output")"
  output_mentions 'warning: seed.json:115:16: /annotations: ip-address has no effect'
}

# contract: what `validate --profile knative` says of the test's bundle, without the clauses that do not apply.
contract() {
  run "$OCIRUN" pod validate --profile knative "$BUNDLE"
  output=$(grep -v '^not applicable' <<<"$output")
}

@test "KN-1 KN-2 KN-7 KN-8 KN-9 KN-12 a bundle that keeps the Knative contract, and one that does not" {
  mkdir -p "$BUNDLE/rootfs/tmp"
  config '.process.terminal = true | .root.readonly = true'
  contract
  equal 1 "$status"
  output_mentions 'not met         KN-1   MUST    PORT is set: PORT is not set'
  output_mentions 'not met         KN-2   SHOULD  K_REVISION, K_CONFIGURATION and K_SERVICE are set: '
  output_mentions 'not met         KN-7   MUST    /tmp can be written to: the root filesystem is read-only'
  output_mentions 'not met         KN-8   MUST    /var/log is a directory that can be written to: '
  output_mentions 'not met         KN-12  SHOULD  process.terminal is not true: '
  output_mentions 'ocirun: pod validate: 3 clauses of the level MUST are not met'
  config '.process.terminal = false | .process.env += ["PORT=8080", "K_REVISION=r", "K_CONFIGURATION=c", "K_SERVICE=s"]
    | .mounts += [{destination: "/tmp", type: "tmpfs"}, {destination: "/var/log", type: "tmpfs"},
                  {destination: "/etc/resolv.conf", type: "bind", source: "/etc/resolv.conf", options: ["bind", "ro"]}]'
  contract
  succeeds
  equal 0 "$(grep -c '^not met *KN-[0-9]* *MUST' <<<"$output")"
  output_mentions 'met             KN-1   MUST    PORT is set: PORT is 8080'
  output_mentions 'met             KN-7   MUST    /tmp can be written to: a mount of the type tmpfs'
}

@test "KN-20 a mount that shows an engine's socket does not meet the contract" {
  config '.mounts += [{destination: "/docker.sock", type: "bind", source: "/var/run/docker.sock", options: ["bind"]}]'
  contract
  output_mentions 'not met         KN-20  SHOULD  the program has no access to the OCI interface: the mount on /docker.sock shows /run/docker.sock'
}

@test "a record that cannot be read is kept by stop, which says what to do" {
  mkdir -p data/pods/damaged
  echo '{"format": 1, "name": "damaged", "contai' >data/pods/damaged/pod.json
  cp data/pods/damaged/pod.json before
  run ocirun pod stop --data data damaged
  exits 1
  output_mentions "pod damaged: pod.json: "
  output_mentions "mend it, or delete the containers damaged.* of \`ocirun list\` and then the pod (\`ocirun pod delete damaged\`)"
  cmp before data/pods/damaged/pod.json
  run ocirun pod status --data data damaged
  output_mentions "its record cannot be read"
  ocirun pod delete --data data damaged
  [[ ! -e data/pods/damaged ]]
  mkdir data/pods/early # its start was cut off
  ocirun pod stop --data data early
}

@test "an unknown profile and a faulty bundle are refused" {
  run "$OCIRUN" pod validate --profile knativ "$BUNDLE"
  equal 1 "$status"
  output_mentions 'ocirun: pod validate: --profile knativ: must be knative'
  config '.process.cwd = "x"'
  run "$OCIRUN" pod validate --profile knative "$BUNDLE"
  equal 1 "$status"
  output_mentions '/process/cwd: must be an absolute path'
}

@test "a pod whose record a newer version wrote is left alone by status, stop and delete" {
  mkdir -p data/pods/newer
  echo '{"format": 2, "inventedLater": true}' >data/pods/newer/pod.json
  local command
  for command in status stop delete "delete --force"; do
    # shellcheck disable=SC2086 # words
    run ocirun pod $command --data data newer
    [[ $status != 0 ]] || fail_with_output
    output_mentions "pod newer: pod.json: /format: is 2, and this version of ocirun reads formats up to 1: a newer version wrote this record"
    [[ -e data/pods/newer/pod.json ]]
  done
  run ocirun pod status --data data
  succeeds
  output_mentions "warning: pod newer: pod.json: /format: is 2"
}
