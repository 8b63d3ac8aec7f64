// What Go's parser of JSON says of texts that are none: reads a JSON string on each line, whose characters are the bytes of a text, and
// writes it with the message. Parsers differ between versions of Go:
//
//	GOTOOLCHAIN=go1.27.3 go run . < texts
package main

import (
	"bufio"
	"encoding/json"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	written := json.NewEncoder(os.Stdout)
	written.SetEscapeHTML(false)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			panic(err)
		}
		bytes := []byte{}
		for _, character := range text {
			bytes = append(bytes, byte(character))
		}
		message := ""
		var value any
		if err := json.Unmarshal(bytes, &value); err != nil {
			message = err.Error()
		}
		if err := written.Encode([]string{text, message}); err != nil {
			panic(err)
		}
	}
}
