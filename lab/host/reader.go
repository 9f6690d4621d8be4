package host

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	machineConfigsPath = "/apis/" + machineConfigGroup + "/v1/machineconfigs/"
	poolsPath          = "/apis/" + machineConfigGroup + "/v1/machineconfigpools/"
	// openshift/machine-config-operator:pkg/controller/common/constants.go ControllerConfigName
	controllerConfigPath = "/apis/" + machineConfigGroup + "/v1/controllerconfigs/machine-config-controller"
	metadataOnly         = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
)

// askedFor is how long it is not asked again whether a config exists. One sync asks twice
// for the same config; a lister, which is told by a watch, does not ask at all.
const askedFor = time.Second

// apiReader reads MachineConfigs and pools from the API with the daemon's
// service account. Whether a config exists is asked for each sync; its content,
// which is large, is kept as long as its resourceVersion stays.
type apiReader struct {
	rest rest.Interface

	mu    sync.Mutex
	seen  map[string]*machineConfig
	asked map[string]time.Time // when the API last said that the config of seen exists
}

func newConfigReader(kubeconfig string) (*apiReader, error) {
	cfg, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("load kubeconfig of the machine-config-daemon: %w", err)
	}
	cfg.UserAgent = "machine-config-daemon"
	cfg.QPS, cfg.Burst = 50, 100
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("make client of the machine-config-daemon: %w", err)
	}
	return &apiReader{rest: client.CoreV1().RESTClient(), seen: map[string]*machineConfig{}, asked: map[string]time.Time{}}, nil
}

// MachineConfig implements configReader. The daemon reads from a lister, whose
// NotFound names the resource in the singular (openshift/client-go:
// machineconfiguration/listers/machineconfiguration/v1), so the
// error is regenerated.
func (r *apiReader) MachineConfig(ctx context.Context, name string) (*machineConfig, error) {
	notFound := apierrors.NewNotFound(schema.GroupResource{Group: machineConfigGroup, Resource: "machineconfig"}, name)
	if name == "" {
		return nil, notFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.asked[name]) < askedFor {
		return r.seen[name], nil
	}
	var meta metav1.PartialObjectMetadata
	if err := r.get(ctx, machineConfigsPath+name, metadataOnly, &meta); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, notFound
		}
		return nil, err
	}
	if mc := r.seen[name]; mc != nil && mc.ResourceVersion == meta.ResourceVersion {
		r.asked[name] = time.Now()
		return mc, nil
	}
	var mc machineConfig
	if err := r.get(ctx, machineConfigsPath+name, "application/json", &mc); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, notFound
		}
		return nil, err
	}
	r.seen[name], r.asked[name] = &mc, time.Now()
	return &mc, nil
}

// PoolConfig implements configReader.
func (r *apiReader) PoolConfig(ctx context.Context, pool string) (string, error) {
	var p struct {
		Spec struct {
			Configuration struct {
				Name string `json:"name"`
			} `json:"configuration"`
		} `json:"spec"`
	}
	err := r.get(ctx, poolsPath+pool, "application/json", &p)
	return p.Spec.Configuration.Name, err
}

// KubeletCA implements configReader.
func (r *apiReader) KubeletCA(ctx context.Context, known string) ([]byte, string, error) {
	var meta metav1.PartialObjectMetadata
	if err := r.get(ctx, controllerConfigPath, metadataOnly, &meta); err != nil {
		return nil, "", err
	}
	if meta.ResourceVersion == known {
		return nil, known, nil
	}
	var c struct {
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			CA []byte `json:"kubeAPIServerServingCAData"`
		} `json:"spec"`
	}
	err := r.get(ctx, controllerConfigPath, "application/json", &c)
	return c.Spec.CA, c.ResourceVersion, err
}

func (r *apiReader) get(ctx context.Context, path, accept string, into any) error {
	// From what the API server keeps in memory, as a lister does.
	raw, err := r.rest.Get().AbsPath(path).Param("resourceVersion", "0").SetHeader("Accept", accept).DoRaw(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("decode %s: %w", path, err)
	}
	return nil
}
