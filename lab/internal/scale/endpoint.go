package scale

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Serve answers on the workers' addresses as their kubelets would for logs,
// until ctx ends. Hosts that never joined and those that stopped do not listen.
// listening is called once every address is taken, or could not be.
func (c *Cluster) Serve(ctx context.Context, listening func(error)) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(c.spec.Clients) {
		listening(errors.New("serve logs: the bundle of client CAs has no certificate"))
		return
	}
	cert, err := c.certificate()
	if err != nil {
		listening(fmt.Errorf("make the kubelets' certificate: %w", err))
		return
	}
	server := &http.Server{
		Handler: logs(), ReadHeaderTimeout: 30 * time.Second, ErrorLog: log.New(discard{}, "", 0),
		TLSConfig: &tls.Config{
			MinVersion: tls.VersionTLS12, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots,
			Certificates: []tls.Certificate{cert},
		},
	}
	var lc net.ListenConfig
	for _, w := range c.workers {
		if w.fate != joined {
			continue
		}
		l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(w.address, strconv.Itoa(c.spec.Port)))
		if err != nil {
			server.Close()
			listening(fmt.Errorf("listen as the kubelet of %s: %w", w.name, err))
			return
		}
		go func() {
			if err := server.ServeTLS(l, "", ""); !errors.Is(err, http.ErrServerClosed) {
				c.spec.Logger.Warn("serve as a kubelet", "node", w.name, "err", err)
			}
		}()
	}
	listening(nil)
	<-ctx.Done()
	server.Close()
}

// certificate is one for all kubelets: no one looks at it but the API server, and
// a key for each would keep the machine busy.
func (c *Cluster) certificate() (tls.Certificate, error) {
	var ips []string
	for _, w := range c.workers {
		ips = append(ips, w.address)
	}
	pair, err := c.spec.Kubelet(ips)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(pair.Cert, pair.Key)
}

// logLines is how long every log is: a container that was started days ago.
const logLines = 1000

// logs answers for the log of any container. What a healthy machine-config-daemon
// says last is its own (openshift/machine-config-operator:pkg/daemon/daemon.go
// updateConfigAndState); everything else is filler of the form of such logs.
func logs() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", func(w http.ResponseWriter, r *http.Request) {
		out := bufio.NewWriter(w)
		defer out.Flush()
		at := time.Now().Add(-24 * time.Hour).UTC()
		stamped := r.URL.Query().Get("timestamps") == "true"
		for i := range logLines {
			at = at.Add(time.Minute)
			if stamped {
				fmt.Fprintf(out, "%s ", at.Format(time.RFC3339Nano))
			}
			text := fmt.Sprintf("reconcile.go:%d] Synced %s/%s in %dms (generation %d)", 100+i%400, r.PathValue("namespace"), r.PathValue("container"), i%50, i)
			if r.PathValue("container") == "machine-config-daemon" && i == logLines-1 {
				text = "update.go:2752] \"Validated on-disk state\""
			}
			fmt.Fprintf(out, "I%s       1 %s\n", at.Format("0102 15:04:05.000000"), text)
		}
	})
	return mux
}

// discard drops what the server says of handshakes that were broken off.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
