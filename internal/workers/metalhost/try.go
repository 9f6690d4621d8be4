package metalhost

import (
	"context"
	"fmt"

	"github.com/rollcall-project/rollcall/internal/kube"
)

// Try has the API server try each write of a plan and store none of them (dry run). It returns the
// BareMetalHost as it would be stored. Its error is that an answer was not about the write.
func Try(ctx context.Context, api API, seen Seen, w Want, place Place, c Credentials) (kube.Object, []Check, error) {
	var checks []Check
	tried := func(what string, err error) error {
		switch {
		case err == nil:
			checks = append(checks, passed("the API server would accept it (dry run): "+what))
			return nil
		case definite(err):
			checks = append(checks, stop("the API server refuses it (dry run): "+what+": "+err.Error()))
			return nil
		}
		return fmt.Errorf("try it on the API server (dry run), nothing was made: %s: %w", what, err)
	}
	if !w.HaveSecret {
		_, err := api.Create(ctx, secretRef(w.Secret), w.secretManifest("", c), true)
		if err != nil {
			err = c.hide(err)
		}
		if err := tried("Secret "+w.Secret, err); err != nil {
			return nil, checks, err
		}
	}
	stored, err := api.Create(ctx, hostRef(w.Name), w.Manifest(""), true)
	if err := tried("BareMetalHost "+w.Name, err); err != nil {
		return nil, checks, err
	}
	if place.Scale {
		err := setReplicas(ctx, api, object(seen.Sets, place.Set), place.From+1, true)
		if err := tried(fmt.Sprintf("MachineSet %s with %d replicas", place.Set, place.From+1), err); err != nil {
			return nil, checks, err
		}
	}
	return stored, checks, nil
}
