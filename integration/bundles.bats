# Bundles as other tools write them: of umoci with every image, of `spec`, and with the annotations of engines and other runtimes.
# shellcheck disable=SC2016 # jq's variables
load lib/common
source "$LIB/image.bash"
source "$LIB/registry.bash"

# runs_as_it_is: the bundle $BUNDLE runs, prints "ran" and no warning.
runs_as_it_is() {
  run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
  succeeds ran || return 1
  equal "" "$stderr"
}

# The members of an image's configuration, one a line. The first bundle is of an image that has none of them, the last of one with all.
MEMBERS='{}
{"User": "web"}
{"User": ""}
{"ExposedPorts": {"80/tcp": {}, "53/udp": {}}}
{"Env": ["FROM=image"]}
{"Entrypoint": ["/bin/echo", "ran"]}
{"Cmd": ["/bin/echo", "ran"]}
{"Volumes": {"/data": {}}}
{"WorkingDir": "/srv/app"}
{"Labels": {"com.example": "", "org.opencontainers.image.os": "", "org.opencontainers.image.title": ""}}
{"StopSignal": ""}
{"StopSignal": "SIGQUIT"}
{"User": "1:1", "ExposedPorts": {"80/tcp": {}}, "Env": [], "Cmd": ["/bin/echo", "ran"], "Volumes": {}, "WorkingDir": "", "Labels": {}, "StopSignal": "15"}'

@test "T-7 bundles that umoci unpacks run as they are, of an image without and with each member" {
  command -v umoci >/dev/null || skip 'umoci is not installed: `./dev part images` installs it'
  local member number=0
  while read -r member; do
    number=$((number + 1))
    make_image "$TMP/layout" "$number" "$member" "$BUNDLE/rootfs"
    umoci unpack --image "$TMP/layout:$number" "$TMP/$number" >/dev/null 2>&1
    BUNDLE=$TMP/$number config '.process.terminal = false | .process.args = ["/bin/echo", "ran"] | .linux.cgroupsPath = $c' --arg c "/$ID"
    (BUNDLE=$TMP/$number runs_as_it_is) || { echo "the image's config was $member"; return 1; }
  done <<<"$MEMBERS"
}

@test "T-7 a bundle that umoci unpacks for an ordinary user runs as it is, if the image's user is root" {
  command -v umoci >/dev/null || skip 'umoci is not installed: `./dev part images` installs it'
  make_image "$TMP/layout" base '{"Cmd":["/bin/sh"]}' "$BUNDLE/rootfs"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  mkdir "$TMP/home"
  chown 12345:12345 "$TMP/home"
  cd "$TMP/home"
  as_user() { setpriv --reuid 12345 --regid 12345 --clear-groups env -i HOME="$TMP/home" XDG_RUNTIME_DIR="$TMP/home" PATH="$PATH" "$@"; }
  as_user umoci unpack --rootless --image "$TMP/layout:base" web >/dev/null 2>&1
  run as_user script -qec "$OCIRUN run -b web web1" /dev/null <<<'echo "user $(id -u)"; exit 3'
  exits 3 "user 0"
}

# as_readme_says NUMBER ID COMMAND: runs that block of commands from README.md's section about images in the directory $TMP/here, with $ID for
# the block's ID. The container's shell, on a terminal, gets COMMAND.
as_readme_says() {
  {
    printf 'set -eo pipefail\nocirun() { %q --root %q "$@"; }\n' "$OCIRUN" "$ROOT"
    sed -n '/^## A container from an image/,/^## /p' "$REPO/README.md" | awk -v n="$1" '/^```/ {fences++; next} fences == 2 * n - 1' |
      sed "s/\\b$2\\b/$ID/"
  } >"$TMP/commands"
  contains "$TMP/commands" "ocirun run -b ${2%1} $ID"
  cd "$TMP/here"
  run command script -qec "bash $TMP/commands" /dev/null <<<"$3"
}

