# `ocirun pod stats`: what the containers of pods use.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/pod-scene.bash"

# stats FILTER: what `pod stats --format json` says of the pod $POD.
stats() { pod stats --format json "$POD" | jq -c "$1"; }
# holds FILTER: it says true.
holds() { [[ $(stats "$1") == true ]] || { stats . && return 1; }; }

@test "a container that works and one that sleeps: CPU, memory with its limit, pids, network, restarts" {
  container busy 'while :; do :; done'
  container idle 'head -c 8000000 /dev/zero | tail -c 8000000 | { sleep 1000; }'
  run_pod --detach
  eventually holds '[.[] | .container] == ["busy", "idle"]'
  holds '.[0].cpuPercent > 5 and .[0].cpuPercent > .[1].cpuPercent'
  holds '.[0].cpuNanoseconds > .[1].cpuNanoseconds and .[1].cpuNanoseconds > 0'
  holds 'all(.[]; .memoryBytes > 0 and .memoryWorkingSetBytes <= .memoryBytes and .pids >= 1 and .restarts == 0)'
  holds '.[1].pids >= 2'
  holds 'all(.[]; .networkReceivedBytes == 0 and .networkSentBytes == 0)' # a network of its own with a loopback device only
  equal "$(says '.containers[0] | "\(.id) \(.pid)"')" "$(stats '.[0] | "\(.id) \(.pid)"' | jq -r .)"
  run pod stats --no-stream "$POD"
  equal "POD CONTAINER CPU % MEMORY / LIMIT PEAK PIDS BLOCK READ / WRITTEN NET RECEIVED / SENT RESTARTS" "$(head -n 1 <<<"$output" | xargs)"
  equal 3 "$(wc -l <<<"$output")"
  like "^$POD +busy +[0-9]+\.[0-9]{2} " "$(sed -n 2p <<<"$output")"
  like "^$POD +idle +[0-9]+\.[0-9]{2} .* 0 B / 0 B +0\$" "$(sed -n 3p <<<"$output")"
  equal 3 "$(pod stats | wc -l)" # no terminal: once, also without --no-stream
}

@test "the limit of memory is the container's, or the pod's if that is smaller" {
  printf '%s\n' 'name: shop' 'type: Radius.Compute/containers@2025-08-01-preview' properties: '  containers:' '    app:' '      image: base' \
    '      command: [/bin/sh, -c]' '      args: ["exec sleep 1000"]' '      resources: {limits: {memoryInMib: 64}}' >app.yaml
  run_pod --detach
  [[ $(stats '.[0].memoryBytes') != null ]] || skip "needs a memory controller"
  equal 67108864 "$(stats '.[0].memoryLimitBytes')"
  has "/ 64.0 MiB" "$(pod stats --no-stream "$POD")"
}

@test "a pod whose supervisor was killed has numbers still; one that has ended has none, and says so; restarts are counted" {
  container app 'exec sleep 1000'
  run_pod --detach
  kill -KILL "$(says .supervisor)"
  eventually is_now .supervisor null
  holds 'length == 1 and .[0].memoryBytes > 0'
  pod stop "$POD"
  run pod stats "$POD"
  equal 0 "$status"
  output_mentions "no program of the pod \"$POD\" runs"
  equal '[]' "$(stats . 2>/dev/null)"
  equal '[]' "$(pod stats --format json)"
  pod delete "$POD"
  rm app.yaml
  container app 'exec sleep 1000'
  run_pod --detach
  pod kill "$POD" KILL
  reaches '.containers[0] | "\(.restarts) \(.status)"' '1 running'
  equal 1 "$(stats '.[0].restarts')"
  run pod stats nobody
  equal 1 "$status"
  output_mentions 'there is no pod "nobody"'
}

@test "on the host's network no traffic is the pod's" {
  container app 'exec sleep 1000'
  run_pod --detach --net host
  equal '[null,null]' "$(stats '.[0] | [.networkReceivedBytes, .networkSentBytes]')"
}

@test "on a terminal the table is refreshed until Ctrl-C, or until the pod has ended" {
  container app 'exec sleep 1000'
  run_pod --detach
  run "$LIB/pty" --size 24x200 --when "$POD" --input '\x03' env --default-signal=INT "$OCIRUN" --root "$ROOT" pod stats --data "$TMP/data" "$POD"
  like 'RESTARTS' "$output"
  like 'status (-2|130)$' "$output"
  # When the table is there, a line is typed, and the shell stops the pod.
  run "$LIB/pty" --size 24x200 --when "$POD" --input 'stop\n' sh -c '"$0" --root "$1" pod stats --data "$2" "$3" &
    read -r line; "$0" --root "$1" pod stop --data "$2" "$3"; wait' "$OCIRUN" "$ROOT" "$TMP/data" "$POD"
  has "no program of the pod" "$output"
  [[ $(grep -c RESTARTS <<<"$output") -ge 2 ]]
}
