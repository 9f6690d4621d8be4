package kubeconfig

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/rollcall-project/rollcall/internal/source/infile"
)

// files loads a kubeconfig by client-go's rules, and waits for no file that is named: not
// for the kubeconfig, and not for the certificates, keys and tokens that it or a flag names. The
// kubeconfig can be a pipe such as that of a shell's <(...).
type files struct {
	*clientcmd.ClientConfigLoadingRules

	overrides *clientcmd.ConfigOverrides
	pipe      *pipe
}

// pipe is a kubeconfig that came through a pipe: it can be read once only, whoever asks
// first. A file is read each time: it can be another one by then.
type pipe struct {
	mu     sync.Mutex
	path   string
	config *api.Config
	err    error
}

func (p *pipe) load(path string) (*api.Config, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path != path {
		p.path = path
		p.config, p.err = piped(path)
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.config.DeepCopy(), nil
}

// Load loads the kubeconfig.
func (k *files) Load() (*api.Config, error) {
	config, err := k.read()
	if err != nil {
		return nil, err
	}
	return config, k.check(config)
}

// Load loads the kubeconfig at a path that a flag of its own names.
func Load(path string) (*rest.Config, error) {
	o := &clientcmd.ConfigOverrides{}
	files := &files{ClientConfigLoadingRules: &clientcmd.ClientConfigLoadingRules{ExplicitPath: path}, overrides: o, pipe: &pipe{}}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(files, o).ClientConfig()
}

// maxKubeconfig bounds a kubeconfig, and the files that it names: client-go reads each of them whole.
const maxKubeconfig = 16 << 20

// bounded refuses what is there and is no file, or is larger than a kubeconfig and its parts can be. That it is missing
// is client-go's to say.
func bounded(path string) error {
	if err := infile.Check(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxKubeconfig {
		return fmt.Errorf("%s has more than %d MiB", path, maxKubeconfig>>20)
	}
	return nil
}

// isNull reports whether a file is the null device, which is an empty kubeconfig.
func isNull(info os.FileInfo) bool {
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(info, null)
}

func (k *files) read() (*api.Config, error) {
	paths := k.GetLoadingPrecedence()
	if k.ExplicitPath != "" {
		paths = []string{k.ExplicitPath}
	}
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil || info.IsDir() || isNull(info) {
			continue // client-go says what is wrong with it
		}
		if info.Mode()&os.ModeNamedPipe == 0 {
			if err := bounded(p); err != nil {
				return nil, err
			}
			continue
		}
		if len(paths) > 1 {
			return nil, fmt.Errorf("%s: it is a pipe, which has to be the only kubeconfig; write it to a file first", p)
		}
		return k.pipe.load(p)
	}
	return k.ClientConfigLoadingRules.Load()
}

func piped(path string) (_ *api.Config, err error) {
	f, err := infile.Piped(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err := io.ReadAll(io.LimitReader(f, maxKubeconfig+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the pipe %s: %w", path, err)
	case len(raw) > maxKubeconfig:
		return nil, fmt.Errorf("%s has more than %d MiB", path, maxKubeconfig>>20)
	case len(raw) == 0:
		return nil, fmt.Errorf("the pipe %s is empty: no program has written to it", path)
	}
	return clientcmd.Load(raw)
}

// check refuses what client-go would wait for: it opens each of these more than once.
func (k *files) check(config *api.Config) error {
	name, o := config.CurrentContext, k.overrides
	if o.CurrentContext != "" {
		name = o.CurrentContext
	}
	var user, cluster string
	if c := config.Contexts[name]; c != nil {
		user, cluster = c.AuthInfo, c.Cluster
	}
	if o.Context.AuthInfo != "" {
		user = o.Context.AuthInfo
	}
	if o.Context.Cluster != "" {
		cluster = o.Context.Cluster
	}
	users, clusters := []*api.AuthInfo{&o.AuthInfo, config.AuthInfos[user]}, []*api.Cluster{&o.ClusterInfo, config.Clusters[cluster]}
	var err error
	of := func(what, path string) {
		if path != "" && err == nil {
			if wrong := bounded(path); wrong != nil {
				err = fmt.Errorf("%s: %w", what, wrong)
			}
		}
	}
	for _, u := range users {
		if u != nil {
			of("client-certificate", u.ClientCertificate)
			of("client-key", u.ClientKey)
			of("tokenFile", u.TokenFile)
		}
	}
	for _, c := range clusters {
		if c != nil {
			of("certificate-authority", c.CertificateAuthority)
		}
	}
	return err
}
