package repair

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rollcall-project/rollcall/internal/kube"
)

// content is what a put-content step writes into a Secret or ConfigMap. It may be secret
// and is in the store only; the plan has its digest. The salt keeps a short password from
// being guessed from that digest.
type content struct {
	Type string            `json:"type,omitempty"` // of a Secret that is created
	Data map[string]string `json:"data"`           // as it is, not in base64
	Salt string            `json:"salt"`
}

func newSalt() (string, error) {
	raw := make([]byte, 32)
	if _, err := rand.Read(raw); err != nil {
		return "", fmt.Errorf("make salt: %w", err)
	}
	return hex.EncodeToString(raw), nil
}

// storeContent keeps a content in the store and returns its digest.
func storeContent(store *Store, c content) (string, error) {
	var err error
	if c.Salt, err = newSalt(); err != nil {
		return "", err
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return "", errors.New("encode content") // the cause may quote it
	}
	return store.Put(raw)
}

func (e env) content(s Step) (content, error) {
	raw, err := e.store.Get(s.Args.Content)
	if err != nil {
		return content{}, refuse("the content of the step cannot be read: %v", err).
			instead("it lies only on the machine where the plan was made; make a new plan here")
	}
	var c content
	if err := json.Unmarshal(raw, &c); err != nil || len(c.Data) == 0 || c.Salt == "" {
		return content{}, refuse("the content of the step is not a content of this program")
	}
	return c, nil
}

// fields are the values as the API has them, by their pointers.
func (c content) fields(resource string) map[string]any {
	set := map[string]any{}
	for key, v := range c.Data {
		if resource == "secrets" {
			v = base64.StdEncoding.EncodeToString([]byte(v))
		}
		set[pointer("data", key)] = v
	}
	return set
}

// object is the object that is created where there is none.
func (c content) object(ref Ref, mark string) Object {
	data := map[string]any{}
	for p, v := range c.fields(ref.Resource) {
		data[splitPointer(p)[1]] = v
	}
	o := Object{"apiVersion": "v1", "kind": kube.Kind(ref.Resource), "data": data,
		"metadata": map[string]any{"name": ref.Name, "namespace": ref.Namespace, "annotations": map[string]any{planAnnotation: mark}}}
	if c.Type != "" {
		o["type"] = c.Type
	}
	return o
}

// differs names the keys whose value is another one.
func (c content) differs(ref Ref, o Object) []string {
	var out []string
	set := c.fields(ref.Resource)
	for _, p := range slices.Sorted(maps.Keys(set)) {
		if have, _ := fieldAt(o, p); have != set[p] {
			out = append(out, splitPointer(p)[1])
		}
	}
	return out
}
