// Command capture-demos makes the embedded examples of the tool again: it brings
// the scenarios up, lets them stand for as long as people wait before they ask for
// help, and lets `rollcall collect` keep what it reads. Nothing in the archives is
// written by hand.
//
//	go -C lab run ./cmd/capture-demos --to ../internal/demo/archives --stand 65m
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// reader is the user of the third example: somebody who may look at hosts and
// operators and not at machine configs or logs, as many support accounts.
const reader = "night-watch"

// calm is how long a healthy cluster stands: its last static pods come after it is up.
const calm = 90 * time.Second

func main() {
	to := flag.String("to", "../internal/demo/archives", "directory of the archives")
	stand := flag.Duration("stand", 65*time.Minute, "how long the broken cluster stands before it is captured")
	healthy := flag.String("healthy", "", "directory of a healthy lab that runs already (default: one is brought up)")
	desync := flag.String("desync", "", "directory of a bootstrap-desync lab that has stood long enough (default: one is brought up)")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	if err := capture(ctx, log, *to, *stand, *healthy, *desync); err != nil {
		log.Error("capture the examples", "err", err)
		stop()
		os.Exit(1)
	}
}

func capture(ctx context.Context, log *slog.Logger, to string, stand time.Duration, healthy, desync string) (err error) {
	tmp, err := os.MkdirTemp("", "capture-demos-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	c := &capturer{log: log, to: to, tmp: tmp, tool: filepath.Join(tmp, "rollcall"), lab: filepath.Join(tmp, "rollcall-lab")}
	if err := c.build(ctx); err != nil {
		return err
	}
	if err := c.with(ctx, "healthy", healthy, calm, func() error { return c.collect(ctx, "healthy") }); err != nil {
		return err
	}
	return c.with(ctx, "bootstrap-desync", desync, stand, func() error {
		screen := "control0=" + filepath.Join(c.dir, "hosts", "control0", "console.log")
		if err := c.collect(ctx, "bootstrap-desync", "--console", screen, "--probe"); err != nil {
			return err
		}
		if err := c.allowReader(ctx); err != nil {
			return err
		}
		return c.collect(ctx, "undecided", "--console", screen, "--as", reader)
	})
}

// with captures from a lab that runs, or from one that it brings up, lets stand
// and takes down.
func (c *capturer) with(ctx context.Context, scenario, dir string, stand time.Duration, capture func() error) (err error) {
	c.dir = dir
	if dir == "" {
		c.dir = filepath.Join(c.tmp, scenario)
		defer func() { err = errors.Join(err, c.run(context.WithoutCancel(ctx), c.lab, "--dir", c.dir, "down")) }()
		if err := c.up(ctx, scenario); err != nil {
			return err
		}
		c.log.Info("letting it stand", "for", stand)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(stand):
		}
	}
	out, err := exec.CommandContext(ctx, c.lab, "--dir", c.dir, "kubeconfig").Output()
	if err != nil {
		return fmt.Errorf("ask the lab for its kubeconfig: %w", err)
	}
	c.cfg = strings.TrimSpace(string(out))
	return capture()
}

type capturer struct {
	log            *slog.Logger
	to, tmp, dir   string
	tool, lab, cfg string
}

func (c *capturer) build(ctx context.Context) error {
	if err := c.run(ctx, "go", "-C", "..", "build", "-o", c.tool, "./cmd/rollcall"); err != nil {
		return err
	}
	return c.run(ctx, "go", "build", "-o", c.lab, "./cmd/rollcall-lab")
}

func (c *capturer) up(ctx context.Context, scenario string) error {
	servers, err := filepath.Abs("servers")
	if err != nil {
		return err
	}
	return c.run(ctx, c.lab, "--dir", c.dir, "--source", servers, "up", scenario)
}

func (c *capturer) collect(ctx context.Context, name string, args ...string) error {
	path := filepath.Join(c.to, name+".tar.gz")
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return c.run(ctx, c.tool, append([]string{"collect", "--kubeconfig", c.cfg, "--to", path}, args...)...)
}

func (c *capturer) run(ctx context.Context, name string, args ...string) error {
	c.log.Info("run", "command", name, "args", args)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w", filepath.Base(name), strings.Join(args, " "), err)
	}
	return nil
}

// allowReader lets the reader look at what it may look at.
func (c *capturer) allowReader(ctx context.Context) error {
	cfg, err := clientcmd.BuildConfigFromFlags("", c.cfg)
	if err != nil {
		return fmt.Errorf("read kubeconfig: %w", err)
	}
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	look := []string{"get", "list"}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: reader}, Rules: []rbacv1.PolicyRule{
		{Verbs: look, APIGroups: []string{""}, Resources: []string{"nodes", "pods", "events", "namespaces", "configmaps"}},
		{Verbs: look, APIGroups: []string{"config.openshift.io", "operator.openshift.io"}, Resources: []string{"*"}},
		{Verbs: look, APIGroups: []string{"machine.openshift.io", "metal3.io"}, Resources: []string{"*"}},
		{Verbs: look, APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"certificatesigningrequests"}},
		{Verbs: look, APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}},
	}}
	if _, err := client.RbacV1().ClusterRoles().Create(ctx, role, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("make role %s: %w", reader, err)
	}
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: reader},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reader},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: reader}}}
	if _, err := client.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("bind role %s: %w", reader, err)
	}
	return nil
}
