package hardware

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kernel/facts"
	"github.com/rollcall-project/rollcall/internal/preflight/bmc"
	"github.com/rollcall-project/rollcall/internal/preflight/check"
	"github.com/rollcall-project/rollcall/internal/source/probe"
)

// accessArea is the area redfish-access: whether the BMCs of the hosts can be asked over Redfish: connection, certificate, credential, rights, clock.
type accessArea struct {
	Unreachable check.Problems // BMCs to which there is no connection
	Untrusted   check.Problems // whose certificate no known authority has signed
	WrongName   check.Problems // whose certificate is for another name
	Expired     check.Problems // whose certificate is not valid now
	Expiring    check.Problems // whose certificate expires in less than 30 days
	Unverified  check.Problems // whose certificate does not verify, which the plan does not want
	Refused     check.Problems // that refused the credential
	Forbidden   check.Problems // whose account may not read the system
	Rights      check.Problems // whose account may not do what metal3 does
	NoService   check.Problems // that are no usable Redfish service
	Busy        check.Problems // that connect and do not answer
	NoSystem    check.Problems // whose address leads to no system
	Same        check.Problems // that are the BMC of a machine that another host names, too
	ClockWrong  check.Problems // whose clock is more than an hour off
	ClockOff    check.Problems // whose clock is more than a minute off
}

var accessChecks = check.Area("redfish-access", needs, readAccess, check.Fields[accessArea]{
	"redfish-unreachable":              func(f *accessArea) *check.Problems { return &f.Unreachable },
	"redfish-certificate-untrusted":    func(f *accessArea) *check.Problems { return &f.Untrusted },
	"redfish-certificate-name":         func(f *accessArea) *check.Problems { return &f.WrongName },
	"redfish-certificate-expired":      func(f *accessArea) *check.Problems { return &f.Expired },
	"redfish-certificate-expiring":     func(f *accessArea) *check.Problems { return &f.Expiring },
	"redfish-certificate-not-verified": func(f *accessArea) *check.Problems { return &f.Unverified },
	"redfish-credentials-refused":      func(f *accessArea) *check.Problems { return &f.Refused },
	"redfish-read-forbidden":           func(f *accessArea) *check.Problems { return &f.Forbidden },
	"redfish-rights-missing":           func(f *accessArea) *check.Problems { return &f.Rights },
	"redfish-service-unusable":         func(f *accessArea) *check.Problems { return &f.NoService },
	"redfish-not-answering":            func(f *accessArea) *check.Problems { return &f.Busy },
	"redfish-system-missing":           func(f *accessArea) *check.Problems { return &f.NoSystem },
	"redfish-same-machine":             func(f *accessArea) *check.Problems { return &f.Same },
	"bmc-clock-wrong":                  func(f *accessArea) *check.Problems { return &f.ClockWrong },
	"bmc-clock-off":                    func(f *accessArea) *check.Problems { return &f.ClockOff },
})

func readAccess(ctx context.Context, w *facts.World) (accessArea, error) {
	var f accessArea
	list, err := hosts(ctx, w)
	if err != nil {
		return f, err
	}
	eachHost(&f.Unreachable, list, func(h host) result {
		switch h.Failure {
		case bmc.NotRedfish:
			return h.notShown()
		case bmc.Unreachable:
			return wrong("no connection to %s: %s", h.Endpoint, h.Error)
		case bmc.BadAddress:
			return wrong("%s cannot be read as an address: %s", h.Address, h.Error)
		}
		return fine
	})
	f.certificates(w, list)
	f.login(list)
	f.service(list)
	eachHost(&f.Same, list, sameMachine(list))
	eachHost(&f.ClockWrong, list, shown(func(h host) result { return h.clock(time.Hour, 1<<62) }, bmc.PartManager))
	eachHost(&f.ClockOff, list, shown(func(h host) result { return h.clock(time.Minute, time.Hour) }, bmc.PartManager))
	return f, nil
}

// expiring is how long before its end a certificate is worth a word.
const expiring = 30 * 24 * time.Hour

// certificates judges what was served. Where the plan switches verification off it is a
// warning: metal3 continues, and so does this.
func (f *accessArea) certificates(w *facts.World, list []host) {
	judged := func(test func(host) result) func(host) result {
		return func(h host) result {
			if h.Trust == "" {
				if strings.HasPrefix(h.Endpoint, "http:") && h.Failure != bmc.Unreachable {
					return fine // there is no certificate
				}
				return h.notShown()
			}
			return test(h)
		}
	}
	of := func(kinds ...probe.Trust) func(host) result {
		return judged(func(h host) result {
			for _, kind := range kinds {
				if h.Trust == kind && !h.Off {
					return wrong("%s: %s", h.Endpoint, h.TrustError)
				}
			}
			return fine
		})
	}
	eachHost(&f.Untrusted, list, of(probe.TrustUnknownCA, probe.TrustOther))
	eachHost(&f.WrongName, list, of(probe.TrustWrongName))
	eachHost(&f.Expired, list, of(probe.TrustExpired, probe.TrustNotYetValid))
	eachHost(&f.Unverified, list, judged(func(h host) result {
		if h.Off && h.Trust != probe.TrustVerified {
			return wrong("the credential is sent to %s though its certificate does not verify (%s): %s says "+
				"disableCertificateVerification", h.Endpoint, h.TrustError, h.writtenIn())
		}
		return fine
	}))
	eachHost(&f.Expiring, list, judged(func(h host) result {
		if left := h.Until.Sub(w.Now); h.Trust == probe.TrustVerified && left < expiring {
			return wrong("the certificate of %s ends at %s", h.Endpoint, h.Until.Format(time.RFC3339))
		}
		return fine
	}))
}

