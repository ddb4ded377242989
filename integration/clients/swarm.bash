#!/usr/bin/env bash
# The check list of Docker Swarm, with the shim for runc.
ENGINE=swarm
# shellcheck source=integration/clients/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck disable=SC2034 # used by the checks
RUNTIME_ENTRY="{\"path\": \"$RUNTIME\"}"
# shellcheck source=integration/clients/swarm_checks.bash
source "$(dirname "${BASH_SOURCE[0]}")/swarm_checks.bash"
end_list
