package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/stmcginnis/gofish/schemas"

	"github.com/rollcall-project/rollcall/internal/workers/provider"
)

// servers makes workers of servers: the ISO of each lies in the directory of the web server,
// under a name that cannot be guessed, from Create to Clean.
type servers struct{}

var (
	_ provider.Provider = (*servers)(nil)
	_ provider.Checker  = (*servers)(nil)
)

// record is what was begun with a server, written before it is begun.
type record struct {
	Run     string   `json:"run"`
	Hosted  string   `json:"hosted"`
	UUID    string   `json:"uuid"`
	Image   string   `json:"image"`             // name of the file
	Boot    override `json:"boot"`              // before
	Powered bool     `json:"powered,omitempty"` // it is switched on next, or was: with HTTP boot nothing else may show that later
	Cleaned bool     `json:"cleaned,omitempty"`
}

// imageForm is a name that start gives to an image.
var imageForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{0,62}-[0-9a-f]{32}\.iso$`)

var workerForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$`)

// job is one call about one server.
type job struct {
	options
	order  provider.Order
	server server
	record record
	begun  bool // there is a record
}

func begin(o provider.Order) (*job, error) {
	p, err := parseOptions(o)
	if err != nil {
		return nil, err
	}
	s, known := p.hosts[o.Worker.Name]
	if !known || !workerForm.MatchString(o.Worker.Name) {
		return nil, fmt.Errorf("worker %.80q is not in the file of --option hosts", o.Worker.Name)
	}
	j := &job{options: p, order: o, server: s}
	return j, j.load()
}

// load reads what was begun with the server.
func (j *job) load() error {
	j.record, j.begun = record{}, false
	raw, err := readFile(j.recordFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(raw, &j.record)
	}
	if err != nil {
		return fmt.Errorf("read what was begun with %s: %w", j.order.Worker.Name, err)
	}
	j.begun = true
	return nil
}

// beginAlone is begin for what changes something, until unlock is called.
func beginAlone(ctx context.Context, o provider.Order) (j *job, unlock func(), err error) {
	if j, err = begin(o); err != nil {
		return nil, nil, err
	}
	unlock, err = j.lock(ctx)
	return j, unlock, err
}

// recordFile is next to the images, hidden: web servers show no such files unasked, and it has
// no secret but the name of the image.
func (j *job) recordFile() string {
	return filepath.Join(j.publish, ".rollcall-"+j.order.Worker.Name+".json")
}

func (j *job) imageFile() string { return filepath.Join(j.publish, j.record.Image) }

func (j *job) imageURL() string { return j.url + "/" + j.record.Image }

func (j *job) write() error {
	raw, err := json.Marshal(j.record)
	if err != nil {
		return err
	}
	tmp := j.recordFile() + partSuffix
	out, err := createNew(tmp, 0o600)
	if err != nil {
		return fmt.Errorf("write down what is begun: %w", err)
	}
	_, err = out.Write(raw)
	if err = errors.Join(err, out.Close()); err == nil {
		err = os.Rename(tmp, j.recordFile())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write down what is begun: %w", err), os.Remove(tmp))
	}
	return nil
}

// mine refuses a server that another run has begun with, and a record that names another file than start does.
func (j *job) mine() error {
	if !j.begun {
		return provider.ErrNone
	}
	if j.record.Run != j.order.Run || j.record.Hosted != j.order.Hosted {
		return fmt.Errorf("%s is of run %.40s of hosted cluster %.80s (%s): it "+
			"stays as it is", j.order.Worker.Name, j.record.Run, j.record.Hosted, j.recordFile())
	}
	if !imageForm.MatchString(j.record.Image) { // others may write to the directory, and the image is removed in the end
		return fmt.Errorf("%s: %.80q is not the name of an image", j.recordFile(), j.record.Image)
	}
	return nil
}

// Create implements provider.Provider. Each step looks first whether it is done.
func (*servers) Create(ctx context.Context, o provider.Order, userData []byte) (provider.Machine, error) {
	j, unlock, err := beginAlone(ctx, o)
	if err != nil {
		return provider.Machine{}, err
	}
	defer unlock()
	if err := j.mine(); err != nil && !errors.Is(err, provider.ErrNone) {
		return provider.Machine{}, err
	}
	made := provider.Machine{ID: j.server.BMC}
	if j.begun && j.record.Cleaned {
		return made, nil
	}
	m, err := open(ctx, j.server)
	if err != nil {
		return made, err
	}
	defer m.Close()
	offered, err := j.offered(m)
	if err != nil {
		return made, err
	}
	if m.on() {
		if offered {
			return made, nil // the answer to the last step was lost
		}
		return made, fmt.Errorf("%s is switched on: somebody may use it, and its disk would be overwritten; switch it off first", o.Worker.Name)
	}
	if !j.begun {
		if err := j.start(m.override()); err != nil {
			return made, err
		}
	}
	if userData, err = provider.WithHostname(userData, o.Worker.Name); err != nil {
		return made, err
	}
	if _, err := os.Stat(j.imageFile()); err != nil {
		if err := build(j.iso, j.imageFile(), userData, j.server.Disk); err != nil {
			return made, err
		}
	}
	if err := j.offer(m); err != nil {
		return made, err
	}
	j.record.Powered = true
	if err := j.write(); err != nil {
		return made, err
	}
	return made, m.power(ctx, true)
}

