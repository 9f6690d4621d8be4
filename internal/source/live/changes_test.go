package live

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
)

const columnsOfNodes = `"columnDefinitions":[{"name":"Name","type":"string"},{"name":"Status","type":"string"},{"name":"Age","type":"string"},{"name":"Since","type":"date"}],`

// row is one event of a watch of Nodes.
func row(event, columns, name, status, age, annotation string) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Table","apiVersion":"meta.k8s.io/v1",%s"rows":[{"cells":[%q,%q,%q,%q],"object":{"kind":"PartialObjectMetadata","metadata":{"name":%q,"annotations":{"state":%q}}}}]}}`,
		event, columns, name, status, age, age, name, annotation)
}

func changesOf(t *testing.T, stream string) []string {
	t.Helper()
	table := newTable()
	var got []string
	err := table.read(strings.NewReader(stream), evidence.Nodes, func(c Change) { got = append(got, c.Name) })
	if err == nil {
		t.Error("a stream that ends is no error")
	}
	return got
}

func TestRows(t *testing.T) {
	first := row("ADDED", columnsOfNodes, "n0", "Ready", "5d", "Done")
	for _, tt := range []struct {
		name, stream string
		want         []string
	}{
		{"each object once", first + row("ADDED", "", "n1", "Ready", "5d", "Done"), []string{"n0", "n1"}},
		{"a heartbeat changes nothing", first + row("MODIFIED", "", "n0", "Ready", "5d1h", "Done"), []string{"n0"}},
		{"the state changes", first + row("MODIFIED", "", "n0", "NotReady", "5d", "Done"), []string{"n0", "n0"}},
		{"an annotation changes", first + row("MODIFIED", "", "n0", "Ready", "5d", "Working"), []string{"n0", "n0"}},
		{"it is deleted and comes again", first + row("DELETED", "", "n0", "Ready", "5d", "Done") + row("ADDED", "", "n0", "Ready", "1s", "Done"), []string{"n0", "n0", "n0"}},
		{"a bookmark", first + `{"type":"BOOKMARK","object":{"kind":"Table","rows":[]}}`, []string{"n0"}},
		{"the server ends it", first + `{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old"}}` + row("ADDED", "", "n9", "Ready", "5d", ""), []string{"n0"}},
		{"no table", `{"type":"ADDED","object":{"kind":"Node"}}`, nil},
		{"garbage", "<html>", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := changesOf(t, tt.stream); !slices.Equal(got, tt.want) {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestChanges connects to an API that ends the first connection, and refuses one resource.
func TestChanges(t *testing.T) {
	api := newFakeAPI()
	var mu sync.Mutex
	connections := 0
	api.handle["/api/v1/nodes"] = func(w http.ResponseWriter, r *http.Request) {
		if got := r.URL.Query().Get("watch"); got != "1" || !strings.Contains(r.Header.Get("Accept"), "as=Table") {
			t.Errorf("asked %s with %s", r.URL, r.Header.Get("Accept"))
		}
		mu.Lock()
		connections++
		n := connections
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		status := "Ready"
		if n > 1 {
			status = "NotReady"
		}
		_, _ = w.Write([]byte(row("ADDED", columnsOfNodes, "n0", status, "5d", "Done")))
		if n > 1 {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}
	refuse := func(w http.ResponseWriter, _ *http.Request) { answerStatus(w, 403, "Forbidden", "no") }
	quiet := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for _, p := range []string{"/apis/machineconfiguration.openshift.io/v1/machineconfigpools", "/apis/machine.openshift.io/v1beta1/namespaces/openshift-machine-api/machines"} {
		api.handle[p] = quiet
	}
	api.handle["/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts"] = refuse
	server := api.start(t)
	c := NewChanges(func() (*rest.Config, error) { return &rest.Config{Host: server.URL}, nil }, Options{Vantage: "here"})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	changes := make(chan Change, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx, func(change Change) { changes <- change })
	}()
	var named int
	for named < 2 {
		select {
		case change := <-changes:
			if change.Name == "n0" {
				named++
			}
		case <-ctx.Done():
			t.Fatal("the change after the second connection was not told")
		}
	}
	for len(c.Refused()) == 0 && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if refused := c.Refused(); len(refused) != 1 || !strings.HasPrefix(refused[0], "baremetalhosts.metal3.io: ") {
		t.Errorf("refused: %v", refused)
	}
	cancel()
	<-done
}
