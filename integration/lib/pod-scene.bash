# shellcheck shell=bash
# Pods of app.yaml for tests: `source "$LIB/pod-scene.bash"` after lib/common. Each test has images/ with the image "base", $POD (a
# pod's name), and data/ for images and pods; teardown deletes the pods.
# shellcheck disable=SC2034 # tests use $POD
# shellcheck source=integration/lib/image.bash
source "$LIB/image.bash"
# shellcheck source=integration/lib/pods.bash
source "$LIB/pods.bash"

setup() {
  common_setup
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  make_image images base '{"Entrypoint":["/bin/sh","-c"],"Cmd":["echo from the image"],"Env":["FROM=image"]}' "$BUNDLE/rootfs"
  POD=$ID
}

teardown() {
  delete_pods
  common_teardown
}

# run_pod [OPTION…]: runs app.yaml with the test's images and no network. A supervisor that stays must not keep bats' pipes.
run_pod() {
  ocirun pod run --data "$TMP/data" --images images --net none --grace 1 --name "$POD" "$@" app.yaml \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}

# container NAME SCRIPT [YAML-LINE…]: adds a container that runs a script to app.yaml.
container() {
  [[ -e app.yaml ]] || printf '%s\n' 'apiVersion: core.oam.dev/v1alpha2' 'kind: ContainerizedWorkload' 'metadata: {name: shop}' \
    spec: '  containers:' >app.yaml
  {
    echo "  - name: $1"
    echo "    image: base"
    echo "    resources: {cpu: {required: 0.1}, memory: {required: 8M}}"
    echo "    cmd: [/bin/sh, -c]"
    echo "    args: [$(jq -Rs . <<<"$2")]"
    printf '    %s\n' "${@:3}"
  } >>app.yaml
}
