package ssh

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// ProgramName is the program that runs on a host.
const ProgramName = "rollcall-host"

// maxProgram bounds what is copied to a host.
const maxProgram = 64 << 20

// architectures are those that rollcall-host is released for: the e_machine of an ELF file, as Go spells it and as
// `uname -m` does.
var architectures = []struct {
	machine     uint16
	name, uname string
}{
	{62, "amd64", "x86_64"}, {183, "arm64", "aarch64"}, {21, "ppc64le", "ppc64le"}, {22, "s390x", "s390x"},
}

// archOf is how Go spells what `uname -m` printed; "" where it is none of those.
func archOf(uname string) string {
	for _, a := range architectures {
		if a.uname == uname {
			return a.name
		}
	}
	return ""
}

// Programs are the rollcall-hosts for hosts, one for each architecture.
type Programs struct{ list []*program }

// program is one of them. It is read and packed when the first host wants it.
type program struct {
	path, arch string
	once       sync.Once
	packed     []byte
	size, sum  string
	err        error
}

// FindPrograms takes the files that the user names or, where there are none, those called rollcall-host or
// rollcall-host-ARCH in a directory, which is that of this program.
func FindPrograms(named []string, dir string) (*Programs, error) {
	p := &Programs{}
	for _, path := range named {
		arch, err := archOfFile(path)
		if err != nil {
			return nil, fmt.Errorf("--binary %s: %w", path, err)
		}
		p.list = append(p.list, &program{path: path, arch: arch})
	}
	if len(named) > 0 {
		return p, nil
	}
	names := []string{ProgramName}
	for _, a := range architectures {
		names = append(names, ProgramName+"-"+a.name)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		arch, err := archOfFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; name another with --binary FILE", path, err)
		}
		p.list = append(p.list, &program{path: path, arch: arch})
	}
	if len(p.list) == 0 {
		return nil, fmt.Errorf("there is no %s in %s, the directory of this program: unpack rollcall-host_VERSION_linux_ARCH.tar.gz of the same release, "+
			"and name the file with --binary FILE", ProgramName, dir)
	}
	return p, nil
}

// archOfFile reads the head of an ELF file, such as a program for Linux is.
func archOfFile(path string) (_ string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	head := make([]byte, 20)
	if _, err := io.ReadFull(f, head); err != nil || !bytes.HasPrefix(head, []byte("\x7fELF")) {
		return "", errors.New("it is not a program for Linux")
	}
	machine := uint16(head[18]) | uint16(head[19])<<8
	if head[5] == 2 { // big-endian
		machine = uint16(head[19]) | uint16(head[18])<<8
	}
	for _, a := range architectures {
		if a.machine == machine {
			return a.name, nil
		}
	}
	return "", errors.New("it is for a processor that OpenShift does not run on")
}

// For returns what is sent to a host of an architecture: a line with the size and the digest, and the program, packed.
func (p *Programs) For(arch string) (header string, packed []byte, err error) {
	i := slices.IndexFunc(p.list, func(x *program) bool { return x.arch == arch })
	if i < 0 {
		return "", nil, fmt.Errorf("there is no %s for %s here, only for %s", ProgramName, arch, strings.Join(p.Architectures(), ", "))
	}
	x := p.list[i]
	x.once.Do(x.pack)
	return x.size + " " + x.sum + "\n", x.packed, x.err
}

// Architectures are those for which there is a program.
func (p *Programs) Architectures() []string {
	var list []string
	for _, x := range p.list {
		list = append(list, x.arch)
	}
	return list
}

func (x *program) pack() {
	raw, err := os.ReadFile(x.path)
	if err == nil && len(raw) > maxProgram {
		err = fmt.Errorf("it has more than %d MiB", maxProgram>>20)
	}
	if err != nil {
		x.err = fmt.Errorf("read %s: %w", x.path, err)
		return
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(raw); err != nil {
		x.err = fmt.Errorf("pack %s: %w", x.path, err)
		return
	}
	if err := w.Close(); err != nil {
		x.err = fmt.Errorf("pack %s: %w", x.path, err)
		return
	}
	sum := sha256.Sum256(raw)
	x.packed, x.size, x.sum = b.Bytes(), fmt.Sprint(b.Len()), hex.EncodeToString(sum[:])
}
