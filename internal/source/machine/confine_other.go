//go:build !unix

package machine

import (
	"errors"
	"os/exec"
)

func confine(*exec.Cmd, string) error {
	return errors.New("programs of another root directory can only be run on Unix")
}
