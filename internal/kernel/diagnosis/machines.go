package diagnosis

// Machines are the machines of the control plane side by side, as their BMCs show them.
type Machines struct {
	Asked  int             `json:"asked"`            // BMCs, also of other hosts
	Hosts  []string        `json:"hosts"`            // the columns
	Unread []UnreadMachine `json:"unread,omitempty"` // masters whose BMC did not show them
	Rows   []MachineRow    `json:"rows"`
}

// UnreadMachine is a host that is in no column.
type UnreadMachine struct {
	Host   string `json:"host"`
	Reason string `json:"reason"`
}

// MachineRow is one property.
type MachineRow struct {
	Property string   `json:"property"`
	Values   []string `json:"values"`            // for each of the hosts; "" where it is not known
	Differs  bool     `json:"differs"`           // two known values are not the same
	Own      bool     `json:"own,omitempty"`     // each machine has its own: they are not compared
	Matters  string   `json:"matters,omitempty"` // why a difference can matter; none where it hardly does
}
