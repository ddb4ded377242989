# shellcheck disable=SC2154 # variables of bats
# Programs of real containers go on after a checkpoint and a restore. What needs criu is skipped where `criu check` fails. In a machine:
# ./dev vm --engine qemu -- integration/lib/sandbox bats integration/checkpoint_programs.bats
load lib/common
load lib/criu

# nginx_and_a_client: nginx, and a program that counts the answers which nginx gives over one connection.
nginx_and_a_client() {
  with_python
  capabilities CAP_SETUID CAP_SETGID
  cat >"$BUNDLE/rootfs/tmp/nginx.conf" <<'EOF'
daemon off;
user root root;
pid /tmp/nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;
  keepalive_requests 1000000;
  server {
    listen 127.0.0.1:8080;
    location / { return 200 hello; }
  }
}
EOF
  python "
import http.client
if os.fork() == 0: os.execv('/usr/sbin/nginx', ['nginx', '-e', '/tmp/nginx.log', '-c', '/tmp/nginx.conf', '-p', '/tmp'])
while not os.path.exists('/tmp/nginx.pid'): time.sleep(0.01)
client = http.client.HTTPConnection('127.0.0.1', 8080, timeout=20)
client.connect()
client.auto_open = False
def step(number):
    client.request('GET', '/')
    answer = client.getresponse()
    if (answer.status, answer.read()) != (200, b'hello'): sys.exit('nginx gives another answer')
count()"
}

@test "nginx goes on, and a connection that is kept alive with it" {
  needs_criu
  [[ -x /usr/sbin/nginx ]] || skip "there is no nginx"
  nginx_and_a_client
  run_counting
  local round
  for round in 1 2; do
    ocirun checkpoint --tcp-established --image-path "$TMP/images-$round" "$ID"
    status_is stopped
    restore --tcp-established --image-path "$TMP/images-$round"
    goes_on
  done
  equal 3 "$(ocirun exec "$ID" sh -c 'cat /proc/[0-9]*/comm' | grep -cE '^(nginx|python3)')"
}
