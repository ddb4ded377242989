# What an image says of itself and what the operator says instead: users and their groups, labels, where images are.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# app NAME IMAGE SCRIPT: adds a container of this image to app.yaml, of a kind whose containers have the image's program.
app() {
  [[ -e app.yaml ]] || printf '%s\n' 'name: shop' 'type: Radius.Compute/containers@2025-08-01-preview' properties: '  containers:' >app.yaml
  echo "    $1: {image: $2, command: [/bin/sh, -c], args: [$(jq -Rs . <<<"$3")]}" >>app.yaml
}

# appc IMAGE-MEMBERS [APP-MEMBERS]: an App Container pod with the app "one", whose image has these members.
appc() {
  echo '{"acVersion": "0.8.11", "acKind": "PodManifest", "apps": [{"name": "one", "image": {"id": "sha512-...", '"$1"'},
    "app": {"exec": ["/bin/true"], "user": "0", "group": "0"}'"${2:+, $2}"'}]}' >app.yaml
}

# plan OPTION…: `pod plan` of app.yaml into the new directory out.
plan() {
  rm -rf out
  run pod plan -o out "$@" app.yaml
}

@test "CVE-2022-36109 the primary group is among the supplementary groups, however the user is named" {
  local name groups='grep Groups: /proc/self/status | xargs'
  printf 'extra:x:1001:web\nother:x:1002:bin\nadmin:x:1003:root\n' >>"$BUNDLE/rootfs/etc/group"
  rm -rf images
  make_image images root '{}' "$BUNDLE/rootfs"
  for name in web 1000 4000 1000:7 web:extra; do
    make_image images "u-${name/:/-}" "{\"User\": \"$name\"}" "$BUNDLE/rootfs"
    app "u-${name/:/-}" "u-${name/:/-}" "$groups"
  done
  app root root "$groups"
  run run_pod --restart never
  equal 0 "$status"
  equal "root | Groups: 0 1003
u-1000 | Groups: 1000 1001
u-1000-7 | Groups: 7
u-4000 | Groups: 0
u-web | Groups: 1000 1001
u-web-extra | Groups: 1001" "$(sort output)"
  rm app.yaml
  app one root "$groups; sleep 1000"
  for name in 'web 1000 1001' '1000 1000 1001' '101:102 102' 'web:tty 5'; do
    run_pod --detach --restart never --user "${name%% *}"
    eventually has_lines one 1
    equal "Groups: ${name#* }" "$(pod logs "$POD")"
    equal "Groups: ${name#* }" "$(pod exec "$POD" sh -c "$groups")"
    pod delete --force "$POD"
  done
}

@test "only labels that describe an image become annotations; a warning names those that look like ours, and no others" {
  local labels='"krun.cpus": "1", "module.wasm.image/variant": "compat", "dev.gvisor.spec.mount.m.type": "bind", "bundle": "/", "io.buildah.version": "1.28", "org.ocirun.landlock.execute": "/"'
  rm -rf images
  make_image images base "{\"Entrypoint\": [\"/bin/true\"], \"Labels\": {$labels, \"org.opencontainers.image.version\": \"7\"}}" "$BUNDLE/rootfs"
  app one base true
  plan --images images
  succeeds
  output_mentions 'warning: one: labels of the image that have no effect, because only the operator may give a container such annotations: "org.ocirun.landlock.execute"'
  output_never_mentions buildah
  equal '{"org.opencontainers.image.architecture":"x","org.opencontainers.image.os":"linux","org.opencontainers.image.version":"7"}' \
    "$(jq -Sc '.annotations | ."org.opencontainers.image.architecture" = "x"' out/one/config.json)"
}

@test "AC-6 os, arch and version of an App Container's image are compared with the image" {
  local machine=amd64
  case $(uname -m) in aarch64) machine=aarch64 ;; x86_64) ;; *) machine=$(uname -m) ;; esac
  rm -rf images
  make_image images base '{"Labels": {"org.opencontainers.image.version": "1.2"}}' "$BUNDLE/rootfs"
  appc '"labels": [{"name": "os", "value": "linux"}, {"name": "arch", "value": "'"$machine"'"}, {"name": "version", "value": "1.2"}]'
  plan --image one=images:base
  succeeds
  appc '"labels": [{"name": "os", "value": "freebsd"}, {"name": "arch", "value": "sparc"},
    {"name": "version", "value": "1.3"}, {"name": "channel", "value": "beta"}]'
  plan --image one=images:base
  equal 1 "$status"
  output_mentions '/apps/0/image/labels/0/value: the label "os" is "freebsd", but the image of the app "one" says "linux": --image one=SOURCE names another image'
  output_mentions '/apps/0/image/labels/1/value: the label "arch" is "sparc", but'
  output_mentions 'app.yaml:2:34: /apps/0/image/labels/2/value: the label "version" is "1.3", but the image of the app "one" says "1.2"'
  [[ ! -e out ]]
  appc '"labels": [{"name": "channel", "value": "beta"}]'
  plan --image one=images:base
  succeeds
  output_mentions 'warning: app.yaml:1:145: /apps/0/image/labels/0/value: the label "channel" is not compared, because the image has no label "channel"'
}

