# The annotations org.ocirun.landlock.*: what a container's processes may still do, although its other settings allow more.
# shellcheck disable=SC2016 # programs of the container
load lib/common

setup() {
  common_setup
  VERSION=$(ocirun features | jq -r '.annotations["org.ocirun.landlock.version"]')
}

needs_version() { [[ $VERSION -ge $1 ]] || skip "needs version $1 of Landlock; this kernel has $VERSION"; }
landlock() { config '.annotations["org.ocirun.landlock." + $n] = $v' --arg n "$1" --arg v "$2"; }
says() { run run_container; }
run_container() { ocirun run --bundle "$BUNDLE" "$ID" </dev/null; }

@test "files may be read and written below the given paths alone, also by exec, and emptied neither" {
  needs_version 3
  landlock read /
  landlock write /tmp:/dev
  echo kept >"$BUNDLE/rootfs/etc/kept"
  script 'cd /etc; echo x >/tmp/ok && cat /tmp/ok /etc/kept; echo no >/etc/new; true >/etc/kept; rm kept; mkdir dir; mv /tmp/ok /etc/ok; exec sleep 1000'
  create_and_start
  eventually exists "$BUNDLE/rootfs/tmp/ok"
  run ocirun exec "$ID" sh -c 'cat /etc/kept; echo x >/tmp/of-exec; echo no >/etc/new'
  exits 1 kept
  output_mentions "ermission denied"
  [[ -e $BUNDLE/rootfs/tmp/of-exec && ! -e $BUNDLE/rootfs/etc/new && ! -e $BUNDLE/rootfs/etc/dir && ! -e $BUNDLE/rootfs/etc/ok ]]
  equal kept "$(<"$BUNDLE/rootfs/etc/kept")"
  run ocirun inspect --drift "$ID"
  succeeds
}

@test "without read, nothing but the given paths can be read; as a user, without no_new_privs" {
  needs_version 3
  landlock read /bin:/usr
  config '.process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = false'
  echo secret >"$BUNDLE/rootfs/etc/secret"
  chmod 644 "$BUNDLE/rootfs/etc/secret"
  script 'cat /etc/secret'
  says
  exits 1 "ermission denied"
  landlock read /bin:/usr:/etc/secret
  says
  succeeds secret
}

@test "TCP ports" {
  needs_version 4
  landlock bind 8080
  script 'timeout 1 nc -l -p 8081; timeout 1 nc -l -p 8080; echo "status $?"'
  says
  output_mentions "bind: Permission denied"
  output_mentions "status 143"
  config 'del(.annotations["org.ocirun.landlock.bind"])'
  landlock connect 1
  script 'nc 127.0.0.1 2; nc 127.0.0.1 1'
  says
  output_mentions "Permission denied"
  output_mentions "Connection refused"
}

@test "no signals to processes outside" {
  needs_version 6
  landlock scope signals
  create_and_start
  run ocirun exec "$ID" sh -c 'kill -0 $$ && kill -0 1'
  exits 1 "not permitted"
}

@test "what cannot be done is refused by name, before anything is made" {
  refused '/annotations/org.ocirun.landlock.reed: is no annotation of ocirun' '.annotations["org.ocirun.landlock.reed"] = "/"'
  refused '"etc": must be absolute paths' '.annotations["org.ocirun.landlock.read"] = "/usr:etc"'
  refused '"70000": must be ports from 0 to 65535' '.annotations["org.ocirun.landlock.bind"] = "80,70000"'
  refused '"all": must be signals, sockets' '.annotations["org.ocirun.landlock.scope"] = "all"'
  refused '"/data/cache": lies below "/data"' '.annotations["org.ocirun.landlock.write"] = "/data:/data/cache"'
  needs_version 3
  refused '/none' '.annotations["org.ocirun.landlock.read"] = "/usr:/none"'
}
