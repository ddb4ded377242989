# Small documents that would become large: refused at their place before the memory is used, or what they name is there once. The address
# space of each command is limited. tests/growth/ counts the work that documents of each kind cost.
# shellcheck disable=SC2016 # references of documents

load lib/common
source "$LIB/pod-scene.bash"

# small COMMAND…: runs it with at most 400 MiB of memory.
small() { (ulimit -v 400000 && exec "$@"); }

# begin: the head of app.yaml, up to the members of the container.
begin() {
  printf '%s\n' 'apiVersion: v1' 'kind: Pod' 'metadata: {name: p}' spec: '  restartPolicy: Never' '  containers:' '  - name: a' \
    '    image: base' >app.yaml
}

# config_map KEY SIZE: a document behind the pod.
config_map() {
  printf -- '---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\ndata:\n  %s: %s\n' "$1" "$(head -c "$2" /dev/zero | tr '\0' x)" \
    >>app.yaml
}

# refused SENTENCE: validate, plan and run refuse app.yaml with the sentence, and leave nothing.
refused() {
  run small "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  has "error: app.yaml:$1" "$output"
  run small "$OCIRUN" pod plan --data data --images images -o out app.yaml
  equal 1 "$status"
  has "app.yaml:$1" "$output"
  is_gone out
  run small "$OCIRUN" pod run --data data --images images --net none --name "$POD" app.yaml
  equal 1 "$status"
  has "app.yaml:$1" "$output"
  equal "" "$(ls data/pods 2>/dev/null)"
}

@test "variables that double 29 times: 1 KB of text would be 50 GB" {
  local i
  begin
  echo '    env:' >>app.yaml
  echo "    - {name: A0, value: $(printf 'x%.0s' {1..100})}" >>app.yaml
  for ((i = 1; i < 30; i++)); do echo "    - {name: A$i, value: \$(A$((i - 1)))\$(A$((i - 1)))}" >>app.yaml; done
  refused '21:7: /spec/containers/0/env/11: the variable A11 would have more than 131071 bytes: execve(2) takes no longer string'
}

@test "45,000 references in one argument to 100 kB of a config map" {
  begin
  {
    echo '    env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]'
    echo "    args: [x, $(printf '$(A)%.0s' {1..45000})]"
  } >>app.yaml
  config_map k 100000
  refused '10:15: /spec/containers/0/args/1: word 1 of args would have more than 131071 bytes'
  begin
  {
    echo '    env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]'
    echo '    args:'
    printf '    - $(A)\n%.0s' {1..100}
  } >>app.yaml
  config_map k 100000
  refused '30:7: /spec/containers/0/args/19: the arguments and variables would take more than 2097152 bytes together: execve(2) takes a'
}

@test "variables of one key of 1 MB, and 2,000 sources of 2,000 variables each" {
  local i
  begin
  echo '    env:' >>app.yaml
  for ((i = 0; i < 500; i++)); do echo "    - {name: V$i, valueFrom: {configMapKeyRef: {name: m, key: k}}}" >>app.yaml; done
  config_map k 1000000
  refused '10:7: /spec/containers/0/env/0: the variable V0 would have more than 131071 bytes'
  begin
  echo '    envFrom:' >>app.yaml
  for ((i = 0; i < 2000; i++)); do echo "    - {prefix: P$i, configMapRef: {name: m}}" >>app.yaml; done
  config_map k0 1
  for ((i = 1; i < 2000; i++)); do echo "  k$i: x" >>app.yaml; done
  run small "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  like '^error: app.yaml:[0-9]+:7: /spec/containers/0/envFrom/[0-9]+: the arguments and variables would take more than 2097152 bytes' "$output"
  sed -i 's/prefix: P[0-9]*, //' app.yaml # each source replaces the one before
  small "$OCIRUN" pod plan --data data --images images -o out app.yaml
  equal 2000 "$(jq '.process.env[] | select(startswith("k"))' out/a/config.json | wc -l)"
}

@test "500 items of one key of 1 MB are one file, which 500 names have" {
  local i
  begin
  {
    echo '    volumeMounts: [{name: v, mountPath: /v}]'
    echo '  volumes:'
    echo '  - name: v'
    echo '    configMap:'
    echo '      name: m'
    echo '      items:'
    for ((i = 0; i < 500; i++)); do echo "      - {key: k, path: d/f$i}"; done
  } >>app.yaml
  config_map k 1000000
  small "$OCIRUN" pod plan --data data --images images -o out app.yaml
  equal 500 "$(stat -c %h out/volumes/0/d/f499)"
  [[ $(du -sk out/volumes | cut -f1) -lt 2000 ]]
  sed -i 's/image: base/&\n    args: ["wc -c <\/v\/d\/f499; stat -c %h \/v\/d\/f0; du -sk \/v | cut -f1"]/' app.yaml
  run run_pod
  equal 0 "$status"
  equal $'1000000\n500' "$(head -n 2 output)"
  [[ $(tail -n 1 output) -lt 2000 ]]
}

@test "a thousand containers are read, a file of 80,000 variables too; one more container, or a group, is refused with its place" {
  local i
  begin
  sed -i '/  - name: a/,$d' app.yaml
  for ((i = 0; i < 1001; i++)); do echo "  - {name: c$i, image: base}" >>app.yaml; done
  run small "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  has 'error: app.yaml:7:3: /spec/containers: must have at most 1000 containers, not 1001' "$output"
  sed -i '$d' app.yaml
  small "$OCIRUN" pod validate app.yaml
  begin
  echo "  securityContext: {supplementalGroups: [$(seq -s, 65536)]}" >>app.yaml
  run small "$OCIRUN" pod validate app.yaml
  equal 1 "$status"
  has 'error: app.yaml:9:41: /spec/securityContext/supplementalGroups: must have at most 65535 groups, as a process can have, not 65536' \
    "$output"
  begin
  seq -f 'V%.0f=x' 80000 >variables
  timeout 60 "$OCIRUN" pod plan --data data --images images --env-file variables -o out app.yaml
  equal 80000 "$(jq '.process.env[] | select(startswith("V"))' out/a/config.json | wc -l)"
}
