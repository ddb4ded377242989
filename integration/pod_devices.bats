# CDI devices of pods: a fake vendor's specifications in a directory of --cdi, whose devices are names of the host's /dev/zero, /dev/full
# and others.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# specification NAME KIND DEVICES [COMMON]: writes cdi/NAME.json; DEVICES and COMMON, its containerEdits, are JSON.
specification() {
  mkdir -p cdi
  jq -n --arg kind "$2" --argjson devices "$3" --argjson common "${4:-{\}}" \
    '{cdiVersion: "1.1.0", kind: $kind, devices: $devices, containerEdits: $common}' >"cdi/$1.json"
}
# node NAME MINOR [MEMBERS]: the device NAME with the node /dev/NAME for the host's device 1:MINOR.
node() { echo "{\"name\": \"$1\", \"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/$1\", \"type\": \"c\", \"major\": 1, \"minor\": $2}]}}"; }
# gpus: the devices 0 (/dev/zero), also called GPU-a, 1 (/dev/full), 2 (/dev/null), and all.
gpus() {
  specification gpus vendor.com/gpu "[$(node 0 5), $(node 1 7), $(node 2 3),
    {\"name\": \"GPU-a\", \"containerEdits\": {\"deviceNodes\": [{\"path\": \"/dev/0\", \"hostPath\": \"/dev/zero\"}]}},
    {\"name\": \"all\", \"containerEdits\": {\"env\": [\"ALL=1\"]}}]"
}
# required_gpus COUNT: app.yaml requires so many GPUs.
required_gpus() { sed -i "s/memory: {required: 8M}/memory: {required: 8M}, gpu: {required: $1}/" app.yaml; }
UP='ls /dev | grep "^[0-9]" | xargs; sleep 1000'
# devices_of POD: the nodes that the program of the pod has listed.
devices_of() { pod logs "$1" 2>/dev/null; }
has_devices() { [[ $(devices_of "$1") == "$2" ]]; }

@test "a device gives nodes, mounts, variables and groups; its hooks run; nothing stays" {
  mkdir lib
  echo library >lib/so
  cat >hook <<'END'
#!/bin/sh
cat >"$1.state"
echo "$HOOKED $1" >>"$(dirname "$0")/hooks"
END
  chmod 755 hook
  specification vendor vendor.com/gpu '[{"name": "0", "containerEdits": {
    "env": ["GPU=zero", "FROM=device"],
    "deviceNodes": [{"path": "/dev/gpu0", "hostPath": "/dev/zero", "fileMode": 416, "uid": 7, "gid": 8, "permissions": "r"},
                    {"path": "/dev/deep/er/null", "type": "c", "major": 1, "minor": 3}],
    "mounts": [{"hostPath": "'"$PWD"'/lib", "containerPath": "/usr/lib/vendor", "options": ["ro", "rbind"]},
               {"hostPath": "tmpfs", "containerPath": "/scratch", "type": "tmpfs", "options": ["size=64k", "mode=1777"]}]}}]' '{
    "additionalGids": [4711],
    "hooks": [{"hookName": "createRuntime", "path": "'"$PWD"'/hook", "args": ["hook", "'"$PWD"'/created"], "env": ["HOOKED=yes"]},
              {"hookName": "startContainer", "path": "/bin/touch", "args": ["touch", "/scratch/started"]},
              {"hookName": "poststop", "path": "'"$PWD"'/hook", "args": ["hook", "'"$PWD"'/stopped"], "env": ["HOOKED=yes"], "timeout": 20}]}'
  container app 'stat -c "%A %u %g %t:%T" /dev/gpu0 /dev/deep/er/null; head -c 3 /dev/gpu0 | wc -c; cat /usr/lib/vendor/so
    touch /usr/lib/vendor/x 2>/dev/null || echo read-only; stat -f -c %T /scratch; ls /scratch; echo "$GPU $FROM"; id -G'
  run run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  succeeds
  equal 'ocirun: the container "app" gets vendor.com/gpu=0
crw-r----- 7 8 1:5
crw-rw-rw- 0 0 1:3
3
library
read-only
tmpfs
started
zero device
0 4711' "$(<output)"
  equal "yes $PWD/created
yes $PWD/stopped" "$(<hooks)"
  equal "$POD.app" "$(jq -r .id created.state)"
  equal stopped "$(jq -r .status stopped.state)"
  equal "" "$(pod_names)"
}

