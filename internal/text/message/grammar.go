package message

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// leafWords say what came of an attempt to reach a server, and what to look at where the line
// does not name it.
var leafWords = map[logline.Leaf]struct{ says, next string }{
	logline.Refused: {"nothing listens there (connection refused)",
		"paste the whole line: the port shows which program is missing (22623 the machine config server, 6443 the API server, " +
			"2379 etcd, 10250 the kubelet)"},
	logline.Timeout: {"no answer comes (timeout)",
		"paste the whole line. Then, from the same network: nc -zv ADDRESS PORT. A timeout means a firewall, a route or an address " +
			"that no host holds; where only the program is missing, the host refuses at once"},
	logline.NoRoute: {"no route leads there", "ip route and ip -br addr on the host that prints it"},
	logline.Closed: {"the other side closes the connection",
		"paste the whole line: a load balancer without a server behind it, a server that restarts, or a proxy"},
	logline.NameUnknown: {"the name does not resolve",
		"dig +short NAME on the host that prints it, at each of its name servers"},
	logline.NameServer: {"the name server does not answer for the name",
		"cat /etc/resolv.conf on the host that prints it; dig @SERVER +short NAME"},
	logline.Untrusted: {"the certificate is signed by an unknown authority",
		"whom the program asks shows whose certificate it is: its configuration, and the lines around this one. Port 22623: the CA in the user data " +
			"of the host is another one than the server's. Port 6443: the CA in the kubeconfig is old. A registry, a proxy, an identity provider: its CA " +
			"is missing where the program looks for CAs. openssl s_client -connect HOST:PORT -showcerts </dev/null shows the issuer"},
	logline.Expired: {"the certificate is not valid now, or the clock of the one who asks is wrong",
		"compare the time of the host that prints it with the dates of the certificate: " +
			"openssl s_client -connect HOST:PORT </dev/null | openssl x509 -noout -dates; date -u"},
	logline.OtherName: {"the certificate is for other names",
		"use a name of the certificate, or have the certificate issued for this name. For the ignition server of a hosted cluster only " +
			"the published address is in it: `rollcall explain ignition-endpoint-name`"},
	logline.Handshake: {"TLS fails",
		"paste the whole line. A server that is overloaded, or a path that loses large packets: ping -M do -s 1472 ADDRESS. " +
			"The clock has nothing to do with it"},
	logline.PlainHTTP:    {"one side uses TLS and the other side plain HTTP", "compare scheme and port of the address"},
	logline.Unauthorized: {"it refuses the credential (HTTP 401)", "paste the whole line: it names the server"},
	logline.Forbidden: {"it does not permit the request (HTTP 403)",
		"paste the whole line: it names who asks for what. A proxy answers 403, too"},
	logline.NotFound: {"it does not have what is asked for (HTTP 404)",
		"paste the whole line: it names the server and what is asked for"},
	logline.ServerError: {"it answers with an error of its own (HTTP 5xx)",
		"the log of that server has the reason; a load balancer without a server behind it answers 503"},
	logline.TooMany: {"it limits requests (HTTP 429)", "paste the whole line: it names the server"},
	logline.Deadline: {"it does not answer in time",
		"the text before the line names the step; the lines around it show what it waits for"},
	logline.Cut: {"a request fails, and the line is cut before the reason", "paste the whole line: the reason is behind the URL"},
}

