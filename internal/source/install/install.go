// Package install reads the directory that openshift-install works in: which hosts
// are expected, where the API and the rendezvous host are to be, and what the
// installer logged. It is what a person has before there is an API.
//
// Invariants:
//   - The state file holds every secret of the cluster. Only the fields of Install
//     are taken out of it; the rest is never kept, printed or recorded.
//   - The token of the assisted-service leaves the package by Dir.Token alone, for
//     the one address that the directory names as rendezvous host.
//   - Nothing in the directory is written, and no link in it leads outside.
package install

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
)

// The files of the directory that are read (openshift/installer:
// pkg/asset/store/store.go, cmd/openshift-install/main.go, pkg/metadata).
const (
	stateFile    = ".openshift_install_state.json"
	logFile      = ".openshift_install.log"
	metadataFile = "metadata.json"
	configFile   = "install-config.yaml"
	agentFile    = "agent-config.yaml"
	kubeconfig   = "auth/kubeconfig"
)

// kind is what Describe calls the directory.
const kind = "install directory"

// methodAgent is Install.Method of an agent-based install.
const methodAgent = "agent"

// Install is what the directory says of the cluster that is to be. It is recorded
// as an object.
type Install struct {
	Name         string   `json:"name,omitempty"`
	BaseDomain   string   `json:"baseDomain,omitempty"`
	Platform     string   `json:"platform,omitempty"`
	Method       string   `json:"method,omitempty"` // "agent"; "" for the others
	InfraID      string   `json:"infraID,omitempty"`
	ClusterID    string   `json:"clusterID,omitempty"`
	RendezvousIP string   `json:"rendezvousIP,omitempty"`
	APIVIPs      []string `json:"apiVIPs,omitempty"`
	IngressVIPs  []string `json:"ingressVIPs,omitempty"`
	Pools        []Pool   `json:"pools,omitempty"`
	Hosts        []Host   `json:"hosts,omitempty"`
	Files        []string `json:"files,omitempty"` // what of it was there
}

// Pool counts the hosts of a role.
type Pool struct {
	Role     string `json:"role"`
	Replicas int    `json:"replicas"`
}

// Host is one that install-config or agent-config names.
type Host struct {
	Name      string   `json:"name,omitempty"`
	Role      string   `json:"role,omitempty"`
	MACs      []string `json:"macs,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
	BMC       string   `json:"bmc,omitempty"`
}

// Dir is an open directory. It is an evidence.Source.
type Dir struct {
	Install Install
	Token   assisted.Token // empty where the install needs none

	path string
	root *os.Root
	from string    // the file that the hosts were read from
	now  time.Time // of the log's last line

	changed time.Time // when the newest file was written
}

var _ evidence.Source = (*Dir)(nil)

// Is reports whether a path is a directory of openshift-install.
func Is(path string) bool { return Ran(path) || hasOne(path, agentFile, configFile) }

// Ran reports whether openshift-install ran in a directory. A directory with a config alone
// can be one in which somebody has put together what there is.
func Ran(path string) bool { return hasOne(path, stateFile, logFile) }

func hasOne(dir string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	})
}

// Logs are the paths of the texts at the top of a directory that the installer has not
// written: consoles and journals that somebody has put there.
func Logs(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("list the install directory: %w", err)
	}
	var list []string
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && (ext == ".log" || ext == ".txt") && len(list) < maxLogs {
			list = append(list, filepath.Join(path, e.Name()))
		}
	}
	return list, nil
}

// maxLogs bounds the texts that are read next to an installation.
const maxLogs = 100

// Open reads the directory.
func Open(path string) (_ *Dir, err error) {
	if info, err := os.Stat(path); err == nil && !info.IsDir() { // to open a pipe would be to wait for who writes to it
		return nil, fmt.Errorf("open the install directory: %s is not a directory", path)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the install directory: %w", err)
	}
	d := &Dir{path: path, root: root}
	defer func() {
		if err != nil {
			err = errors.Join(err, root.Close())
		}
	}()
	if err := d.read(); err != nil {
		return nil, err
	}
	if len(d.Install.Files) == 0 {
		return nil, fmt.Errorf("%s is not a directory of openshift-install: it has neither %s nor %s nor a config", path, stateFile, logFile)
	}
	return d, nil
}

// Close closes the directory.
func (d *Dir) Close() error { return d.root.Close() }

// Kubeconfig is the path of the administrator's kubeconfig, "" if there is none.
func (d *Dir) Kubeconfig() string {
	if info, err := d.root.Stat(kubeconfig); err == nil && info.Mode().IsRegular() {
		return filepath.Join(d.path, kubeconfig)
	}
	return ""
}

func (d *Dir) read() error {
	st, err := d.state()
	if err != nil {
		return err
	}
	config, agent := st.config(), st.agent()
	// What lies in the directory goes before the state: the installer would take it, too.
	if raw, ok, err := d.file(configFile, maxConfig); err != nil {
		return err
	} else if ok {
		if config, err = yamlConfig[installConfig](raw); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(d.path, configFile), err)
		}
		d.from = configFile
	}
	if raw, ok, err := d.file(agentFile, maxConfig); err != nil {
		return err
	} else if ok {
		if agent, err = yamlConfig[agentConfig](raw); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(d.path, agentFile), err)
		}
		d.from = agentFile
	}
	if config != nil {
		d.Install.fill(config)
	}
	if agent != nil {
		d.Install.fillAgent(agent)
	}
	if st.ID != nil {
		d.Install.InfraID, d.Install.ClusterID = word(st.ID.InfraID), word(st.ID.UUID)
	}
	d.Token = st.token()
	return d.rest()
}

// rest reads metadata.json and finds out when the log ends.
func (d *Dir) rest() error {
	raw, ok, err := d.file(metadataFile, maxConfig)
	if err != nil {
		return err
	}
	if ok {
		var m struct {
			ClusterName string `json:"clusterName"`
			ClusterID   string `json:"clusterID"`
			InfraID     string `json:"infraID"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("read %s: %w", filepath.Join(d.path, metadataFile), err)
		}
		d.Install.Name, d.Install.ClusterID, d.Install.InfraID = first(m.ClusterName, d.Install.Name), first(m.ClusterID, d.Install.ClusterID),
			first(m.InfraID, d.Install.InfraID)
	}
	if d.Kubeconfig() != "" {
		d.Install.Files = append(d.Install.Files, kubeconfig)
	}
	f, err := d.log()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	d.Install.Files = append(d.Install.Files, logFile)
	d.now, err = lastTime(f)
	return err
}