@test "the cgroup allows a node as its permissions say, and a node with none not at all" {
  [[ -c /dev/fuse && -c /dev/loop-control ]] || skip "needs /dev/fuse and /dev/loop-control"
  specification vendor vendor.com/gpu '[{"name": "0", "containerEdits": {"deviceNodes": [
    {"path": "/dev/one", "hostPath": "/dev/fuse", "permissions": "r"},
    {"path": "/dev/none", "hostPath": "/dev/loop-control", "permissions": "none"}]}}]'
  container app 'true </dev/one && echo read; true 2>/dev/null >/dev/one || echo not written; true </dev/none || echo nothing'
  run run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  # Lines of two streams may come in another order.
  has $'read\nnot written\nnothing' "$(grep -v '^/bin/sh: ' output)"
  has "/dev/none: Operation not permitted" "$(<output)"
}

@test "a device of one container; a program of another user can open its node" {
  gpus
  container one 'ls /dev/0; id -u; head -c 2 /dev/0 | wc -c'
  container two 'ls /dev/0 2>/dev/null || echo none'
  run run_pod --cdi cdi --device one:vendor.com/gpu=0 --user web --restart never
  has $'one | /dev/0\none | 1000\none | 2' "$(grep '^one' output)"
  equal "two | none" "$(grep '^two' output)"
  run run_pod --cdi cdi --device other:vendor.com/gpu=0
  exits 1
  has '--device other:vendor.com/gpu=0: the document has no container "other"' "$(<output)"
}

@test "GPUs by number: each belongs to one pod until its end, second names and all do not count" {
  gpus
  container app "$UP"
  required_gpus 2
  run_pod --cdi cdi --detach
  eventually has_devices "$POD" "0 1"
  sed -i 's/required: 2}/required: 1}/' app.yaml
  POD=$ID-b run_pod --cdi cdi --detach
  eventually has_devices "$ID-b" 2
  POD=$ID-c
  run run_pod --cdi cdi --detach
  exits 1
  has "1 of the devices vendor.com/gpu is needed, and the host has 3, of which other pods have 3" "$(<output)"
  POD=$ID
  pod stop "$ID-b"
  POD=$ID-c run_pod --cdi cdi --detach
  eventually has_devices "$ID-c" 2
  POD=$ID-d run_pod --cdi cdi --device vendor.com/gpu=0 --detach
  eventually has_devices "$ID-d" 0
}

@test "a pod whose supervisor was killed has its GPUs until the end, also when it is adopted" {
  gpus
  container app "$UP"
  required_gpus 2
  run_pod --cdi cdi --detach
  eventually has_devices "$POD" "0 1"
  kill -KILL "$(says .supervisor)"
  reaches .status failed
  POD=$ID-b
  run run_pod --cdi cdi --detach
  exits 1
  has "the host has 3, of which other pods have 2" "$(<output)"
  quietly pod start "$ID"
  run run_pod --cdi cdi --detach
  exits 1
  has "the host has 3, of which other pods have 2" "$(<output)"
  pod stop "$ID"
  run_pod --cdi cdi --detach
  eventually has_devices "$ID-b" "0 1"
}

@test "too few GPUs are an error before anything starts" {
  gpus
  container app "$UP"
  required_gpus 4
  run run_pod --cdi cdi
  exits 1
  has "/spec/containers/0/resources: 4 of the devices vendor.com/gpu are needed, and the host has 3" "$(<output)"
  run run_pod
  exits 1
  has "GPUs are required, and no CDI specification in /etc/cdi, /var/run/cdi has devices of the class gpu" "$(<output)"
  equal "" "$(pod_names)"
}

@test "Knative's limits name a kind of devices" {
  gpus
  cat >app.yaml <<END
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: hello}
spec:
  template:
    spec:
      containers: [{image: base, resources: {limits: {vendor.com/gpu: 2}}, command: [/bin/sh, -c],
        args: ['while :; do nc -l -p 8080 >/dev/null; done & $UP']}]
END
  run_pod --cdi cdi --detach
  eventually has_devices "$POD" "0 1"
  run ocirun pod validate app.yaml
  output_mentions "needs: app.yaml:7:"
  output_mentions "devices of the kind vendor.com/gpu, 2: a CDI specification of the host"
  run ocirun pod export --to kubernetes app.yaml
  output_mentions "vendor.com/gpu"
}

@test "start, restart and a container that is started again have the same devices; the specifications are read again" {
  gpus
  container app "$UP"
  run_pod --cdi cdi --device vendor.com/gpu=1 --keep --detach
  eventually has_devices "$POD" 1
  pod stop "$POD"
  quietly ocirun pod start --data "$TMP/data" "$POD"
  eventually has_devices "$POD" 1
  sed -i 's|"/dev/1"|"/dev/11"|' cdi/gpus.json
  quietly ocirun pod restart --data "$TMP/data" --grace 0 "$POD"
  eventually has_devices "$POD" 11
  rm cdi/gpus.json
  run pod restart --grace 0 "$POD"
  exits 1
  output_mentions "no CDI specification in $PWD/cdi has devices of the kind vendor.com/gpu"
  equal running "$(says .status)"
}

