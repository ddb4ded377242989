# The metadata service of an App Container pod: `ocirun pod run --metadata`.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/image.bash"

setup() {
  common_setup
  rm -rf "$BUNDLE/rootfs/dev" "$BUNDLE/rootfs/proc"
  make_image images base '{"Entrypoint":["/bin/sh"],"Env":["AC_METADATA_URL=image"],"Labels":{"org.example.title":"t"}}' "$BUNDLE/rootfs"
  POD=$ID
}

teardown() {
  [[ ! -e data/pods/$POD ]] || pod delete --force "$POD" || true
  common_teardown
}

# pod COMMAND…: `ocirun pod` with the test's directories.
pod() { ocirun pod "$1" --data "$TMP/data" "${@:2}"; }

# manifest SCRIPT [APP-MEMBER…]: writes app.json, whose app `one` runs a script; its app `two` sleeps.
manifest() {
  jq -n --arg script "$1" '{acVersion: "0.8.11", acKind: "PodManifest",
    apps: [{name: "one", image: {name: "example.com/one", id: "sha512-..."}, annotations: [{name: "foo", value: "baz"}],
            app: {exec: ["/bin/sh", "-c", $script], user: "0", group: "0"}},
           {name: "two", image: {name: "example.com/two", id: "sha512-..."},
            app: {exec: ["/bin/sleep", "1000"], user: "0", group: "0"}}],
    annotations: [{name: "ip-address", value: "10.1.2.3"}]}' >app.json
}

# run_pod [OPTION…]: runs app.json with a metadata service. A supervisor that stays must not keep bats' pipes.
run_pod() {
  ocirun pod run --data "$TMP/data" --net none --grace 1 --name "$POD" --metadata \
    --image example.com/one=images:base --image example.com/two=images:base "$@" app.json </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}
# start_pod [OPTION…]: runs a pod that stays, and finds the URL of its service.
start_pod() {
  manifest 'sleep 1000'
  run_pod --detach "$@"
  URL=$(pod exec -c one "$POD" sh -c 'echo $AC_METADATA_URL')
}

# recorded FILTER: what the record of the pod says.
recorded() { jq -r "$1" "data/pods/$POD/pod.json"; }
# inside COMMAND…: runs a program of the host in the pod's network.
inside() { nsenter --net="/proc/$(recorded .holder.pid)/ns/net" "$@"; }
# ask PATH [CURL-OPTION…]: asks the service, and prints the body. status_of PATH [CURL-OPTION…]: prints the status alone.
ask() { inside curl -s --max-time 30 "${@:2}" "$URL/acMetadata/v1/$1"; }
status_of() { inside curl -s --max-time 30 -o /dev/null -w '%{http_code}' "${@:2}" "$URL/acMetadata/v1/$1"; }
# says FILTER: what `pod status` says. events: the names of the pod's events.
says() { pod status --format json "$POD" | jq -r "$1"; }
events() { pod events "$POD" | jq -r .event | xargs; }
has() { [[ $2 == *"$1"* ]] || { printf 'expected: %s\nin:       %s\n' "$1" "$2" && return 1; }; }
like() { [[ $2 =~ $1 ]] || { printf 'expected to match: %s\nfound: %s\n' "$1" "$2" && return 1; }; }

@test "AC-22 AC-23 an app learns the pod's manifest, its own image and annotations from the service" {
  manifest 'for path in pod/uuid apps/$AC_APP_NAME/image/id pod/annotations apps/$AC_APP_NAME/annotations; do
    wget -qO - $AC_METADATA_URL/acMetadata/v1/$path; echo; done'
  jq 'del(.apps[1])' app.json >one.json && mv one.json app.json
  ocirun pod run --data "$TMP/data" --net none --name "$POD" --metadata --image example.com/one=images:base app.json \
    </dev/null >output 2>errors 3>&- 4>&-
  like '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$' "$(sed -n 1p output)"
  equal "$(jq -r '.manifests[0].digest | sub(":"; "-")' images/index.json)" "$(sed -n 2p output)"
  equal '[{"name":"ip-address","value":"10.1.2.3"}]' "$(sed -n 3p output)"
  equal '[{"name":"foo","value":"baz"},{"name":"org.example.title","value":"t"}]' "$(sed -n 4p output)"
  equal 4 "$(wc -l <output)"
}