func first(values ...string) string {
	for _, v := range values {
		if v = word(v); v != "" {
			return v
		}
	}
	return ""
}

// tail is how much of the end of a log is looked at for its last time.
const tail = 256 << 10

// lastTime is the time of the log's last line: logrus writes time="RFC 3339".
func lastTime(f *os.File) (time.Time, error) {
	info, err := f.Stat()
	if err != nil {
		return time.Time{}, fmt.Errorf("read the installer's log: %w", err)
	}
	lines := bufio.NewScanner(io.NewSectionReader(f, max(0, info.Size()-tail), tail))
	lines.Buffer(nil, tail)
	var last time.Time
	for lines.Scan() {
		value, ok := strings.CutPrefix(lines.Text(), `time="`)
		if value, _, _ = strings.Cut(value, `"`); ok {
			if t, err := time.Parse(time.RFC3339, value); err == nil {
				last = t.UTC()
			}
		}
	}
	return last, nil // a log that cannot be read to its end is found out when it is searched
}

func (d *Dir) log() (*os.File, error) { return d.open(logFile) }

// open opens a file of the directory. To open a pipe would be to wait for who writes
// to it.
func (d *Dir) open(name string) (*os.File, error) {
	info, err := d.root.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a file", filepath.Join(d.path, name))
	}
	var f *os.File
	if err == nil {
		f, err = d.root.Open(name)
	}
	if err != nil {
		return nil, fmt.Errorf("read the install directory: %w", err)
	}
	return f, nil
}

// file reads one file of the directory; false: it is not there.
func (d *Dir) file(name string, limit int64) ([]byte, bool, error) {
	f, err := d.open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, fmt.Errorf("read the install directory: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, false, fmt.Errorf("read the install directory: %w", err)
	}
	if int64(len(raw)) > limit {
		return nil, false, fmt.Errorf("read the install directory: %s has more than %d MiB", filepath.Join(d.path, name), limit>>20)
	}
	d.Install.Files = append(d.Install.Files, name)
	if t := info.ModTime().UTC(); t.After(d.changed) {
		d.changed = t
	}
	return raw, true, nil
}

func (d *Dir) state() (state, error) {
	var st state
	raw, ok, err := d.file(stateFile, maxState)
	if err != nil || !ok {
		return st, err
	}
	if err := json.Unmarshal(raw, &st); err != nil {
		// The message of the decoder names a field and an offset and never a value.
		return st, fmt.Errorf("read %s: it is not a state of openshift-install: %w", filepath.Join(d.path, stateFile), err)
	}
	d.from = stateFile
	return st, nil
}

func (s state) config() *installConfig {
	for _, c := range []*wrapped[installConfig]{s.Optional, s.Install} {
		if c != nil && c.Config != nil {
			return c.Config
		}
	}
	return nil
}

