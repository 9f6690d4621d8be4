package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/rollcall-project/rollcall/lab/internal/lab"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

// trouble is what is wrong with one machine.
type trouble struct {
	change       func(g *guest, data []byte) ([]byte, error) // of its user-data
	machine      lab.Guest
	otherAddress bool // the infrastructure reports another address than the machine has
	off          bool // it is made, and the first time switched on by somebody later
}

// slowFirmware is longer than two rotations of the token take in a lab.
const slowFirmware = 90 * time.Second

// troubles are known failures of workers on the platform None. A machine has one when it is made
// for the first time.
var troubles = map[string]trouble{
	// The server answers 511 to each of these.
	"token-foreign":       {change: token(func([]byte) []byte { return []byte(uuid.NewUUID()) })},
	"token-encoded-twice": {change: token(func(t []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(t)) })},
	"boots-later":         {off: true},
	"boots-slowly":        {machine: lab.Guest{Firmware: slowFirmware}}, // the token is rotated meanwhile

	"other-name":      {change: source(func(g *guest) string { return g.state.Net.Host(4) })},
	"other-ca":        {change: otherCA},
	"port-closed":     {change: source(func(g *guest) string { return g.state.Net.Mirror() })},
	"packets-dropped": {change: source(func(g *guest) string { return g.state.Net.Firewalled() })},
	"token-not-sent":  {change: header("Authorization", "Bearer")},
	"old-path":        {change: replaced("/ignition\"", "/config/worker\"")},
	"address-unknown": {otherAddress: true},
	"host-name-other": {machine: lab.Guest{Hostname: "stranger"}},
	"network-waits":   {machine: lab.Guest{Network: 1000 * time.Hour}},
	"cni-unsigned":    {machine: lab.Guest{Network: 1000 * time.Hour, Unsigned: true}},
}

// pointer is a pointer Ignition config, with what is in it kept as it is.
type pointer map[string]any

func parse(data []byte) (pointer, map[string]any, error) {
	var p pointer
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, nil, fmt.Errorf("the user-data is no JSON")
	}
	ignition, _ := p["ignition"].(map[string]any)
	config, _ := ignition["config"].(map[string]any)
	list, _ := config["merge"].([]any)
	if len(list) != 1 {
		return nil, nil, fmt.Errorf("the user-data merges %d configs", len(list))
	}
	merge, _ := list[0].(map[string]any)
	return p, merge, nil
}

// header sets a header of the request for the config.
func header(name, value string) func(*guest, []byte) ([]byte, error) {
	return changedHeader(name, func(string) (string, error) { return value, nil })
}

func changedHeader(name string, change func(string) (string, error)) func(*guest, []byte) ([]byte, error) {
	return func(_ *guest, data []byte) ([]byte, error) {
		p, merge, err := parse(data)
		if err != nil {
			return nil, err
		}
		list, _ := merge["httpHeaders"].([]any)
		for _, h := range list {
			h, _ := h.(map[string]any)
			if h["name"] != name {
				continue
			}
			was, _ := h["value"].(string)
			if h["value"], err = change(was); err != nil {
				return nil, err
			}
		}
		return json.Marshal(p)
	}
}

// token sends another token.
func token(change func([]byte) []byte) func(*guest, []byte) ([]byte, error) {
	return changedHeader("Authorization", func(was string) (string, error) {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(was, "Bearer "))
		return "Bearer " + base64.StdEncoding.EncodeToString(change(raw)), err
	})
}

// source dials another address.
func source(address func(*guest) string) func(*guest, []byte) ([]byte, error) {
	return func(g *guest, data []byte) ([]byte, error) {
		p, merge, err := parse(data)
		if err != nil {
			return nil, err
		}
		from, _ := merge["source"].(string)
		host, rest, ok := strings.Cut(strings.TrimPrefix(from, "https://"), ":")
		if !ok || host == "" {
			return nil, fmt.Errorf("the user-data has no source with a port")
		}
		merge["source"] = "https://" + address(g) + ":" + rest
		return json.Marshal(p)
	}
}

func replaced(old, now string) func(*guest, []byte) ([]byte, error) {
	return func(_ *guest, data []byte) ([]byte, error) {
		if !bytes.Contains(data, []byte(old)) {
			return nil, fmt.Errorf("the user-data has no %s", old)
		}
		return bytes.ReplaceAll(data, []byte(old), []byte(now)), nil
	}
}

// otherCA trusts an authority that the server is not of.
func otherCA(_ *guest, data []byte) ([]byte, error) {
	ca, err := pki.NewCA(pki.Name{CN: "ignition-root-ca", OU: []string{"openshift"}}, pki.TenYears)
	if err != nil {
		return nil, err
	}
	p, _, err := parse(data)
	if err != nil {
		return nil, err
	}
	ignition, _ := p["ignition"].(map[string]any)
	ignition["security"] = map[string]any{"tls": map[string]any{"certificateAuthorities": []any{
		map[string]any{"source": "data:text/plain;base64," + base64.StdEncoding.EncodeToString(ca.Cert)},
	}}}
	return json.Marshal(p)
}
