package bmc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"strings"

	"github.com/rollcall-project/rollcall/internal/source/yamlin"
)

// Credential is a user and a password. It prints as nothing but its origin.
type Credential struct {
	user, pass string
	From       string // one of the From... words
}

// Where a credential is from.
const (
	FromPlan        = "the plan"
	FromFile        = "the credentials file"
	FromEnvironment = "the environment"
)

// newCredential returns a credential; ok is false where one of the two is missing.
func newCredential(user, pass, from string) (c Credential, ok bool) {
	return Credential{user, pass, from}, user != "" && pass != ""
}

// String hides it.
func (c Credential) String() string { return "(hidden, of " + c.From + ")" }

// GoString hides it.
func (c Credential) GoString() string { return c.String() }

// LogValue hides it.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText hides it.
func (c Credential) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// leastHidden is the length from which a password is looked for in answers: a shorter one can
// be a part of a word.
const leastHidden = 6

// hide removes the password from an answer, in which a BMC can repeat what was sent to it.
func (c Credential) hide(a Answer) Answer {
	raw, err := json.Marshal(a)
	if err != nil || len(c.pass) < leastHidden {
		return a
	}
	clean := string(raw)
	for _, secret := range []string{base64.StdEncoding.EncodeToString([]byte(c.user + ":" + c.pass)), c.pass} {
		quoted, err := json.Marshal(secret)
		if err != nil {
			return a
		}
		clean = strings.ReplaceAll(clean, string(quoted[1:len(quoted)-1]), "(hidden)")
	}
	if clean == string(raw) {
		return a
	}
	var hidden Answer
	if err := json.Unmarshal([]byte(clean), &hidden); err != nil { // the password is a part of the form itself
		return Answer{Target: a.Target, Vantage: a.Vantage, At: a.At, Failure: NotAService, Error: "it repeats the password"}
	}
	hidden.Target = a.Target // of the plan, and not of the BMC
	return hidden
}

// Credentials are what may be sent to whom: the first of the file, the plan and the
// environment that has one.
type Credentials struct {
	file        map[string]Credential // by host or address
	fileDefault *Credential
	plan        map[string]Credential // by address of the target
	environment *Credential
}

// String hides them.
func (Credentials) String() string { return "(hidden)" }

// GoString hides them.
func (Credentials) GoString() string { return "(hidden)" }

// LogValue hides them.
func (Credentials) LogValue() slog.Value { return slog.StringValue("(hidden)") }

// For returns the credential for a target.
func (c Credentials) For(t Target) (Credential, bool) {
	for _, key := range []string{t.Host, hostOf(t.Address)} {
		if found, ok := c.file[key]; ok {
			return found, true
		}
	}
	if c.fileDefault != nil {
		return *c.fileDefault, true
	}
	if found, ok := c.plan[t.Address+"\x00"+t.Host]; ok {
		return found, true
	}
	if c.environment != nil {
		return *c.environment, true
	}
	return Credential{}, false
}

// UseEnvironment adds the credential of the environment.
func (c *Credentials) UseEnvironment(user, pass string) {
	if found, ok := newCredential(user, pass, FromEnvironment); ok {
		c.environment = &found
	}
}

// usePlan adds the credential that a plan has for a target.
func (c *Credentials) usePlan(t Target, user, pass string) {
	found, ok := newCredential(user, pass, FromPlan)
	if !ok {
		return
	}
	if c.plan == nil {
		c.plan = map[string]Credential{}
	}
	c.plan[t.Address+"\x00"+t.Host] = found
}

// maxFile bounds a file of credentials or addresses.
const maxFile = 4 << 20

// login is an entry of a file of credentials.
type login struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// UseFile adds the credentials of a file: `default` and `hosts`, by name or address, each
// with username and password. A file that others may read is refused.
func (c *Credentials) UseFile(path string) error {
	raw, err := readFile(path)
	if err != nil {
		return fmt.Errorf("read the credentials of BMCs: %w", err)
	}
	if info, err := os.Stat(path); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("read the credentials of BMCs: others may read %s (mode %#o); run: chmod 600 %[1]s", path, info.Mode().Perm())
	}
	var f struct {
		Default *login           `json:"default"`
		Hosts   map[string]login `json:"hosts"`
	}
	// The decoder's own error may quote a line, and a line may be a password.
	if err := yamlin.UnmarshalStrict(raw, &f, 2*maxFile); err != nil {
		return fmt.Errorf("read the credentials of BMCs in %s: it is not of the form default: {username, password}, hosts: {NAME: {username, password}}", path)
	}
	if f.Default != nil {
		found, ok := newCredential(f.Default.Username, f.Default.Password, FromFile)
		if !ok {
			return fmt.Errorf("read the credentials of BMCs in %s: default needs username and password", path)
		}
		c.fileDefault = &found
	}
	c.file = map[string]Credential{}
	for name, l := range f.Hosts {
		found, ok := newCredential(l.Username, l.Password, FromFile)
		if !ok {
			return fmt.Errorf("read the credentials of BMCs in %s: %q needs username and password", path, name)
		}
		c.file[name] = found
	}
	if c.fileDefault == nil && len(c.file) == 0 {
		return fmt.Errorf("read the credentials of BMCs in %s: it has neither default nor hosts", path)
	}
	return nil
}

// readFile reads one regular file within its bound.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a file", path)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%s has more than %d MiB", path, maxFile>>20)
	}
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > maxFile {
		err = errors.New(path + " grew while it was read")
	}
	return raw, err
}
