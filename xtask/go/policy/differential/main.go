// Command differential puts requests through the API server's own policy plugins.
//
// Each line of stdin is a world as JSON: policies and bindings, static and of the API, objects of the cluster, an
// authorizer's rules, and requests. Each gets one line on stdout, in order: for each request what came of it. `cargo
// xtask differential policy` starts this program and compares its answers with Pratique's. Its one argument is the
// directory of the OpenAPI documents of the built-in types, as they lie in k8s.io/kubernetes.
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
	// A world leaves much garbage and little else.
	debug.SetGCPercent(400)
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) != 1 {
		return errors.New("usage: differential OPENAPI-DIRECTORY")
	}
	directory, err := os.MkdirTemp("", "differential-policy-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory)
	s := setting{empty: directory, documents: &documents{directory: arguments[0]}}
	return serve(s, os.Stdin, os.Stdout)
}

// serve answers lines in their order, several of them at a time.
func serve(s setting, from io.Reader, to io.Writer) error {
	in := bufio.NewReaderSize(from, 1<<20)
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
			go func() { answer <- s.answerLine(line) }()
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

func (s setting) answerLine(line []byte) (a answers) {
	defer func() {
		if crash := recover(); crash != nil {
			a = answers{Error: fmt.Sprintf("crash: %v\n%s", crash, debug.Stack())}
		}
	}()
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
