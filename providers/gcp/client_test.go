package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cloud.google.com/go/compute/apiv1/computepb"

	"github.com/rollcall-project/rollcall/internal/outbound"
)

// serviceAccount is a file of credentials with a key that was made for the test.
func serviceAccount(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]string{
		"type": "service_account", "client_email": "a@project1.iam.gserviceaccount.com", "private_key_id": "k", "token_uri": "https://oauth2.googleapis.com/token",
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "account.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// asks sends one request of the library through a client with the credential.
func asks(t *testing.T, server *httptest.Server) error {
	t.Helper()
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", serviceAccount(t))
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := outbound.HTTP(outbound.Options{TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, Answer: 1 << 20, Reuse: true})
	with, err := authenticated(client, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client.Transport = with
	c, err := newClients(t.Context(), client, server.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.close)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = c.zones.Get(ctx, &computepb.GetZoneRequest{Project: "project1", Zone: "europe-west1-b"})
	return err
}

// TestCredentialFollowsNoRedirect: the credential is for the API, whatever that answers.
func TestCredentialFollowsNoRedirect(t *testing.T) {
	reached, credential := false, ""
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(other.Close)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		credential = q.Header.Get("Authorization")
		http.Redirect(w, q, other.URL, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(server.Close)
	if err := asks(t, server); err == nil {
		t.Error("a redirection is an answer")
	}
	if reached || !strings.HasPrefix(credential, "Bearer ") {
		t.Errorf("the other server was asked: %v; the first one got a credential: %v", reached, credential != "")
	}
}

// TestAnswerHasAnEnd: the library reads an answer of the API whole, so it is bounded below it.
func TestAnswerHasAnEnd(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	if err := asks(t, server); !errors.Is(err, outbound.ErrTooMuch) {
		t.Errorf("%v", err)
	}
}

// TestNoCredentials: without any the error says so, once.
func TestNoCredentials(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	if _, err := newClient(""); err == nil || strings.Count(err.Error(), "none.json") != 1 {
		t.Errorf("%v", err)
	}
}
