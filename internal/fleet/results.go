package fleet

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Results are the files of a directory in which results are kept, one JSON value in a line. Each process of a run
// writes a file of its own and reads all of them: what one has finished is asked by nobody again. A process that is
// killed leaves a whole line, or a part of one that the next run takes away.
type Results struct {
	file *os.File
	kept map[string]Result // by key
}

// resultFile is how the files begin and end.
const (
	resultPrefix = "fleet-"
	resultSuffix = ".jsonl"
	maxResults   = 256 << 20 // bytes of one file; a result has about a thousand
)

// OpenResults reads what is kept in dir, and opens the file of a part of the work, "1-of-4" for example, for what comes.
func OpenResults(dir, part string) (_ *Results, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // results are for others, and hold no secrets
		return nil, fmt.Errorf("make the directory of the results: %w", err)
	}
	own := filepath.Join(dir, resultPrefix+part+resultSuffix)
	f, err := os.OpenFile(own, os.O_RDWR|os.O_CREATE|os.O_APPEND|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o644) //nolint:gosec // as the directory
	if err != nil {
		return nil, fmt.Errorf("open the file of the results: %w", err)
	}
	r := &Results{file: f, kept: map[string]Result{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file: %w", own, errors.Join(err, os.ErrInvalid))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("lock %s: another rollcall is working on this part: %w", own, err)
	}
	files, err := filepath.Glob(filepath.Join(dir, resultPrefix+"*"+resultSuffix))
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		whole, err := r.load(name)
		if err != nil {
			return nil, err
		}
		if name == own {
			if err := f.Truncate(whole); err != nil {
				return nil, fmt.Errorf("take the cut line off %s: %w", own, err)
			}
		}
	}
	return r, nil
}

// load reads the whole lines of a file, and returns how many bytes they have.
func (r *Results) load(name string) (whole int64, err error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) //nolint:gosec // of the directory that the user named
	if err != nil {
		return 0, fmt.Errorf("read the results in %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, maxResults+1))
	if err != nil {
		return 0, fmt.Errorf("read the results in %s: %w", name, err)
	}
	if len(raw) > maxResults {
		return 0, fmt.Errorf("%s has more than %d bytes: begin another directory", name, maxResults)
	}
	for n := 1; ; n++ {
		line, rest, ok := bytes.Cut(raw[whole:], []byte("\n"))
		if !ok {
			return whole, nil
		}
		var one Result
		if err := json.Unmarshal(line, &one); err != nil || one.Key == "" || one.Name == "" {
			return 0, fmt.Errorf("%s, line %d is no result of `fleet`: %w; move the file away", name, n, errors.Join(err, os.ErrInvalid))
		}
		r.kept[one.Key] = one
		whole = int64(len(raw) - len(rest))
	}
}

// Of is the result of a cluster that is kept. One of another version of the program does not count; with retry
// neither does one that could not be read.
func (r *Results) Of(c Cluster, version string, retry bool) (Result, bool) {
	one, ok := r.kept[c.Key]
	if !ok || c.Key == "" || one.Program != version || retry && one.State == NotRead {
		return Result{}, false
	}
	one.Name, one.Call = c.Name, c.Call
	return one, true
}

// Keep writes a result. It is on the disk when Keep returns.
func (r *Results) Keep(one Result) error {
	if one.Key == "" {
		return nil
	}
	raw, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("encode the result of %s: %w", one.Name, err)
	}
	if _, err := r.file.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("keep the result of %s: %w", one.Name, err)
	}
	if err := r.file.Sync(); err != nil {
		return fmt.Errorf("keep the result of %s: %w", one.Name, err)
	}
	return nil
}

// Close releases the file.
func (r *Results) Close() error { return r.file.Close() }

// KeyOf is the key of an archive: a digest of its path and of what tells that it was changed since. Results are given to
// others, and a path may hold what is nobody's business.
func KeyOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{whole, fmt.Sprint(info.Size()), info.ModTime().UTC().Format("2006-01-02T15:04:05.999999999Z")}, " ")))
	return hex.EncodeToString(sum[:]), nil
}
