package live

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/kube"
)

// maxCredential bounds one credential: a kubeconfig is a few KiB.
const maxCredential = 1 << 20

// Credential reads one key of one Secret, in clear. It is for a credential that the
// user asked to be used (the kubeconfig of a hosted cluster) and for nothing else: what
// it returns must not reach evidence, a recorder or a screen.
func (s *Source) Credential(caller context.Context, namespace, name, key string) ([]byte, error) {
	need := evidence.Objects(evidence.Secrets, namespace)
	right := Access{Verb: "get", Resource: evidence.Secrets, Namespace: namespace}
	ctx, cancel := s.withTimeout(caller, s.opts.RequestTimeout)
	defer cancel()
	body, _, err := s.api.Do(ctx, kube.Request{Path: []string{"api", "v1", "namespaces", namespace, "secrets", name}, Accept: mediaJSON})
	if err != nil {
		return nil, s.unavailable(caller, ctx, need, right, err)
	}
	var got struct {
		Kind string            `json:"kind"`
		Data map[string]string `json:"data"`
	}
	missing := func(detail string) error {
		return &evidence.Unavailable{Need: need, Why: evidence.Damaged, Detail: detail}
	}
	switch err := json.Unmarshal(body, &got); {
	case err != nil || got.Kind != "Secret": // the error would quote the Secret
		return nil, s.unavailable(caller, ctx, need, right, garbage("the answer is not a Secret"))
	case got.Data[key] == "":
		return nil, missing("Secret " + namespace + "/" + name + " has no key " + key)
	case len(got.Data[key]) > maxCredential:
		return nil, missing("Secret " + namespace + "/" + name + " is too large for a kubeconfig")
	}
	raw, err := base64.StdEncoding.DecodeString(got.Data[key])
	if err != nil {
		return nil, missing("Secret " + namespace + "/" + name + " holds no base64")
	}
	return raw, nil
}
