package repair

import (
	"context"
	"fmt"
)

// WaitNode waits until a host is a Node and Ready. approve-csr plans it.
const WaitNode ActionName = "wait-node"

func waitNode() action {
	return action{
		name:  WaitNode,
		check: func(s Step) error { return need(map[string]string{"host": s.Args.Host}) },
		describe: func(s *Step) {
			describeWait(s)
			host := s.Args.Host
			s.Subject = "host/" + host
			s.Title = "wait until Node " + host + " is registered and Ready"
			s.OC = fmt.Sprintf("oc wait --for=condition=Ready node/%s --timeout=30m", host)
			s.Expect.Text = "Node " + host + " is Ready"
		},
		seen: func(ctx context.Context, e env, s Step) (bool, string, error) {
			node, err := e.api.Get(ctx, nodeRef(s.Args.Host))
			if err != nil {
				return false, fmt.Sprintf("Node %s: %v", s.Args.Host, err), nil
			}
			if !isTrue(node, "Ready") {
				return false, fmt.Sprintf("Node %s is registered and not Ready", s.Args.Host), nil
			}
			return true, "", nil
		},
		joins: true,
	}
}
