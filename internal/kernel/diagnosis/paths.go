package diagnosis

// Path is what one machine measured of the path to a host of a plan. A measure that was not
// made is 0.
type Path struct {
	From     string  `json:"from"`
	Host     string  `json:"host"`
	Address  string  `json:"address"`
	Method   string  `json:"method,omitempty"`   // of Sent to Max: a TCP port, or ping
	Sent     int     `json:"sent,omitempty"`     // questions
	Lost     int     `json:"lost,omitempty"`     // those without an answer within 1 s
	Median   float64 `json:"median,omitempty"`   // ms
	Max      float64 `json:"max,omitempty"`      // ms
	Size     int     `json:"size,omitempty"`     // the packet that was tried, in bytes with its IP header
	Passed   int     `json:"passed,omitempty"`   // the largest that arrived in one piece
	Reported int     `json:"reported,omitempty"` // the limit that a router reported
}
