// Command apiextensions fills in what an API server's own code makes of custom resources: which fields it prunes, which
// it defaults, what it refuses and with what texts, and of definitions: why it refuses them.
//
//	go run . FILE...
//
// reads groups of cases from each file and writes them back with `expect` in each case. What the server leaves to the
// order of a map is sorted.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
)

// group is cases of one definition.
type group struct {
	Name string `json:"name"`
	// Scope is Namespaced unless given.
	Scope        string          `json:"scope,omitempty"`
	Schema       json.RawMessage `json:"schema"`
	Subresources json.RawMessage `json:"subresources,omitempty"`
	// Definition tells what the validation of the definition is to say.
	Definition *definitionExpect `json:"definition,omitempty"`
	Cases      []testCase        `json:"cases,omitempty"`
}

type testCase struct {
	Name   string          `json:"name,omitempty"`
	Object json.RawMessage `json:"object"`
	// Old makes it an update.
	Old    json.RawMessage `json:"old,omitempty"`
	Expect *expect         `json:"expect,omitempty"`
}

type expect struct {
	// Decode is why the object is not decoded.
	Decode  string   `json:"decode,omitempty"`
	Unknown []string `json:"unknown,omitempty"`
	// Stored is the object pruned and defaulted, where that changes it.
	Stored json.RawMessage `json:"stored,omitempty"`
	// Errors are type, field and body, sorted.
	Errors [][3]string `json:"errors,omitempty"`
	// Message is the whole message, where there is one error.
	Message  string   `json:"message,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

type definitionExpect struct {
	Errors [][3]string `json:"errors,omitempty"`
}

func main() {
	for _, path := range os.Args[1:] {
		if err := fill(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
	}
}

func fill(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var groups []group
	if err := json.Unmarshal(text, &groups); err != nil {
		return err
	}
	for i := range groups {
		if err := fillGroup(&groups[i]); err != nil {
			return fmt.Errorf("%s: %w", groups[i].Name, err)
		}
	}
	return os.WriteFile(path, written(groups), 0o644)
}

// written has a line for each definition and each case.
func written(groups []group) []byte {
	var out bytes.Buffer
	line := func(value any) {
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(value); err != nil {
			panic(err)
		}
		out.Truncate(out.Len() - 1)
	}
	out.WriteString("[\n")
	for i, group := range groups {
		cases := group.Cases
		group.Cases = nil
		line(group)
		if len(cases) > 0 {
			out.Truncate(out.Len() - 1)
			out.WriteString(",\"cases\":[\n")
			for j, c := range cases {
				line(c)
				if j+1 < len(cases) {
					out.WriteString(",")
				}
				out.WriteString("\n")
			}
			out.WriteString("]}")
		}
		if i+1 < len(groups) {
			out.WriteString(",")
		}
		out.WriteString("\n")
	}
	out.WriteString("]\n")
	return out.Bytes()
}