# debian_at_hand: docker.io/library/debian:12 is an image of busybox, in a registry on the loopback device.
debian_at_hand() {
  local tool
  needs_registry
  for tool in podman umoci; do command -v "$tool" >/dev/null || skip "$tool is not installed: \`./dev part images\` installs it"; done
  trust
  mkdir "$TMP/here"
  printf '[[registry]]\nprefix = "docker.io/library"\nlocation = "%s/library"\ninsecure = true\n' "$REGISTRY" >>"$HOME/.config/containers/registries.conf"
  printf '[storage]\ndriver = "vfs"\nrunroot = "%s/run"\ngraphroot = "%s/storage"\n' "$TMP" "$TMP" >"$TMP/storage.conf"
  printf '[engine]\nevents_logger = "file"\ntmp_dir = "%s/podman"\nruntime = "ocirun"\n[engine.runtimes]\nocirun = ["%s"]\n' "$TMP" "$OCIRUN" \
    >"$TMP/containers.conf"
  export CONTAINERS_CONF=$TMP/containers.conf CONTAINERS_STORAGE_CONF=$TMP/storage.conf
  make_image "$TMP/layout" base '{"Cmd":["/bin/sh"],"Env":["PATH=/bin","FROM=image"],"User":"7:8","WorkingDir":"/etc"}' "$BUNDLE/rootfs"
  start_registry
  push_from "oci:$TMP/layout:base" library/debian:12
}

@test "README.md: an image becomes a container by skopeo and umoci, with the image's program, user and environment" {
  debian_at_hand
  as_readme_says 1 debian1 'echo "$FROM, $(id -u), $PWD"; exit 3'
  exits 3 "image, 7, /etc"
}

@test "README.md: an image becomes a container by podman export and ocirun spec" {
  debian_at_hand
  as_readme_says 2 box1 'echo "$FROM, $(id -u), $PWD"; exit 3'
  exits 3 ", 0, /"
  output_never_mentions image,
  equal '' "$(podman ps --all --quiet)"
}

@test "bundles of runc spec, crun spec and ctr oci spec run as they are" {
  local writer
  for writer in runc crun ctr; do
    command -v "$writer" >/dev/null || { echo "# $writer is not installed" >&3; continue; }
    rm "$BUNDLE/config.json"
    case $writer in
      ctr) ctr oci spec >"$BUNDLE/config.json" ;;
      *) (cd "$BUNDLE" && "$writer" spec) ;;
    esac
    config '.process.terminal = false | .process.args = ["/bin/echo", "ran"] | .linux.cgroupsPath = $c' --arg c "/$ID"
    runs_as_it_is || { echo "$writer wrote config.json"; return 1; }
  done
}

@test "T-6 T-7 T-8 annotations of engines and other runtimes, also empty ones, have no effect on a run" {
  local line filter
  program /bin/echo ran
  while read -r line; do
    for filter in '.' 'map_values("")'; do
      config ".annotations = (\$line.annotations | $filter)" --argjson line "$line"
      runs_as_it_is || { jq -r '"the annotations were written by " + .by' <<<"$line"; echo "filter: $filter"; return 1; }
    done
  done <"$LIB/annotations.jsonl"
}

@test "T-7 T-8 an odd value of an annotation that others define is a warning that names it" {
  local pair name
  program /bin/echo ran
  for pair in "org.opencontainers.image.stopSignal SIGNOPE" "org.opencontainers.image.stopSignal 0" "org.opencontainers.image.os plan9" \
    "org.criu.config relative.conf"; do
    name=${pair% *}
    config '.annotations = {($name): $value}' --arg name "$name" --arg value "${pair#* }"
    run --separate-stderr ocirun run --bundle "$BUNDLE" "$ID"
    succeeds ran
    [[ $stderr == *"/annotations/$name: "*"\"${pair#* }\""* ]] || fail_with_output
    run ocirun validate "$BUNDLE"
    succeeds
    output_mentions "/annotations/$name: "
  done
}

@test "T-7 kill sends TERM where the image's stop signal is no signal" {
  config '.annotations = {"org.opencontainers.image.stopSignal": "SIGNOPE"}'
  script 'trap "exit 3" TERM; echo ready >/got; while :; do sleep 0.01; done'
  create_and_start
  eventually contains "$BUNDLE/rootfs/got" ready
  ocirun kill "$ID"
  eventually status_is stopped
}
