package ironic

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// UserAgent is how Ironic introduces itself to a BMC.
const UserAgent = "lab-ironic"

// redfish talks to the BMC that a node's driver_info names, with the words of
// sushy for what goes wrong (openstack/sushy:sushy/exceptions.py, connector.py).
// It logs in with basic authentication; sushy tries a session first and falls
// back (sushy/auth.py SessionOrBasicAuth), which ends in the same error.
type redfish struct {
	address, system, user, pass string
	client                      *http.Client
}

// connect reads driver_info
// (openstack/ironic:ironic/drivers/modules/redfish/utils.py parse_driver_info).
func connect(info map[string]any) (*redfish, error) {
	u, err := url.Parse(text(info, "redfish_address"))
	if err != nil || u.Scheme != "https" || u.Host == "" {
		//nolint:staticcheck // ironic's words
		return nil, fmt.Errorf("Invalid Redfish address %s set in driver_info/redfish_address", text(info, "redfish_address"))
	}
	r := &redfish{
		address: u.Scheme + "://" + u.Host, system: strings.TrimSuffix(text(info, "redfish_system_id"), "/"),
		user: text(info, "redfish_username"), pass: text(info, "redfish_password"),
	}
	verify := true
	if v, ok := info["redfish_verify_ca"].(bool); ok {
		verify = v
	}
	r.client = &http.Client{
		Timeout: time.Minute, // sushy/connector.py default_request_timeout
		Transport: &http.Transport{
			// Off only where the BareMetalHost says so, as the driver does.
			TLSClientConfig:   &tls.Config{InsecureSkipVerify: !verify, MinVersion: tls.VersionTLS12}, //nolint:gosec // the option of the driver
			DisableKeepAlives: true,
		},
	}
	return r, nil
}

// connectionError is a request that got no answer; ironic tries it again.
type connectionError struct{ error }

// httpError is an answer of 400 and above.
type httpError struct {
	status int
	words  string
}

func (e *httpError) Error() string { return e.words }

func (r *redfish) do(ctx context.Context, method, path string, body, into any) error {
	var data bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&data).Encode(body); err != nil {
			return err
		}
	}
	target := r.address + path
	req, err := http.NewRequestWithContext(ctx, method, target, &data)
	if err != nil {
		return err
	}
	req.SetBasicAuth(r.user, r.pass)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("OData-Version", "4.0")
	req.Header.Set("User-Agent", UserAgent)
	resp, err := r.client.Do(req)
	if err != nil {
		return connectionError{fmt.Errorf("Unable to connect to %s. Error: %s", target, pythonError(req.URL, err))} //nolint:staticcheck // sushy's words
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return connectionError{fmt.Errorf("Unable to connect to %s. Error: %w", target, err)} //nolint:staticcheck // sushy's words
	}
	switch {
	case resp.StatusCode == http.StatusNotFound:
		return &httpError{404, fmt.Sprintf("Resource %s not found", target)}
	case resp.StatusCode >= 400:
		return &httpError{resp.StatusCode, refusal(method, target, resp.StatusCode, raw)}
	case into == nil || len(raw) == 0:
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read %s: %w", target, err)
	}
	return nil
}

// refusal is sushy's HTTPError.
func refusal(method, target string, status int, raw []byte) string {
	words, extended := "unknown error", "None"
	var body struct {
		Error struct {
			Code, Message string
			Extended      []map[string]any `json:"@Message.ExtendedInfo"`
		}
	}
	if json.Unmarshal(raw, &body) == nil {
		code, detail := body.Error.Code, body.Error.Message
		if code == "" {
			code = "Base.1.0.GeneralError"
		}
		if detail == "" {
			detail = "unknown error."
		}
		words = code + ": " + detail
		if len(body.Error.Extended) > 0 {
			extended = pythonList(body.Error.Extended)
		}
	}
	return fmt.Sprintf("HTTP %s %s returned code %d. %s Extended information: %s", method, target, status, words, extended)
}

