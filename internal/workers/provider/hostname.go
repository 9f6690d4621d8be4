package provider

import (
	"encoding/json"
	"errors"
	"net/url"
)

// WithHostname returns user-data that also gives the machine its name. On platform None no
// service of the cluster shortens the name that DHCP gives (openshift/machine-config-operator:
// templates/common/gcp has one for that platform only), and the name of the Node must be the
// one that the run expects. Ignition merges what the pointer refers to over the pointer itself
// (coreos/ignition:config/merge), and the config of a NodePool has no such file. Errors quote
// nothing of the user-data.
func WithHostname(userData []byte, name string) ([]byte, error) {
	var doc map[string]any
	if err := json.Unmarshal(userData, &doc); err != nil {
		return nil, errors.New("give the machine its name: the user-data is not an Ignition config")
	}
	storage, ok := doc["storage"].(map[string]any)
	if !ok {
		storage = map[string]any{}
		doc["storage"] = storage
	}
	files, _ := storage["files"].([]any)
	const path = "/etc/hostname"
	for _, f := range files {
		if f, is := f.(map[string]any); is && f["path"] == path {
			return userData, nil // somebody has decided
		}
	}
	storage["files"] = append(files, map[string]any{
		"path": path, "mode": 0o644, "overwrite": true, "contents": map[string]any{"source": "data:," + url.PathEscape(name+"\n")},
	})
	out, err := json.Marshal(doc)
	if err != nil {
		return nil, errors.New("give the machine its name: the user-data cannot be encoded")
	}
	return out, nil
}
