package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/stmcginnis/gofish"
	"github.com/stmcginnis/gofish/schemas"

	"github.com/rollcall-project/rollcall/internal/sanitize"
)

// machine is a server through its BMC.
type machine struct {
	client *gofish.APIClient
	path   string
	system *schemas.ComputerSystem
}

const (
	callTimeout = time.Minute
	maxBody     = 8 << 20
)

// open connects to the BMC of a server, and checks that it is the server that is meant.
func open(ctx context.Context, s server) (*machine, error) {
	u, err := url.Parse(s.BMC)
	if err != nil {
		return nil, err
	}
	l, err := readLogin(s.Credentials)
	if err != nil {
		return nil, fmt.Errorf("read the credentials of BMC %s: %w", u.Host, err)
	}
	roots, err := x509.SystemCertPool()
	if s.CA != "" {
		raw, readErr := readFile(s.CA)
		roots, err = x509.NewCertPool(), readErr
		if readErr == nil && !roots.AppendCertsFromPEM(raw) {
			err = fmt.Errorf("%s has no certificate", s.CA)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the authorities for BMC %s: %w", u.Host, err)
	}
	client := &http.Client{
		Timeout:   callTimeout,
		Transport: bounded{&http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxResponseHeaderBytes: 64 << 10}},
		// The password is for this BMC and for no one that it refers to.
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("the BMC sends to another address, which is not followed")
		},
	}
	c, err := gofish.ConnectContext(ctx, gofish.ClientConfig{
		Endpoint: "https://" + u.Host, Username: l.Username, Password: l.Password, BasicAuth: true, HTTPClient: client, NoModifyTransport: true,
	})
	if err != nil {
		return nil, fmt.Errorf("connect to BMC %s: %w", u.Host, hidden(err, l))
	}
	m := &machine{client: c, path: strings.TrimSuffix(u.Path, "/")}
	if err := m.read(); err != nil {
		return nil, fmt.Errorf("read the system of BMC %s: %w", u.Host, hidden(err, l))
	}
	if !strings.EqualFold(m.system.UUID, s.UUID) {
		return nil, fmt.Errorf("BMC %s is of the system with uuid %.60s, want %s: it is another server, and stays as it is", u.Host, m.system.UUID, s.UUID)
	}
	return m, nil
}

// hidden leaves out what a BMC, which is foreign, may repeat of the password, in whatever form.
func hidden(err error, l login) error {
	var known sanitize.Known
	known.Add(l.Password)
	known.Add(l.Username + ":" + l.Password) // of basic authentication
	if text := err.Error(); strings.Contains(text, l.Password) || known.In(text) || known.In(sanitize.Plain(text)) {
		return errors.New("its words repeat the password and are not shown")
	}
	return err
}

// bounded bounds the bodies of answers.
type bounded struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxBody)
	}
	return resp, err
}

var _ io.Closer = (*machine)(nil)

// Close drops the connections.
func (m *machine) Close() error { m.client.HTTPClient.CloseIdleConnections(); return nil }

func (m *machine) read() (err error) {
	m.system, err = schemas.GetComputerSystem(m.client, m.path)
	return err
}

func (m *machine) on() bool { return m.system.PowerState != schemas.OffPowerState }

// drives are the virtual drives for CDs: of the system, else of its manager, as vendors have
// them.
func (m *machine) drives() ([]*schemas.VirtualMedia, error) {
	list, err := m.system.VirtualMedia()
	if err != nil {
		return nil, fmt.Errorf("list virtual media: %w", err)
	}
	if len(list) == 0 {
		managers, err := m.system.ManagedBy()
		if err != nil {
			return nil, fmt.Errorf("list managers: %w", err)
		}
		for _, x := range managers {
			more, err := x.VirtualMedia()
			if err != nil {
				return nil, fmt.Errorf("list virtual media: %w", err)
			}
			list = append(list, more...)
		}
	}
	return slices.DeleteFunc(list, func(v *schemas.VirtualMedia) bool {
		return !slices.ContainsFunc(v.MediaTypes, func(t schemas.VirtualMediaType) bool {
			return t == schemas.CDVirtualMediaType || t == schemas.DVDVirtualMediaType
		})
	}), nil
}

// drive returns the drive that has an image, or nil.
func drive(list []*schemas.VirtualMedia, image string) *schemas.VirtualMedia {
	i := slices.IndexFunc(list, func(v *schemas.VirtualMedia) bool { return v.Image == image && image != "" })
	if i < 0 {
		return nil
	}
	return list[i]
}

