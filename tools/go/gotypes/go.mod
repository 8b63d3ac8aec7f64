module github.com/pratique/pratique/tools/go/gotypes

go 1.26.0