@test "AC-22 each entry has its type of content; the manifests are reified, and the derived one is an image's" {
  start_pod
  local path
  for path in pod/annotations pod/manifest apps/two/annotations apps/two/image/manifest; do
    equal "200 application/json" "$(ask $path -o body -w '%{http_code} %{content_type}')"
    jq -e . body >/dev/null
  done
  for path in pod/uuid apps/two/image/id; do
    equal "200 text/plain; charset=us-ascii" "$(ask $path -o body -w '%{http_code} %{content_type}')"
  done
  ask pod/manifest >body
  equal "$(ask apps/one/image/id)" "$(jq -r '.apps[0].image.id' body)"
  equal '/bin/sleep 1000' "$(jq -r '.apps[1].app.exec | join(" ")' body)"
  equal one "$(jq -r '.apps[0].app.environment[] | select(.name == "AC_APP_NAME").value' body)"
  ask apps/one/image/manifest >body
  equal "ImageManifest example.com/one linux /bin/sh" \
    "$(jq -r '"\(.acKind) \(.name) \(.labels[] | select(.name == "os").value) \(.app.exec[0])"' body)"
  has "HTTP/1.1 200" "$(ask pod/uuid --head)"
}

@test "AC-22 the signature of a content is verified, and no other" {
  start_pod
  local uuid signature
  uuid=$(ask pod/uuid)
  signature=$(ask pod/hmac/sign --data-urlencode 'content=a & b')
  equal 64 "$(base64 -d <<<"$signature" | wc -c)"
  equal "$signature" "$(ask pod/hmac/sign -F 'content=a & b')"
  equal "200 text/plain; charset=us-ascii" "$(ask pod/hmac/sign -d content=x -o /dev/null -w '%{http_code} %{content_type}')"
  verified() { status_of pod/hmac/verify --data-urlencode "content=$1" --data-urlencode "uuid=$2" --data-urlencode "signature=$3"; }
  equal 200 "$(verified 'a & b' "$uuid" "$signature")"
  equal 403 "$(verified 'a & c' "$uuid" "$signature")"
  equal 403 "$(verified 'a & b' "${uuid/4/5}" "$signature")"
  equal 403 "$(verified 'a & b' "$uuid" "A$signature")"
  equal 400 "$(status_of pod/hmac/verify -d content=x)"
  equal 400 "$(status_of pod/hmac/sign -d other=x)"
  equal 415 "$(status_of pod/hmac/sign -d '{}' -H 'Content-Type: application/json')"
}

