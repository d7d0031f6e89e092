# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Steps of setup. Each is done once for given inputs, shows its progress and duration, and logs to BUILD/log.
#
# Public: step, fail (within a step), take_lock, hash_of.

step_pid=          # process group of the running step
step_patient=      # set: an interruption waits for the running step
step_hushed=       # set: a step that ends within a second is not shown, since it had nothing to do
steps_done=0       # number of steps that had something to do
until_step=        # --until: the last step to do
missing_output='(nothing)'

[[ -t 1 ]] && on_terminal=1 || on_terminal=

# Prints the SHA-256 of the given words.
hash_of() { printf '%s\0' "$@" | sha256sum | cut -d' ' -f1; }

# Prints the SHA-256 over the names and contents of all files at and below the given paths. Skips paths that do not exist.
hash_of_files() {
  local path
  for path; do
    if [[ -e $path ]]; then find "$path" -type f -print0; fi
  done | sort -z | xargs -0r sha256sum -- | sed "s|  $ROOT/|  |" | sha256sum | cut -d' ' -f1
}

# Ends the present step with one sentence that describes the problem and the remedy.
fail() {
  printf '%s\n' "$*" >"$BUILD/log/$STEP.why"
  exit 1
}

outputs_exist() {
  local output
  for output; do
    if [[ ! -e $output ]]; then
      missing_output=$output
      return 1
    fi
  done
}

# step NAME TITLE INPUTS REMEDY OUTPUT... -- FUNCTION [ARGUMENT...]
# Runs the function in its own shell, unless that was done for the same INPUTS (any text) and the outputs exist. Shows REMEDY
# if the function fails without calling `fail`.
step() {
  local STEP=$1 title=$2 inputs=$3 remedy=$4 outputs=()
  shift 4
  while [[ $1 != -- ]]; do
    outputs+=("$1")
    shift
  done
  shift

  local stamp=$BUILD/stamp/$STEP log=$BUILD/log/$STEP.log
  inputs=$(hash_of "$inputs")
  if [[ -e $stamp && $(<"$stamp") == "$inputs" ]] && outputs_exist "${outputs[@]}"; then
    stop_after "$STEP"
    return
  fi
  rm -f "$stamp" "$BUILD/log/$STEP.why"
  run_step "$title" "$log" "$remedy" "$@"
  if ! outputs_exist "${outputs[@]}"; then
    say "$PROGRAM: $title: it ended well but did not make $missing_output (log: $log)."
    exit 1
  fi
  printf '%s\n' "$inputs" >"$stamp"
  stop_after "$STEP"
}

stop_after() {
  if [[ $1 == "$until_step" ]]; then
    exit 0
  fi
}

run_step() {
  local title=$1 log=$2 remedy=$3 begin=$SECONDS line status=0
  shift 3
  printf -v line '[%3d s] %s ...' "$SECONDS" "$title"
  if [[ -z $step_hushed ]]; then printf '%s' "$line"; fi

  # The step has its own process group, so that an interruption ends all its processes.
  set -m
  (
    set +m -E
    trap - INT TERM HUP PIPE
    trap 'echo "$PROGRAM: exit code $? of: $BASH_COMMAND (${BASH_SOURCE[0]##*/}:$LINENO)"' ERR
    "$@"
  ) >"$log" 2>&1 </dev/null &
  step_pid=$!
  set +m
  if [[ $step_hushed ]]; then
    local try
    for ((try = 0; try < 20; try++)); do
      if ! kill -0 "$step_pid" 2>/dev/null; then break; fi
      sleep 0.05 || true
    done
    if ((try < 20)) && wait "$step_pid"; then
      step_pid=
      return
    fi
    printf '%s' "$line"
  fi
  steps_done=$((steps_done + 1))
  if [[ $on_terminal ]]; then show_progress "$line" "$log" "$begin"; fi
  while :; do
    status=0
    wait "$step_pid" || status=$?
    kill -0 "$step_pid" 2>/dev/null || break # otherwise a signal that was waited out
  done
  step_pid=
  if [[ $leave_with ]]; then exit "$leave_with"; fi

  if [[ $on_terminal ]]; then printf '\r\033[K%s' "$line"; fi
  if ((status == 0)); then
    printf ' %d s\n' $((SECONDS - begin))
    return
  fi
  printf ' failed after %d s\n' $((SECONDS - begin))
  if [[ -s $BUILD/log/$STEP.why ]]; then
    say "$PROGRAM: $(<"$BUILD/log/$STEP.why")"
  else
    end_of_log "$log" >&2
    say "$PROGRAM: $title failed. $remedy"
  fi
  say "The whole log: $log"
  exit 1
}

# Prints the 30 most useful lines of a log: those after ninja's first failure, or the last ones.
end_of_log() {
  if grep '^FAILED: ' "$1" | grep -qv 'build.ninja'; then # cmake's own errors stand before it
    awk '/^FAILED: / { found = 1 } found && ++shown <= 30' "$1"
  else
    tail -n 30 "$1"
  fi
}

# On a terminal, shows the seconds so far, and ninja's progress if the step runs it.
show_progress() {
  local line=$1 log=$2 begin=$3 at
  while kill -0 "$step_pid" 2>/dev/null; do
    at=$(tail -c 2000 "$log" 2>/dev/null | tr '\r' '\n' | grep -aoE '^\[[0-9]+/[0-9]+\]' | tail -n 1) || at=
    printf '\r\033[K%s %d s %s' "$line" $((SECONDS - begin)) "$at"
    sleep 0.2 || true
  done
}

# Handles the signals INT, TERM, HUP and PIPE: ends the running step. Finished steps remain. The message is the last action,
# since the output may be closed.
# (This must not use `return`: bash 5.2 treats a return in a trap as a failure under `set -e`.)
interrupted() {
  local code=$1
  if [[ $step_pid && $step_patient ]]; then
    step_patient=
    leave_with=$code
    say ""
    say "$PROGRAM: interrupted; the package installation ends first (interrupt again to end it now)."
  else
    if [[ $step_pid ]]; then
      kill -TERM -- "-$step_pid" 2>/dev/null || true
      wait "$step_pid" 2>/dev/null || true
    fi
    trap - PIPE
    say ""
    say "$PROGRAM: interrupted; the next run goes on from here."
    exit "$code"
  fi
}
leave_with=
trap 'interrupted 130' INT
trap 'interrupted 143' TERM
trap 'interrupted 129' HUP
trap 'interrupted 141' PIPE

# Allows one setup at a time in a build directory. The processes of setup inherit the lock, so it outlives a killed setup.
take_lock() {
  local holder
  while :; do
    mkdir -p "$BUILD"
    exec {lock}>>"$BUILD/lock"
    if ! flock -n "$lock"; then
      holder=$(<"$BUILD/lock") || holder=
      say "$PROGRAM: another setup is at work in $BUILD (process ${holder:-unknown}); waiting for it."
      flock "$lock"
    fi
    # The other setup may have removed the file (--clean). The lock would then be on a file that no other setup can find.
    if [[ $BUILD/lock -ef /proc/self/fd/$lock ]]; then break; fi
    exec {lock}>&-
  done
  printf '%s\n' "$$" >"$BUILD/lock"
}
