# How `ocirun pod` reaches a registry: TLS, credentials, mirrors, signature policy, as root and as an ordinary user.

load lib/common
source "$LIB/pod-scene.bash"
source "$LIB/registry.bash"
source "$LIB/ordinary-user.bash"

setup() {
  registry_setup
}

teardown() {
  stop_helpers
  umount /etc/passwd /etc/subuid /etc/subgid 2>/dev/null || true
  delete_pods
  common_teardown
}

# push_as_someone NAME: push to the registry with credentials.
push_as_someone() { push "$1" --dest-creds someone:secret; }
# login FILE: credentials as `skopeo login` writes them.
login() { skopeo login --tls-verify=false --authfile "$1" -u someone -p "${2:-secret}" "$REGISTRY" >/dev/null; }

@test "plain HTTP is spoken only with --plain-http, and the error says so" {
  start_registry
  push web
  run pod pull "$REGISTRY/web"
  exits 1 "the registry speaks plain HTTP: --plain-http $REGISTRY allows that"
  run pod pull --plain-http other.example:5000 "$REGISTRY/web"
  exits 1 'speaks plain HTTP'
  run pod pull --plain-http http://x "$REGISTRY/web"
  exits 1 '--plain-http http://x: must be HOST or HOST:PORT of a registry'
  run pod pull --plain-http "$REGISTRY" "$REGISTRY/web"
  succeeds
  # registries.conf can say it too.
  printf '[[registry]]\nlocation = "%s"\ninsecure = true\n' "$REGISTRY" >"$HOME/.config/containers/registries.conf"
  run pod pull "$REGISTRY/web"
  succeeds
}

@test "TLS: an unknown authority is an error that names the place for its certificate" {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out ca.pem 2>/dev/null
  SCHEME=https start_registry "tls: {certificate: $TMP/ca.pem, key: $TMP/key.pem}"
  push web
  run pod pull "$REGISTRY/web"
  exits 1 'x509: certificate signed by unknown authority'
  output_mentions "/etc/containers/certs.d/$REGISTRY/ca.crt"
  mkdir -p "$HOME/.config/containers/certs.d/$REGISTRY"
  cp ca.pem "$HOME/.config/containers/certs.d/$REGISTRY/ca.crt"
  run pod pull "$REGISTRY/web"
  succeeds
}

@test "TLS: a certificate of another host is refused, also if its authority is known" {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=DNS:other.example -keyout key.pem -out ca.pem 2>/dev/null
  SCHEME=https start_registry "tls: {certificate: $TMP/ca.pem, key: $TMP/key.pem}"
  push web
  mkdir -p "$HOME/.config/containers/certs.d/$REGISTRY"
  cp ca.pem "$HOME/.config/containers/certs.d/$REGISTRY/ca.crt"
  run pod pull "$REGISTRY/web"
  exits 1 "x509: cannot validate certificate for 127.0.0.1"
  is_whole
}

@test "the caller's credentials are used as skopeo finds them" {
  AUTH=1 start_registry
  push_as_someone web
  pull "$REGISTRY/web"
  exits 1 "\`skopeo login $REGISTRY\` keeps your credentials"
  output_mentions 'authentication required'
  login "$XDG_RUNTIME_DIR/containers/auth.json"
  pull "$REGISTRY/web"
  succeeds
  rm "$XDG_RUNTIME_DIR/containers/auth.json"
  rm -rf data
  mkdir "$HOME/.docker"
  login "$HOME/.docker/config.json"
  pull "$REGISTRY/web"
  succeeds
}

@test "--pull-secret gives the credentials of an OAM imagePullSecret and of Knative's imagePullSecrets" {
  AUTH=1 start_registry
  push_as_someone web
  login good.json
  jq '.auths[].auth = ("someone:wrong" | @base64)' good.json >bad.json
  from_registry web 'echo with a secret' 'imagePullSecret: key'
  run_pulled && false
  has 'warning: app.yaml:11:22: /spec/containers/0/imagePullSecret: has no effect: --pull-secret key=AUTHFILE would give its credentials' \
    "$(<output)"
  has '--pull-secret NAME=AUTHFILE gives those of a secret' "$(<output)"
  run_pulled --pull-secret key=bad.json && false
  has unauthorized "$(<output)"
  run_pulled --pull-secret other=good.json && false
  has '--pull-secret other: the document names none of this name' "$(<output)"
  run_pulled --pull-secret key=none.json && false
  has "--pull-secret key: open $TMP/none.json: no such file or directory" "$(<output)"
  run_pulled --pull-secret key=good.json
  equal 'with a secret' "$(<output)"
  cat >service.yaml <<YAML
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: app}
spec: {template: {spec: {imagePullSecrets: [{name: regcred}], containers: [{image: $REGISTRY/web}]}}}
YAML
  rm -rf data/images
  pull service.yaml
  exits 1 'authentication required'
  pull --pull-secret regcred=good.json service.yaml
  succeeds
}

@test "skopeo's command lines have no credentials, and it gets no other descriptors" {
  AUTH=1 start_registry
  push_as_someone web
  login key.json
  mkdir programs
  printf '#!/bin/sh\necho "$@" >>%s/calls\nls /proc/$$/fd >>%s/descriptors\nexec %s "$@"\n' "$TMP" "$TMP" "$(command -v skopeo)" >programs/skopeo
  chmod +x programs/skopeo
  from_registry web 'echo fine' 'imagePullSecret: key'
  PATH=$TMP/programs:$PATH run_pulled --pull-secret key=key.json
  equal fine "$(<output)"
  equal 2 "$(grep -c -- "--authfile $TMP/key.json" calls)"
  grep -E 'someone|secret' calls && false
  grep -x '[3-9]' descriptors && false # the shell's own are 10 and above
  return 0
}

