package seed

import "strings"

// Metal3CRD is the definition of the Provisioning resource.
func (v Values) Metal3CRD() (string, error) { return execute("metal3-crd", v) }

// Metal3YAML is what the cluster-baremetal-operator makes.
func (v Values) Metal3YAML() (string, error) { return execute("metal3", v) }

// Spare is a host that a person has just added.
type Spare struct {
	Host
	BMC         string // address, as a BareMetalHost has it
	Pass        string // in the secret
	Annotations map[string]string
	Online      bool
}

// YAML is its secret and its BareMetalHost.
func (s Spare) YAML() (string, error) {
	return execute("spare-host", map[string]any{"Host": s.Host, "BMC": s.BMC, "Pass": s.Pass, "Annotations": s.Annotations, "Online": s.Online})
}

func execute(name string, data any) (string, error) {
	set, err := templates()
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = set.ExecuteTemplate(&out, name, data)
	return out.String(), err
}
