package ssh

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // the script
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/internal/shellcommand"
)

//go:embed remote.sh
var remote string

// asRoot runs the script as root. The script is $1, its arguments follow.
const asRoot = `if [ "$(id -u)" = 0 ]; then exec sh -c "$@"; fi
if why=$(sudo -n true 2>&1 </dev/null); then exec sudo -n sh -c "$@"; fi
printf 'rollcall-ssh failed sudo %s\n' "$(printf %s "$why" | tr '\n' ' ' | cut -c 1-1000)"`

const (
	mark = "rollcall-ssh " // begins each line of the script
	// maxNoise bounds what a login shell may print before the script does.
	maxNoise = 64 << 10
	maxWords = 16 << 10 // what is kept of what ssh prints
)

var (
	errSilent = errors.New("no answer")
	errLong   = errors.New("not done")
)

// arguments are those of ssh for a host. What weakens the host key check, forwards something to the host or runs a
// command of the user's configuration is off.
func arguments(t Target, o Options) []string {
	keys := "yes"
	if o.AcceptNew {
		keys = "accept-new"
	}
	list := []string{"-T"}
	for _, option := range []string{
		"BatchMode=yes", "StrictHostKeyChecking=" + keys, "UpdateHostKeys=no", fmt.Sprintf("ConnectTimeout=%d", max(1, int(o.Within.Seconds()))),
		"ConnectionAttempts=1", "ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes", "PermitLocalCommand=no", "RemoteCommand=none",
		"RequestTTY=no", "LogLevel=ERROR",
	} {
		list = append(list, "-o", option)
	}
	if t.Port != 0 {
		list = append(list, "-p", strconv.Itoa(t.Port))
	}
	return append(list, "-l", t.User, "--", t.Host, command(t, o))
}

// command is what the user's shell on the host runs.
func command(t Target, o Options) string {
	words := []string{"sh", "-c", asRoot, "rollcall-ssh", remote, "rollcall-ssh", o.Dir, strconv.Itoa(int(whole.Seconds()) - 10), "-q", "-o", "name"}
	if t.Name != "" {
		words = append(words, "--name", t.Name)
	}
	words = append(words, o.Args...)
	for i, w := range words {
		words[i] = shellcommand.Quote(w)
	}
	return "exec " + strings.Join(words, " ")
}

// talk is one connection.
type talk struct {
	in     io.WriteCloser
	out    *bufio.Reader
	o      Options
	path   string // where what it collected is kept
	result Result
}

// ask asks one host. A *Problem is what came of it; another error is one of this machine.
func ask(ctx context.Context, t Target, o Options, file string) (Result, error) {
	life, end := context.WithCancelCause(ctx)
	defer end(nil)
	stop := time.AfterFunc(whole, func() { end(errLong) })
	defer stop.Stop()
	alive := &alive{within: o.Within, timer: time.AfterFunc(o.Within, func() { end(errSilent) })}
	defer alive.timer.Stop()

	cmd := exec.CommandContext(life, o.Ssh, arguments(t, o)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // the shell on the host sees the connection end
	cmd.WaitDelay = 3 * time.Second
	words := &words{left: maxWords}
	cmd.Stderr = words
	in, err := cmd.StdinPipe()
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", o.Ssh, err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", o.Ssh, err)
	}
	if err := cmd.Start(); err != nil {
		return Result{}, fmt.Errorf("start %s: %w", o.Ssh, err)
	}
	// Without it a read goes on as long as a child of ssh, such as a ProxyCommand, holds the pipe.
	defer context.AfterFunc(life, func() { out.Close() })()
	k := &talk{in: alive.writer(in), out: bufio.NewReaderSize(alive.reader(out), maxNoise), o: o, path: filepath.Join(o.To, file)}
	talked := k.run()
	in.Close()
	if talked != nil {
		end(nil) // it has nothing more to say that is wanted
	}
	ended := cmd.Wait()
	var here *os.PathError
	switch cause := context.Cause(life); {
	case ctx.Err() != nil:
		return k.result, ctx.Err()
	case talked == nil:
		return k.result, nil
	case errors.As(talked, &here) && here.Path == k.path: // of the file here
		return k.result, talked
	case errors.Is(cause, errSilent):
		return k.result, &Problem{What: fmt.Sprintf("no answer in %s", o.Within), Do: noAnswer(t)}
	case errors.Is(cause, errLong):
		return k.result, &Problem{What: fmt.Sprintf("not done in %s", whole), Do: noAnswer(t)}
	}
	if p := (*Problem)(nil); errors.As(talked, &p) {
		return k.result, p
	}
	return k.result, refused(t, words.String(), ended)
}