@test "a mirror of registries.conf serves a short name, which is docker.io's" {
  start_registry
  push mirror/library/web:1
  cat >"$HOME/.config/containers/registries.conf" <<CONF
unqualified-search-registries = ["quay.example"]
[aliases]
"web" = "quay.example/web"
[[registry]]
location = "docker.io"
[[registry.mirror]]
location = "$REGISTRY/mirror"
insecure = true
CONF
  container app 'echo from the mirror'
  sed -i 's|image: base|image: web:1|' app.yaml
  run_pulled
  equal 'from the mirror' "$(<output)"
  equal '["docker.io/library/web:1"]' "$(jq -c '[.manifests[].annotations[]]' data/images/index.json)"
}

@test "the policy for signatures is skopeo's policy.json" {
  start_registry
  push web
  echo '{"default": [{"type": "reject"}]}' >"$HOME/.config/containers/policy.json"
  pull "$REGISTRY/web"
  exits 1 'is rejected by policy'
  is_whole
  equal '' "$(find data/images/blobs -type f)"
}

@test "a policy that wants the signature of a key refuses no signature, that of another key, and that of another image" {
  command -v gpg >/dev/null || skip "gpg is not installed"
  start_registry
  export GNUPGHOME=$TMP/keys
  mkdir -m 700 "$GNUPGHOME"
  mkdir -p signatures "$HOME/.config/containers/registries.d"
  local name
  for name in wanted other; do gpg --batch --quiet --passphrase '' --quick-generate-key "$name@example" ed25519 sign never; done
  gpg --export wanted@example >wanted.gpg
  printf 'default-docker: {lookaside: "file://%s", lookaside-staging: "file://%s"}\n' "$TMP/signatures" "$TMP/signatures" \
    >"$HOME/.config/containers/registries.d/default.yaml"
  push plain
  push wanted --sign-by wanted@example
  push other --sign-by other@example
  push renamed
  gpgconf --kill gpg-agent
  for name in signatures/wanted@*; do cp -r "$name" "${name/wanted@/renamed@}"; done
  jq -n --arg key "$TMP/wanted.gpg" '{default: [{type: "signedBy", keyType: "GPGKeys", keyPath: $key}]}' >"$HOME/.config/containers/policy.json"
  refuses_signature plain 'A signature was required, but no signature exists'
  refuses_signature other 'Invalid GPG signature'
  refuses_signature renamed "Signature for identity $REGISTRY/wanted:latest is not accepted"
  pull "$REGISTRY/wanted"
  succeeds
}
refuses_signature() {
  pull "$REGISTRY/$1"
  exits 1 "Source image rejected: $2"
  is_whole
  equal '' "$(find data/images/blobs -type f)"
}

@test "without skopeo the error says what is missing, and a pulled image still runs" {
  start_registry
  push web
  from_registry web 'echo local'
  without_skopeo && false
  has 'skopeo is not installed, which fetches images (Debian: apt-get install skopeo)' "$(<output)"
  pull "$REGISTRY/web"
  without_skopeo
  equal local "$(<output)"
}
without_skopeo() {
  env PATH=/nonexistent "$OCIRUN" --root "$ROOT" pod run --data "$TMP/data" --net none --name "$POD" --restart never app.yaml \
    </dev/null >"$TMP/output" 2>&1 3>&- 4>&-
}

@test "an ordinary user pulls with their own credentials into their own store" {
  AUTH=1 start_registry
  push_as_someone web
  introduce_user
  HOME_DIR=$TMP/home
  login "$HOME/xdg/containers/auth.json"
  chown -R 12345:12345 "$HOME"
  chmod 711 "$BATS_RUN_TMPDIR" "$TMP"
  cd "$HOME" || return
  run as_user HOME="$HOME" "$OCIRUN" pod pull --plain-http "$REGISTRY" "$REGISTRY/web"
  succeeds "$(cd "$TMP" && skopeo inspect --raw --tls-verify=false --authfile "$HOME/xdg/containers/auth.json" "docker://$REGISTRY/web" |
    sha256sum | sed 's/^\([0-9a-f]*\).*/sha256:\1/')  $REGISTRY/web"
  equal "12345 12345" "$(stat -c '%u %g' .local/share/ocirun/images/index.json)"
  equal 0 "$(find .local/share/ocirun -uid 0 | wc -l)"
  # Without XDG_RUNTIME_DIR the credentials of the host's root, which the user cannot read, are left alone.
  mkdir -p -m 755 /run/containers && mkdir -m 700 /run/containers/0 && echo '{}' >/run/containers/0/auth.json
  mkdir .docker && mv xdg/containers/auth.json .docker/config.json
  run setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" HOME="$HOME" \
    "$OCIRUN" pod pull --plain-http "$REGISTRY" "$REGISTRY/web"
  succeeds
  # /run/containers/UID/auth.json is the user's.
  rm .docker/config.json && mkdir /run/containers/12345
  login /run/containers/12345/auth.json
  chown -R 12345:12345 /run/containers/12345
  run setpriv --reuid 12345 --regid 12345 --clear-groups env -i PATH="$PATH" HOME="$HOME" \
    "$OCIRUN" pod pull --plain-http "$REGISTRY" "$REGISTRY/web"
  succeeds
  rm -r /run/containers
}
