package netcheck

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/apipath"
)

// pinger measures from a node, with its ping. What ping prints is read for the forms of
// iputils (github.com/iputils/iputils: ping/ping.c, ping/ping_common.c).
type pinger struct{ paths apipath.Paths }

func (pinger) method() string { return "ping" }

func (p pinger) delays(ctx context.Context, ip string, n int) ([]time.Duration, string, error) {
	text, err := p.paths.Ping(ctx, ip, 56, n)
	if err != nil {
		return nil, "", err
	}
	var times []time.Duration
	for _, m := range answerTime.FindAllStringSubmatch(text, n) {
		if ms, err := strconv.ParseFloat(m[1], 64); err == nil {
			times = append(times, time.Duration(ms*float64(time.Millisecond)))
		}
	}
	if len(times) == 0 {
		return nil, "", nil
	}
	return times, p.method(), nil
}

// At most 4 digits before the point: ping waits for seconds.
var (
	answerTime = regexp.MustCompile(`icmp_seq=\d+ ttl=\d+ time=(\d{1,4}(?:\.\d+)?) ms`)
	limitText  = regexp.MustCompile(`mtu ?[=:] ?(\d{1,5})\b`) // "mtu=" of IPv4, "mtu: " of an error of IPv6 on the node itself
)

func (p pinger) send(ctx context.Context, ip string, size int) (fate, int, error) {
	text, err := p.paths.Ping(ctx, ip, size-header(ip), 1)
	switch {
	case err != nil:
		return silent, 0, err
	case answerTime.MatchString(text):
		return arrived, 0, nil
	}
	if m := limitText.FindStringSubmatch(text); m != nil {
		limit, _ := strconv.Atoi(m[1])
		return tooLarge, limit, nil
	}
	return silent, 0, nil
}

func (p pinger) mtu(ctx context.Context, ip string) (int, error) {
	text, err := p.paths.MTU(ctx, ip)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 20)
	if err != nil || n < smallest {
		return 0, nil
	}
	return int(n), nil
}

// networksOf are the networks that a node is in; that of its pods is none of the machines'.
func networksOf(ctx context.Context, paths apipath.Paths) ([]string, error) {
	text, err := paths.Addresses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list its addresses: %w", err)
	}
	var all []string
	for line := range strings.Lines(text) {
		f := strings.Fields(line) // 2: br-ex    inet 192.168.10.11/24 brd ...
		if len(f) < 4 || f[2] != "inet" && f[2] != "inet6" || strings.HasPrefix(f[1], "ovn-k8s-") {
			continue
		}
		if p, err := netip.ParsePrefix(f[3]); err == nil && !p.Addr().IsLoopback() && !p.Addr().IsLinkLocalUnicast() {
			addTo(&all, maxAddresses, p.Masked().String())
		}
	}
	slices.Sort(all)
	return all, nil
}
