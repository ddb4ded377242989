# Bundles as other tools write them: of umoci with every image, of `spec`, and with the annotations of engines and other runtimes.
# shellcheck disable=SC2016 # jq's variables
load lib/common
source "$LIB/image.bash"

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
