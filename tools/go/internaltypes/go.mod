module internaltypes

go 1.24
