// Command differential answers batches of CEL expressions with the API server's own code.
//
// Each line of stdin is a batch as JSON, and each gets one line on stdout, in order. `cargo xtask differential cel`
// starts this program and compares its answers with Pratique's.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// batch is a question: expressions that are compiled in one environment and evaluated over one set of inputs.
type batch struct {
	Declared    declared   `json:"declared"`
	Variables   []variable `json:"variables"`
	Inputs      inputs     `json:"inputs"`
	Expressions []string   `json:"expressions"`
	// Compile and evaluate each so many times; 0 is once.
	Times int `json:"times"`
}

// answers has for each expression the different outcomes that were seen, the first one first.
type answers struct {
	Outcomes [][]json.RawMessage `json:"outcomes,omitempty"`
	Error    string              `json:"error,omitempty"`
}

func main() {
	// A batch leaves much garbage and little else.
	debug.SetGCPercent(400)
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
		encoder := json.NewEncoder(out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(answerLine(line)); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

func answerLine(line []byte) answers {
	var b batch
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&b); err != nil {
		return answers{Error: err.Error()}
	}
	outcomes, err := b.answer()
	if err != nil {
		return answers{Error: err.Error()}
	}
	return answers{Outcomes: outcomes}
}

func (b *batch) answer() ([][]json.RawMessage, error) {
	if _, err := b.Inputs.prepare(b.Declared); err != nil {
		return nil, err
	}
	compiler, err := newCompiler(b.Variables, b.Declared)
	if err != nil {
		return nil, err
	}
	outcomes := make([][]json.RawMessage, len(b.Expressions))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				outcomes[i] = b.outcomes(compiler, b.Expressions[i])
			}
		})
	}
	for i := range b.Expressions {
		next <- i
	}
	close(next)
	workers.Wait()
	return outcomes, nil
}

// outcomes collects the different outcomes of an expression: Go visits maps in random order, and that can show.
func (b *batch) outcomes(compiler *compiler, expression string) []json.RawMessage {
	var seen []json.RawMessage
	for range max(b.Times, 1) {
		outcome := compiler.outcome(expression, &b.Inputs)
		known := false
		for _, earlier := range seen {
			known = known || bytes.Equal(earlier, outcome)
		}
		if !known {
			seen = append(seen, outcome)
		}
	}
	return seen
}
