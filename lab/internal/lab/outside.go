package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/lab/bmc"
)

// outsideOrder is the file of the order to somebody outside of the cluster; see Dir.orders.
const outsideOrder = "+outside"

// Outside is something that neither the cluster nor a host's disk holds, and that a person
// sets right there: at a BMC, a firewall, a DHCP server, a registry.
type Outside struct {
	Name  string
	Host  bool // it is about one host, which the person names
	About string
	do    func(ctx context.Context, l *Lab, host string) error
}

// Outsides lists them.
func Outsides() []Outside {
	return []Outside{
		{Name: "bmc", Host: true, About: "restart the BMC of HOST: it obeys again, and its account is not locked", do: restartBMC},
		{Name: "boot-medium", Host: true, About: "let HOST boot what is in its virtual drive", do: bootMedium},
		{Name: "firewall", Host: true, About: "let port 22623 of the master HOST through", do: passServer},
		{Name: "dhcp", Host: true, About: "give HOST its name with its address; it takes it at its next boot", do: giveName},
		{Name: "hypershift-operator", About: "start the HyperShift operator again, where it was stopped", do: startOperator},
		{Name: "controller-manager", About: "start the kube-controller-manager again, where it was stopped", do: startControllerManager},
		{Name: "api-server", About: "start the kube-apiserver again, where it has exited", do: startAPIServer},
		{Name: "etcd", About: "start the members of etcd again, where they were stopped", do: startEtcd},
		{Name: "boot-guest", Host: true, About: "boot a new machine of the hosted cluster, HOST of the form guestN, with the Ignition config in " +
			"DIR/boot/HOST.ign; nobody but you approves its requests", do: bootGuest},
		{Name: "scrap-guest", Host: true, About: "switch a machine that boot-guest booted off, and empty its disk", do: scrapGuest},
		{Name: "token", About: "let six hours pass, after which the ignition server rotates its token", do: rotateToken},
		{Name: "nodepool-config", About: "give the NodePool of the hosted cluster another config, whose payload is built", do: reconfigurePool},
		{Name: "registry", About: "let the registry of the hosted cluster's release image answer", do: answerRegistry},
	}
}

// SetRight has the supervisor of a lab set something right outside of the cluster, and
// returns when it is done. host is empty where it is about none.
func (d Dir) SetRight(ctx context.Context, name, host string) error {
	i := slices.IndexFunc(Outsides(), func(o Outside) bool { return o.Name == name })
	if i < 0 {
		return fmt.Errorf("set %q right: there is no such thing outside of the cluster", name)
	}
	if o := Outsides()[i]; o.Host != (host != "") {
		return fmt.Errorf("set %s right: name one host where it is about one, and none else: %s", name, o.About)
	}
	return d.order(ctx, outsideOrder, strings.TrimSpace(name+" "+host))
}

// setRight carries out an order of SetRight.
func (l *Lab) setRight(ctx context.Context, order string) error {
	name, host, _ := strings.Cut(order, " ")
	for _, o := range Outsides() {
		if o.Name == name {
			return o.do(ctx, l, host)
		}
	}
	return errors.New("nobody knows how")
}

func restartBMC(_ context.Context, l *Lab, host string) error {
	b := l.BMC(host)
	if b == nil {
		return errors.New("it has no BMC; metal3 may not run in this scenario")
	}
	b.Behave(bmc.Trouble{})
	return nil
}

func bootMedium(_ context.Context, l *Lab, host string) error {
	l.mu.Lock()
	m := l.metal3
	l.mu.Unlock()
	if m == nil {
		return errors.New("metal3 does not run in this scenario")
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.dead[host]; !ok {
		return errors.New("it boots what is in its virtual drive already, or is no machine that was added")
	}
	delete(m.dead, host)
	return nil
}

// passServer undoes RefuseServer.
func passServer(_ context.Context, l *Lab, host string) error {
	l.worldMu.Lock()
	defer l.worldMu.Unlock()
	m := l.masters[host]
	if m == nil {
		return errors.New("it runs no machine config server")
	}
	l.mu.Lock()
	delete(l.off, PartVIP)
	l.mu.Unlock()
	return m.mcs.SetTargets(fmt.Sprintf("127.0.0.1:%d", m.port))
}

func giveName(_ context.Context, l *Lab, host string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	spec, known := l.lastOn[host]
	if !known {
		return errors.New("it has never been on")
	}
	spec.Hostname = ""
	l.lastOn[host] = spec
	return nil
}

func startOperator(ctx context.Context, l *Lab, _ string) error {
	h := l.Hosted()
	if h == nil {
		return errors.New("there is no hosted cluster in this scenario")
	}
	return h.scaleOperator(ctx, 1)
}

// startControllerManager starts it with what the lab does instead of its controllers.
func startControllerManager(ctx context.Context, l *Lab, _ string) error {
	if err := l.plane.StartControllers(ctx); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.off, PartWorkloads)
	return nil
}

// startEtcd starts etcd and what has exited without it: the controller manager ends when it
// loses its lease, and a kubelet would start its container again.
func startEtcd(ctx context.Context, l *Lab, _ string) error {
	if l.plane.Grown() {
		return l.plane.StartMembers()
	}
	if err := l.plane.StartEtcd(ctx); err != nil {
		return err
	}
	return restartControllers(ctx, l)
}

// startAPIServer starts it, and what has exited without it.
func startAPIServer(ctx context.Context, l *Lab, _ string) error {
	if l.procs.Running("kube-apiserver") {
		return errors.New("it runs")
	}
	if err := l.plane.StartAPIServer(ctx); err != nil {
		return err
	}
	return restartControllers(ctx, l)
}

// restartControllers starts the controller manager where it has exited.
func restartControllers(ctx context.Context, l *Lab) error {
	if l.procs.Running("kube-controller-manager") {
		return nil
	}
	return l.await(ctx, time.Minute, "the controller manager does not start", func(ctx context.Context) (bool, error) {
		return l.plane.StartControllers(ctx) == nil, nil
	})
}

func answerRegistry(ctx context.Context, l *Lab, _ string) error {
	h := l.Hosted()
	if h == nil {
		return errors.New("there is no hosted cluster in this scenario")
	}
	return h.answerRegistry(ctx)
}
