# Services that people run, from Debian's packages, as pods: nginx, PostgreSQL and Python's HTTP server in images of one Debian root
# (lib/debian-rootfs). They get ready, answer at forwarded ports, keep their data, and end by the signals of their images.
# shellcheck disable=SC2016 # texts for the shells of containers

load lib/common
source "$LIB/image.bash"
source "$LIB/pods.bash"

# The images have one layer, which is unpacked once for all tests. pasta needs a device with a default route, which a sandbox has not.
setup_file() {
  DEBIAN=$("$LIB/debian-rootfs" --print) || skip "no Debian rootfs: run integration/lib/debian-rootfs where a mirror is reached"
  command -v pasta >/dev/null || skip "pasta is not installed (package passt)"
  command -v umoci >/dev/null || skip "umoci is not installed"
  WORK=$(mktemp -d /var/tmp/ocirun-services.XXXXXX)
  POD_DATA=$WORK/data IMAGES=$WORK/images
  export DEBIAN WORK POD_DATA IMAGES
  make_image "$IMAGES" debian '{"Env":["PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin"]}' "$DEBIAN"
  umoci config --image "$IMAGES:debian" --tag nginx --config.cmd nginx --config.cmd -g --config.cmd "daemon off; error_log stderr;" \
    --config.stopsignal SIGQUIT
  umoci config --image "$IMAGES:debian" --tag postgres --config.user postgres --config.cmd postgres --config.cmd -D --config.cmd /db/main \
    --config.cmd -c --config.cmd 'listen_addresses=*' --config.cmd -c --config.cmd unix_socket_directories=/tmp --config.stopsignal SIGINT
  umoci config --image "$IMAGES:debian" --tag python --config.user www-data --config.workingdir /srv --config.cmd python3 --config.cmd -u \
    --config.cmd -m --config.cmd http.server --config.cmd 8087 --config.stopsignal SIGINT
  ip link add outside type bridge
  ip address add 192.0.2.1/24 dev outside
  ip link set outside up
  ip route add default via 192.0.2.2
}

teardown_file() {
  [[ -n ${WORK:-} ]] || return 0
  ip link delete outside
  rm -rf "${WORK:?}"
}

setup() {
  common_setup
  POD=$ID
}

teardown() {
  delete_pods
  common_teardown
}

# runs [OPTION…]: runs app.yaml, detached, until all containers are ready.
runs() { quietly pod run --images "$IMAGES" --grace 30 --detach --publish-all --wait-ready=60 --name "$POD" "$@" app.yaml; }

# ends: stops the pod, whose containers end by themselves with status 0, and deletes it.
ends() {
  pod stop "$POD"
  equal "stopped 0" "$(says '"\(.status) \([.containers[].exitCode] | unique | map(tostring) | join(" "))"')"
  never_killed
  pod delete "$POD"
  equal "" "$(pod_names)"
}
never_killed() { [[ $(pod events "$POD") != *'"killing"'* ]] || { pod events "$POD" && return 1; }; }

fetch() { curl -s --max-time 10 "http://127.0.0.1:$1/"; }
fetches() { [[ $(fetch "$1") == "$2" ]]; }

# asks SQL: what the database answers at the forwarded port.
asks() { chroot "$DEBIAN" /usr/bin/psql -h 127.0.0.1 -U postgres -qAt -c "$1" 2>&1; }

# nginx writes the line after it has answered.
has_logged() { [[ $(pod logs "$POD") == *"$1"* ]]; }

@test "nginx: pages of a volume and a config file at a forwarded port, probes, workers of another user, the end by SIGQUIT" {
  mkdir pages
  echo "a page" >pages/index.html
  cat >app.yaml <<'DOCUMENT'
apiVersion: core.oam.dev/v1alpha2
kind: ContainerizedWorkload
metadata: {name: web}
spec:
  containers:
    - name: nginx
      image: nginx
      resources:
        cpu: {required: 0.2}
        memory: {required: 64M}
        volumes: [{name: pages, mountPath: /srv/www, accessMode: RO, disk: {required: 1K}}]
      config:
        - path: /etc/nginx/conf.d/shop.conf
          value: |
            access_log /dev/stdout;
            server { listen 8086; root /srv/www; location = /health { access_log off; return 204; } }
      ports: [{name: http, containerPort: 8086}]
      readinessProbe: {httpGet: {path: /health, port: 8086}, periodSeconds: 1}
      livenessProbe: {httpGet: {path: /health, port: 8086}, periodSeconds: 2}
DOCUMENT
  runs --volume "pages=$TMP/pages"
  equal "a page" "$(fetch 8086)"
  eventually has_logged 'GET / HTTP/1.1" 200'
  equal "0 33" "$(pod exec "$POD" sh -c 'for p in /proc/[0-9]*; do grep -q ^nginx $p/comm && stat -c %u $p; done' | sort -nu | xargs)"
  echo "another page" >pages/index.html
  equal "another page" "$(fetch 8086)"
  run fetch 8088
  equal 7 "$status" # nobody listens at a port that the document does not name
  ends
  run fetch 8086
  equal 7 "$status"
}

