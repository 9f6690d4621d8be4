package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/lab/internal/plan"
)

// Store is the lab's etcd below the API server. The API server protects what
// only it may write, above all the times of objects; a lab in which time is to
// have passed writes them here. It speaks the JSON form of etcd's own API
// (etcd-io/etcd:api/etcdserverpb/gw), so that the lab needs no client of etcd's.
type Store struct {
	client *http.Client
	url    string
}

// Store returns the plane's etcd.
func (p *Plane) Store() (*Store, error) {
	client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{
		CAData: p.PKI.EtcdSigner.Cert, CertData: p.PKI.EtcdClient.Cert, KeyData: p.PKI.EtcdClient.Key,
	}})
	if err != nil {
		return nil, fmt.Errorf("make client of etcd: %w", err)
	}
	return &Store{client: client, url: fmt.Sprintf("https://%s:%d/v3/", p.Etcd, plan.EtcdPort)}, nil
}

// Stores says whether the plane's etcd runs.
func (p *Plane) Stores() bool { return p.Procs.Running(p.Name + "etcd") }

// Entry is one key with its value and the revision at which it was written.
type Entry struct {
	Key      []byte `json:"key"`
	Value    []byte `json:"value"`
	Revision int64  `json:"mod_revision,string"`
}

// ErrChanged says that somebody else wrote the key meanwhile.
var ErrChanged = errors.New("the key has been written by another")

// Keys lists the keys below a prefix.
func (s *Store) Keys(ctx context.Context, prefix string) ([]Entry, error) {
	return s.get(ctx, map[string]any{"key": []byte(prefix), "range_end": after(prefix), "keys_only": true})
}

// after is the first key that does not begin with prefix.
func after(prefix string) []byte {
	end := []byte(prefix)
	end[len(end)-1]++
	return end
}

// Get reads one key; it is nil if there is none.
func (s *Store) Get(ctx context.Context, key string) (*Entry, error) {
	list, err := s.get(ctx, map[string]any{"key": []byte(key)})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

func (s *Store) get(ctx context.Context, in any) ([]Entry, error) {
	var out struct{ Kvs []Entry }
	err := s.call(ctx, "kv/range", in, &out)
	return out.Kvs, err
}

// Replace writes e with another value, if it has not been written since.
func (s *Store) Replace(ctx context.Context, e Entry, value []byte) error {
	var out struct{ Succeeded bool }
	err := s.call(ctx, "kv/txn", map[string]any{
		"compare": []any{map[string]any{"key": e.Key, "target": "MOD", "result": "EQUAL", "mod_revision": fmt.Sprint(e.Revision)}},
		"success": []any{map[string]any{"requestPut": map[string]any{"key": e.Key, "value": value}}},
	}, &out)
	if err == nil && !out.Succeeded {
		return ErrChanged
	}
	return err
}

// putAtOnce is how many values go into one transaction: etcd takes 128 operations
// and 1.5 MiB (etcd-io/etcd:server/embed/config.go DefaultMaxTxnOps, DefaultMaxRequestBytes).
const putAtOnce = 50

// Put writes values, whatever was there.
func (s *Store) Put(ctx context.Context, values map[string][]byte) error {
	for keys := range slices.Chunk(slices.Sorted(maps.Keys(values)), putAtOnce) {
		puts := make([]any, 0, len(keys))
		for _, key := range keys {
			puts = append(puts, map[string]any{"requestPut": map[string]any{"key": []byte(key), "value": values[key]}})
		}
		if err := s.call(ctx, "kv/txn", map[string]any{"success": puts}, &struct{}{}); err != nil {
			return fmt.Errorf("write %s and the next: %w", keys[0], err)
		}
	}
	return nil
}

// Watch calls seen with every key below a prefix that is written or deleted from now
// on. It returns when ctx or the connection ends, never without an error.
func (s *Store) Watch(ctx context.Context, prefix string, seen func(key string)) error {
	answer, err := s.ask(ctx, "watch", map[string]any{"create_request": map[string]any{"key": []byte(prefix), "range_end": after(prefix)}})
	if err != nil {
		return err
	}
	defer answer.Close()
	for dec := json.NewDecoder(answer); ; {
		var part struct {
			Result struct {
				Canceled bool
				Reason   string `json:"cancel_reason"`
				Events   []struct{ KV struct{ Key []byte } }
			}
		}
		if err := dec.Decode(&part); err != nil {
			return fmt.Errorf("follow what etcd stores: %w", err)
		}
		if part.Result.Canceled {
			return fmt.Errorf("follow what etcd stores: etcd has ended it: %s", part.Result.Reason)
		}
		for _, e := range part.Result.Events {
			seen(string(e.KV.Key))
		}
	}
}

func (s *Store) call(ctx context.Context, method string, in, out any) error {
	answer, err := s.ask(ctx, method, in)
	if err != nil {
		return err
	}
	defer answer.Close()
	if err := json.NewDecoder(answer).Decode(out); err != nil {
		return fmt.Errorf("read etcd's answer: %w", err)
	}
	return nil
}

func (s *Store) ask(ctx context.Context, method string, in any) (io.ReadCloser, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+method, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask etcd: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("ask etcd for %s: %s", method, resp.Status)
	}
	return resp.Body, nil
}