// run is the conversation: the host says that it is ready, takes the program, and sends what that collected.
func (k *talk) run() error {
	asked := k.o.Clock()
	said, err := k.next("ready", maxNoise)
	if err != nil {
		return err
	}
	arch, epoch, _ := strings.Cut(said, " ")
	k.clocks(asked, epoch)
	name := archOf(arch)
	if name == "" {
		return &Problem{What: fmt.Sprintf("its processor is %s, and there is no %s for it", clean(arch), ProgramName)}
	}
	header, packed, err := k.o.Programs.For(name)
	if err != nil {
		return &Problem{What: fmt.Sprintf("its processor is %s: %v", name, err), Do: fmt.Sprintf("Unpack rollcall-host_VERSION_linux_%s.tar.gz and add "+
			"--binary FILE.", name)}
	}
	if _, err := io.Copy(k.in, io.MultiReader(strings.NewReader(header), bytes.NewReader(packed))); err != nil {
		if _, said := k.next("result", maxNoise); said != nil { // why it takes no more
			return said
		}
		return err
	}
	said, err = k.next("result", 1<<20)
	if err != nil {
		return err
	}
	size, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
	if err != nil || size <= 0 || size > maxCollection {
		return &Problem{What: fmt.Sprintf("it wants to send %s bytes; at most %d MiB are taken", clean(said), maxCollection>>20),
			Do: "Add --journal-since 2h: journals are most of it."}
	}
	return k.keep(size)
}

// clocks compares the clock of the host with the one here: it was read between the moment of the question and now.
func (k *talk) clocks(asked time.Time, epoch string) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil || seconds <= 0 || seconds > 1<<40 {
		return
	}
	now := k.o.Clock()
	k.result.AheadWithin = now.Sub(asked) + time.Second // date cuts what is below a second
	k.result.Ahead = time.Unix(seconds, 0).Sub(now)
}

// next reads lines up to the one of the script that begins with a word, and returns the rest of it. A line that says
// that something failed is a Problem.
func (k *talk) next(word string, most int) (string, error) {
	for read := 0; read < most; {
		line, err := k.out.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return "", errors.New("a line without an end")
		}
		if err != nil {
			return "", err
		}
		read += len(line)
		said, ok := strings.CutPrefix(strings.TrimSuffix(string(line), "\n"), mark)
		if !ok {
			continue // of a login shell
		}
		if why, failed := strings.CutPrefix(said, "failed "); failed {
			return "", failure(k.o, why)
		}
		if rest, ok := strings.CutPrefix(said, word); ok {
			return strings.TrimSpace(rest), nil
		}
	}
	return "", &Problem{What: "its login shell prints more than is read", Do: "Print nothing in ~/.bashrc where the shell is not interactive."}
}

// keep writes what the host sends into a new file.
func (k *talk) keep(size int64) (err error) {
	f, err := os.OpenFile(k.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			_ = os.Remove(k.path) // it is not whole
		}
	}()
	k.result.Path = k.path
	_, err = io.CopyN(f, k.out, size)
	return err
}

// alive ends a connection on which nothing moves.
type alive struct {
	within time.Duration
	timer  *time.Timer
}

func (a *alive) moved(n int) {
	if n > 0 {
		a.timer.Reset(a.within)
	}
}

func (a *alive) reader(r io.Reader) io.Reader { return aliveReader{r, a} }

func (a *alive) writer(w io.WriteCloser) io.WriteCloser { return aliveWriter{w, a} }

type aliveReader struct {
	io.Reader
	a *alive
}

func (r aliveReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.a.moved(n)
	return n, err
}

type aliveWriter struct {
	io.WriteCloser
	a *alive
}

// Write writes in parts: a slow line is not a silent one.
func (w aliveWriter) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		n, err := w.WriteCloser.Write(p[:min(len(p), 32<<10)])
		w.a.moved(n)
		written, p = written+n, p[n:]
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// words keeps the beginning of what ssh prints.
type words struct {
	mu   sync.Mutex
	b    strings.Builder
	left int
}

// Write implements io.Writer.
func (w *words) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	keep := p[:min(len(p), w.left)]
	w.left -= len(keep)
	w.b.Write(keep)
	return len(p), nil
}

// String returns what was kept.
func (w *words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}