// objectWords say what is wrong with a file or a command, and what to look at.
var objectWords = map[logline.Leaf]struct{ says, next string }{
	logline.NoFile: {"%s does not exist",
		"ls -l of the file and of its directory, on the same host and as the same user"},
	logline.NoCommand: {"the command %s does not exist",
		"which host and image the program runs on: the command belongs to another image or release, or somebody changed the script"},
	logline.NoPermission: {"no permission for %s",
		"ls -lZ of it on the same host; for SELinux: sudo ausearch -m avc -ts recent"},
	logline.ExecFormat: {"%s is for another processor, or is damaged",
		"uname -m on the host, and the architecture of the image"},
	logline.NoSpace:  {"no space is left for %s", "df -h and df -i on the same host"},
	logline.ReadOnly: {"%s is on a read-only file system", "findmnt -T of the path, and dmesg, on the same host"},
	logline.Busy:     {"%s is in use", "lsblk and mount, or fuser of it, on the same host"},
	logline.Invalid: {"the API refuses %s",
		"oc explain KIND.FIELD shows what the field may hold. Where an operator writes the object, the value comes from its own " +
			"configuration, or the release has a defect: oc get KIND NAME -o yaml, and the log of that operator"},
	logline.Missing:    {"%s does not exist", "oc get KIND NAME in the namespace of who asks for it; then who has to make it"},
	logline.NotAllowed: {"%s", "oc auth can-i --list --as USER. For your own commands: oc whoami, and the kubeconfig of an administrator"},
	logline.CloudDenied: {"the platform does not allow the account %s",
		"give the account of the installation the permissions that the documentation of this release lists for the platform, or have " +
			"the credentials made by hand (credentialsMode: Manual)"},
	logline.CloudQuota: {"a limit of the account at the platform is reached %s",
		"see the limit and what uses it in the console of the platform; have it raised, or remove what a former installation left: openshift-install " +
			"destroy cluster"},
	logline.CloudFailed: {"the platform failed with an error of its own %s",
		"it is not about what it was asked for. See the task, the operation or the event log of the platform at that time (of Prism Central its tasks, " +
			"of a cloud the activity log and its status page). A new try may succeed, after what the first one made is removed: " +
			"openshift-install destroy cluster"},
	logline.CloudCredential: {"the platform does not accept the credentials",
		"log in to the platform with the same credentials (aws sts get-caller-identity, gcloud auth list, az account show, openstack token issue), " +
			"and look at the clock of this machine: a signature holds for a few minutes"},
	logline.CloudExists: {"the platform has a resource of this name already %s",
		"see in the console of the platform whose it is, by its tags and the time it was made. Of a former installation of this cluster: openshift-install " +
			"destroy cluster with its directory. Anybody else's: another name for this cluster"},
	logline.CloudInvalid: {"the platform does not accept a value that it was given %s",
		"see whether it exists at the platform and is spelled so. What was made seconds before, such as an instance profile or a role, is often not " +
			"known everywhere yet: then a new installation succeeds, after what the first one made is removed"},
	logline.CloudUnsupported: {"the platform cannot do the operation with this object %s",
		"see which object it is. Of vSphere: a resource pool needs a cluster with DRS and its license, or the pool that is there already; templates and " +
			"folders need a vCenter and not a single ESXi"},
	logline.NoUnit: {"the unit %s does not exist on the host",
		"on the host: systemctl cat UNIT; rpm -qf of its file on a host that has it. A MachineConfig that enables a unit has to come after the image, the " +
			"extension or the package that brings it: oc get mc --sort-by=.metadata.creationTimestamp"},
	logline.CloudCapacity: {"the platform has no such machine left",
		"choose another type or zone: in install-config.yaml for a new installation, in the MachineSet or NodePool of a cluster. Or wait and try again"},
}

// reasons are the leaves that are a reason by themselves: nothing is behind them.
var reasons = map[logline.Leaf]bool{
	logline.Invalid: true, logline.NotAllowed: true, logline.CloudDenied: true, logline.CloudQuota: true, logline.CloudCapacity: true,
	logline.CloudCredential: true, logline.CloudExists: true, logline.CloudFailed: true, logline.CloudInvalid: true, logline.CloudUnsupported: true,
}

// namedByObject are the leaves whose object is the name of what the cloud answered, or of what it is about.
var namedByObject = map[logline.Leaf]bool{logline.CloudDenied: true, logline.CloudQuota: true, logline.CloudExists: true, logline.CloudFailed: true}

