package message

import (
	"cmp"
	"net"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/text/logline"
)

// serverNext is what to look at where the name or the certificate of a server is the trouble: that is
// the same for any server, and another thing than whether it listens.
var serverNext = map[logline.Leaf]string{
	logline.NameUnknown: "dig +short {host} on the host that prints it, at each name server of its /etc/resolv.conf. Nothing: the record is missing " +
		"or misspelled there; a load balancer that was just made gets its name within minutes",
	logline.NameServer: "cat /etc/resolv.conf on the host that prints it; dig @{resolver} +short {host}",
	logline.Expired: "openssl s_client -connect {host}:{port} </dev/null | openssl x509 -noout -subject -issuer -dates; date -u on the host that prints " +
		"the line. After notAfter: whoever runs {host} renews the certificate; before notBefore: a clock is wrong",
	logline.Untrusted: "openssl s_client -connect {host}:{port} -showcerts </dev/null | grep -E 'subject|issuer': the server's own certificate, or " +
		"that of a proxy. What prints the line has to trust its CA",
	logline.OtherName: "openssl s_client -connect {host}:{port} </dev/null | openssl x509 -noout -ext subjectAltName: ask for a name that is in it, or " +
		"have the certificate issued for this name, too",
}

// clusterDNS are the addresses of the DNS service of a cluster: the tenth one of the network of services,
// of the networks that installers choose (openshift/cluster-dns-operator:pkg/operator/controller/controller.go
// getClusterIPFromNetworkConfig).
var clusterDNS = regexp.MustCompile(`^(?:172\.3[01]\.0\.10|10\.96\.0\.10|fd02::a)$`)

// forwards is said where the cluster's own DNS did not know a name.
const forwards = ". The cluster DNS ({resolver}) was asked and answered: it forwards such names to the name servers of its node, so ask those from a node"

// serverFailed puts into the report what has failed with which server. False where the error names none
// that is known.
func (c *collector) serverFailed(to, faults map[string]*Match, e *errorForm, f logline.Failure, t *ruleMatches) bool {
	if f.Proxy == logline.ProxyFailed {
		return c.proxyFailed(to, e, f, t)
	}
	end := c.x.endpoint(f)
	if end == nil {
		return false
	}
	name := end.Name
	if w := c.x.writer(e.last.origin); end.ID == "local-api" && w != nil && w.Bootstrap {
		name = "the API server of the bootstrap host"
	}
	if (f.Leaf == logline.NameUnknown || f.Leaf == logline.NameServer) && unfilled[strings.ToLower(f.Host)] {
		words := `the name of the server is "` + f.Host + `": a value of a setting stands where an address belongs`
		c.match(to, words, fault.ShowsPossible, t)
		to[words].Reason = true
		c.next[words] = "no record of DNS helps. What prints the line has the address from a file or a variable: of the kubelet sudo grep server: " +
			"/var/lib/kubelet/kubeconfig /etc/kubernetes/kubeconfig, of Ignition the URL in the Ignition file, of an installation by a script or by Ansible " +
			"the inventory or template: find the setting that is " + f.Host + " there, and put the name of the API or of the load balancer into it"
		return true
	}
	if f.Proxy == logline.ProxyAnswered {
		words := "a proxy answers instead of " + name + " at " + address(f) + `: "` + f.Says + `"`
		c.match(to, words, fault.ShowsPossible, t)
		c.next[words] = end.fill("env | grep -i proxy where the line was printed. Set: {host} belongs into no_proxy, or the proxy has to reach {host}:{port} "+
			"itself. Not set: a load balancer answers as a proxy does; ask each of its servers past it: curl -k -m 5 https://ADDRESS:{port}/", f)
		return true
	}
	if f.Client != "" {
		words := f.Client + " closed its connection to " + name + " before it had the whole answer"
		c.match(to, words, fault.ShowsPossible, t)
		c.next[words] = "the console of the host with the address " + f.Client + ", at the same time: it tries again, and a later answer may have arrived. " +
			"Each time again: the path loses large packets (ping -M do -s 1472 " + f.Client + "), or the host has given up"
		return true
	}
	if f.Scheme == "unix" {
		return c.socketFailed(to, e, end, f, t)
	}
	if leafWords[f.Leaf].says == "" {
		return false
	}
	if strings.HasPrefix(end.ID, "api") {
		c.apiLeaves[f.Leaf] = true
	}
	pushes := logline.Pushes([]byte(lowerASCII(e.first.Text)))
	if id := end.Faults[string(f.Leaf)]; id != "" && !(pushes && strings.HasPrefix(id, "image-pull")) {
		if m := faults[id]; m != nil && m.firstLine() == t.first[0].Number {
			return true // a message has shown it in this line
		}
		c.match(faults, id, fault.ShowsPossible, t)
		return true
	}
	words := name + " at " + address(f) + ": " + leafWords[f.Leaf].says
	if f.Leaf == logline.NameServer && clusterDNS.MatchString(f.Resolver) {
		name, f = f.Host, logline.Failure{Leaf: logline.Timeout, Host: f.Resolver, Port: "53"}
		if end = c.x.endpoint(f); end == nil {
			return false
		}
		words = end.Name + " at " + f.Host + " does not answer for " + name
	}
	if who := cmp.Or(e.last.writer, e.last.host); who != "" && f.Port != "53" {
		words = who + " does not reach " + words
	}
	c.match(to, words, fault.ShowsPossible, t)
	c.next[words] = end.nextFor(f)
	if unanswered[f.Leaf] && strings.Contains(f.Path, "/certificatesigningrequests") {
		to[words].stopsRequests = true
		c.next[words] += ". No request for a certificate gets through before that: nothing can be approved yet"
	}
	return true
}

