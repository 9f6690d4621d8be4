package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// options are those of `--option KEY=VALUE`.
type options struct {
	iso     string // live ISO of RHCOS
	publish string // directory that a web server shows
	url     string // of that directory, as the BMCs see it
	hosts   map[string]server
}

// server is one machine of the file of --option hosts=FILE.
type server struct {
	BMC         string `json:"bmc"`            // https://HOST/redfish/v1/Systems/ID
	CA          string `json:"ca,omitempty"`   // file: what signed the BMC's certificate; empty: the system's authorities
	Credentials string `json:"credentials"`    // file of mode 0600: {"username": ..., "password": ...}
	Disk        string `json:"disk"`           // that is overwritten: /dev/disk/by-id/...
	UUID        string `json:"uuid"`           // of the system: two servers that were swapped are not taken for each other
	Boot        string `json:"boot,omitempty"` // how it gets the image: virtual-media, which is the default, or http
}

// The ways in which a server gets its image.
const (
	byMedia = "virtual-media"
	byHTTP  = "http" // its UEFI firmware fetches it itself
)

var (
	known    = []string{"iso", "publish", "url", "hosts"}
	diskForm = regexp.MustCompile(`^/dev/disk/by-(id|path)/[A-Za-z0-9._:+=-]{1,200}$`)
)

const maxFile = 1 << 20

func parseOptions(o provider.Order) (options, error) {
	p := options{iso: o.Options["iso"], publish: o.Options["publish"], url: o.Options["url"]}
	for key := range o.Options {
		if !slices.Contains(known, key) {
			return p, fmt.Errorf("--option %.40s: there is no such option; known are %s", key, strings.Join(known, ", "))
		}
	}
	for _, key := range known {
		if o.Options[key] == "" {
			return p, fmt.Errorf("--option %s=... is missing", key)
		}
	}
	// HTTPS keeps the user-data in the image from who listens; some BMCs take HTTP only.
	if u, err := url.Parse(p.url); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return p, fmt.Errorf("--option url=%.100s: want http(s)://HOST/DIRECTORY", p.url)
	}
	p.url = strings.TrimSuffix(p.url, "/")
	raw, err := readFile(o.Options["hosts"])
	if err != nil {
		return p, fmt.Errorf("--option hosts=FILE: %w", err)
	}
	if err := json.Unmarshal(raw, &p.hosts); err != nil {
		return p, fmt.Errorf("--option hosts=%s: %w", o.Options["hosts"], err)
	}
	for name, s := range p.hosts {
		switch {
		case s.check(name) != nil:
			return p, s.check(name)
		case !diskForm.MatchString(s.Disk):
			return p, fmt.Errorf("hosts: %s: disk %.100q: want /dev/disk/by-id/... or by-path, which is overwritten", name, s.Disk)
		case s.Boot != "" && s.Boot != byMedia && s.Boot != byHTTP:
			return p, fmt.Errorf("hosts: %s: boot %.40q: want %s or %s", name, s.Boot, byMedia, byHTTP)
		}
	}
	return p, nil
}

// check judges what leads to the BMC.
func (s server) check(name string) error {
	u, err := url.Parse(s.BMC)
	switch {
	case err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || !strings.HasPrefix(u.Path, "/redfish/v1/Systems/"):
		return fmt.Errorf("hosts: %s: bmc %.100q: want https://HOST/redfish/v1/Systems/ID", name, s.BMC)
	case s.UUID == "":
		return fmt.Errorf("hosts: %s: uuid is missing: it is in the system's resource, and on a label of many servers", name)
	}
	return nil
}

// login is the content of a credentials file.
type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

func readLogin(path string) (login, error) {
	var l login
	info, err := os.Stat(path)
	if err != nil {
		return l, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return l, fmt.Errorf("%s can be read by others: chmod 600", path)
	}
	raw, err := readFile(path)
	if err != nil {
		return l, err
	}
	if json.Unmarshal(raw, &l) != nil || l.Username == "" || l.Password == "" { // the error would quote it
		return l, fmt.Errorf("%s is not {\"username\": ..., \"password\": ...}", path)
	}
	return l, nil
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		err = errors.New("it is too large")
	}
	return raw, err
}
