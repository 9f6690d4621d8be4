package message

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/rollcall-project/rollcall/internal/kernel/fault"
	"github.com/rollcall-project/rollcall/internal/kernel/logline"
)

// leafWords say what came of an attempt to reach a server.
var leafWords = map[logline.Leaf]string{
	logline.Refused:      "nothing listens there (connection refused)",
	logline.Timeout:      "no answer comes (timeout)",
	logline.NoRoute:      "no route leads there",
	logline.Closed:       "the other side closes the connection",
	logline.NameUnknown:  "its name does not resolve",
	logline.NameServer:   "the name server does not answer for its name",
	logline.Untrusted:    "its certificate is signed by an unknown authority",
	logline.Expired:      "its certificate is not valid now, or the clock of the one who asks is wrong",
	logline.OtherName:    "its certificate is for other names",
	logline.Handshake:    "TLS fails",
	logline.PlainHTTP:    "one side uses TLS and the other side plain HTTP",
	logline.Unauthorized: "it refuses the credential (HTTP 401)",
	logline.Forbidden:    "it does not permit the request (HTTP 403)",
	logline.NotFound:     "it does not have what is asked for (HTTP 404)",
	logline.ServerError:  "it answers with an error of its own (HTTP 5xx)",
	logline.TooMany:      "it limits requests (HTTP 429)",
	logline.Deadline:     "it does not answer in time",
}

// objectWords say what is wrong with a file or a command, and what to look at.
var objectWords = map[logline.Leaf]struct{ says, next string }{
	logline.NoFile:       {"%s does not exist", "ls -l of the file and of its directory, on the same host and as the same user"},
	logline.NoCommand:    {"the command %s does not exist", "which host and image the program runs on: the command belongs to another image or release, or somebody changed the script"},
	logline.NoPermission: {"no permission for %s", "ls -lZ of it on the same host; for SELinux: sudo ausearch -m avc -ts recent"},
	logline.ExecFormat:   {"%s is for another processor, or is damaged", "uname -m on the host, and the architecture of the image"},
	logline.NoSpace:      {"no space is left for %s", "df -h and df -i on the same host"},
	logline.ReadOnly:     {"%s is on a read-only file system", "findmnt -T of the path, and dmesg, on the same host"},
	logline.Busy:         {"%s is in use", "lsblk and mount, or fuser of it, on the same host"},
}

// understood reports whether the grammar of an error says what has failed with which server,
// file or command, and puts that into the report.
func (c *collector) understood(to map[string]*Match, faults map[string]*Match, e *errorForm) bool {
	l := logline.Parse([]byte(e.last.Text))
	f, ok := logline.Failing(l.Message)
	if !ok {
		return false
	}
	if f.Host == "" && e.command != "" {
		f, _ = logline.Failing([]byte(e.command + " : " + string(l.Message)))
	}
	t := &ruleMatches{count: e.count, first: e.lines(c.clean)[:1], last: e.lines(c.clean)[min(1, e.count-1)]}
	if end := c.x.endpoint(f); end != nil && leafWords[f.Leaf] != "" {
		if id := end.Faults[string(f.Leaf)]; id != "" {
			c.match(faults, id, fault.ShowsPossible, t)
			return true
		}
		address := f.Host
		if f.Port != "" && f.Leaf != logline.NameUnknown && f.Leaf != logline.NameServer {
			address += ":" + f.Port
		}
		words := end.Name + " at " + address + ": " + leafWords[f.Leaf]
		if who := cmp.Or(e.last.writer, e.last.host); who != "" {
			words = who + " does not reach " + words
		}
		c.match(to, words, fault.ShowsPossible, t)
		c.next[words] = end.Command(f)
		return true
	}
	object := objectWords[f.Leaf]
	if object.says == "" || f.Object == "" {
		return false
	}
	words := strings.ReplaceAll(object.says, "%s", f.Object)
	if e.last.writer != "" {
		words = e.last.writer + ": " + words
	}
	c.match(to, words, fault.ShowsPossible, t)
	c.next[words] = object.next
	return true
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

// endpoint is the server that a failure is about; nil where none is known.
func (x *Index) endpoint(f logline.Failure) *fault.Endpoint {
	for _, e := range x.endpoints {
		if e.Fits(f) && (e.hosts == nil || e.hosts.MatchString(f.Host)) {
			return e.Endpoint
		}
	}
	return nil
}