// unfilled are values that templates and scripts write for a setting that has no address.
var unfilled = map[string]bool{"false": true, "true": true, "null": true, "none": true, "nil": true, "undefined": true, "yes": true, "no": true}

// unanswered are the leaves of a server that did not answer a request at all.
var unanswered = map[logline.Leaf]bool{logline.Refused: true, logline.Timeout: true, logline.NoRoute: true, logline.Closed: true,
	logline.NameUnknown: true, logline.NameServer: true}

// address is the server of a failure as a sentence has it: a name that does not resolve has no port.
func address(f logline.Failure) string {
	if f.Port == "" || f.Leaf == logline.NameUnknown || f.Leaf == logline.NameServer {
		return f.Host
	}
	return f.Host + ":" + f.Port
}

// socketSays say what came of an attempt to reach a program of the same host through its socket.
var socketSays = map[logline.Leaf]string{
	logline.Refused:      "no process listens at it (connection refused)",
	logline.Timeout:      "the process behind it does not answer (timeout): it hangs, or has too much to do",
	logline.Deadline:     "the process behind it does not answer in time",
	logline.Closed:       "the process behind it closed the connection",
	logline.NoFile:       "it does not exist, so the process does not run yet or was stopped",
	logline.NoPermission: "no permission for it",
}

// socketFailed puts into the report that a program of the same host is not reached: no firewall and no route is between.
func (c *collector) socketFailed(to map[string]*Match, e *errorForm, end *endpoint, f logline.Failure, t *ruleMatches) bool {
	says := socketSays[f.Leaf]
	if says == "" {
		return false
	}
	words := end.Name + ", at the socket " + f.Path + ": " + says
	if e.last.writer != "" {
		words = e.last.writer + " does not reach " + words
	}
	c.match(to, words, fault.ShowsPossible, t)
	c.next[words] = end.Next
	return true
}

// noNetwork is said of a host that has no route to where it asks.
const noNetwork = "the host that prints it has no route there, so look at that host and not at the server: ip -br addr; ip route; nmcli device status; " +
	"sudo journalctl -b -u NetworkManager -u ovs-configuration --no-pager -n 50. In the initramfs the network was not up when it was asked for"

// ofHosts is said where the own name of a host does not resolve.
const ofHosts = "localhost does not belong into DNS: grep localhost /etc/hosts on the host, or in the container, that prints it. The lines for " +
	"127.0.0.1 and ::1 are missing or were changed; getent hosts localhost shows what it gets"

// proxyFailed puts into the report that a proxy is not reached.
func (c *collector) proxyFailed(to map[string]*Match, e *errorForm, f logline.Failure, t *ruleMatches) bool {
	if leafWords[f.Leaf].says == "" {
		return false
	}
	words := "the HTTP proxy"
	if f.Host != "" {
		words += " at " + address(f)
	}
	words += ": " + leafWords[f.Leaf].says
	if e.last.writer != "" {
		words = e.last.writer + " does not reach " + words
	}
	c.match(to, words, fault.ShowsPossible, t)
	next := "where the line was printed: env | grep -i proxy, and systemctl show UNIT -p Environment of a service (of a cluster: oc get proxy cluster -o yaml)"
	if f.Host != "" && f.Port != "" {
		next += "; nc -zv " + f.Host + " " + f.Port
	}
	if f.To != "" {
		host, _, err := net.SplitHostPort(f.To)
		if err != nil {
			host = f.To
		}
		next += ". The request was for " + f.To + ": what is inside of the site needs no proxy, put " + host + " or its network into no_proxy"
	}
	c.next[words] = next
	return true
}

// nextFor is what decides, for one failure.
func (e *endpoint) nextFor(f logline.Failure) string {
	switch {
	case f.NoNetwork:
		return noNetwork
	case (f.Leaf == logline.NameUnknown || f.Leaf == logline.NameServer) && strings.EqualFold(f.Host, "localhost"):
		return ofHosts
	}
	next := cmp.Or(serverNext[f.Leaf], e.Next)
	if f.Leaf == logline.NameUnknown {
		next = cmp.Or(e.DNS, next)
		if clusterDNS.MatchString(f.Resolver) {
			next += forwards
		}
	}
	return e.fill(next, f)
}

// fill puts the server of a failure into a command.
func (e *endpoint) fill(next string, f logline.Failure) string {
	host := f.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return strings.NewReplacer("{host}", host, "{port}", cmp.Or(f.Port, "PORT"), "{scheme}", cmp.Or(f.Scheme, "https"),
		"{resolver}", cmp.Or(f.Resolver, "SERVER")).Replace(next)
}

// namesServer puts into the report what came of a request to the server that the first line of a rule
// names. False where that is in its words already, or the line names none.
func (c *collector) namesServer(faults, failures map[string]*Match, t *ruleMatches) bool {
	first := t.first[0]
	f, ok := logline.Failing([]byte(first.Text))
	if !ok || f.Host == "" {
		return false
	}
	return c.serverFailed(failures, faults, &errorForm{count: t.count, first: first, last: first}, f, t)
}
