package command

import (
	"bytes"
	"fmt"
	"io"

	"github.com/rollcall-project/rollcall/internal/repair"
	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// maxSecretFile bounds a file with a password or a Secret.
const maxSecretFile = 1 << 20

// secretsOf reads what a person gives for Secrets: from files, never from an argument,
// which the list of processes and the history of the shell would show.
func (a *app) secretsOf(f fixFlags, ask *repair.Ask) error {
	if (f.bmcUser == "") != (f.bmcPasswordFile == "") {
		return session.Usagef("--bmc-user and --bmc-password-file belong together")
	}
	if f.bmcUser != "" {
		raw, err := a.secretFile(f.bmcPasswordFile)
		if err != nil {
			return fmt.Errorf("--bmc-password-file: %w", err)
		}
		password := string(bytes.TrimRight(raw, "\r\n")) // metal3 takes a line end as part of it
		if password == "" {
			return session.Usagef("--bmc-password-file %s: it is empty", f.bmcPasswordFile)
		}
		ask.BMC = &repair.Credentials{User: f.bmcUser, Password: password}
	}
	ask.MCS.NewCA = f.newCA
	if f.mcsSecret != "" {
		raw, err := a.secretFile(f.mcsSecret)
		if err != nil {
			return fmt.Errorf("--mcs-secret: %w", err)
		}
		ask.MCS.Kept = raw
	}
	return nil
}

func (a *app) secretFile(path string) (raw []byte, err error) {
	in := a.IO.In
	if path != "-" {
		f, err := infile.Piped(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	raw, err = io.ReadAll(io.LimitReader(in, maxSecretFile+1))
	if err == nil && len(raw) > maxSecretFile {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSecretFile)
	}
	return raw, err
}
