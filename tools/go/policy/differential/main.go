// Command differential puts requests through the API server's own admission plugins.
//
// Lines of JSON on stdin are questions, and each gets one line on stdout, in order. `cargo xtask differential policy` and
// `cargo xtask differential webhook` start this program and compare its answers with Pratique's.
//
// `differential policy DIRECTORY`: a question is a world of policies and bindings, static and of the API, objects of the
// cluster, an authorizer's rules, and requests; the answer is for each request what came of it. The directory is that of
// the OpenAPI documents of the built-in types, as they lie in k8s.io/kubernetes.
//
// `differential webhook`: the first line has the webhooks and is not answered. A question is a request with what webhooks
// say to it, see webhook.go.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/go-logr/logr"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// atOnce is how many worlds are set up at the same time: most of that is waiting.
const atOnce = 16

// answers has for each request the different outcomes that were seen, the first one first.
type answers struct {
	Outcomes [][]json.RawMessage `json:"outcomes,omitempty"`
	Error    string              `json:"error,omitempty"`
}

func main() {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	// As kube-apiserver sets it.
	// Upstream: apiserver/pkg/server/config.go, Complete
	jsonpatch.AccumulatedCopySizeLimit = 3 << 20
	// A world leaves much garbage and little else.
	debug.SetGCPercent(400)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	switch {
	case len(arguments) == 2 && arguments[0] == "policy":
		directory, err := os.MkdirTemp("", "differential-policy-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(directory)
		s := setting{empty: directory, documents: &documents{directory: arguments[1]}}
		return serve(bufio.NewReaderSize(os.Stdin, 1<<20), os.Stdout, s.answerLine)
	case len(arguments) == 1 && arguments[0] == "webhook":
		in := bufio.NewReaderSize(os.Stdin, 1<<20)
		backend, err := newBackend(in)
		if err != nil {
			return err
		}
		defer backend.close()
		return serve(in, os.Stdout, backend.answerLine)
	default:
		return errors.New("usage: differential policy DIRECTORY | differential webhook")
	}
}

// serve answers lines in their order, several of them at a time.
func serve(in *bufio.Reader, to io.Writer, answerLine func([]byte) answers) error {
	pending := make(chan chan answers, atOnce)
	failed := make(chan error, 1)
	go func() { failed <- write(pending, to) }()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return err
		}
		if len(line) > 0 {
			answer := make(chan answers, 1)
			select {
			case pending <- answer:
			case err := <-failed:
				return err
			}
			go func() { answer <- answerLine(line) }()
		}
		if err == io.EOF {
			close(pending)
			return <-failed
		}
	}
}

func write(pending <-chan chan answers, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	for answer := range pending {
		if err := encoder.Encode(<-answer); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// caught makes an answer of a crash.
func caught(a *answers) {
	if crash := recover(); crash != nil {
		*a = answers{Error: fmt.Sprintf("crash: %v\n%s", crash, debug.Stack())}
	}
}

func (s setting) answerLine(line []byte) (a answers) {
	defer caught(&a)
	var w world
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&w); err != nil {
		return answers{Error: err.Error()}
	}
	outcomes := make([][]json.RawMessage, len(w.Requests))
	// What is stored in an API comes in random order, which is another one each time.
	for range max(w.Times, 1) {
		found, err := s.outcomes(&w)
		if err != nil {
			return answers{Error: err.Error()}
		}
		for i, outcome := range found {
			outcomes[i] = withOther(outcomes[i], outcome)
		}
	}
	return answers{Outcomes: outcomes}
}

func withOther(seen []json.RawMessage, outcome json.RawMessage) []json.RawMessage {
	for _, earlier := range seen {
		if bytes.Equal(earlier, outcome) {
			return seen
		}
	}
	return append(seen, outcome)
}
