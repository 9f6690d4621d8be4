package plaintext

import (
	"bytes"
	"encoding/json"
)

// foreignJSON are fields that answers of an API have and that together name it.
var foreignJSON = []struct {
	fields []string
	name   string
}{
	{[]string{"event_time", "severity", "message"}, "JSON of the assisted service: its events (GET /v2/events)"},
	{[]string{"status_info", "validations_info", "inventory"}, "JSON of the assisted service: a host (GET /v2/infra-envs/ID/hosts)"},
	{[]string{"status_info", "requested_hostname"}, "JSON of the assisted service: a host (GET /v2/infra-envs/ID/hosts)"},
	{[]string{"status_info", "validations_info", "checked_in_at"}, "JSON of the assisted service: a host (GET /v2/infra-envs/ID/hosts)"},
	{[]string{"status_info", "openshift_version"}, "JSON of the assisted service: a cluster (GET /v2/clusters)"},
	{[]string{"status_info", "base_dns_domain"}, "JSON of the assisted service: a cluster (GET /v2/clusters)"},
	{[]string{"status_info", "hosts"}, "JSON of the assisted service: a cluster (GET /v2/clusters)"},
}

// JSON names the API of which a text is an answer in JSON, if lines mean nothing in it: all of it may
// be one line, and its order and its states would be lost. It is "" for everything else.
func JSON(text []byte) string {
	text = bytes.TrimSpace(text)
	if len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return ""
	}
	var one map[string]json.RawMessage
	if json.Unmarshal(text, &one) != nil {
		var list []map[string]json.RawMessage
		if json.Unmarshal(text, &list) != nil || len(list) == 0 {
			return ""
		}
		one = list[0]
	}
	if one["apiVersion"] != nil { // an object of Kubernetes
		return ""
	}
	for _, f := range foreignJSON {
		all := true
		for _, field := range f.fields {
			all = all && one[field] != nil
		}
		if all {
			return f.name
		}
	}
	return ""
}
