// Command bmc-emulator serves captured Redfish trees of real servers, or the lab's own, as many BMCs on loopback, over
// HTTPS and with basic authentication. It is for trying what reads BMCs against the shapes
// that vendors have, and against BMCs that misbehave.
//
//	bmc-emulator --tree mockups/lenovo --count 200 --out /tmp/bmcs
//	bmc-emulator --vendor mixed --count 200 --out /tmp/bmcs
//
// In the directory of --out it writes bmcs.txt (a line for each BMC), ca.pem (what has signed
// their certificates) and credentials.yaml. It serves until it is interrupted, and then
// prints what was asked.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
	"github.com/rollcall-project/rollcall/lab/internal/pki"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bmc-emulator:", err)
		os.Exit(1)
	}
}

// troubles are what all BMCs of a run can do wrong, by their name.
var troubles = map[string]bmc.Trouble{
	"none": {}, "locked": {Locked: true}, "unavailable": {Unavailable: true}, "forbidden": {Forbidden: true}, "hang": {Hang: true},
	"half": {Half: true}, "html": {HTML: true}, "endless": {Endless: true}, "redirect": {Redirect: "https://192.0.2.1"},
	"slow": {Delay: 300 * time.Millisecond},
	"deep": {Deep: true}, "same": {Same: true}, "echo": {Echo: true}, "gone": {GoneAfter: 6},
}

type options struct {
	tree, vendor, out string
	trouble           string
	count, locks      int
	own, name, wrong  bool
}

func run(args []string) error {
	var o options
	f := flag.NewFlagSet("bmc-emulator", flag.ContinueOnError)
	f.StringVar(&o.tree, "tree", "", "directory of the captured tree: it holds redfish/v1/index.json")
	f.StringVar(&o.vendor, "vendor", "", "instead of --tree, the shape of a vendor: dell, hpe, lenovo, supermicro, or mixed")
	f.StringVar(&o.out, "out", "", "directory for bmcs.txt, ca.pem and credentials.yaml")
	f.IntVar(&o.count, "count", 1, "number of BMCs")
	f.StringVar(&o.trouble, "trouble", "none", "what they do wrong: none, locked, unavailable, forbidden, hang, half, html, endless, redirect, slow, "+
		"deep, same, echo, gone")
	f.IntVar(&o.locks, "max-failures", 3, "refused logins in a row that lock an account")
	f.BoolVar(&o.own, "self-signed", false, "certificates that sign themselves")
	f.BoolVar(&o.name, "wrong-name", false, "certificates for another name")
	f.BoolVar(&o.wrong, "wrong-password", false, "write a wrong password into credentials.yaml")
	if err := f.Parse(args); err != nil {
		return err
	}
	trouble, known := troubles[o.trouble]
	if !known || (o.tree == "") == (o.vendor == "") || o.out == "" {
		return errors.New("--tree or --vendor, --out and a known --trouble are needed")
	}
	if o.tree != "" {
		if _, err := os.Stat(filepath.Join(o.tree, "redfish/v1/index.json")); err != nil {
			return fmt.Errorf("--tree: %w", err)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return serve(ctx, o, trouble)
}

const (
	user     = "lab-operator"
	password = "planted-bmc-password"
)

func serve(ctx context.Context, o options, trouble bmc.Trouble) error {
	ca, err := pki.NewCA(pki.Name{CN: "bmc-signer"}, pki.OneDay)
	if err != nil {
		return err
	}
	var list []*bmc.BMC
	var lines strings.Builder
	for i := range o.count {
		cfg := bmc.Config{Name: fmt.Sprintf("m%d", i), Address: "127.0.0.1:0", User: user, Pass: password, MaxFailures: o.locks, Sign: ca}
		o.serves(&cfg, i)
		if o.own {
			cfg.Sign = pki.Pair{}
		}
		if o.name {
			cfg.Names = []string{"bmc.example.com"}
		}
		b, err := bmc.Start(cfg)
		if err != nil {
			return err
		}
		defer b.Close() //nolint:errcheck // the process exits
		b.Behave(trouble)
		list = append(list, b)
		fmt.Fprintf(&lines, "m%d redfish-virtualmedia%s %s\n", i, strings.TrimPrefix(b.URL(), "https"), map[bool]string{true: "master", false: "worker"}[i < 3])
	}
	given := password
	if o.wrong {
		given = "planted-wrong-password"
	}
	for name, text := range map[string]string{
		"bmcs.txt": lines.String(), "ca.pem": string(ca.Cert), "credentials.yaml": fmt.Sprintf("default: {username: %s, password: %s}\n", user, given),
	} {
		if err := os.WriteFile(filepath.Join(o.out, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	fmt.Fprintf(os.Stderr, "%d BMCs serve %s; see %s\n", o.count, o.tree+o.vendor, o.out)
	<-ctx.Done()
	return report(list)
}

// serves sets what the i-th BMC serves.
func (o options) serves(cfg *bmc.Config, i int) {
	if o.tree != "" {
		cfg.Tree = os.DirFS(o.tree)
		return
	}
	cfg.Vendor, cfg.On, cfg.Serial, cfg.MACs = bmc.Vendor(o.vendor), true, fmt.Sprintf("LAB%04d", i),
		[]string{fmt.Sprintf("52:54:00:00:%02x:%02x", i/256, i%256)}
	if o.vendor == "mixed" {
		cfg.Vendor = []bmc.Vendor{bmc.Dell, bmc.HPE, bmc.Lenovo, bmc.Supermicro}[i%4]
	}
}

// asked is what reached the BMCs.
type asked struct {
	BMCs     int            `json:"bmcs"`
	Requests int            `json:"requests"`
	Methods  map[string]int `json:"methods"`
	// Refused are requests with a credential that were answered 401, over all BMCs and at
	// most of one.
	Refused     int `json:"refused"`
	MostRefused int `json:"mostRefused"`
	MostAsked   int `json:"mostAsked"`
}

func report(list []*bmc.BMC) error {
	a := asked{BMCs: len(list), Methods: map[string]int{}}
	for _, b := range list {
		refused := 0
		requests := b.Requests()
		for _, r := range requests {
			a.Methods[r.Method]++
			if r.User != "" && r.Status == 401 {
				refused++
			}
		}
		a.Requests += len(requests)
		a.Refused += refused
		a.MostRefused, a.MostAsked = max(a.MostRefused, refused), max(a.MostAsked, len(requests))
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}
