package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
)

// Open opens an archive: a directory, a tar, or a gzipped tar, known by its
// content. A directory is read through os.Root, so that no link in it leads
// outside. Close releases it.
func Open(ctx context.Context, name string) (*Source, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return nil, fmt.Errorf("open archive: %w", err)
		}
		s, err := fromFS(ctx, root.FS(), name)
		if err != nil {
			return nil, errors.Join(err, root.Close())
		}
		s.closer = root
		return s, nil
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("open archive %s: neither a directory nor a file; write the stream to a file first", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	s, err := fromTar(ctx, f, info.Size(), name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s.closer = f
	return s, nil
}

// format is how the bytes of a file are packed.
type format int

const (
	notTar format = iota
	plainTar
	gzipTar
)

// foreignMagic names formats that are seen in the field and are not read.
var foreignMagic = []struct{ magic, name, way string }{
	{"\xfd7zXZ\x00", "xz", "uncompress it with `xz -dk` first"},
	{"\x28\xb5\x2f\xfd", "zstd", "uncompress it with `zstd -d` first"},
	{"BZh", "bzip2", "uncompress it with `bunzip2 -k` first"},
	{"PK\x03\x04", "zip", "unpack it and name the directory"},
}

// sniff tells the format from the first bytes; its error says what to do instead.
func sniff(f io.ReaderAt, name string) (format, error) {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return notTar, fmt.Errorf("read archive %s: %w", name, err)
	}
	head = head[:n]
	switch {
	case len(head) == 0:
		return notTar, fmt.Errorf("no object or log of a cluster found in %s: the file is empty; was the download cut off?", name)
	case len(head) > 2 && string(head[:3]) == gzipMagic:
		return gzipTar, nil
	case len(head) == 512 && (string(head[257:262]) == "ustar" || oldTar(head)):
		return plainTar, nil
	}
	for _, m := range foreignMagic {
		if len(head) >= len(m.magic) && string(head[:len(m.magic)]) == m.magic {
			return notTar, fmt.Errorf("read archive %s: it is %s, which is not read; %s", name, m.name, m.way)
		}
	}
	return notTar, fmt.Errorf("no object or log of a cluster found in %s: it is neither a directory nor a tar or gzipped tar; "+
		"expected a must-gather, an `oc adm inspect` tree or a collection of rollcall. "+
		"Text from a console goes with --console HOST=%s", name, name)
}

// oldTar knows the tar of 7th Edition Unix, which has no magic, by its checksum.
func oldTar(head []byte) bool {
	sum, want := 0, 0
	for i, c := range head {
		if i >= 148 && i < 156 {
			c = ' '
		}
		sum += int(c)
	}
	for _, c := range head[148:156] {
		if c >= '0' && c <= '7' {
			want = want*8 + int(c-'0')
		}
	}
	return sum == want && head[0] != 0
}
