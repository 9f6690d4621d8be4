package cli

import (
	"strings"

	"github.com/rollcall-project/rollcall/internal/session"
	"github.com/rollcall-project/rollcall/internal/session/readerrole"
)

// readerName is the name of the roles that permit a diagnosis.
const readerName = "rollcall-reader"

// readerRoles are the roles that permit who to make a diagnosis.
func readerRoles(who string) (readerrole.List, error) {
	subject, err := subjectOfRole(who)
	if err != nil {
		return readerrole.List{}, err
	}
	return readerrole.List{APIVersion: "v1", Kind: "List", Items: readerrole.Roles(readerName, subject, alsoRead()...)}, nil
}

// subjectOfRole reads who gets the roles: USER, group:NAME, or NAMESPACE/NAME of a ServiceAccount.
func subjectOfRole(who string) (readerrole.Subject, error) {
	if name, ok := strings.CutPrefix(who, "group:"); ok && name != "" {
		return readerrole.Subject{APIGroup: readerrole.Group, Kind: "Group", Name: name}, nil
	}
	namespace, name, isAccount := strings.Cut(who, "/")
	switch {
	case isAccount && (namespace == "" || name == "" || strings.Contains(name, "/")), who == "", strings.HasPrefix(who, "group:"):
		return readerrole.Subject{}, session.Usagef("--role %q: want USER, group:NAME, or NAMESPACE/NAME of a ServiceAccount", who)
	case isAccount:
		return readerrole.Subject{Kind: "ServiceAccount", Name: name, Namespace: namespace}, nil
	}
	return readerrole.Subject{APIGroup: readerrole.Group, Kind: "User", Name: who}, nil
}