func (s state) agent() *agentConfig {
	var c *agentConfig
	if s.Agent != nil {
		c = s.Agent.Config
	}
	if s.Hosts != nil && (len(s.Hosts.Hosts) > 0 || s.Hosts.RendezvousIP != "") {
		if c == nil {
			c = &agentConfig{}
		}
		if c.RendezvousIP == "" {
			c.RendezvousIP = s.Hosts.RendezvousIP
		}
		if len(c.Hosts) == 0 {
			c.Hosts = s.Hosts.Hosts
		}
	}
	return c
}

// token chooses the one that can only read. Before there were three, one token did
// for all and went into the header of users
// (openshift/installer:pkg/asset/agent/gencrypto/auth_utils.go,
// openshift/assisted-service:swagger.yaml securityDefinitions).
func (s state) token() assisted.Token {
	switch {
	case s.Auth == nil:
	case s.Auth.WatcherAuthToken != "":
		return assisted.Token{Header: "Watcher-Authorization", Value: s.Auth.WatcherAuthToken}
	case s.Auth.UserAuthToken == "" && s.Auth.AgentAuthToken != "":
		return assisted.Token{Header: "Authorization", Value: s.Auth.AgentAuthToken}
	}
	return assisted.Token{}
}

// Describe implements evidence.Source. Now is the last line of the log, or where
// there is none when the newest file was written: plans carry no time.
func (d *Dir) Describe(context.Context) (evidence.Description, error) {
	desc := evidence.Description{Kind: kind, Name: d.path, Now: d.now}
	if desc.Now.IsZero() {
		desc.Now, desc.ByClock = d.changed, true // the time of a file is none of the cluster
	}
	entries, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return desc, fmt.Errorf("list the install directory: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && (strings.HasPrefix(e.Name(), "must-gather") || strings.HasPrefix(e.Name(), "log-bundle")) ||
			strings.HasPrefix(e.Name(), "log-bundle-") || strings.HasPrefix(e.Name(), "agent-gather") {
			desc.Notes = append(desc.Notes, evidence.Coverage{Need: e.Name(), State: evidence.Missing,
				Reason: "it lies in the install directory and was not read",
				Supply: evidence.Supply{Kind: evidence.SupplyArchive, Path: filepath.Join(d.path, e.Name())}})
		}
	}
	return desc, nil
}

// List implements evidence.Source for evidence.Installs.
func (d *Dir) List(_ context.Context, r evidence.Resource, namespace string) ([]evidence.Object, error) {
	if u, ok := evidence.OnRequest(r); ok && r != evidence.Installs {
		if u.Supply.Kind == evidence.SupplyRendezvous {
			u.Supply.Host = d.Install.RendezvousIP
		}
		return nil, &u
	}
	if r == evidence.BootstrapServices {
		return nil, evidence.NotOnBootstrap(evidence.Objects(r, namespace))
	}
	if r != evidence.Installs {
		return nil, &evidence.Unavailable{Need: evidence.Objects(r, namespace), Why: evidence.NotCollected,
			Detail: "an install directory has no objects of the API", Supply: d.supply()}
	}
	raw, err := json.Marshal(d.Install)
	if err != nil {
		return nil, fmt.Errorf("encode the install: %w", err)
	}
	content := map[string]any{}
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, fmt.Errorf("decode the install: %w", err)
	}
	name := first(d.Install.Name, "install")
	content["apiVersion"], content["kind"], content["metadata"] = evidence.ProbeGroup+"/v1alpha1", "Install", map[string]any{"name": name}
	return []evidence.Object{{Resource: r, Name: name, Content: content, ReadAt: d.now,
		Loc: evidence.Locator{Source: filepath.Base(d.path), Path: first(d.from, d.Install.Files[0])}}}, nil
}

// supply is the next thing to do for what the directory does not have.
func (d *Dir) supply() evidence.Supply {
	if d.Kubeconfig() != "" {
		return evidence.Supply{Kind: evidence.SupplyInstallDir, Path: d.path}
	}
	return evidence.Supply{Kind: evidence.SupplyAPI}
}

// Texts implements evidence.Source: the installer's log.
func (d *Dir) Texts(_ context.Context, q evidence.TextQuery) ([]evidence.Text, error) {
	if q.Kind != "" && q.Kind != evidence.Installer || q != (evidence.TextQuery{Kind: q.Kind}) || !slices.Contains(d.Install.Files, logFile) {
		return nil, &evidence.Unavailable{Need: evidence.Texts(q), Why: evidence.NotCollected, Detail: "an install directory has the installer's log only"}
	}
	return []evidence.Text{{Kind: evidence.Installer, Path: logFile, Source: filepath.Base(d.path),
		Open: func(context.Context) (io.ReadCloser, error) { return d.log() }}}, nil
}
