package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// daemonNamespace and daemonContainer name the one container whose log the
// host itself writes.
const (
	daemonNamespace = "openshift-machine-config-operator"
	daemonContainer = "machine-config-daemon"
)

// daemonLogPath is the machine-config-daemon's container log.
func (h *Host) daemonLogPath() string { return filepath.Join(h.cfg.Dir, "machine-config-daemon.log") }

// errorLog sends what net/http has to say to the kubelet's journal.
func (k *kubelet) errorLog() *log.Logger { return log.New(k.unit, "", 0) }

// logPath finds a container's log file.
func (k *kubelet) logPath(namespace, pod, container string) (string, bool) {
	if k.h.cfg.ContainerLogs != nil {
		if p, ok := k.h.cfg.ContainerLogs(namespace, pod, container); ok {
			return p, true
		}
	}
	if namespace == daemonNamespace && container == daemonContainer && strings.HasPrefix(pod, daemonContainer) {
		return k.h.daemonLogPath(), true
	}
	return "", false
}

// containerLogs answers as the kubelet does to the log subresource of a pod,
// with its options previous, tailLines, sinceSeconds, sinceTime, limitBytes
// and timestamps. previous reads PATH.previous; follow is refused, because
// nothing in the lab watches logs.
func (k *kubelet) containerLogs(w http.ResponseWriter, r *http.Request) {
	ns, pod, container := r.PathValue("namespace"), r.PathValue("pod"), r.PathValue("container")
	opts, err := parseLogOptions(r, k.h.now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	path, ok := k.logPath(ns, pod, container)
	if !ok {
		http.Error(w, fmt.Sprintf("pod %q does not exist", pod+"_"+ns), http.StatusNotFound)
		return
	}
	if opts.previous {
		path += ".previous"
	}
	f, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && opts.previous:
		http.Error(w, fmt.Sprintf("previous terminated container %q in pod %q not found", container, pod), http.StatusBadRequest)
		return
	case errors.Is(err, fs.ErrNotExist):
		http.Error(w, fmt.Sprintf("container %q in pod %q is waiting to start: ContainerCreating", container, pod), http.StatusBadRequest)
		return
	case err != nil:
		http.Error(w, "read container log", http.StatusInternalServerError)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", "text/plain")
	if err := writeLog(w, f, opts); err != nil {
		k.h.log.Debug("write container log", "error", err)
	}
}

// nodeLogs answers the journal query of `oc adm node-logs`
// (openshift/oc:pkg/cli/admin/node/logs.go: unit, tail), and upstream's
// tailLines.
func (k *kubelet) nodeLogs(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	units := append(q["unit"], q["units"]...)
	opts := logOptions{tail: -1}
	for _, name := range []string{"tail", "tailLines"} {
		if v := q.Get(name); v != "" {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				http.Error(w, name+" must be a number that is not negative", http.StatusBadRequest)
				return
			}
			opts.tail = n
		}
	}
	w.Header().Set("Content-Type", "text/plain;charset=UTF-8")
	found := false
	for _, u := range units {
		u = strings.TrimSuffix(u, ".service")
		if u == "" || u != filepath.Base(u) || strings.HasPrefix(u, ".") {
			http.Error(w, "invalid unit name", http.StatusBadRequest)
			return
		}
		f, err := os.Open(filepath.Join(k.h.cfg.Dir, "journal", u+".log"))
		if err != nil {
			continue
		}
		found = true
		err = writeLog(w, f, opts)
		f.Close()
		if err != nil {
			return
		}
	}
	if !found {
		fmt.Fprintln(w, "-- No entries --")
	}
}

type logOptions struct {
	previous, timestamps bool
	tail                 int // -1: all
	limit                int64
	since                time.Time
}

func parseLogOptions(r *http.Request, now time.Time) (logOptions, error) {
	q := r.URL.Query()
	o := logOptions{tail: -1, previous: q.Get("previous") == "true", timestamps: q.Get("timestamps") == "true"}
	if q.Get("follow") == "true" {
		return o, errors.New("follow is not served by this host")
	}
	number := func(name string) (int64, bool, error) {
		v := q.Get(name)
		if v == "" {
			return 0, false, nil
		}
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 {
			return 0, false, fmt.Errorf("%s %q is not a number from 0", name, v)
		}
		return n, true, nil
	}
	if n, ok, err := number("tailLines"); err != nil {
		return o, err
	} else if ok {
		o.tail = int(n)
	}
	if n, ok, err := number("sinceSeconds"); err != nil {
		return o, err
	} else if ok {
		o.since = now.Add(-time.Duration(n) * time.Second)
	}
	if v := q.Get("sinceTime"); v != "" {
		t, err := time.Parse(time.RFC3339, v)
		if err != nil {
			return o, fmt.Errorf("sinceTime: %w", err)
		}
		o.since = t
	}
	n, _, err := number("limitBytes")
	o.limit = n
	return o, err
}

// klogTime finds the time of a klog line; such lines carry no year.
var klogTime = regexp.MustCompile(`^[IWEF](\d{4} \d{2}:\d{2}:\d{2}\.\d{6}) `)

// writeLog writes the lines of f that the options ask for. A container runtime
// keeps the time of each line; here it is read from the klog header, in the
// year in which it is not after the file was last written. A line without one has the time of
// the line before, the first ones that of the first that has one.
func writeLog(w io.Writer, f *os.File, o logOptions) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	raw, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	lines := slices.Collect(strings.Lines(string(raw)))
	written := fi.ModTime().UTC()
	at := written
	if i := slices.IndexFunc(lines, klogTime.MatchString); i >= 0 {
		at, _ = lineTime(lines[i], written)
	}
	var out []string
	for _, line := range lines {
		if t, ok := lineTime(line, written); ok {
			at = t
		}
		if at.Before(o.since) {
			continue
		}
		if o.timestamps {
			line = at.Format(time.RFC3339Nano) + " " + line
		}
		out = append(out, line)
	}
	if o.tail >= 0 && len(out) > o.tail {
		out = out[len(out)-o.tail:]
	}
	text := strings.Join(out, "")
	if o.limit > 0 && int64(len(text)) > o.limit {
		text = text[:o.limit]
	}
	_, err = io.WriteString(w, text)
	return err
}

// lineTime is the time of a line of a file that was last written then, if it has one.
// A day later than that, it was the year before.
func lineTime(line string, written time.Time) (time.Time, bool) {
	m := klogTime.FindStringSubmatch(line)
	if m == nil {
		return time.Time{}, false
	}
	for _, year := range []int{written.Year(), written.Year() - 1} {
		t, err := time.Parse("2006 0102 15:04:05.000000", fmt.Sprintf("%04d %s", year, m[1]))
		if err == nil && t.Before(written.Add(24*time.Hour)) {
			return t, true
		}
	}
	return time.Time{}, false
}
