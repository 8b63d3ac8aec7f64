module github.com/pratique/pratique/tools/go/jsonerrors

go 1.26.0