// offered reports whether the server has the run's image, or had it at its last boot.
func (j *job) offered(m *machine) (bool, error) {
	if !j.begun {
		return false, nil
	}
	if j.server.Boot == byHTTP {
		return m.override().URI == j.imageURL() || j.record.Powered, nil
	}
	list, err := m.drives()
	return drive(list, j.imageURL()) != nil, err
}

// offer has the server boot the run's image once.
func (j *job) offer(m *machine) error {
	if j.server.Boot == byHTTP {
		return m.offerHTTP(j.imageURL())
	}
	list, err := m.drives()
	if err != nil {
		return err
	}
	if drive(list, j.imageURL()) == nil {
		v, err := empty(list)
		if err != nil {
			return err
		}
		if err := m.insert(v, j.imageURL()); err != nil {
			return err
		}
	}
	return m.setOverride(override{Enabled: "Once", Target: "Cd"})
}

// start writes down what is about to be changed.
func (j *job) start(before override) error {
	raw := make([]byte, 16)
	if _, err := rand.Read(raw); err != nil {
		return err
	}
	j.record = record{Run: j.order.Run, Hosted: j.order.Hosted, UUID: j.server.UUID, Image: j.order.Worker.Name + "-" + hex.EncodeToString(raw) +
		".iso", Boot: before}
	j.begun = true
	return j.write()
}

// Find implements provider.Provider.
func (*servers) Find(ctx context.Context, o provider.Order) (provider.Machine, error) {
	j, err := begin(o)
	if err != nil {
		return provider.Machine{}, err
	}
	if err := j.mine(); err != nil {
		return provider.Machine{}, err
	}
	made := provider.Machine{ID: j.server.BMC}
	if j.record.Cleaned {
		return made, nil
	}
	m, err := open(ctx, j.server)
	if err != nil {
		return provider.Machine{}, err
	}
	defer m.Close()
	offered, err := j.offered(m)
	if err == nil && (!offered || !m.on()) {
		err = provider.ErrNone // begun, and not made: Create continues
	}
	if err != nil {
		return provider.Machine{}, err
	}
	return made, nil
}

// Clean implements provider.Provider: the image leaves the drive and the web server, and the
// boot override is as it was.
func (*servers) Clean(ctx context.Context, o provider.Order) error {
	j, unlock, err := beginAlone(ctx, o)
	if err != nil {
		return err
	}
	defer unlock()
	if err := j.mine(); err != nil {
		if errors.Is(err, provider.ErrNone) {
			return nil
		}
		return err
	}
	if j.record.Cleaned {
		return nil
	}
	m, err := open(ctx, j.server)
	if err != nil {
		return err
	}
	defer m.Close()
	return j.clean(m)
}

func (j *job) clean(m *machine) error {
	// The file first: it is the secret, and the server has read it.
	// A run that was killed leaves it under the name that it has while it is written.
	for _, name := range []string{j.imageFile(), j.imageFile() + partSuffix} {
		if err := ignore(os.Remove(name), fs.ErrNotExist); err != nil {
			return fmt.Errorf("remove the image: %w", err)
		}
	}
	withdraw := j.eject
	if j.server.Boot == byHTTP {
		withdraw = j.withdrawURI
	}
	if err := withdraw(m); err != nil {
		return err
	}
	j.record.Cleaned = true
	return j.write()
}

// eject takes the image out of its drive and restores the boot override, as far as it is the
// run's: "once, from CD" that the server has not used.
func (j *job) eject(m *machine) error {
	list, err := m.drives()
	if err != nil {
		return err
	}
	if v := drive(list, j.imageURL()); v != nil {
		if _, err := v.EjectMedia(); err != nil {
			return fmt.Errorf("eject the image from virtual drive %s: %w", v.ID, err)
		}
	}
	if now := m.override(); now.Target == "Cd" && now.Enabled == "Once" && now != j.record.Boot && j.record.Boot.Enabled != "" {
		return m.setOverride(j.record.Boot)
	}
	return nil
}

