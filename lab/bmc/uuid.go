package bmc

import (
	"crypto/sha256"
	"fmt"
)

// uuid makes a machine's UUID from its serial number, so that it stays.
func uuid(serial string) string {
	h := sha256.Sum256([]byte(serial))
	h[6], h[8] = h[6]&0x0f|0x40, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
