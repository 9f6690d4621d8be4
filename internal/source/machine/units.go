package machine

import (
	"context"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/onhost"
)

// unitProperties are what is asked of each; all are in the systemd of RHEL 8, too.
var unitProperties = []string{
	"Id", "LoadState", "ActiveState", "SubState", "Result", "UnitFileState", "Job", "ConditionResult", "NRestarts", "ExecMainStatus", "StateChangeTimestamp",
}

func (s *Source) units(ctx context.Context) (part, error) {
	if !s.live {
		return part{}, s.copied(evidence.HostUnits)
	}
	args := append([]string{"show", "--no-pager", "--property=" + strings.Join(unitProperties, ","), "--"}, onhost.UnitNames...)
	raw, err := output(ctx, s.opts.Runner, systemctl, args...)
	if err != nil {
		return part{}, unavailable(evidence.Objects(evidence.HostUnits, ""), systemctl, err)
	}
	list := onhost.ParseUnits(raw)
	if len(list) == 0 {
		return part{}, &evidence.Unavailable{Need: evidence.Objects(evidence.HostUnits, ""), Why: evidence.Damaged,
			Detail: "systemctl gives no answer: in a container it needs the machine's process IDs (podman run --pid=host)"}
	}
	return part{onhost.Units{Units: list, At: s.now()}, "systemctl show"}, nil
}
