# A distribution in the container: debootstrap's minimal Debian with python3 and nginx, made once by lib/debian-rootfs. It is
# used read-only, with a tmpfs over the directories that are written to.
load lib/common

setup() {
  common_setup
  DEBIAN=$("$LIB/debian-rootfs" --print) || skip "no Debian rootfs: run integration/lib/debian-rootfs where a mirror is reached"
  config '.root = {path: $d, readonly: true} | .process.capabilities.bounding += $more | .process.capabilities.effective += $more
    | .process.capabilities.permitted += $more' --arg d "$DEBIAN" \
    --argjson more '["CAP_CHOWN", "CAP_SETUID", "CAP_SETGID", "CAP_DAC_OVERRIDE", "CAP_FOWNER", "CAP_SYS_CHROOT"]'
  for dir in /run /tmp /var/log/nginx /var/lib/nginx; do
    add_mount '{"destination": "'$dir'", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev"]}'
  done
}

@test "Debian: a shell, apt-get and dpkg run" {
  inside 'cat /etc/debian_version; apt-get --version | head -n 1; dpkg -l | grep -c ^ii'
  succeeds
  matches '^12'
  output_mentions $'\napt 2.'
}

@test "Debian: python3 runs, with threads and a subprocess" {
  inside 'python3 -c "
import subprocess, threading
t = threading.Thread(target=lambda: print(6 * 7)); t.start(); t.join()
print(subprocess.run([\"id\", \"-u\"], capture_output=True, text=True).stdout.strip())"'
  succeeds $'42\n0'
}

@test "Debian: under the engines' default seccomp profile and as a plain user" {
  "$LIB/seccomp-profile" /usr/share/containers/seccomp.json CAP_CHOWN CAP_SETUID CAP_SETGID CAP_DAC_OVERRIDE CAP_FOWNER CAP_SYS_CHROOT CAP_KILL >"$TMP/profile"
  config '.linux.seccomp = $p[0] | .process.user = {uid: 33, gid: 33}' --slurpfile p "$TMP/profile"
  inside 'id -un; python3 -c "print(1 + 1)"; sort </etc/passwd | head -n 1 | cut -d: -f1'
  succeeds $'www-data\n2\n_apt'
}

nginx_serves() { [[ $(nsenter -t "$(init_pid)" -n curl -s http://127.0.0.1/ 2>&1) == "served by nginx" ]]; }

@test "Debian: nginx serves a page on the loopback of its own network namespace" {
  mkdir "$TMP/www"
  echo "served by nginx" >"$TMP/www/index.html"
  add_mount '{"destination": "/var/www/html", "source": "'"$TMP/www"'", "options": ["bind", "ro"]}'
  program nginx -g "daemon off; error_log stderr;"
  create_and_start
  eventually nginx_serves
  [[ $(ocirun ps --format json "$ID" | jq length) -ge 2 ]]
  run ocirun exec "$ID" sh -c 'test -s /run/nginx.pid && grep -c "GET / HTTP" /var/log/nginx/access.log'
  succeeds
  ocirun kill "$ID" QUIT
  eventually status_is stopped
  ocirun delete "$ID"
}

@test "Debian: in a user namespace, its files id-mapped by a bind" {
  needs_system_call mount_setattr "an id-mapped bind"
  config '.root = {path: "rootfs"} | .linux.namespaces += [{type: "user"}]
    | .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}] | .linux.gidMappings = .linux.uidMappings'
  chown -R 100000:100000 "$BUNDLE/rootfs"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP" "$BUNDLE"
  add_mount '{"destination": "/debian", "source": "'"$DEBIAN"'", "options": ["rbind", "ridmap", "ro"]}'
  inside 'stat -c %u:%g /debian/etc/shadow; chroot /debian apt-get --version | head -n 1'
  succeeds
  matches '^0:42'
  output_mentions $'\napt 2.'
}
