package host

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
)

// maxFileSize bounds one decoded file of a config: nothing that a machine
// config server sends comes near, and a gzip bomb ends here.
const maxFileSize = 64 << 20

// ignConfig is the part of an Ignition 3.x config that a host acts on.
type ignConfig struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Passwd  json.RawMessage `json:"passwd,omitempty"`
	Storage struct {
		Directories []ignNode `json:"directories,omitempty"`
		Files       []ignFile `json:"files,omitempty"`
		Links       []ignLink `json:"links,omitempty"`
	} `json:"storage"`
	Systemd struct {
		Units []ignUnit `json:"units,omitempty"`
	} `json:"systemd"`
}

type ignNode struct {
	Path string `json:"path"`
	Mode *int   `json:"mode,omitempty"`
}

type ignFile struct {
	ignNode
	Contents ignResource   `json:"contents"`
	Append   []ignResource `json:"append,omitempty"`
}

type ignResource struct {
	Source      *string `json:"source,omitempty"`
	Compression *string `json:"compression,omitempty"`
}

type ignLink struct {
	ignNode
	Target *string `json:"target,omitempty"`
	Hard   *bool   `json:"hard,omitempty"`
}

type ignUnit struct {
	Name     string      `json:"name"`
	Contents *string     `json:"contents,omitempty"`
	Enabled  *bool       `json:"enabled,omitempty"`
	Mask     *bool       `json:"mask,omitempty"`
	Dropins  []ignDropin `json:"dropins,omitempty"`
}

type ignDropin struct {
	Name     string  `json:"name"`
	Contents *string `json:"contents,omitempty"`
}

// parseIgnition reads a 3.x config. Version 2 has another shape and no release
// since 4.6 renders it, so it is refused rather than read as empty.
func parseIgnition(raw []byte) (ignConfig, error) {
	var c ignConfig
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, fmt.Errorf("parse Ignition config: %w", err)
	}
	if !strings.HasPrefix(c.Ignition.Version, "3.") {
		return c, fmt.Errorf("parse Ignition config: version %q is not 3.x", c.Ignition.Version)
	}
	return c, nil
}

// decode returns the content of a resource: nothing for no source, else a data
// URL (RFC 2397), gunzipped if its compression says so. A remote source is an
// error: the fetch stage does not resolve those, and rendered configs have none.
func (r ignResource) decode() ([]byte, error) {
	if r.Source == nil || *r.Source == "" {
		return nil, nil
	}
	data, err := decodeDataURL(*r.Source)
	if err != nil {
		return nil, err
	}
	switch comp := r.Compression; {
	case comp == nil || *comp == "":
		return data, nil
	case *comp != "gzip":
		return nil, fmt.Errorf("unsupported compression %q", *comp)
	}
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("gunzip content: %w", err)
	}
	plain, err := io.ReadAll(io.LimitReader(zr, maxFileSize+1))
	if err != nil {
		return nil, fmt.Errorf("gunzip content: %w", err)
	}
	if len(plain) > maxFileSize {
		return nil, fmt.Errorf("gunzip content: more than %d bytes", maxFileSize)
	}
	return plain, nil
}

func decodeDataURL(s string) ([]byte, error) {
	rest, ok := strings.CutPrefix(s, "data:")
	if !ok {
		scheme, _, _ := strings.Cut(s, ":")
		return nil, fmt.Errorf("source with scheme %q is not a data URL", scheme)
	}
	meta, body, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, fmt.Errorf("data URL without a comma")
	}
	plain, err := url.PathUnescape(body)
	if err != nil {
		return nil, fmt.Errorf("unescape data URL: %w", err)
	}
	if meta == "base64" || strings.HasSuffix(meta, ";base64") {
		raw, err := base64.StdEncoding.DecodeString(plain)
		if err != nil {
			return nil, fmt.Errorf("decode data URL: %w", err)
		}
		return raw, nil
	}
	return []byte(plain), nil
}

// content decodes a file's contents and what is appended to them.
func (f ignFile) content() ([]byte, error) {
	out, err := f.Contents.decode()
	if err != nil {
		return nil, err
	}
	for _, a := range f.Append {
		more, err := a.decode()
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}
