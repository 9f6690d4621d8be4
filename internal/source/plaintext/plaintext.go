// Package plaintext makes text of what a person gives as text: packed or not, in UTF-8 or UTF-16. What
// is no text is named by its format.
//
// Invariant: the same text gives the same bytes, however it was packed or encoded.
package plaintext

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/rollcall-project/rollcall/internal/source/archive/member"
)

// maxLayers is how often a text may be packed: x.log.gz in a zip.
const maxLayers = 3

const unknownFormat = "binary data of no format that is known here"

// packedName is the name of a packed file or an archive.
var packedName = regexp.MustCompile(`(?i)\.(tar|tgz|txz|zip|(tar\.)?(gz|xz|bz2|zst))$`)

// NotTextError says that a file is not text.
type NotTextError struct {
	Name   string
	Format string // "a PNG image", "binary data"
}

// Error implements error.
func (e *NotTextError) Error() string {
	if strings.HasPrefix(e.Format, "JSON") {
		return fmt.Sprintf("%s is not searched for messages: it is %s. `rollcall diagnose --from FILE` reads it. "+
			"`rollcall diagnose --rendezvous IP` asks the service itself",
			e.Name, e.Format)
	}
	if e.Format == unknownFormat && packedName.MatchString(e.Name) {
		return fmt.Sprintf("%[1]s is not an archive, although its name ends like one: it begins like no tar, gzip, xz, zstd or zip file. "+
			"Was the download damaged? Compare its size and checksum, and look at it: file %[1]s", e.Name)
	}
	return fmt.Sprintf("%s is not text: it is %s. Give the text itself, such as a log or the output of a command", e.Name, e.Format)
}

// Of returns the text of a file of at most limit bytes, unpacked and in UTF-8 without a byte order
// mark and colors. ok is false for an archive of several files, and for what is longer or damaged: other readers
// tell what is wrong with it.
func Of(raw []byte, limit int64) (text []byte, ok bool) {
	for range maxLayers {
		if member.IsTar(raw) {
			return nil, false
		}
		inner, packed, err := unpacked(raw, limit)
		if err != nil {
			return nil, false
		}
		if !packed {
			text = colors.ReplaceAll(decoded(raw), nil)
			return text, Format(text) == "" && int64(len(text)) <= limit
		}
		raw = inner
	}
	return nil, false
}

// unpacked removes one layer of packing.
func unpacked(raw []byte, limit int64) (inner []byte, packed bool, err error) {
	if bytes.HasPrefix(raw, []byte("PK\x03\x04")) {
		inner, err = onlyMember(raw, limit)
		return inner, true, err
	}
	return member.Uncompress(raw, limit)
}

// onlyMember returns the one file of a zip.
func onlyMember(raw []byte, limit int64) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, fmt.Errorf("open zip: %w", err)
	}
	var only *zip.File
	for _, f := range z.File {
		if f.FileInfo().IsDir() || strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		if only != nil {
			return nil, errors.New("a zip of several files")
		}
		only = f
	}
	if only == nil {
		return nil, errors.New("a zip without files")
	}
	in, err := only.Open()
	if err != nil {
		return nil, fmt.Errorf("open %s in the zip: %w", only.Name, err)
	}
	defer in.Close()
	return member.ReadAtMost(in, limit)
}

// colors are the sequences with which programs color their lines (ECMA-48 SGR, EL).
var colors = regexp.MustCompile(`\x1b\[[0-9;]*[mK]`)

// decoded returns bytes in UTF-8 without a byte order mark.
func decoded(raw []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(raw, []byte("\xef\xbb\xbf")):
		return raw[3:]
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return raw
	}
	raw = raw[2:]
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// formats are the first bytes of files that people take for text.
var formats = []struct{ magic, name string }{
	{"\x89PNG\r\n\x1a\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"RIFF", "a RIFF file (WebP, AVI or WAV)"},
	{"BM", "a BMP image"},
	{"%PDF-", "a PDF document"},
	{"\x7fELF", "a program (ELF)"},
	{"MZ", "a program of Windows"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"\xd0\xcf\x11\xe0", "a document of Microsoft Office"},
	{"LPKSHHRH", "a binary journal of systemd (print it with journalctl --file)"},
	{"\xd4\xc3\xb2\xa1", "a capture of packets (pcap)"},
	{"\x0a\x0d\x0d\x0a", "a capture of packets (pcapng)"},
}

// maxHead is how much of a file tells whether it is text.
const maxHead = 8 << 10

// Format names what bytes are that are not text: they have a NUL, or more than one byte in 20 that is
// no UTF-8. It is "" for text, and for what is packed.
func Format(raw []byte) string {
	head := raw[:min(len(raw), maxHead)]
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return "a PDF document"
	}
	if isText(head) || member.IsContainer(head) {
		return ""
	}
	for _, f := range formats {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.name
		}
	}
	return unknownFormat
}

func isText(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	wrong := 0
	for rest := head; len(rest) > 0; {
		r, n := utf8.DecodeRune(rest)
		if r == utf8.RuneError && n == 1 {
			wrong++
		}
		rest = rest[n:]
	}
	return wrong*20 <= len(head)
}

// Reader returns a text as it is read: a short one as Of makes it, a long one as it is. It is a
// NotTextError if it is no text.
func Reader(in io.Reader, name string, limit int64) (io.Reader, error) {
	head, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(head)) <= limit {
		if text, ok := Of(head, limit); ok {
			if format := JSON(text); format != "" {
				return nil, &NotTextError{name, format}
			}
			return bytes.NewReader(text), nil
		}
	}
	format := Format(decoded(head))
	if format == "" && member.IsContainer(head) {
		format = "an archive, or damaged; an archive is read with diagnose --from"
	}
	if format != "" {
		return nil, &NotTextError{name, format}
	}
	return io.MultiReader(bytes.NewReader(head), in), nil
}
