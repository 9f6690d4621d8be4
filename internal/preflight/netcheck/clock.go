package netcheck

import (
	"context"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/beevik/ntp"

	"github.com/rollcall-project/rollcall/internal/outbound"
	"github.com/rollcall-project/rollcall/internal/source/probe"
	"github.com/rollcall-project/rollcall/internal/source/wire"
)

// timeTasks ask each time server of the plan once.
func (c *checker) timeTasks() []task {
	var tasks []task
	for _, server := range c.want.times {
		t := task{answer: probe.NetAnswer{Kind: probe.NetTime, Target: server, Host: strings.Trim(server, "[]"), Port: c.ntp}, ask: c.clock}
		if c.From != nil {
			t.answer.NotRun = "from " + c.Vantage + " no UDP can be sent"
		}
		tasks = append(tasks, t)
	}
	return tasks
}

// clock asks a time server. It is asked twice, with half of the time each: a datagram may
// be lost.
func (c *checker) clock(ctx context.Context, a *probe.NetAnswer) {
	address := net.JoinHostPort(a.Host, strconv.Itoa(a.Port))
	var answer *ntp.Response
	var err error
	for range 2 {
		if answer, err = ntp.QueryWithOptions(address, c.asked(ctx)); err == nil || ctx.Err() != nil {
			break
		}
	}
	if err != nil {
		a.ErrorClass, a.Error = wire.Classify(err, probe.StageNone), wireClip(err)
		return
	}
	a.Stage, a.Stratum, a.Offset = probe.StageAnswered, int(answer.Stratum), answer.ClockOffset.Seconds()
	if wrong := answer.Validate(); wrong != nil {
		a.TimeError = wireClip(wrong)
		return
	}
	a.Synchronized = true
}

func (c *checker) asked(ctx context.Context) ntp.QueryOptions {
	return ntp.QueryOptions{Timeout: c.Step / 2, GetSystemTime: time.Now, Dialer: func(_, remote string) (net.Conn, error) {
		return outbound.Dial(ctx, "udp", remote)
	}}
}
