package host

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func testDisk(t *testing.T) *disk {
	t.Helper()
	d, err := openDisk(filepath.Join(t.TempDir(), "root"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.root.Close() })
	return d
}

func parse(t *testing.T, raw string) ignConfig {
	t.Helper()
	c, err := parseIgnition([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestInstallWritesWhatTheConfigSays(t *testing.T) {
	d := testDisk(t)
	var zipped bytes.Buffer
	zw := gzip.NewWriter(&zipped)
	zw.Write([]byte("zipped content"))
	zw.Close()
	err := d.install(parse(t, `{"ignition":{"version":"3.5.0"},
	 "storage":{
	  "directories":[{"path":"/etc/cfg","mode":448}],
	  "files":[
	   {"path":"/etc/plain","mode":384,"contents":{"source":"data:,hello%20world%0A"}},
	   {"path":"/etc/b64","contents":{"source":"data:text/plain;charset=utf-8;base64,aGkK"}},
	   {"path":"/etc/gz","mode":493,"contents":{"compression":"gzip","source":"data:;base64,`+base64.StdEncoding.EncodeToString(zipped.Bytes())+`"}},
	   {"path":"/etc/empty"},
	   {"path":"/etc/appended","contents":{"source":"data:,a"},"append":[{"source":"data:,b"}]}],
	  "links":[{"path":"/etc/link","target":"plain"}]},
	 "systemd":{"units":[
	  {"name":"a.service","enabled":true,"contents":"[Unit]\n","dropins":[{"name":"10-x.conf","contents":"[Service]\n"},{"name":"20-none.conf"}]},
	  {"name":"b.service","mask":true,"contents":"ignored"},
	  {"name":"c.service","enabled":false}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name, content string
		mode          fs.FileMode
	}{
		{"/etc/plain", "hello world\n", 0o600},
		{"/etc/b64", "hi\n", 0o644},
		{"/etc/gz", "zipped content", 0o755},
		{"/etc/empty", "", 0o644},
		{"/etc/appended", "ab", 0o644},
		{"/etc/systemd/system/a.service", "[Unit]\n", 0o644},
		{"/etc/systemd/system/a.service.d/10-x.conf", "[Service]\n", 0o644},
		{presetPath, "enable a.service\ndisable c.service\n", 0o644},
	} {
		got, err := d.read(f.name)
		if err != nil || string(got) != f.content {
			t.Errorf("%s holds %q, %v; want %q", f.name, got, err, f.content)
		}
		if fi, err := d.lstat(f.name); err == nil && fi.Mode() != f.mode {
			t.Errorf("%s has mode %v, want %v", f.name, fi.Mode(), f.mode)
		}
	}
	if d.exists("/etc/systemd/system/a.service.d/20-none.conf") || d.exists("/etc/systemd/system/c.service") {
		t.Error("a unit or drop-in without content was written")
	}
	for name, target := range map[string]string{"/etc/link": "plain", "/etc/systemd/system/b.service": "/dev/null"} {
		if got, err := d.root.Readlink(rel(name)); err != nil || got != target {
			t.Errorf("%s points to %q, %v; want %q", name, got, err, target)
		}
	}
	if fi, err := d.lstat("/etc/cfg"); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("directory is %v, %v; want mode 0700", fi, err)
	}
}

func TestNothingEscapesTheDisk(t *testing.T) {
	for name, cfg := range map[string]string{
		"parent":           `{"storage":{"files":[{"path":"/../../escaped","contents":{"source":"data:,x"}}]}}`,
		"parent in middle": `{"storage":{"files":[{"path":"/etc/../../escaped","contents":{"source":"data:,x"}}]}}`,
		"through a link":   `{"storage":{"files":[]}}`,
		"unit name":        `{"systemd":{"units":[{"name":"../../../../../escaped","contents":"x"}]}}`,
		"drop-in name":     `{"systemd":{"units":[{"name":"a.service","dropins":[{"name":"../../../../../../escaped","contents":"x"}]}]}}`,
		"directory":        `{"storage":{"directories":[{"path":"/../escaped"}]}}`,
		"link":             `{"storage":{"links":[{"path":"/../escaped","target":"x"}]}}`,
		"hard link":        `{"storage":{"links":[{"path":"/in","target":"/../outside","hard":true}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			d := testDisk(t)
			outside := filepath.Dir(d.base)
			if err := os.WriteFile(filepath.Join(outside, "outside"), []byte("o"), 0o600); err != nil {
				t.Fatal(err)
			}
			var c ignConfig
			if err := json.Unmarshal([]byte(cfg), &c); err != nil {
				t.Fatal(err)
			}
			err := d.install(c)
			if name == "through a link" {
				if err := os.Symlink(outside, filepath.Join(d.base, "door")); err != nil {
					t.Fatal(err)
				}
				err = d.write("/door/escaped", []byte("x"), 0o644)
			}
			if err == nil {
				t.Error("the path was taken")
			}
			if _, err := os.Lstat(filepath.Join(outside, "escaped")); err == nil {
				t.Error("a file was written outside the disk")
			}
			if d.exists("/in") {
				t.Error("a file from outside was linked in")
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	bomb := func() string {
		var b bytes.Buffer
		zw := gzip.NewWriter(&b)
		zw.Write(make([]byte, maxFileSize+1))
		zw.Close()
		return "data:;base64," + base64.StdEncoding.EncodeToString(b.Bytes())
	}()
	gz, xz := "gzip", "xz"
	for _, c := range []struct {
		source string
		comp   *string
		want   string
	}{
		{"https://user:secret@example.com/x", nil, `scheme "https"`},
		{"data:;base64", nil, "without a comma"},
		{"data:;base64,!!", nil, "decode data URL"},
		{"data:,plain", &gz, "gunzip"},
		{"data:,plain", &xz, `unsupported compression "xz"`},
		{bomb, &gz, "more than"},
	} {
		_, err := ignResource{Source: &c.source, Compression: c.comp}.decode()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("decode(%.40q) = %v, want %q", c.source, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("error shows the source: %v", err)
		}
	}
}

func FuzzDecodeDataURL(f *testing.F) {
	for _, s := range []string{"data:,x", "data:;base64,aGk=", "data:text/plain,%41", "http://x", "data:,%zz"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		data, err := decodeDataURL(s)
		if err == nil && len(data) > len(s) {
			t.Errorf("%d bytes out of %d", len(data), len(s))
		}
	})
}