// withdrawURI does the same for a server that boots over HTTP.
func (j *job) withdrawURI(m *machine) error {
	if m.override().URI != j.imageURL() {
		return nil
	}
	if now := m.override(); now.Target == string(schemas.UefiHTTPBootSource) && j.record.Boot.Enabled != "" {
		if err := m.setOverride(j.record.Boot); err != nil {
			return err
		}
	}
	return m.dropURI()
}

// Delete implements provider.Provider: it switches the server off, whose disk keeps what is on
// it.
func (*servers) Delete(ctx context.Context, o provider.Order) error {
	j, unlock, err := beginAlone(ctx, o)
	if err != nil {
		return err
	}
	defer unlock()
	if err := j.mine(); err != nil {
		if errors.Is(err, provider.ErrNone) {
			return nil
		}
		return err
	}
	m, err := open(ctx, j.server)
	if err != nil {
		return err
	}
	defer m.Close()
	offered, err := j.offered(m)
	if err != nil {
		return err
	}
	// On without our image, and never clean: somebody switched it on before this run could.
	if j.record.Cleaned || offered {
		if err := m.power(ctx, false); err != nil {
			return err
		}
	}
	if err := j.clean(m); err != nil {
		return err
	}
	for _, name := range []string{j.recordFile(), j.recordFile() + partSuffix} {
		if err := ignore(os.Remove(name), fs.ErrNotExist); err != nil {
			return err
		}
	}
	j.begun = false
	return nil
}

func ignore(err, this error) error {
	if errors.Is(err, this) {
		return nil
	}
	return err
}

// Check implements provider.Checker.
func (*servers) Check(ctx context.Context, o provider.Order, workers []provider.Worker) ([]provider.Check, error) {
	failed := func(format string, args ...any) provider.Check {
		return provider.Check{Outcome: provider.Failed, Text: fmt.Sprintf(format, args...)}
	}
	p, err := parseOptions(o)
	if err != nil {
		return []provider.Check{failed("%v", err)}, nil
	}
	var list []provider.Check
	if err := checkISO(p.iso, o.Image.Digest); err != nil {
		list = append(list, failed("live ISO %s: %v", p.iso, err))
	}
	if info, err := os.Stat(p.publish); err != nil || !info.IsDir() {
		list = append(list, failed("--option publish=%s is no directory", p.publish))
	}
	if p.url[:5] == "http:" {
		list = append(list, provider.Check{Outcome: provider.Warning, Text: "images are sent over HTTP: who listens between the web server and the " +
			"BMCs gets the user-data; use https where the BMCs can"})
	}
	for _, w := range workers {
		o.Worker = w
		list = append(list, checkServer(ctx, o))
	}
	return append(list, provider.Check{Outcome: provider.Unknown, Text: "whether the BMCs reach " + p.url + ": a BMC shows that when it reads an image"}), nil
}

// checkISO looks whether a file is a live ISO, and that of the stream where its digest is known.
func checkISO(path, digest string) error {
	iso, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer iso.Close()
	if _, err := findArea(iso); err != nil || digest == "" {
		return err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, iso); err != nil {
		return err
	}
	if have := hex.EncodeToString(sum.Sum(nil)); have != digest {
		return fmt.Errorf("its SHA-256 is %s, that of the stream's live ISO is %.64s", have, digest)
	}
	return nil
}

func checkServer(ctx context.Context, o provider.Order) provider.Check {
	failed := func(err error) provider.Check {
		return provider.Check{Outcome: provider.Failed, Text: o.Worker.Name + ": " + err.Error()}
	}
	j, err := begin(o)
	if err != nil {
		return failed(err)
	}
	if j.begun {
		return failed(fmt.Errorf("run %.40s has begun with it (%s): resume it or roll it back", j.record.Run, j.recordFile()))
	}
	m, err := open(ctx, j.server)
	if err != nil {
		return failed(err)
	}
	defer m.Close()
	if m.on() {
		return failed(errors.New("it is switched on: somebody may use it; switch it off first"))
	}
	how := "its virtual drive is empty"
	if j.server.Boot == byHTTP {
		how, err = "it boots over HTTP; whether its BMC takes a URL for that shows when it is set", m.bootsHTTP()
	} else if list, listErr := m.drives(); listErr != nil {
		err = listErr
	} else {
		_, err = empty(list)
	}
	if err != nil {
		return failed(err)
	}
	return provider.Check{Outcome: provider.Passed, Text: fmt.Sprintf("%s: %s %s is off, %s; disk %s will be "+
		"overwritten", o.Worker.Name, m.system.Manufacturer, strings.TrimSpace(m.system.Model), how, j.server.Disk)}
}
