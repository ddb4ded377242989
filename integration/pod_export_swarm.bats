# `ocirun pod export --to swarm`: workload documents as stacks of Docker Swarm. tests/pods/export has the rules; clients/swarm_stack.bash
# runs stacks.
# shellcheck disable=SC2016,SC2154 # texts for the shells of containers; $stderr

load lib/common
source "$LIB/pod-scene.bash"

# export_app [OPTION…]: exports app.yaml; the output is in $output, what is told in $stderr.
export_app() { run --separate-stderr "$OCIRUN" pod export --to swarm --name shop "$@" app.yaml; }

# in_yaml FILTER: what a jq filter says of the YAML on standard input.
in_yaml() { python3 -c 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))' | jq -r "$1"; }

# is_stack FILE: the file is a stack for a client of Docker that can tell it, which that of Debian 12 cannot.
is_stack() {
  local docker
  for docker in $(type -ap docker); do
    if "$docker" stack config --help 2>&1 | grep -q compose-file; then "$docker" stack config --compose-file "$1" || return 1; fi
  done
}

radius() {
  cat >app.yaml <<'END'
name: shop
properties:
  containers:
    web:
      image: example.com/web:1
      env: {ANSWER: {value: 'no'}, PRICE: {value: '$5'}}
      ports: {http: {containerPort: 8080, port: 80}}
      livenessProbe: {exec: {command: [test, -e, /up]}}
  replicas: 2
END
}

@test "RX-7 RX-15 a Radius resource becomes a service with replicas; run names the command" {
  radius
  run run_pod
  equal 1 "$status"
  has '2 replicas need several machines: one machine runs 1; `ocirun pod export --to kubernetes` or `--to swarm` writes it' "$(<output)"
  export_app
  equal 0 "$status"
  equal '' "$stderr"
  equal '3.8 2 start-first 80 8080 no $$5' "$(in_yaml '.version as $v | .services.web |
    "\($v) \(.deploy.replicas) \(.deploy.update_config.order) \(.ports[0].published) \(.ports[0].target) \(.environment.ANSWER) \(.environment.PRICE)"' <<<"$output")"
  export_app --port-mode host --endpoint-mode dnsrr
  equal 'host dnsrr' "$(in_yaml '.services.web | "\(.ports[0].mode) \(.deploy.endpoint_mode)"' <<<"$output")"
  export_app --output out
  equal 0 "$status"
  is_stack out/compose.yaml
}

@test "OAM-16 OAM-23 config files are files beside the stack, and another content is another config" {
  local first
  container web 'echo' 'imagePullSecret: registry' 'config: [{path: /etc/motd, value: "a\nb\n"}, {path: /etc/x, fromParam: p}]'
  export_app --param p=1
  equal 1 "$status"
  has 'the workload has config files, which a Compose file cannot contain: --output DIR writes them and the Compose file' "$stderr"
  equal '' "$output"
  export_app --param 'p=$(x)' --output out
  equal 0 "$status"
  equal "$PWD/out/compose.yaml" "$output"
  equal '600 600 600' "$(stat -c %a out/compose.yaml out/configs/web.motd out/configs/web.x | paste -sd' ')"
  equal $'a\nb' "$(<out/configs/web.motd)"
  equal '$(x)' "$(<out/configs/web.x)"
  has '# Needs the credentials of "registry" for the registry' "$(<out/compose.yaml)"
  is_stack out/compose.yaml
  first=$(in_yaml '.configs["web.x"].name' <out/compose.yaml)
  export_app --param p=2 --output out
  equal 0 "$status"
  [[ $first == shop-web.x-* && $(in_yaml '.configs["web.x"].name' <out/compose.yaml) != "$first" ]]
  equal "$(in_yaml '.configs["web.motd"].file' <out/compose.yaml)" ./configs/web.motd
}

@test "a directory of somebody else stays, and an error leaves no file" {
  container web 'echo' 'config: [{path: /etc/motd, value: a}]'
  mkdir out
  echo 'services: {}' >out/compose.yaml
  export_app --output out
  equal 1 "$status"
  has '--output out: compose.yaml was not written by `ocirun pod export`' "$stderr"
  equal 'services: {}' "$(<out/compose.yaml)"
  equal compose.yaml "$(ls out)"
  rm out/compose.yaml
  mkdir out/compose.yaml
  export_app --output out
  equal 1 "$status"
  equal compose.yaml "$(ls out)"
  rmdir out/compose.yaml
  mkdir out/configs
  echo mine >out/configs/web.motd
  export_app --output out
  equal 1 "$status"
  has '--output out: configs: web.motd has another content, and no compose.yaml' "$stderr"
  equal mine "$(<out/configs/web.motd)"
  equal configs "$(ls out)"
  printf a >out/configs/web.motd
  export_app --output out
  equal 0 "$status"
  export_app --output absent/out
  equal 1 "$status"
  [[ ! -e absent ]]
  rm app.yaml
  container web 'echo' 'config: [{path: /etc/motd, value: ""}]'
  export_app --output new
  equal 1 "$status"
  has '/spec/containers/0/config/0: a config of Swarm cannot be empty' "$stderr"
  [[ ! -e new ]]
}

@test "what Swarm cannot say is an error with its place, with --lossy a comment" {
  container web 'echo' 'readinessProbe: {httpGet: {path: /, port: 80}}'
  container side 'echo'
  export_app
  equal 1 "$status"
  has '/spec/containers/0/readinessProbe: the readiness probe asks http://:80/: Swarm only runs a command' "$stderr"
  has '/spec/containers/1: the 2 containers of the pod share localhost' "$stderr"
  has '--lossy writes these 2 as comments' "$stderr"
  export_app --lossy
  equal 0 "$status"
  has '/spec/containers/1: the 2 containers of the pod share localhost' "$output"
  equal 'side web' "$(in_yaml '.services | keys | join(" ")' <<<"$output")"
  equal null "$(in_yaml '.services.web.healthcheck' <<<"$output")"
}

@test "options of one engine are refused for the other" {
  radius
  for option in '--kind Pod' '--runtime-class ocirun' '--size data=1G'; do
    # shellcheck disable=SC2086 # an option and its value
    export_app $option
    equal 1 "$status"
    has "${option%% *}: is an option of --to kubernetes, not of --to swarm" "$stderr"
  done
  for option in '--output out' '--port-mode host' '--endpoint-mode vip'; do
    # shellcheck disable=SC2086
    run --separate-stderr "$OCIRUN" pod export --to kubernetes $option app.yaml
    equal 1 "$status"
    has "${option%% *}: is an option of --to swarm, not of --to kubernetes" "$stderr"
  done
  export_app --endpoint-mode dnsrr
  equal 1 "$status"
  has '--endpoint-mode dnsrr: needs --port-mode host' "$stderr"
  export_app --port-mode all
  equal 1 "$status"
  has '--port-mode all: must be ingress or host' "$stderr"
  export_app --seccomp unconfined
  equal 1 "$status"
  has "--seccomp: a service has Docker's default seccomp filter" "$stderr"
}

@test "--output follows no symlink below its directory, where files of somebody else may be" {
  container web 'echo' 'config: [{path: /etc/motd, value: new}]'
  mkdir stack victim
  ln -s ../victim stack/configs
  run ocirun pod export --to swarm --name shop --output stack app.yaml
  equal 1 "$status"
  output_mentions "--output stack"
  equal "" "$(ls victim)"
  equal configs "$(ls stack)"
}
