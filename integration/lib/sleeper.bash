# shellcheck shell=bash disable=SC2034 # tests use $SLEEPER
# Namespaces for containers to join: `source "$LIB/sleeper.bash"` after `load lib/common`.

# sleeper FLAG…: starts a process in new namespaces (flags of unshare(1)); its pid is $SLEEPER.
sleeper() {
  helper unshare "$@" --fork --kill-child sleep 10000
  eventually pgrep -P "$HELPER" -x sleep >/dev/null
  SLEEPER=$(pgrep -P "$HELPER" -x sleep)
}