@test "AC-22 without the whole token there is nothing; another method is refused" {
  start_pod
  like '^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{64}$' "$URL"
  equal 404 "$(status_of pod/none)"
  equal 405 "$(status_of pod/uuid -X POST)"
  equal 405 "$(status_of pod/hmac/sign)"
  has "Allow: POST" "$(ask pod/hmac/sign -i)"
  URL=${URL%?}
  equal 404 "$(status_of pod/uuid)"
  URL=${URL%/*}
  equal 404 "$(status_of pod/uuid)"
  equal 404 "$(status_of ../../etc/passwd --path-as-is)"
}

@test "AC-22 AC_METADATA_URL is the service's in each app, whatever the image says; a document that sets it is refused" {
  start_pod
  equal "$URL" "$(pod exec -c two "$POD" sh -c 'echo $AC_METADATA_URL')"
  pod delete --force "$POD"
  jq '.apps[1].app.environment = [{name: "AC_METADATA_URL", value: "mine"}]' app.json >new && mv new app.json
  run run_pod
  equal 1 "$status"
  has 'app.json:' "$(<output)"
  has '/apps/1/app/environment/0: AC_METADATA_URL must not be set by the document' "$(<output)"
  [[ ! -e data/pods/$POD ]]
}

@test "AC-22 documents of other kinds have no metadata service" {
  printf '%s\n' 'name: shop' 'type: Radius.Compute/containers@2025-08-01-preview' \
    'properties: {containers: {app: {image: base}}}' >app.json
  run ocirun pod run --data "$TMP/data" --images images --metadata app.json
  equal 1 "$status"
  output_mentions "--metadata: only an App Container pod has a metadata service, not a document of the kind Radius container resource"
}

@test "AC-22 in the host's network the service is at a free port of 127.0.0.1, until the pod has ended" {
  start_pod --net host
  like '^http://127\.0\.0\.1:' "$URL"
  like '^[0-9a-f-]{36}$' "$(curl -s "$URL/acMetadata/v1/pod/uuid")"
  pod delete --force "$POD"
  run curl -s --max-time 5 "$URL/acMetadata/v1/pod/uuid"
  equal 7 "$status" # the connection is refused
}

@test "the service has no capabilities, no user, no files, no descriptors and no network but its own, and a filter; the pod's limits are its too" {
  start_pod
  local process name
  process=/proc/$(recorded .metadata.pid)
  for name in CapInh CapPrm CapEff CapBnd CapAmb; do like "$name:[[:space:]]0+$" "$(grep "$name" "$process/status")"; done
  like $'Uid:(\t65534){4}' "$(grep Uid: "$process/status")"
  like $'Gid:(\t65534){4}' "$(grep Gid: "$process/status")"
  like 'Groups:[[:space:]]*$' "$(grep Groups: "$process/status")"
  like 'NoNewPrivs:[[:space:]]1' "$(grep NoNewPrivs: "$process/status")"
  like 'Seccomp:[[:space:]]2' "$(grep Seccomp: "$process/status")"
  equal "" "$(ls -A "$process/root/")"
  for name in 0 1 2; do equal "character special file 1:3" "$(stat -Lc '%F %t:%T' "$process/fd/$name")"; done
  equal "anon_inode:[eventpoll] socket:" \
    "$(find "$process/fd" -name '[3-9]*' -printf '%l\n' | sed 's/socket:.*/socket:/' | LC_ALL=C sort | xargs)"
  for name in net pid ipc mnt; do
    [[ $(readlink "/proc/$(recorded .holder.pid)/ns/$name") != "$(readlink "$process/ns/$name")" ]]
    [[ $(readlink "/proc/self/ns/$name") != "$(readlink "$process/ns/$name")" ]]
  done
  has "/ocirun/$POD/metadata.service" "$(<"$process/cgroup")"
  equal "" "$(pod exec -c one "$POD" ps | grep ocirun-metadata || true)"
}

@test "a service that is killed is started again at the same address, and the pod goes on" {
  start_pod
  local uuid first
  uuid=$(ask pod/uuid) first=$(recorded .metadata.pid)
  kill -KILL "$first"
  equal "$uuid" "$(ask pod/uuid)" # waits until the service is there again
  restarted() { [[ $(recorded .metadata.pid) != 0 && $(recorded .metadata.pid) != "$first" ]]; }
  eventually restarted
  equal "created created started started running degraded recovered" "$(events)"
  equal running "$(says .status)"
  equal running "$(says '.containers[0].status')"
}

@test "AC-22 start adopts a pod whose supervisor was killed: the service has its address, its uuid and its key again" {
  start_pod
  local uuid key
  uuid=$(ask pod/uuid) key=$(ask pod/hmac/sign -d content=x)
  kill -KILL "$(says .supervisor)"
  is_lost() { [[ $(says .supervisor) == null ]]; }
  eventually is_lost
  pod start "$POD" </dev/null >"$TMP/output" 2>&1 3>&- 4>&- || show_output
  equal "$uuid" "$(ask pod/uuid)" # waits until the service is there again
  equal "$key" "$(ask pod/hmac/sign -d content=x)"
}

@test "a supervisor that is killed takes the service with it; delete removes the rest" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  kill -KILL "$(says .supervisor)"
  is_gone() { [[ ! -e /proc/$1 ]]; }
  eventually is_gone "$pid"
  pod delete "$POD"
}

