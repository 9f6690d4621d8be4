module github.com/rollcall-project/rollcall/providers/redfish

go 1.26.0

require (
	github.com/rollcall-project/rollcall v0.0.0
	github.com/rollcall-project/rollcall/lab v0.0.0
	github.com/stmcginnis/gofish v0.23.0
)

require (
	github.com/klauspost/compress v1.20.3 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/text v0.40.0 // indirect
)

replace (
	github.com/rollcall-project/rollcall => ../..
	github.com/rollcall-project/rollcall/lab => ../../lab
)
