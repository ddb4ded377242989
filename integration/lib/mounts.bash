# shellcheck shell=bash disable=SC2016 # jq's variables are not the shell's
# Functions for tests of mounts: `load lib/mounts` after lib/common.
# bind DESTINATION SOURCE OPTION… and tmpfs DESTINATION OPTION…: append a mount to config.json.

bind() { add_mount "$(jq -nc '{destination: $ARGS.positional[0], source: $ARGS.positional[1], options: $ARGS.positional[2:]}' --args -- "$@")"; }
tmpfs() { add_mount "$(jq -nc '{destination: $ARGS.positional[0], type: "tmpfs", source: "tmpfs", options: $ARGS.positional[1:]}' --args -- "$@")"; }

# options_of PATH: prints a shell command for the container. The command prints the fields of /proc/self/mountinfo from the mount's
# options on: the options, the optional fields, the type, the source and the superblock's options.
options_of() { echo "grep ' $1 ' /proc/self/mountinfo | tail -n 1 | cut -d' ' -f6-"; }