@test "PostgreSQL: a database that an init container makes; data stays when the server is killed and when the pod is made anew" {
  mkdir db
  chown "$(stat -c %u:%g "$DEBIAN/var/lib/postgresql")" db
  cat >app.yaml <<'DOCUMENT'
name: shop
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers:
    initdb:
      image: postgres
      command: [sh, -ec]
      args: ["test -e /db/main/PG_VERSION || initdb -D /db/main -A trust --no-instructions; echo made by $(id -un)"]
      volumeMounts: {db: {mountPath: /db, volumeName: db}}
  containers:
    server:
      image: postgres
      ports: {sql: {containerPort: 5432}}
      resources: {requests: {memoryInMiB: 64}, limits: {memoryInMiB: 512}}
      volumeMounts: {db: {mountPath: /db, volumeName: db}}
      readinessProbe: {exec: {command: [pg_isready, -h, 127.0.0.1]}, periodSeconds: 1}
      livenessProbe: {tcpSocket: {port: 5432}, periodSeconds: 5}
  volumes: {db: {persistentVolumeId: /db}}
DOCUMENT
  runs --volume "db=$TMP/db"
  has "made by postgres" "$(pod logs -c initdb "$POD")"
  equal "" "$(asks 'create table kept (word text); insert into kept values ($$kept$$)')"
  equal kept "$(asks 'select word from kept')"
  kill -KILL "$(says '.containers[] | select(.name == "server") | .pid')"
  reaches '.containers[] | select(.name == "server") | "\(.restarts) \(.ready)"' "1 true"
  equal kept "$(asks 'select word from kept')"
  has "automatic recovery in progress" "$(pod logs -c server "$POD")"
  pod stop "$POD"
  has "received fast shutdown request" "$(pod logs -c server "$POD")"
  has "database system is shut down" "$(pod logs -c server --tail 1 "$POD")"
  equal 0 "$(says '.containers[] | select(.name == "server") | .exitCode')"
  never_killed
  pod delete "$POD"
  runs --volume "db=$TMP/db"
  equal kept "$(asks 'select word from kept')"
  has "database system was shut down at" "$(pod logs -c server "$POD")"
  ends
}

@test "Python: a server of an ordinary user beside nginx in one pod, which asks it by the pod's own loopback" {
  cat >app.yaml <<'DOCUMENT'
name: app
type: Radius.Compute/containers@2025-08-01-preview
properties:
  initContainers:
    pages:
      image: python
      command: [sh, -ec]
      args: ["python3 -c 'print(6 * 7)' >/pages/index.html"]
      volumeMounts: {pages: {mountPath: /pages, volumeName: pages}}
  containers:
    backend:
      image: python
      volumeMounts: {pages: {mountPath: /srv, volumeName: pages}}
      readinessProbe: {httpGet: {path: /index.html, port: 8087}, periodSeconds: 1}
    front:
      image: nginx
      args: [nginx, -g, "daemon off; error_log stderr;", -c, /conf/nginx.conf]
      ports: {http: {containerPort: 8086}}
      volumeMounts: {conf: {mountPath: /conf, volumeName: conf}}
      readinessProbe: {tcpSocket: {port: 8086}, periodSeconds: 1}
  volumes: {pages: {emptyDir: {}}, conf: {persistentVolumeId: /conf}}
DOCUMENT
  mkdir conf
  echo 'events {} http { access_log off; server { listen 8086; location / { proxy_pass http://127.0.0.1:8087; } } }' >conf/nginx.conf
  runs --volume "conf=$TMP/conf"
  equal 42 "$(fetch 8086)"
  run fetch 8087
  equal 7 "$status" # the backend is not forwarded
  equal www-data "$(pod exec -c backend "$POD" id -un)"
  has '"GET / HTTP/1.0" 200' "$(pod logs -c backend "$POD")"
  ends
}
