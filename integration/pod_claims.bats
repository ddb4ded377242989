# What happens to a container of a pod whose runtime cannot say whose container it is: it is removed if it is the pod's, and never forgotten.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

readonly LOADER='error while loading shared libraries: libyajl.so.2: cannot open shared object file: No such file or directory'

# runtime: makes ./runtime a runtime whose state and delete cannot work while ./is-broken exists.
runtime() {
  cat >runtime <<END
#!/bin/sh
for word; do
  case \$word in
    state | delete) [ ! -e $TMP/is-broken ] || { echo "$LOADER" >&2; exit 127; } ;;
  esac
done
exec $OCIRUN "\$@"
END
  chmod 0755 runtime
}

# lose_supervisor: kills the supervisor of the pod, and waits until it is gone.
lose_supervisor() {
  local supervisor
  supervisor=$(says .supervisor)
  kill -KILL "$supervisor"
  eventually eval "! kill -0 $supervisor"
}

@test "a container whose state is damaged is removed with its pod, whose supervisor was killed" {
  local text
  for text in '' '{"format":1'; do
    rm -f app.yaml
    container app 'exec sleep 1000'
    run_pod --detach
    lose_supervisor
    printf '%s' "$text" >"$ROOT/$POD.app/state.json"
    pod delete --force "$POD"
    equal "" "$(ocirun list -q)"
    equal "" "$(pod_names)"
  done
}

@test "a container whose creation was cut off with its supervisor is removed with the pod" {
  container app 'exec sleep 1000'
  mkdir -p cut && printf '#!/bin/sh\ntouch %s\nexec sleep 1000\n' "$TMP/in-hook" >cut/hook && chmod 0755 cut/hook
  cat >runtime <<END
#!/bin/sh
bundle=\$(printf '%s\\n' "\$@" | sed -n '/^--bundle\$/{n;p;}')
if [ "\$bundle" ]; then
  jq '.hooks = {createRuntime: [{path: "$TMP/cut/hook"}]}' "\$bundle/config.json" >"\$bundle/hooked"
  mv "\$bundle/hooked" "\$bundle/config.json"
fi
exec $OCIRUN "\$@"
END
  chmod 0755 runtime
  run_pod --runtime "$TMP/runtime" --detach &
  local starting=$!
  eventually test -e in-hook
  lose_supervisor
  wait "$starting" || true
  eventually test ! -e "$ROOT/$POD.app/state.json"
  pod delete --force "$POD"
  equal "" "$(ocirun list -q)"
  equal "" "$(pod_names)"
}

@test "a runtime that cannot be loaded says nothing about the container, which is kept and started again later" {
  runtime
  container app 'trap "exit 0" TERM; until [ -e /end ]; do sleep 0.1; done; rm /end'
  run_pod --runtime "$TMP/runtime" --detach
  touch is-broken
  pod exec -c app "$POD" touch /end
  eventually has_event not-removed
  equal true "$(jq '.containers[0].claimed' "data/pods/$POD/pod.json")"
  rm is-broken
  reaches '.containers[0] | [.restarts > 0, .status] | tojson' '[true,"running"]'
}

@test "a pod whose runtime is away is not deleted, and its container is not forgotten" {
  runtime
  container app 'exec sleep 1000'
  run_pod --runtime "$TMP/runtime" --detach
  lose_supervisor
  mv runtime away
  run pod delete --force "$POD"
  ((status != 0))
  grep -F "$TMP/runtime" <<<"$output"
  mv away runtime
  pod delete --force "$POD"
  equal "" "$(ocirun list -q)"
}
