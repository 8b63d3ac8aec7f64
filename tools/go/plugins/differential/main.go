// Command differential puts requests through the admission plugins that are built into kube-apiserver, for
// `cargo xtask differential plugins`.
//
// It reads lines of JSON, each a case of the conformance suite `plugins` with how often it is asked ("times"), and answers each
// with {"outcomes": [[…]]}, the different outcomes that were seen in the form of the suite's expectations, or {"error": …} where the
// release cannot be asked: it has not the plugin, the kind or the feature gate.
//
// # What happens to a request
//
// Its objects are decoded and defaulted into the internal version. The plugins get them with what an API server gives besides:
// attributes, caches of informers that are in sync, a recorder of warnings and an audit context. Validate gets a copy of the object that
// Admit leaves, as in a server's registry, with pod-level resources as the strategy of pods completes them there. Feature gates and
// flags are those of the whole process, so that one case is asked after the other.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

type answers struct {
	Outcomes [][]json.RawMessage `json:"outcomes,omitempty"`
	Error    string              `json:"error,omitempty"`
}

func main() {
	klog.SetLogger(logr.Discard())
	klog.LogToStderr(false)
	utilruntime.ErrorHandlers = nil
	utilruntime.ReallyCrash = false
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(from io.Reader, to io.Writer) error {
	in := bufio.NewReaderSize(from, 1<<20)
	out := bufio.NewWriterSize(to, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		text, err := plainJSON(answerLine(line))
		if err != nil {
			return err
		}
		if _, err := out.Write(append(text, '\n')); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func answerLine(line []byte) (a answers) {
	defer func() {
		if crash := recover(); crash != nil {
			a = answers{Error: fmt.Sprintf("crash: %v", crash)}
		}
	}()
	var c question
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&c); err != nil {
		return answers{Error: err.Error()}
	}
	restore, err := setFlags(c.Flags)
	if err != nil {
		return answers{Error: err.Error()}
	}
	defer restore()
	var seen []json.RawMessage
	// What depends on the order of Go's maps, or of an informer's index, is another one each time.
	for range max(c.Times, 1) {
		outcome, err := c.outcome()
		if err != nil {
			return answers{Error: err.Error()}
		}
		isNew := true
		for _, earlier := range seen {
			isNew = isNew && !bytes.Equal(earlier, outcome)
		}
		if isNew {
			seen = append(seen, outcome)
		}
	}
	return answers{Outcomes: [][]json.RawMessage{seen}}
}

// plainJSON is JSON without the escapes for HTML.
func plainJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(text.Bytes(), "\n"), err
}