// objectOf is the object of a failure as its sentence has it.
func objectOf(f logline.Failure) (object string, ok bool) {
	switch {
	case f.Object != "" && namedByObject[f.Leaf]:
		return "(" + f.Object + ")", true
	case f.Leaf == logline.CloudInvalid && f.Object != "", f.Leaf == logline.CloudUnsupported && f.Object != "":
		return "(" + strings.TrimSuffix(f.Object+" for "+f.Field, " for ") + ")", true
	case f.Leaf == logline.CloudInvalid, f.Leaf == logline.CloudUnsupported:
		return "", true
	case f.Leaf == logline.CloudDenied:
		return "that was used what it asks for", true
	case f.Leaf == logline.CloudQuota, f.Leaf == logline.CloudCapacity, f.Leaf == logline.CloudCredential, f.Leaf == logline.CloudFailed,
		f.Leaf == logline.CloudExists:
		return "", true
	case f.Leaf == logline.Invalid:
		return f.Object + ": the value of " + f.Field + " is not valid", true
	case f.Leaf == logline.NotAllowed:
		return f.Object + " may not " + f.Field, true
	}
	return f.Object, strings.ContainsAny(f.Object, "/.") || f.Leaf == logline.NoCommand && f.Object != "" || f.Leaf == logline.Missing
}

// understood reports whether the grammar of an error says what has failed with which server,
// file or command, and puts that into the report.
func (c *collector) understood(to map[string]*Match, faults map[string]*Match, e *errorForm) bool {
	l := logline.Parse([]byte(e.last.Text))
	f, ok := logline.Failing(l.Message)
	if !ok {
		return false
	}
	if f.Host == "" && e.above != "" {
		f, _ = logline.Failing([]byte(e.above + " : " + string(l.Message)))
	}
	if f.Host == "" && e.command != "" {
		f, _ = logline.Failing([]byte(e.command + " : " + string(l.Message)))
	}
	t := &ruleMatches{count: e.count, first: e.lines(c.clean)[:1], last: e.lines(c.clean)[min(1, e.count-1)], depth: math.MaxInt}
	if c.serverFailed(to, faults, e, f, t) {
		return true
	}
	if e.says != "" && !reasons[f.Leaf] {
		return false
	}
	if leaf := leafWords[f.Leaf]; leaf.says != "" && !e.known && !wordless[f.Leaf] { // of a known step that says less than the step
		words := cmp.Or(e.last.writer, "a program") + " does not reach a server that the line does not name: " + leaf.says
		c.match(to, words, fault.ShowsPossible, t)
		c.next[words] = leaf.next
		return true
	}
	object := objectWords[f.Leaf]
	name, ok := objectOf(f)
	if object.says == "" || !ok {
		return false
	}
	words := strings.TrimSpace(strings.ReplaceAll(object.says, "%s", name))
	if e.last.writer != "" && !strings.HasPrefix(string(f.Leaf), "cloud-") {
		words = e.last.writer + ": " + words
	}
	c.match(to, words, fault.ShowsPossible, t)
	to[words].Reason = reasons[f.Leaf] || f.Leaf == logline.NoUnit && e.known
	to[words].missing = f.Leaf == logline.Missing
	if f.Leaf == logline.ReadOnly && strings.HasPrefix(f.Object, "/usr/") {
		to[words].effect, c.steps[words] = true, true
		c.next[words] = usrNext
		return true
	}
	if f.Leaf == logline.Invalid && strings.HasPrefix(f.Field, "status.") {
		object.next = statusNext
	}
	if f.Leaf == logline.Invalid && strings.Contains(string(l.Message), "must be of type hostname") {
		object.next = hostnameNext
	}
	c.next[words] = strings.NewReplacer("KIND NAME", cmp.Or(f.Object, "KIND NAME"), "KIND.FIELD", kindOf(f.Object)+"."+plainPath(f.Field),
		"--as USER", "--as "+f.Object, "systemctl cat UNIT", "systemctl cat "+f.Object).Replace(object.next)
	return true
}

