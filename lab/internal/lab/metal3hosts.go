package lab

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BareMetalHosts is the kind that metal3 looks after.
var BareMetalHosts = schema.GroupVersionResource{Group: "metal3.io", Version: "v1alpha1", Resource: "baremetalhosts"}

// HostIs says in which way a BareMetalHost differs from a state and an error
// type; "" for either is not looked at, "none" as error is none.
func (l *Lab) HostIs(ctx context.Context, name, state, errorType string) (string, error) {
	host, err := l.Get(ctx, BareMetalHosts, machineNamespace, name)
	if err != nil {
		return "", err
	}
	gotState, gotError := nested(host, "status", "provisioning", "state"), nested(host, "status", "errorType")
	if state != "" && gotState != state {
		return fmt.Sprintf("%s is %q, not %q %s", name, gotState, state, nested(host, "status", "errorMessage")), nil
	}
	want := errorType
	if want == "none" {
		want = ""
	}
	if errorType != "" && gotError != want {
		return fmt.Sprintf("%s has error type %q, not %q", name, gotError, want), nil
	}
	current, err := l.credentialsTried(ctx, name)
	if err != nil {
		return "", err
	}
	if errorType != "" && !current {
		return name + ": the operator has not tried the secret as it is now", nil
	}
	return "", nil
}

// credentialsTried says whether the operator has tried the BMC's secret as it
// is. A secret that was moved into the past is a new one to it.
func (l *Lab) credentialsTried(ctx context.Context, host string) (bool, error) {
	obj, err := l.Get(ctx, BareMetalHosts, machineNamespace, host)
	if err != nil {
		return false, err
	}
	secret, err := l.kube.CoreV1().Secrets(machineNamespace).Get(ctx, host+"-bmc", metav1.GetOptions{})
	if err != nil {
		return false, fmt.Errorf("read the BMC's secret of %s: %w", host, err)
	}
	return nested(obj, "status", "triedCredentials", "credentialsVersion") == secret.ResourceVersion, nil
}

// Annotate sets an annotation of a BareMetalHost.
func (l *Lab) Annotate(ctx context.Context, host, key, value string) error {
	return l.Patch(ctx, BareMetalHosts, machineNamespace, host, fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
}
