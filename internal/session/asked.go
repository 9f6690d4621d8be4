package session

import (
	"context"
	"net"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/archive"
	"github.com/rollcall-project/rollcall/internal/source/live"
	"github.com/rollcall-project/rollcall/internal/source/namedhost"
	"github.com/rollcall-project/rollcall/internal/source/ssh"
)

// checkAsked refuses hosts over ssh together with a hosted cluster: of two clusters it is not known to which they
// belong.
func (ses *Session) checkAsked() error {
	if len(ses.Asked) > 0 && ses.Hosted != "" {
		return Usagef("--hosted names two clusters, and hosts over ssh are of one: read the collections of the hosts with --from later")
	}
	return nil
}

// openAsked opens what hosts gave over ssh. One whose answer cannot be read, or that is of another cluster, has a problem
// from then on, as the ones that gave no answer; what only these can show is missing.
func (ses *Session) openAsked(ctx context.Context, r *Run, how []archive.Option, archives []*archive.Source, cluster *live.Source) (list []evidence.Source,
	err error) {
	if len(ses.Asked) == 0 {
		return nil, nil
	}
	opened, place, err := ses.openCollections(ctx, r, how)
	if err != nil {
		return nil, err
	}
	var of evidence.Source
	if cluster != nil {
		of = cluster
	}
	refused, err := archive.JoinHosts(ctx, of, archives, opened)
	if err != nil {
		return nil, err
	}
	for _, s := range opened {
		x := &ses.Asked[place[s]]
		if why, ok := refused[s]; ok {
			x.Problem = &ssh.Problem{What: "it answered, and is not of this cluster: " + why, Do: "Leave it out, or correct its address.", Foreign: true}
			continue
		}
		if x.Machine, err = s.Machine(ctx); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	list = append([]evidence.Source{ssh.NewSource(ses.Asked)}, list...)
	if named := silentHosts(ses.Asked); len(named) > 0 {
		list = append(list, namedhost.New(named...))
	}
	return list, nil
}

// openCollections opens the files of the hosts that answered; place is where each is in Asked.
func (ses *Session) openCollections(ctx context.Context, r *Run, how []archive.Option) (opened []*archive.Source, place map[*archive.Source]int, err error) {
	place = map[*archive.Source]int{}
	for i := range ses.Asked {
		x := &ses.Asked[i]
		if x.Problem != nil {
			continue
		}
		s, err := ses.openArchive(ctx, x.Path, how)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			x.Problem = &ssh.Problem{What: "its answer cannot be read: " + err.Error()}
			continue
		}
		r.closers = append(r.closers, s.Close)
		opened, place[s] = append(opened, s), i
	}
	return opened, place, nil
}

// silentHosts are those that gave no answer: they are expected, and nothing shows that they are well.
func silentHosts(asked []ssh.Result) []namedhost.Host {
	var list []namedhost.Host
	for _, r := range asked {
		if r.Problem == nil || r.Problem.Foreign {
			continue
		}
		h := namedhost.Host{Name: r.Target.Label(), By: namedhost.SSH}
		if ip := net.ParseIP(r.Target.Host); ip != nil && !ip.IsLoopback() && r.Target.Port == 0 { // a tunnel has the address of another machine
			h.Addresses = []string{r.Target.Host}
		}
		list = append(list, h)
	}
	return list
}
