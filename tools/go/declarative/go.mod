module declarative

go 1.24
