package repair

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// answers are what etcdctl of 3.6 prints of three members, one of which does not answer.
var answers = map[string]string{
	"member list": `{"header":{"cluster_id":14841639068965178418,"member_id":10276657743932975437,"raft_term":2},"members":[` +
		`{"ID":10276657743932975437,"name":"control0","peerURLs":["https://192.0.2.10:2380"],"clientURLs":["https://192.0.2.10:2379"]},` +
		`{"ID":18249187646912138824,"name":"control2","peerURLs":["https://192.0.2.12:2380"],"clientURLs":["https://192.0.2.12:2379"]},` +
		`{"ID":1,"name":"","peerURLs":["https://192.0.2.13:2380"],"isLearner":true}]}`,
	"endpoint " +
		"health": `[{"endpoint":"https://192.0.2.10:2379","health":true,"took":"1.5ms"},` +
		`{"endpoint":"https://192.0.2.12:2379","health":false,"took":"10s","error":"context deadline exceeded"}]` + "\n",
	"alarm list": `{"header":{"cluster_id":14841639068965178418},"alarms":[{"memberID":10276657743932975437,"alarm":1}]}`,
}

type etcdctlRuns struct {
	ran     []string
	answers map[string]string
	fails   error
}

func (e *etcdctlRuns) run(_ context.Context, args ...string) ([]byte, error) {
	e.ran = append(e.ran, strings.Join(args, " "))
	verb := strings.Join(args[:2], " ")
	if verb == "endpoint health" { // it prints, and ends with an error, where one is not healthy
		return []byte(e.answers[verb]), errors.Join(e.fails, errors.New("command terminated with exit code 1"))
	}
	return []byte(e.answers[verb]), e.fails
}

func TestMembers(t *testing.T) {
	runs := &etcdctlRuns{answers: answers}
	m := memberClient{run: runs.run}
	list, err := m.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatalf("List: %v, %v", list, err)
	}
	for i, want := range []string{"8e9e05c52164694d control0 healthy", "fd422379fda50e48 control2 unhealthy", "1  not started"} {
		o := list[i]
		if got := strings.Join([]string{stringAt(o, "metadata", "name"), stringAt(o, "spec", "name"), stringAt(o, "status", "health")}, " "); got != want {
			t.Errorf("member %d: %q, want %q", i, got, want)
		}
	}
	if v, _ := fieldAt(list[0], "/status/alarms/0"); v != "1 of 8e9e05c52164694d" {
		t.Errorf("alarms: %v", v)
	}
	o := list[1]
	uid, version := stringAt(o, "metadata", "uid"), stringAt(o, "metadata", "resourceVersion")
	removals := func() (n int) {
		for _, r := range runs.ran {
			if strings.HasPrefix(r, "member remove") {
				n++
			}
		}
		return n
	}
	if err := m.Delete(t.Context(), "fd422379fda50e48", uid, version, true); err != nil || removals() != 0 {
		t.Errorf("tried: %v, %d removed", err, removals())
	}
	if err := m.Delete(t.Context(), "fd422379fda50e48", uid, "other", false); !apierrors.IsConflict(err) || removals() != 0 {
		t.Errorf("another version: %v, %d removed", err, removals())
	}
	if err := m.Delete(t.Context(), "fd", uid, version, false); !apierrors.IsNotFound(err) || removals() != 0 {
		t.Errorf("no such member: %v, %d removed", err, removals())
	}
	if err := m.Delete(t.Context(), "fd422379fda50e48", uid, version,
		false); err != nil || runs.ran[len(runs.ran)-1] != "member remove fd422379fda50e48 --command-timeout=30s" {
		t.Errorf("removed: %v, %v", err, runs.ran)
	}
}

// What is not what etcdctl prints is an error, never a list that is empty or healthy.
func TestMembersUnusable(t *testing.T) {
	for verb, out := range map[string]string{"member list": "", "endpoint health": "Error: context deadline exceeded", "alarm list": "x"} {
		runs := &etcdctlRuns{answers: map[string]string{}}
		for k, v := range answers {
			runs.answers[k] = v
		}
		runs.answers[verb] = out
		if list, err := (memberClient{run: runs.run}).List(t.Context()); err == nil {
			t.Errorf("%s prints %q: %v", verb, out, list)
		}
	}
	runs := &etcdctlRuns{answers: map[string]string{"member list": `{"header":{},"members":[]}`, "endpoint health": "[]", "alarm list": "{}"}}
	if list, err := (memberClient{run: runs.run}).List(t.Context()); err == nil {
		t.Errorf("no members: %v", list)
	}
}