# client SCRIPT: runs a Python script in the pod's network. It finds the address of the service in HOST, PORT and PATH.
client() {
  local address=${URL#http://}
  printf '%s\n' 'import os, socket, sys, time' 'HOST, PORT, PATH = sys.argv[1], int(sys.argv[2]), sys.argv[3]' \
    'def connect(): s = socket.create_connection((HOST, PORT), 30); s.settimeout(30); return s' "$1" >client.py
  inside timeout 120 python3 client.py "${address%%:*}" "$(cut -d: -f2 <<<"${address%%/*}")" "/${address#*/}/acMetadata/v1/"
}
# is_well: the service answers, is the process that it was, and uses little memory; the pod runs.
is_well() {
  like '^[0-9a-f-]{36}$' "$(ask pod/uuid)"
  equal "$1" "$(recorded .metadata.pid)"
  local kilobytes
  kilobytes=$(awk '/^RssAnon/ {print $2}' "/proc/$1/status")
  ((kilobytes < 8192)) || { echo "the service uses $kilobytes KiB" && return 1; }
  equal running "$(says .status)"
  equal "running running" "$(says '.containers[].status' | xargs)"
}

@test "hostile apps: connections that ask nothing do not keep others from the service" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  # Twice as many as the service has at a time, and all of them stay open while another one asks.
  client '
all = [connect() for i in range(128)]
asks = connect()
asks.sendall(b"GET " + PATH.encode() + b"pod/uuid HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
print(asks.recv(100).split(b"\r\n")[0].decode())' >answer
  equal "HTTP/1.1 200 OK" "$(<answer)"
  is_well "$pid"
}

@test "hostile apps: a request that trickles in is cut off after ten seconds" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  client '
slow, since = connect(), time.monotonic()
slow.settimeout(0.2)
slow.sendall(b"GET / HTTP/1.1\r\n")
while time.monotonic() - since < 60:
  try:
    slow.sendall(b"A")
    if slow.recv(1) == b"": break
  except TimeoutError: pass
  except OSError: break
print(5 < time.monotonic() - since < 40)' >answer
  equal True "$(<answer)"
  is_well "$pid"
}

@test "hostile apps: bodies without end are refused" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  client '
big = connect()
big.sendall(b"POST " + PATH.encode() + b"pod/hmac/sign HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\n")
print(big.recv(100).split(b"\r\n")[0].decode())
endless, sent = connect(), 0
endless.sendall(b"POST " + PATH.encode() + b"pod/hmac/sign HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n"
                b"Content-Type: application/x-www-form-urlencoded\r\n\r\n9\r\ncontent=a\r\n")
try:
  while sent < 1 << 30:
    endless.sendall(b"1000\r\n" + b"a" * 4096 + b"\r\n")
    sent += 4096
except OSError: pass
print(1 << 20 <= sent < 1 << 26)' >answer
  equal $'HTTP/1.1 413 Content Too Large\nTrue' "$(sed 's/ Payload / Content /' answer)"
  is_well "$pid"
}

@test "hostile apps: heads without end are refused" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  client '
def status(head):
  s = connect()
  try:
    s.sendall(head)
    return s.recv(100).split(b" ")[1].decode()
  except (OSError, IndexError): return "closed"
lines = b"".join(b"X-%d: y\r\n" % i for i in range(100000))
print(status(b"GET / HTTP/1.1\r\nHost: h\r\n" + lines + b"\r\n"), status(b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n\r\n"))' >answer
  like '^(431|413|closed) (414|431|closed)$' "$(<answer)"
  is_well "$pid"
}

@test "hostile apps: a flood of requests from all sides, some of them broken" {
  start_pod
  local pid
  pid=$(recorded .metadata.pid)
  client '
parts = [b"\0" * 100, b"GET\r\n\r\n", b"POST " + PATH.encode() + b"pod/hmac/sign HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n"
         b"Content-Type: multipart/form-data; boundary=\"\r\n\r\n---------", b"GET " + PATH.encode() + b"pod/manifest HTTP/1.1\r\nHost: h\r\n\r\n"]
for i in range(2000):
  s = connect()
  s.sendall(parts[i % 4])
  s.close()'
  is_well "$pid"
}
