module github.com/rollcall-project/rollcall/lab/servers/manifests

go 1.26

require github.com/metal3-io/baremetal-operator v0.13.2
