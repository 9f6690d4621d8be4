package repair

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/rollcall-project/rollcall/internal/openshift"
)

// firstRotation is how long after the installation a backup of etcd would hold certificates
// that expire within the day (openshift/openshift-docs: modules/backup-etcd.adoc).
const firstRotation = 24 * time.Hour

const backupCommand = "oc debug node/NODE -- chroot /host /usr/local/bin/cluster-backup.sh /home/core/assets/backup"

func backupRef() Ref {
	return Ref{Group: openshift.OperatorGroup, Version: "v1alpha1", Resource: "etcdbackups"}
}

// backup notes, for a plan that may cost etcd a member, which backup there is and how one
// is made. It stops nothing: the guards do.
func (d *draft) backup(ctx context.Context) {
	if slices.ContainsFunc(d.plan.Steps, mayCostMember) {
		d.note("%s", d.backupNote(ctx))
	}
}

func mayCostMember(s Step) bool {
	a, ok := actionOf(s.Action)
	return ok && a.mayCostMember != nil && a.mayCostMember(s.Args)
}

func (d *draft) backupNote(ctx context.Context) string {
	name, at, err := newestBackup(ctx, d.API)
	now := d.Clock.Now()
	switch {
	case err == nil && !at.IsZero():
		return fmt.Sprintf("the newest backup of etcd that the API knows is %s, completed %s ago (%s); check that its files still exist",
			name, now.Sub(at).Round(time.Minute), at.UTC().Format(time.RFC3339))
	case d.youngerThan(ctx, firstRotation):
		return "no backup of etcd is known, and the cluster is less than a day old: a backup made now would hold certificates that expire with the " +
			"first rotation"
	}
	known := "the API knows no completed backup of etcd; there may be files on a control-plane node or elsewhere"
	if err != nil && !apierrors.IsNotFound(err) {
		known = fmt.Sprintf("backups of etcd could not be listed (%v)", err)
	}
	return known + ". Make one on one healthy control-plane node before you apply: " + backupCommand
}

// newestBackup returns the newest EtcdBackup that completed. Clusters without the feature
// AutomatedEtcdBackup answer that there is no such resource.
func newestBackup(ctx context.Context, api Reader) (name string, at time.Time, err error) {
	list, err := api.List(ctx, backupRef())
	if err != nil {
		return "", time.Time{}, err
	}
	for _, o := range list {
		for _, kind := range []string{"Completed", "BackupCompleted"} { // renamed (openshift/api: operator/v1alpha1/types_etcdbackup.go)
			c := conditionOf(o, kind)
			text, _ := c["lastTransitionTime"].(string)
			t, err := time.Parse(time.RFC3339, text)
			if err == nil && c["status"] == "True" && t.After(at) {
				name, at = stringAt(o, "metadata", "name"), t
			}
		}
	}
	return name, at, nil
}

// youngerThan reports whether ClusterVersion was created less than the age ago.
func (d *draft) youngerThan(ctx context.Context, age time.Duration) bool {
	cv, err := d.API.Get(ctx, clusterVersionRef())
	if err != nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, stringAt(cv, "metadata", "creationTimestamp"))
	return err == nil && d.Clock.Now().Sub(at) < age
}