// empty returns the first drive without an image. Another one is somebody's.
func empty(list []*schemas.VirtualMedia) (*schemas.VirtualMedia, error) {
	var full []string
	for _, v := range list {
		if v.Image == "" && (v.Inserted == nil || !*v.Inserted) {
			return v, nil
		}
		full = append(full, v.ID)
	}
	if len(full) > 0 {
		return nil, fmt.Errorf("its virtual drives %s have images of somebody else: eject them first", strings.Join(full, ", "))
	}
	return nil, errors.New("it has no virtual drive for CDs")
}

// insert puts an image into a drive, and looks whether it is in.
func (m *machine) insert(v *schemas.VirtualMedia, image string) error {
	yes := true
	if _, err := v.InsertMedia(&schemas.VirtualMediaInsertMediaParameters{Image: image, Inserted: &yes, WriteProtected: &yes}); err != nil {
		return fmt.Errorf("insert the image into virtual drive %s: %w", v.ID, err)
	}
	list, err := m.drives()
	if err != nil {
		return err
	}
	if drive(list, image) == nil {
		return fmt.Errorf("virtual drive %s accepted the image and does not have it", v.ID)
	}
	return nil
}

// override is from what the server boots next, as far as it is not its own order.
type override struct {
	Enabled, Target, Mode string
	URI                   string `json:",omitempty"` // of target UefiHttp
}

func (m *machine) override() override {
	b := m.system.Boot
	return override{string(b.BootSourceOverrideEnabled), string(b.BootSourceOverrideTarget), string(b.BootSourceOverrideMode), b.HTTPBootURI}
}

func (m *machine) setOverride(o override) error {
	b := &schemas.Boot{
		BootSourceOverrideEnabled: schemas.BootSourceOverrideEnabled(o.Enabled), BootSourceOverrideTarget: schemas.BootSource(o.Target),
		BootSourceOverrideMode: schemas.BootSourceOverrideMode(o.Mode), HTTPBootURI: o.URI,
	}
	if err := m.system.SetBoot(b); err != nil {
		return fmt.Errorf("set the boot override to %s %s: %w", o.Target, o.Enabled, err)
	}
	return m.read()
}

// dropURI takes the URL of the last HTTP boot away, which setOverride cannot: what is not sent
// stays (openstack/sushy:sushy/resources/system/system.py set_system_boot_options sends null,
// too).
func (m *machine) dropURI() error {
	resp, err := m.client.Patch(m.system.ODataID, map[string]any{"Boot": map[string]any{"HttpBootUri": nil}})
	if resp != nil {
		resp.Body.Close()
	}
	if err != nil {
		return fmt.Errorf("remove the URL of the HTTP boot: %w", err)
	}
	return m.read()
}

// bootsHTTP refuses a server that does not boot over HTTP, as ironic does
// (openstack/ironic:ironic/drivers/modules/redfish/boot.py RedfishHttpsBoot). Not all that list
// it also take a URL: see offerHTTP.
func (m *machine) bootsHTTP() error {
	allowed := m.system.Boot.AllowableBootSourceOverrideTargetValues
	if len(allowed) > 0 && !slices.Contains(allowed, schemas.UefiHTTPBootSource) {
		return errors.New("its BMC has no boot source UefiHttp: leave \"boot\": \"http\" out for this server")
	}
	return nil
}

// offerHTTP has the server fetch an image itself at its next boot.
func (m *machine) offerHTTP(image string) error {
	if err := m.bootsHTTP(); err != nil {
		return err
	}
	before := m.override()
	if before.URI != "" && before.URI != image {
		return errors.New("its BMC has the URL of somebody else's HTTP boot: remove it first")
	}
	if err := m.setOverride(override{Enabled: "Once", Target: string(schemas.UefiHTTPBootSource), Mode: "UEFI", URI: image}); err != nil {
		return err
	}
	if m.system.Boot.HTTPBootURI != image {
		before.URI = ""
		return errors.Join(errors.New("its BMC accepted the URL of the HTTP boot and does not have it: leave \"boot\": \"http\" out for "+
			"this server"), m.setOverride(before))
	}
	return nil
}

// The time that a server has to change its power, and the time between looks.
var powerTimeout, powerEvery = time.Minute, time.Second

// power switches the server on or off and waits until it is.
func (m *machine) power(ctx context.Context, on bool) error {
	kind := schemas.ForceOffResetType
	if on {
		kind = schemas.OnResetType
	}
	if m.on() == on {
		return nil
	}
	if _, err := m.system.Reset(kind); err != nil {
		return fmt.Errorf("reset %s: %w", kind, err)
	}
	ctx, cancel := context.WithTimeout(ctx, powerTimeout)
	defer cancel()
	for {
		if err := m.read(); err != nil {
			return fmt.Errorf("read the power state: %w", err)
		}
		if m.on() == on {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the BMC accepted reset %s, and the power did not change in %s", kind, powerTimeout)
		case <-time.After(powerEvery):
		}
	}
}
