# CDI devices in pods of an ordinary user, who cannot make device nodes: the host's nodes are bound.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
load lib/ordinary-user
source "$LIB/pods-of-user.bash"

# specification DEVICES: writes cdi/vendor.json of the kind vendor.com/gpu; DEVICES are JSON.
specification() {
  mkdir -p cdi
  jq -n --argjson devices "$1" '{cdiVersion: "0.5.0", kind: "vendor.com/gpu", devices: $devices}' >cdi/vendor.json
}

@test "an ordinary user gets the host's node, and is warned of an owner and a mode that it cannot have" {
  specification '[{"name": "0", "containerEdits": {"env": ["GPU=zero"], "deviceNodes": [
    {"path": "/dev/deep/gpu0", "hostPath": "/dev/zero"}, {"path": "/dev/gpu1", "hostPath": "/dev/full", "uid": 7, "fileMode": 384}],
    "mounts": [{"hostPath": "'"$HOME_DIR"'/cdi", "containerPath": "/cdi", "options": ["ro", "bind"]}]}}]'
  container app 'stat -c "%A %t:%T" /dev/deep/gpu0 /dev/gpu1; head -c 3 /dev/deep/gpu0 | wc -c; ls /cdi; echo $GPU'
  run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  has 'fileMode, uid of the device node /dev/gpu1 cannot be set, because only root can make device nodes' "$(said)"
  equal 'crw-rw-rw- 1:5
crw-rw-rw- 1:7
3
vendor.json
zero' "$(grep -v ^ocirun: "$TMP/output")"
  nothing_left
}

@test "a node that the host does not have is an error" {
  specification '[{"name": "0", "containerEdits": {"deviceNodes": [{"path": "/dev/gpu0", "type": "c", "major": 1, "minor": 5}]}}]'
  container app 'true'
  run run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  equal 1 "$status"
  has "the host has no device node /dev/gpu0, and only root can make one" "$(said)"
  nothing_left
}

@test "hooks run as the user" {
  printf '#!/bin/sh\ncat /proc/self/uid_map >%s/map\n' "$HOME_DIR" >hook
  chmod 755 hook
  specification '[{"name": "0", "containerEdits": {"hooks": [{"hookName": "createRuntime", "path": "'"$HOME_DIR"'/hook"}]}}]'
  container app 'true'
  run_pod --cdi cdi --device vendor.com/gpu=0 --restart never
  equal "12345 12345" "$(awk 'NR == 1 {print $2}' map) $(stat -c %u map)"
  nothing_left
}