// writtenIn says what names the BMC.
func (h host) writtenIn() string {
	if h.Field == "spec.bmc.address" {
		return "its BareMetalHost"
	}
	return "the plan"
}

// login: what became of the credential, and what its account may do.
func (f *accessArea) login(list []host) {
	eachHost(&f.Refused, list, func(h host) result {
		switch {
		case h.Login == bmc.LoginRefused && h.Disabled:
			return wrong("%s answers HTTP 401 and offers no basic authentication, the only one that is used here: the credential of %s "+
				"can be right", h.Endpoint, h.LoginBy)
		case h.Login == bmc.LoginRefused:
			return wrong("%s refuses the credential of %s (HTTP %d); it was sent once and will not be again", h.Endpoint, h.LoginBy, h.Status)
		case h.Failure == bmc.Refused:
			return wrong("%s accepted the credential of %s and refused it later (HTTP %d)", h.Endpoint, h.LoginBy, h.Status)
		case h.Login == "":
			return h.notShown()
		}
		return fine
	})
	eachHost(&f.Forbidden, list, func(h host) result {
		switch {
		case h.Failure == bmc.Forbidden:
			return wrong("the account of %s may not read the system (HTTP %d)", h.LoginBy, h.Status)
		case h.System == nil:
			return h.notShown()
		}
		return fine
	})
	eachHost(&f.Rights, list, host.rights)
}

// rights judges what the account of the plan may do; another one need not be that of metal3.
// A BMC that shows nothing of it, because the account may not read it or is one of a
// directory, leaves it unknown.
func (h host) rights() result {
	switch {
	case h.System == nil:
		return h.notShown()
	case h.LoginBy != bmc.FromPlan && (h.LoginBy != "" || h.Login == bmc.LoginNotNeeded):
		return fine
	case len(h.Privileges) == 0:
		why := h.Unread[bmc.PartAccount].Detail
		if why == "" {
			why = "its BMC did not show them"
		}
		return result{unknown: "rights of its BMC account (" + why + ")", supply: evidence.Supply{Kind: evidence.SupplyBMCRights, Host: h.Host}}
	case slices.Contains(h.Privileges, "ConfigureComponents"):
		return fine
	}
	return wrong("the account of the plan has the role %s, which may not switch power and boot (no "+
		"ConfigureComponents; it has %s)", h.RoleID, strings.Join(h.Privileges, ", "))
}

// service: what answers, and to what the address leads.
func (f *accessArea) service(list []host) {
	asked := func(test func(host) result) func(host) result {
		return func(h host) result {
			if r := test(h); r != fine {
				return r
			}
			if h.System == nil && h.isOne(bmc.NotRedfish, bmc.BadAddress, bmc.Unreachable, bmc.Untrusted) {
				return h.notShown()
			}
			return fine
		}
	}
	eachHost(&f.NoService, list, asked(func(h host) result {
		if h.isOne(bmc.NoTLS, bmc.NotAService, bmc.Damaged, bmc.TooLarge, bmc.Redirected) {
			return wrong("%s: %s", h.Endpoint, h.Error)
		}
		return fine
	}))
	eachHost(&f.Busy, list, asked(func(h host) result {
		if h.isOne(bmc.Timeout, bmc.Closed, bmc.Unavailable) {
			return wrong("%s: %s", h.Endpoint, h.Error)
		}
		return fine
	}))
	eachHost(&f.NoSystem, list, func(h host) result {
		switch {
		case h.isOne(bmc.NoSystem, bmc.SeveralSystem):
			return wrong("%s: %s", h.Address, h.Error)
		case h.System == nil:
			return h.notShown()
		}
		return fine
	})
}

// sameMachine finds machines that two hosts have. Some boards carry the serial number that
// they left the factory with: what is no number is no proof.
func sameMachine(list []host) func(host) result {
	first := map[string]string{}
	return shown(func(h host) result {
		s := h.System
		if len(s.Serial) < 4 || len(s.UUID) < 32 || strings.Trim(s.UUID, "0-F") == "" || strings.Trim(s.Serial, "0-X. ") == "" {
			return fine
		}
		id := s.Manufacturer + "\x00" + s.Serial + "\x00" + s.UUID + "\x00" + s.Path
		if other, again := first[id]; again {
			return wrong("its BMC %s and that of %s show one machine (serial number %s, UUID %s)", h.Endpoint, other, s.Serial, s.UUID)
		}
		first[id] = h.Host
		return fine
	})
}

// clock judges the BMC's clock against ours. It was read somewhere in the round trip.
func (h host) clock(least, most time.Duration) result {
	m := h.Manager
	if m == nil || m.Clock.IsZero() || m.AskedAt.IsZero() {
		return result{unknown: "its BMC does not show its clock"}
	}
	off := m.Clock.Sub(m.AskedAt)
	doubt := time.Duration(m.Round)*time.Millisecond/2 + time.Second
	size := max(off, -off) - doubt
	if size < least || size >= most {
		return fine
	}
	way := "ahead of"
	if off < 0 {
		way, off = "behind", -off
	}
	return wrong("the clock of its BMC is %s %s ours: %s; NTP there is %s", distance(off), way, m.Clock.Format(time.RFC3339), ntp(m.NTP))
}

func ntp(word string) string {
	if word == "" {
		return "not shown"
	}
	return word
}
