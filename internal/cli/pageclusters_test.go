package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rollcall-project/rollcall/internal/cli/clitest"
)

// The tokens that the cluster of the pages knows.
const (
	adminToken  = "sha256~admin"
	viewerToken = "sha256~viewer"
)

// notForViewers are the resources that the viewer of the pages may not read.
var notForViewers = []string{"machines", "baremetalhosts"}

// users puts the users of the pages in front of a cluster: the admin may read everything,
// the viewer no Machines and BareMetalHosts, everybody else is not logged in.
type users struct{ cluster http.Handler }

func (u users) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	refuse := func(code int, reason, message string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code, "message": message})
	}
	switch q.URL.Path {
	case "/readyz", "/livez":
		fmt.Fprint(w, "ok")
		return
	case "/version":
		fmt.Fprint(w, `{"major":"1","minor":"33","gitVersion":"v1.33.5"}`)
		return
	}
	token := strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	switch {
	case token != adminToken && token != viewerToken:
		refuse(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
		return
	case token == viewerToken && strings.HasSuffix(q.URL.Path, "/selfsubjectaccessreviews"):
		body, _ := io.ReadAll(q.Body) // what is cut does not decode
		var review struct {
			Spec struct {
				ResourceAttributes struct{ Resource string }
			}
		}
		err := json.Unmarshal(body, &review)
		allowed := err == nil && !slices.Contains(notForViewers, review.Spec.ResourceAttributes.Resource)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(clitest.Object{"kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "status": clitest.Object{"allowed": allowed}})
		return
	case token == viewerToken && slices.Contains(notForViewers, clitest.ParseAPIPath(q.URL.Path).Resource):
		resource := clitest.ParseAPIPath(q.URL.Path).Resource
		refuse(http.StatusForbidden, "Forbidden", fmt.Sprintf("%s is forbidden: User \"viewer\" cannot list resource %q", resource, resource))
		return
	}
	u.cluster.ServeHTTP(w, q)
}

// writeClusters starts what the pages connect to, and writes a kubeconfig for each:
//
//	admin, viewer   a healthy cluster
//	expired         the same with a token that it does not know
//	old-ca          the same with another CA
//	slow            the same, and it does not list Events
//	portal          a server that is no API: it leads to a login page
//	refused         a port where nothing listens
func writeClusters(t *testing.T, dir string) {
	t.Helper()
	cluster, err := clitest.NewCluster()
	if err != nil {
		t.Fatal(err)
	}
	ca, serving := certificates(t)
	start := func(h http.Handler) string {
		server := httptest.NewUnstartedServer(h)
		server.TLS = &tls.Config{Certificates: []tls.Certificate{serving}}
		server.StartTLS()
		t.Cleanup(server.Close)
		return server.URL
	}
	api := start(users{cluster})
	slow := start(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if clitest.ParseAPIPath(q.URL.Path).Resource == "events" {
			select {
			case <-q.Context().Done():
			case <-time.After(30 * time.Second):
			}
			return
		}
		users{cluster}.ServeHTTP(w, q)
	}))
	portal := start(http.RedirectHandler("https://login.example.com/", http.StatusFound))
	otherCA, _ := certificates(t)
	for _, k := range []struct {
		name, url, token string
		ca               []byte
	}{
		{"admin", api, adminToken, ca},
		{"viewer", api, viewerToken, ca},
		{"expired", api, "sha256~expired", ca},
		{"old-ca", api, adminToken, otherCA},
		{"slow", slow, adminToken, ca},
		{"portal", portal, adminToken, ca},
		{"refused", "https://127.0.0.1:1", adminToken, ca},
	} {
		text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: ocp1\ncontexts: [{name: ocp1, context: {cluster: ocp1, user: me}}]\n"+
			"clusters: [{name: ocp1, cluster: {server: %q, certificate-authority-data: %s}}]\nusers: [{name: me, user: {token: %q}}]\n",
			k.url, base64.StdEncoding.EncodeToString(k.ca), k.token)
		if err := os.WriteFile(filepath.Join(dir, k.name+".kubeconfig"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// certificates makes a CA and a serving certificate of it, as an API server has them.
func certificates(t *testing.T) (ca []byte, serving tls.Certificate) {
	t.Helper()
	from, to := clitest.Now.Add(-24*time.Hour), clitest.Now.AddDate(100, 0, 0)
	if now := time.Now().Add(-time.Hour); now.Before(from) {
		from = now
	}
	issue := func(cn string, of *x509.Certificate, with *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(from.Unix()), Subject: pkix.Name{CommonName: cn}, NotBefore: from, NotAfter: to,
			IsCA: of == nil, BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{cn}}
		if of == nil {
			of, with = template, key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, of, key.Public(), with)
		if err != nil {
			t.Fatal(err)
		}
		cert, err := x509.ParseCertificate(der)
		if err != nil {
			t.Fatal(err)
		}
		return cert, key
	}
	signer, key := issue("kube-apiserver-lb-signer", nil, nil)
	leaf, leafKey := issue("api.ocp1.example.com", signer, key)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signer.Raw}), tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: leafKey}
}