// usrNext is said of what cannot be written below /usr: OSTree mounts it read-only (ostreedev/ostree:src/switchroot/ostree-prepare-root.c),
// and scripts try whether it is.
const usrNext = "on CoreOS /usr is read-only by design: that is no fault of the disk. The next lines of the same program show whether it " +
	"continued without"

// statusNext is said of a value in the status of an object, which an operator writes and nobody else.
const statusNext = "an operator wrote this status, and the CRD in the cluster does not allow the value, so the two are of different releases. " +
	"oc get KIND NAME -o yaml: the values of that field, and which releases its status and its history name; oc explain KIND.FIELD: what is allowed. " +
	"As long as the value is there, each change of the object is refused. Do not edit the status by hand"

// hostnameNext is said of a name that the format hostname of a CRD does not allow (go-openapi/strfmt:default.go HostnamePattern, which
// kubernetes/apiextensions-apiserver checks values with): the last label has letters only.
const hostnameNext = "the value in the message is not a hostname as the API checks it: labels of letters, digits and hyphens, and only letters " +
	"in the last one. A name below the base domain gets it from there: oc get dns.config cluster -o jsonpath='{.spec.baseDomain}'. The base domain " +
	"cannot be changed after the " +
	"installation; a name of another domain can be set in spec.componentRoutes of the Ingress cluster. oc get KIND NAME -o yaml has where else it is"

// kindOf is the kind of an object that is written as "Kind.group name".
func kindOf(object string) string {
	kind, _, _ := strings.Cut(object, " ")
	kind, _, _ = strings.Cut(kind, ".")
	return strings.ToLower(kind)
}

// index is the position in a list, in the path of a field.
var index = regexp.MustCompile(`\[[^\]]*\]`)

// plainPath is the path of a field as oc explain takes it.
func plainPath(path string) string { return index.ReplaceAllString(path, "") }

// wordless are leaves that any program prints of anything: without a server the line's own words
// show more.
var wordless = map[logline.Leaf]bool{
	logline.Deadline: true, logline.ServerError: true, logline.NotFound: true, logline.Forbidden: true, logline.Unauthorized: true, logline.TooMany: true,
}

// endpoint is a server of the catalog, ready to be compared with a failure.
type endpoint struct {
	*fault.Endpoint
	hosts *regexp.Regexp // nil: any
}

// endpoints prepares the servers of a catalog.
func endpoints(c *fault.Catalog) (list []endpoint, err error) {
	for _, file := range c.Messages {
		for i := range file.Endpoints {
			e := endpoint{Endpoint: &file.Endpoints[i]}
			if e.Hosts != "" {
				if e.hosts, err = regexp.Compile(e.Hosts); err != nil {
					return nil, fmt.Errorf("compile endpoint %s: %w", e.ID, err)
				}
			}
			list = append(list, e)
		}
	}
	return list, nil
}

// fits reports whether a failure is about this server.
func (e *endpoint) fits(f logline.Failure) bool {
	one := func(list []string, value string, is func(have, want string) bool) bool {
		return len(list) == 0 || slices.ContainsFunc(list, func(want string) bool { return is(value, want) })
	}
	same := func(a, b string) bool { return a == b }
	if isSocket := slices.Contains(e.Schemes, "unix"); isSocket || f.Scheme == "unix" {
		return isSocket && f.Scheme == "unix" && one(e.Paths, f.Path, strings.HasPrefix)
	}
	return f.Host != "" && one(e.Ports, f.Port, same) && one(e.Paths, f.Path, strings.HasPrefix) && one(e.Schemes, f.Scheme, same) &&
		(e.hosts == nil || e.hosts.MatchString(f.Host))
}

// endpoint is the server that a failure is about; nil where none is known.
func (x *Index) endpoint(f logline.Failure) *endpoint {
	for i := range x.endpoints {
		if e := &x.endpoints[i]; e.fits(f) {
			return e
		}
	}
	return nil
}