@test "--image takes a reference of the layout of --images as well as a path; an image that is not bound is told with its app" {
  local word
  make_image images second '{}' "$BUNDLE/rootfs"
  make_image other third '{}' "$BUNDLE/rootfs"
  appc '"name": "example.com/one"'
  plan --images images
  equal 1 "$status"
  output_mentions '/apps/0/image/id: not reified: "sha512-..." is no hash of an image: --image one=SOURCE names the image of the app "one"'
  for word in base second oci:images:base images:second other; do
    plan --images images --image "one=$word"
    succeeds
  done
  plan --images images --image example.com/one=none
  equal 1 "$status"
  output_mentions 'container "one": --image example.com/one=none: images: no image "none", it has "base", "second"'
  plan --image one=base
  output_mentions '--image one=base: there is no such path, and --images DIR is missing, whose layout may have an image of that name'
  plan --images images --image one=./base
  output_mentions '--image one=./base: ./base: no such file or directory'
  plan --image one=docker://registry.example/x
  output_mentions 'container "one": --image one=docker://registry.example/x: pull registry.example/x:latest: '
  sed -i "s/sha512-.../sha512-$(printf '%0128d' 0)/" app.yaml
  plan
  output_mentions "nothing says where the image \"sha512-000"
  output_mentions 'of the app "one" is: --image one=SOURCE names an OCI layout or an archive, --images DIR a layout that has it'
  plan --images images
  output_mentions '--image one=REFERENCE takes another image of it for the app "one"'
}

@test "a directory of skopeo's transport dir: is recognized, and told how it becomes a layout" {
  app one base true
  mkdir copied
  echo 'Directory Transport Version: 1.1' >copied/version
  echo '{"schemaVersion": 2}' >copied/manifest.json
  local word
  for word in copied dir:copied; do
    plan --image "one=$word"
    equal 1 "$status"
    output_mentions "--image one=$word: copied: is a directory of skopeo's transport dir:, which has no names and is not read: \`skopeo copy dir:copied oci:DIR:NAME\`"
  done
}

@test "a config file over a directory and a volume over a file have their places" {
  container one true 'config: [{path: /etc/note, value: x}, {path: /usr/bin, value: x}]'
  plan --images images
  equal 1 "$status"
  output_mentions 'container "one": app.yaml:11:43: /spec/containers/0/config/1: a file cannot take the place of /usr/bin, which is a directory of the image'
  rm app.yaml
  container one true 'config: [{path: /etc/passwd/x, value: x}]'
  plan --images images
  output_mentions '/spec/containers/0/config/0: a part of the path /etc/passwd/x is a file of the image'
  sed -i 's/memory: {required: 8M}/&, volumes: [{name: v, mountPath: \/etc\/passwd, disk: {required: 1K}}]/; /config:/d' app.yaml
  plan --images images --volume "v=$TMP/images"
  output_mentions 'a directory cannot take the place of /etc/passwd, which is a file of the image'
}

@test "OAM-23 imagePullSecret is told as a need, and run says if nothing gives it" {
  container one true 'imagePullSecret: key'
  run ocirun pod validate app.yaml
  succeeds
  output_mentions 'app.yaml:11:22: /spec/containers/0/imagePullSecret: the credentials "key" for a registry: --pull-secret key=AUTHFILE, else your own are used'
  plan --images images
  output_mentions 'warning: app.yaml:11:22: /spec/containers/0/imagePullSecret: has no effect: --pull-secret key=AUTHFILE would give its credentials'
}

@test "--env, --env-file and --label: for all containers, stronger than the document, as they are written" {
  app one base 'echo "$A|$B|$C|$D"'
  sed -i 's/image: base/&, env: {A: {value: document}, B: {value: "$(A)"}}/' app.yaml
  printf '# a comment\n\nC=of the file = with signs\nA=lost\r\nD\n' >file
  export D='from here'
  run run_pod --restart never --env 'A=$(B) "quoted"' --env-file file
  equal 0 "$status"
  equal '$(B) "quoted"|$(B) "quoted"|of the file = with signs|from here' "$(<output)"
  unset D
  run run_pod --restart never --env-file file
  equal 1 "$status"
  has '--env-file file: line 5: D: the variable is not set here: D=VALUE gives the value' "$(<output)"
  run run_pod --restart never --env '=x'
  has '--env: "=...": must have the form NAME=VALUE or NAME' "$(<output)"
  sed -i 's/echo .*|$D"/exec sleep 1000/' app.yaml
  app two base 'exec sleep 1000'
  run_pod --detach --label team=blue --label tier=web || show_output
  equal "blue web" "$(ocirun state "$POD.two" | jq -r '.annotations | "\(.team) \(.tier)"')"
  plan --images images --env A=planned
  equal A=planned "$(jq -r '.process.env[]' out/two/config.json | grep ^A=)"
}
