// Package sshd has machines behind real sshds on loopback ports, for `rollcall hosts`: its tests are all there is.
package sshd
