package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
)

// backend is the service that ImagePolicyWebhook asks.
type backend struct {
	server     *httptest.Server
	directory  string
	kubeconfig string
}

func startBackend(says *script) (*backend, error) {
	b := &backend{}
	b.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if says.Status != 0 {
			w.WriteHeader(says.Status)
		}
		if says.Text != nil {
			_, _ = io.WriteString(w, *says.Text)
		} else {
			_, _ = w.Write(says.Body)
		}
	}))
	b.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	b.server.StartTLS()
	var err error
	if b.directory, err = os.MkdirTemp("", "image-policy-"); err != nil {
		return nil, err
	}
	authority := filepath.Join(b.directory, "ca.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		return nil, err
	}
	b.kubeconfig = filepath.Join(b.directory, "kubeconfig")
	text := fmt.Sprintf(`{"apiVersion": "v1", "kind": "Config", "clusters": [{"name": "b", "cluster": {"certificate-authority": %q, "server": %q}}],
		"users": [{"name": "u", "user": {}}], "contexts": [{"name": "c", "context": {"cluster": "b", "user": "u"}}], "current-context": "c"}`,
		authority, b.server.URL)
	if says.Down {
		b.server.Close()
	}
	return b, os.WriteFile(b.kubeconfig, []byte(text), 0o600)
}

// hidden is a text as cases have it, which do not know where the service is.
func (b *backend) hidden(text string) string {
	if b == nil {
		return text
	}
	text = strings.ReplaceAll(text, b.server.URL, "$BACKEND")
	text = strings.ReplaceAll(text, strings.TrimPrefix(b.server.URL, "https://"), "$HOST")
	return strings.ReplaceAll(text, b.directory, "$DIR")
}

func (b *backend) close() {
	b.server.Close()
	_ = os.RemoveAll(b.directory)
}
