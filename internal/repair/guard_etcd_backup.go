package repair

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"time"

	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// FreshBackup: the backup that was named is whole and fresh.
const FreshBackup GuardName = "etcd-backup"

// maxBackupAge: a backup is made for the removal that it protects; an older one would lose what was
// written since.
const maxBackupAge = 2 * time.Hour

// snapshot is a snapshot of etcd that lies on this machine.
type snapshot struct {
	path   string
	digest string // of its content, as etcd wrote it at the end of the file
	taken  time.Time
}

// snapshotName has the time in UTC at which cluster-backup.sh made it
// (openshift/cluster-etcd-operator: bindata/etcd/cluster-backup.sh).
var snapshotName = regexp.MustCompile(`^snapshot_(?:db_kuberesources_)?(\d{4}-\d{2}-\d{2}_\d{6})`)

// boltMagic begins the second field of a page that has the database's meta data
// (go.etcd.io/bbolt: page.go, db.go).
var boltMagic = []byte{0xED, 0xDA, 0x0C, 0xED}

// readSnapshot reads a snapshot to its end and compares its content with the sum that etcd
// appended (etcd: etcdutl/snapshot/v3_snapshot.go): a file that was cut or changed is no backup.
func readSnapshot(path string) (s snapshot, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return s, fmt.Errorf("backup of etcd: %w", err)
	}
	f, err := infile.Regular(path)
	if err != nil {
		return s, fmt.Errorf("backup of etcd: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s, fmt.Errorf("backup of etcd: %w", err)
	}
	const page = 512
	if !info.Mode().IsRegular() || info.Size() < 2*page || info.Size()%page != sha256.Size {
		return s, fmt.Errorf("backup of etcd: %s is not a snapshot with its sum, or is cut", path)
	}
	head := make([]byte, 64)
	if _, err := io.ReadFull(f, head); err != nil {
		return s, fmt.Errorf("backup of etcd: read %s: %w", path, err)
	}
	if magic := head[16:20]; !bytes.Equal(magic, []byte{boltMagic[3], boltMagic[2], boltMagic[1], boltMagic[0]}) && !bytes.Equal(magic, boltMagic) {
		return s, fmt.Errorf("backup of etcd: %s is not a database of etcd", path)
	}
	sum := sha256.New()
	sum.Write(head)
	if _, err := io.CopyN(sum, f, info.Size()-sha256.Size-int64(len(head))); err != nil {
		return s, fmt.Errorf("backup of etcd: read %s: %w", path, err)
	}
	want := make([]byte, sha256.Size)
	if _, err := io.ReadFull(f, want); err != nil {
		return s, fmt.Errorf("backup of etcd: read %s: %w", path, err)
	}
	if !bytes.Equal(sum.Sum(nil), want) {
		return s, fmt.Errorf("backup of etcd: the content of %s is not that of its sum: it is damaged", path)
	}
	return snapshot{path: path, digest: "sha256:" + hex.EncodeToString(want), taken: takenAt(path, info.ModTime())}, nil
}

// takenAt is the older of the time in the name and that of the file.
func takenAt(path string, modified time.Time) time.Time {
	if m := snapshotName.FindStringSubmatch(filepath.Base(path)); m != nil {
		if t, err := time.Parse("2006-01-02_150405", m[1]); err == nil && t.Before(modified) {
			return t
		}
	}
	return modified
}

func guardFreshBackup(_ context.Context, e env, s Step, g Guard) (string, error) {
	have, err := readSnapshot(s.Args.Backup)
	if err != nil {
		return "", refuse("%v", err).instead("make a backup (%s), copy it here, and make a new plan with --etcd-backup", backupCommand)
	}
	if have.digest != g.Subject {
		return "", refuse("%s is another snapshot than the one of the plan", have.path).instead("make a new plan")
	}
	age := e.clock.Now().Sub(have.taken)
	if age > maxBackupAge || age < -5*time.Minute {
		return "", refuse("the backup was taken at %s, which is not within the last %v", have.taken.UTC().Format(time.RFC3339), maxBackupAge).
			instead("make a backup now (%s)", backupCommand)
	}
	return fmt.Sprintf("the snapshot %s is whole, taken %s ago", have.path, age.Round(time.Minute)), nil
}

func checkBackupPath(path string) error {
	if !filepath.IsAbs(path) || len(path) > 500 {
		return errors.New("args.backup is not an absolute path of at most 500 bytes")
	}
	return nil
}
