package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rollcall-project/rollcall/lab/host"
	"github.com/rollcall-project/rollcall/lab/internal/cluster"
)

// GrowEtcd makes of the lab's one etcd three real members, one for each master, and lets the
// container etcdctl of their pods take an exec.
func (l *Lab) GrowEtcd(ctx context.Context) error {
	var members []cluster.Member
	for _, h := range l.values.Hosts {
		members = append(members, cluster.Member{Name: h.Name, Address: l.net.Host(h.Index)})
	}
	if err := l.plane.GrowEtcd(ctx, members); err != nil {
		return fmt.Errorf("grow etcd: %w", err)
	}
	text := strings.Join(append([]string{l.opts.Artifacts.Bin["etcdctl"]}, l.plane.EtcdctlEnv()...), "\n")
	for _, m := range members {
		file := filepath.Join(l.Disk(m.Name), host.EtcdctlFile)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// StopMember stops one of several members of etcd.
func (l *Lab) StopMember(name string) { l.plane.StopMember(name) }