@test "--replace does nothing while the specifications of the pod's devices are the same" {
  gpus
  container app "$UP"
  required_gpus 1
  run_pod --cdi cdi --detach
  eventually has_devices "$POD" 0
  run_pod --cdi cdi --detach --replace
  has "nothing was replaced" "$(<output)"
  sed -i 's|"/dev/0"|"/dev/00"|' cdi/gpus.json
  run_pod --cdi cdi --detach --replace
  eventually has_devices "$POD" 00
}

@test "faults of specifications: of the own vendor an error, of another one a warning" {
  gpus
  container app 'ls /dev/0'
  specification other other.com/gpu '[{"name": "0", "containerEdits": {"evn": ["A=b"]}}]'
  run run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  succeeds
  has "warning: a CDI specification that this pod does not need is left out: $PWD/cdi/other.json:8:" "$(<output)"
  has "/devices/0/containerEdits/evn: unknown name (did you mean env?)" "$(<output)"
  run run_pod --cdi cdi --device other.com/gpu=0
  exits 1
  has "a CDI specification of the kind other.com/gpu cannot be used: $PWD/cdi/other.json:8:" "$(<output)"
  rm cdi/other.json
  specification again vendor.com/gpu "[$(node 0 3)]"
  run run_pod --cdi cdi --device vendor.com/gpu=0
  exits 1
  has "both $PWD/cdi/again.json and $PWD/cdi/gpus.json describe the device vendor.com/gpu=0" "$(<output)"
  mkdir later
  mv cdi/again.json later
  run run_pod --cdi cdi --cdi later --device vendor.com/gpu=0 --restart never
  succeeds
  chmod 666 later/again.json
  run run_pod --cdi later --device vendor.com/gpu=0
  exits 1
  has "its mode 0666 lets others write" "$(<output)"
  run run_pod --cdi absent --device vendor.com/gpu=0
  exits 1
  has "CDI specifications in $PWD/absent: open absent: no such file or directory" "$(<output)"
  run run_pod --device /dev/zero
  exits 1
  has "--device: /dev/zero: must have the form [CONTAINER:]VENDOR/CLASS=NAME" "$(<output)"
  equal "" "$(pod_names)"
}

@test "a hook that fails ends the start, and nothing is left" {
  specification vendor vendor.com/gpu '[{"name": "0", "containerEdits": {"hooks": [{"hookName": "createRuntime", "path": "/bin/false"}]}}]'
  container app true
  run run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  exits 1
  has "/bin/false" "$(<output)"
  equal "" "$(pod_names)"
}

@test "a device must not hide a volume of the document; a hostile image leads no mount out of it" {
  mkdir -p lib data-dir outside
  specification vendor vendor.com/gpu '[{"name": "0", "containerEdits": {"mounts": [{"hostPath": "'"$PWD"'/lib", "containerPath": "/v"}]}},
    {"name": "1", "containerEdits": {"mounts": [{"hostPath": "'"$PWD"'/lib", "containerPath": "/link/new"}]}}]'
  cat >app.yaml <<END
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: shop}
spec:
  containers:
  - {name: app, image: base, cmd: [/bin/true], resources: {cpu: {required: 0.1}, memory: {required: 8M},
     volumes: [{name: v, mountPath: /v, sharingPolicy: Shared}]}}
END
  run run_pod --cdi cdi --device vendor.com/gpu=0 --volume "v=$PWD/data-dir"
  exits 1
  has "the mount of a device at /v would hide what is mounted there" "$(<output)"
  ln -s "$PWD/outside" "$BUNDLE/rootfs/link"
  make_image hostile base '{"Entrypoint":["/bin/sh","-c"]}' "$BUNDLE/rootfs"
  run ocirun pod run --data "$TMP/data" --images hostile --net none --restart never --cdi cdi --device vendor.com/gpu=1 \
    --name "$POD" --volume "v=$PWD/data-dir" app.yaml
  equal "" "$(ls outside)"
}

@test "plan writes the devices into bundles; unit keeps the options; bundles of the operator have their own" {
  gpus
  container app "$UP"
  run pod plan --images images --cdi cdi --device vendor.com/gpu=0 -o out app.yaml
  succeeds
  equal '{"path":"/dev/0","type":"c","major":1,"minor":5,"uid":0,"gid":0}' "$(jq -c '.linux.devices[0]' out/app/config.json)"
  equal '{"allow":true,"type":"c","major":1,"minor":5,"access":"rwm"}' "$(jq -c '.linux.resources.devices[1]' out/app/config.json)"
  run pod unit --images images --cdi cdi --device app:vendor.com/gpu=0 app.yaml
  output_mentions "--device=app:vendor.com/gpu=0"
  output_mentions "--cdi=$PWD/cdi"
  run pod run --profile knative --device vendor.com/gpu=0 "$BUNDLE"
  exits 1
  output_mentions "--device is for documents"
}
