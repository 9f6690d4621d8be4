# What one host does: it takes the program from standard input, runs it as root and gives what it collected
# to standard output. $1: the directory in which it makes its own; $2: seconds for the program; the other
# arguments are the program's. Each line that it prints itself begins with "rollcall-ssh".
umask 077
PATH=/usr/sbin:/usr/bin:/sbin:/bin
base=$1 limit=$2
shift 2
dir='' program='' beat=''

say() { printf 'rollcall-ssh %s\n' "$*"; }

# failed WORD TEXT: one line, whatever a program printed.
failed() {
  say failed "$1" "$(printf %s "$2" | tr '\n' ' ' | cut -c 1-1000)"
  exit 0
}

# Nothing stays, however this ends. The program may still write while its directory is removed.
clean() {
  trap '' HUP INT TERM PIPE
  [ -z "$beat" ] || kill "$beat" 2>/dev/null
  [ -z "$program" ] || kill "$program" 2>/dev/null
  [ -z "$dir" ] || rm -rf "$dir" || { sleep 1 && rm -rf "$dir"; }
}
trap clean EXIT
trap 'exit 1' HUP INT TERM PIPE

# A run that was killed with SIGKILL left its directory, which has its process in its name.
for old in "$base"/rollcall-host.*; do
  pid=${old#"$base"/rollcall-host.}
  pid=${pid%%.*}
  case $pid in '' | *[!0-9]*) continue ;; esac
  kill -0 "$pid" 2>/dev/null || rm -rf "$old"
done

made=$(mktemp -d "$base/rollcall-host.$$.XXXXXXXX" 2>&1) || failed directory "$made"
dir=$made
say ready "$(uname -m)" "$(date +%s)"

IFS=' ' read -r size sum || exit 1
timeout 600 head -c "$size" | gzip -dc >"$dir/rollcall-host" 2>"$dir/err" || failed copy "$(cat "$dir/err")"
[ "$(sha256sum <"$dir/rollcall-host" | cut -d ' ' -f 1)" = "$sum" ] || failed copy 'its SHA-256 is another one'
chmod 700 "$dir/rollcall-host"

# One line each second: whoever asked sees that the host lives, and the host that nobody reads any more.
(
  trap '' PIPE
  while say alive 2>/dev/null; do sleep 1 >/dev/null 2>&1; done
  kill -s TERM $$ 2>/dev/null
) 2>/dev/null &
beat=$!
timeout -k 5 "$limit" "$dir/rollcall-host" "$@" --collect "$dir/out.tar.gz" >/dev/null 2>"$dir/err" </dev/null &
program=$!
wait "$program"
code=$?
program=''
kill "$beat" 2>/dev/null
wait "$beat" 2>/dev/null
beat=''

case $code in
0 | 2 | 3) ;; # nothing wrong, a fault, undecided: these are answers
124 | 137) failed time "$limit" ;;
126) failed noexec "$(cat "$dir/err")" ;;
*) failed run "$(cat "$dir/err")" ;;
esac
[ -s "$dir/out.tar.gz" ] || failed run "it kept nothing: $(cat "$dir/err")"
say result "$(wc -c <"$dir/out.tar.gz")"
cat "$dir/out.tar.gz"
