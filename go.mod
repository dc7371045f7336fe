module github.com/mpitrace/mpitrace

go 1.26

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.20.3
)