// pythonList prints the extended information as Python prints a list of dicts.
func pythonList(list []map[string]any) string {
	var items []string
	for _, m := range list {
		var pairs []string
		for _, key := range slices.Sorted(mapKeys(m)) {
			pairs = append(pairs, fmt.Sprintf("'%s': '%v'", key, m[key]))
		}
		items = append(items, "{"+strings.Join(pairs, ", ")+"}")
	}
	return "[" + strings.Join(items, ", ") + "]"
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// pythonError puts a failed connection into the words of requests and urllib3.
func pythonError(u *url.URL, err error) string {
	port := u.Port()
	if port == "" {
		port = "443"
	}
	pool := fmt.Sprintf("HTTPSConnectionPool(host='%s', port=%s)", u.Hostname(), port)
	var unknown x509.UnknownAuthorityError
	var timeout net.Error
	switch {
	case errors.As(err, &unknown):
		return pool + ": Max retries exceeded with url: " + u.Path + " (Caused by SSLError(SSLCertVerificationError(1, '[SSL: " +
			"CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1129)')))"
	case errors.Is(err, syscall.ECONNREFUSED):
		return pool + ": Max retries exceeded with url: " + u.Path + " (Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object>: " +
			"Failed to establish a new connection: [Errno 111] Connection refused'))"
	case errors.As(err, &timeout) && timeout.Timeout():
		return pool + ": Read timed out. (read timeout=60)"
	}
	return pool + ": " + err.Error()
}

type system struct {
	PowerState   string
	VirtualMedia struct {
		ID string `json:"@odata.id"`
	}
	Links struct {
		ManagedBy []struct {
			ID string `json:"@odata.id"`
		}
	}
}

func (r *redfish) get(ctx context.Context) (system, error) {
	var s system
	return s, r.do(ctx, http.MethodGet, r.system, nil, &s)
}

// power reads the power state in ironic's words
// (openstack/ironic:ironic/drivers/modules/redfish/power.py GET_POWER_STATE_MAP).
func (r *redfish) power(ctx context.Context) (string, error) {
	s, err := r.get(ctx)
	switch {
	case err != nil:
		return "", err
	case s.PowerState == "On" || s.PowerState == "PoweringOn":
		return powerOn, nil
	case s.PowerState == "Off" || s.PowerState == "PoweringOff":
		return powerOff, nil
	}
	return "", nil
}

func (r *redfish) reset(ctx context.Context, kind string) error {
	return r.do(ctx, http.MethodPost, r.system+"/Actions/ComputerSystem.Reset", map[string]any{"ResetType": kind}, nil)
}

func (r *redfish) bootFrom(ctx context.Context, target, enabled string) error {
	return r.do(ctx, http.MethodPatch, r.system, map[string]any{"Boot": map[string]any{
		"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled, "BootSourceOverrideMode": "UEFI",
	}}, nil)
}

type drive struct {
	ID         string `json:"@odata.id"`
	MediaTypes []string
	Inserted   bool
	Actions    map[string]struct {
		Target string `json:"target"`
	}
}

// drives finds the virtual CD drives: the system's, else its manager's
// (openstack/ironic:ironic/drivers/modules/redfish/boot.py _insert_vmedia).
func (r *redfish) drives(ctx context.Context) ([]drive, error) {
	s, err := r.get(ctx)
	if err != nil {
		return nil, err
	}
	under := s.VirtualMedia.ID
	if under == "" && len(s.Links.ManagedBy) > 0 {
		under = strings.TrimSuffix(s.Links.ManagedBy[0].ID, "/") + "/VirtualMedia"
	}
	var list struct {
		Members []struct {
			ID string `json:"@odata.id"`
		}
	}
	if err := r.do(ctx, http.MethodGet, under, nil, &list); err != nil {
		return nil, err
	}
	var out []drive
	for _, m := range list.Members {
		var d drive
		if err := r.do(ctx, http.MethodGet, m.ID, nil, &d); err != nil {
			return nil, err
		}
		if slices.Contains(d.MediaTypes, "CD") || slices.Contains(d.MediaTypes, "DVD") {
			out = append(out, d)
		}
	}
	return out, nil
}

// insert puts the image into the first CD drive, after what is in it was taken out.
func (r *redfish) insert(ctx context.Context, image string) error {
	if err := r.eject(ctx); err != nil {
		return err
	}
	drives, err := r.drives(ctx)
	if err != nil {
		return err
	}
	if len(drives) == 0 {
		return errors.New("No suitable virtual media device found") //nolint:staticcheck // ironic's words
	}
	if a := drives[0].Actions["#VirtualMedia.InsertMedia"]; a.Target != "" {
		return r.do(ctx, http.MethodPost, a.Target, map[string]any{"Image": image, "Inserted": true, "WriteProtected": true}, nil)
	}
	return r.do(ctx, http.MethodPatch, drives[0].ID, map[string]any{"Image": image, "Inserted": true}, nil)
}

func (r *redfish) eject(ctx context.Context) error {
	drives, err := r.drives(ctx)
	if err != nil {
		return err
	}
	for _, d := range drives {
		if !d.Inserted {
			continue
		}
		if a := d.Actions["#VirtualMedia.EjectMedia"]; a.Target != "" {
			err = r.do(ctx, http.MethodPost, a.Target, map[string]any{}, nil)
		} else {
			err = r.do(ctx, http.MethodPatch, d.ID, map[string]any{"Image": nil, "Inserted": false}, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
