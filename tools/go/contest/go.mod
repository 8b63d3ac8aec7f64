module github.com/pratique/pratique/tools/go/contest

go 1.26.0
