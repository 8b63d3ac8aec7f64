package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	admission1 "k8s.io/api/admission/v1"
	registration "k8s.io/api/admissionregistration/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	webhookinit "k8s.io/apiserver/pkg/admission/plugin/webhook/initializer"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/mutating"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
)

// hooks is the first line: configurations with all that the API would set, each of which is a plugin of its own, and
// objects of the cluster. A webhook's URL is a path; where it listens and whom to trust there is put in.
type hooks struct {
	Configurations []*registration.MutatingWebhookConfiguration `json:"configurations"`
	Objects        []json.RawMessage                            `json:"objects"`
}

// asked is a request, and what the webhooks of a configuration say to it: bodies of answers by path, in which $UID stands
// for the review's.
type asked struct {
	Configuration int               `json:"configuration"`
	Request       request           `json:"request"`
	Answers       map[string]string `json:"answers"`
	// Ask so many times; 0 is once.
	Times int `json:"times"`
}

// backend plays the webhooks.
type backend struct {
	server   *httptest.Server
	clusters []*cluster
	stop     chan struct{}

	lock sync.Mutex
	next int
	// What is said to the requests of a user, by the uid that the user is given.
	open map[string]*conversation
}

type conversation struct {
	answers map[string]string
	uids    []string
}

func newBackend(in *bufio.Reader) (*backend, error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var given hooks
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&given); err != nil {
		return nil, err
	}
	b := &backend{stop: make(chan struct{}), open: map[string]*conversation{}}
	b.server = httptest.NewTLSServer(http.HandlerFunc(b.respond))
	trusted := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.server.Certificate().Raw})
	for _, configuration := range given.Configurations {
		for i := range configuration.Webhooks {
			client := &configuration.Webhooks[i].ClientConfig
			url := b.server.URL + *client.URL
			client.URL, client.CABundle = &url, trusted
		}
		c, err := b.start(configuration, given.Objects)
		if err != nil {
			return nil, err
		}
		b.clusters = append(b.clusters, c)
	}
	return b, nil
}

func (b *backend) close() {
	close(b.stop)
	b.server.Close()
}

func (b *backend) start(configuration *registration.MutatingWebhookConfiguration, objects []json.RawMessage) (*cluster, error) {
	custom := &customKinds{}
	typed := []runtime.Object{configuration}
	for _, text := range objects {
		object, err := decode(text, nil)
		if err != nil {
			return nil, err
		}
		if _, is := object.(*unstructured.Unstructured); !is {
			typed = append(typed, object)
		} else if object.GetObjectKind().GroupVersionKind().Group == extensions.GroupName {
			if err := custom.define(text); err != nil {
				return nil, err
			}
		}
	}
	client := &client{fake.NewSimpleClientset(typed...), nil}
	factory := informers.NewSharedInformerFactory(client, 0)
	plugins := admission.NewPlugins()
	mutating.Register(plugins)
	initializers := admission.PluginInitializers{
		with{},
		webhookinit.NewPluginInitializer(nil, webhook.NewDefaultServiceResolver()),
		genericInitializer(client, nil, factory, nil, b.stop, nil),
	}
	chain, err := plugins.NewFromPlugins([]string{mutating.PluginName}, configurations{}, initializers, nil)
	if err != nil {
		return nil, err
	}
	factory.Start(b.stop)
	factory.WaitForCacheSync(b.stop)
	return &cluster{
		chain: admission.WithAudit(chain), custom: custom, equivalent: custom.equivalents(), schemas: &schemas{},
	}, nil
}

// respond says what the case says, to whom it is about.
func (b *backend) respond(w http.ResponseWriter, r *http.Request) {
	var review admission1.AdmissionReview
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err != nil || review.Request == nil {
		http.Error(w, "no review", http.StatusBadRequest)
		return
	}
	uid := string(review.Request.UID)
	b.lock.Lock()
	said, has := b.open[review.Request.UserInfo.UID]
	answer := ""
	if has {
		said.uids = append(said.uids, uid)
		answer = said.answers[r.URL.Path]
	}
	b.lock.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, strings.ReplaceAll(answer, "$UID", uid))
}

func (b *backend) answerLine(line []byte) (a answers) {
	defer caught(&a)
	var question asked
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&question); err != nil {
		return answers{Error: err.Error()}
	}
	if question.Configuration >= len(b.clusters) {
		return answers{Error: "no such configuration"}
	}
	var seen []json.RawMessage
	for range max(question.Times, 1) {
		outcome, err := b.ask(&question)
		if err != nil {
			return answers{Error: err.Error()}
		}
		seen = withOther(seen, outcome)
	}
	return answers{Outcomes: [][]json.RawMessage{seen}}
}

func (b *backend) ask(question *asked) (json.RawMessage, error) {
	said := &conversation{answers: question.Answers}
	b.lock.Lock()
	b.next++
	user := fmt.Sprint(b.next)
	b.open[user] = said
	b.lock.Unlock()
	request := question.Request
	request.UserInfo.UID = user
	found, err := b.clusters[question.Configuration].try(&request)
	b.lock.Lock()
	delete(b.open, user)
	uids := said.uids
	b.lock.Unlock()
	if err != nil {
		return nil, err
	}
	text, err := plainJSON(found)
	for _, uid := range uids {
		text = bytes.ReplaceAll(text, []byte(uid), []byte("$UID"))
	}
	return text, err
}
