package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// documents gives the documents of the YAML files in a directory, as JSON.
func documents(directory string) ([]json.RawMessage, error) {
	paths, err := filepath.Glob(filepath.Join(directory, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var all []json.RawMessage
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		decoder := yaml.NewYAMLToJSONDecoder(bytes.NewReader(text))
		for {
			var document json.RawMessage
			err := decoder.Decode(&document)
			if err == io.EOF {
				break
			}
			if err != nil {
				return nil, err
			}
			all = append(all, document)
		}
	}
	return all, nil
}
