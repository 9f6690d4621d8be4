package main

import "regexp"

// rule is wording that is not used here, and what is used instead.
type rule struct {
	in      place
	pattern *regexp.Regexp
	unless  *regexp.Regexp // no finding where it matches within the words found
	longest int            // instead of a pattern: the words that one thought may have
	write   string
	why     string
	fires   string // a text in which it fires
	passes  string // a near miss
}

// literals are texts of products that use such words themselves and stand without quotes.
var literals = []string{
	"Not synchronised", // chronyc's leap status
}

// words makes a pattern of whole words; case does not matter.
func words(pattern string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:` + pattern + `)\b`)
}

const (
	fieldWord = "the field's word, which people search for"
	plain     = "plain English"
	metaphor  = "no metaphor"
	american  = "American spelling"
)

// rules is the whole list.
var rules = []rule{
	// The field's words.
	{in: shown, pattern: words(`virtual (IP )?addresses|virtual (IP )?address`),
		write: "VIP, VIPs", why: fieldWord, fires: "No host holds the virtual address.", passes: "No host holds the VIP."},
	{in: shown, pattern: words(`(certificates?|tokens?|credentials?|signers?|kubeconfigs?|CAs?|lease)( \S+){0,3} (ended|ends|end)`),
		unless: words(`(which|that|who|at which) ends?|ends? (in|of)`),
		write:  "expired", why: fieldWord, fires: "The serving certificate has ended by the clock of " +
			"the machine.", passes: "The certificate of the front-end expired."},
	{in: shown, pattern: words(`(containers?|pods?|process|program|kubelet|CRI-O|haproxy|keepalived|daemon|operator|controller|servers?|unit|` +
		`ramdisk)( itself)? (has ended|had ended|have ended|ended|ends|end)`),
		write: "exited, exits, stopped", why: fieldWord, fires: "The pod ended at once.", passes: "The installer sends the end of the log."},
	{in: shown, pattern: words(`anew`),
		write: "again; a certificate is rotated or regenerated, an object re-created", why: plain, fires: "The pod is made anew.",
		passes: "There is a new pod."},
	{in: shown, pattern: words(`(is|are|was|were|be|been|makes|make|made) (made )?(\S+ ){0,3}again`),
		unless: words(`(is|are|was|were|be|been) (\S+ ){1,3}again|(boots?|starts?|runs?|reads?|asks?|trie[sd]|try|works?|listen) again`),
		write:  "re-created, regenerated, rebuilt, rotated", why: fieldWord, fires: "The controller makes the Secret again.", passes: "The host boots again."},
	{in: shown, pattern: words(`(is|are|was|were) made again`),
		write: "is re-created, is regenerated", why: fieldWord, fires: "The Secret was made again.", passes: "The Secret was made once."},
	{in: shown, pattern: words(`(API|server|BMC|registry|host|member|service|it|they) (is|are|was|were) away`),
		write: "is unreachable, is down", why: fieldWord, fires: "While the API is away, nothing is read.", passes: "The API is 2 hops away."},
	{in: shown, pattern: words(`the fronts?|fronts`), unless: words(`front of`),
		write: "the load balancer, the endpoint", why: fieldWord, fires: "The front refuses the port.", passes: "The proxy is in front of the API."},
	{in: shown, pattern: words(`(the|its|this|that|whose|no|one) ways? (to|from|between|there|ends?|through|into)( (the|an?|its|each|port|\S+)){0,2}`),
		unless: words(`ways? to (do|get|read|write|see|ask|make|find|tell|keep|say|undo|run|record|show|add|give|use|check|have|count|name|choose|stop)( .*)?`),
		write:  "the network path", why: fieldWord, fires: "The way to the API ends at the load balancer.", passes: "The only way to read it is oc."},
	{in: shown, pattern: words(`rungs?`),
		write: "check", why: metaphor, fires: "The rungs below it decide.", passes: "It is wrong."},
	{in: shown, pattern: words(`(is|are|was|were) (not )?(of|by) (an?|the|another) (\w+ )?(authority|signer|CA)`),
		write: "signed by an unknown authority", why: fieldWord, fires: "Its certificate is of another authority.", passes: "The signer is of 2024."},
	{in: shown, pattern: words(`says? (MASTER|BACKUP)( of)?`),
		write: "is VRRP MASTER for", why: fieldWord, fires: "master-0 says MASTER of 192.0.2.1.", passes: "master-0 is VRRP MASTER for 192.0.2.1."},
	{in: shown, pattern: words(`(not|does not|do not|did not) (get on|come on)|(out of|not in|in|no longer in) step`),
		write: "is not progressing, is not synchronized", why: fieldWord, fires: "The clocks are not in step.", passes: "It is in stepDown mode."},
	{in: shown, pattern: words(`(gives?|gave) (no|none|any|every|each)( of)? (nodes?|hosts?|them)`),
		write: "does not update any node to", why: fieldWord, fires: "The controller gives none of them " +
			"the config.", passes: "The controller updates no more than one node at a time."},
	{in: shown, pattern: words(`plug-ins?`),
		write: "plugin", why: fieldWord, fires: "The network plug-in is up.", passes: "The network plugin is up, plug in the cable."},
	{in: shown, pattern: words(`roll-outs?`),
		write: "rollout", why: fieldWord, fires: "The roll-out continues.", passes: "The rollout continues."},
	{in: shown, pattern: words(`disks? that turns?`),
		write: "a rotational disk (HDD)", why: fieldWord, fires: "etcd is on a disk that turns.", passes: "The disk that turned out to be full."},
	{in: shown, pattern: words(`rights? to \w+`),
		write: "permission to", why: fieldWord, fires: "That takes the right to list machines.", passes: "Turn right at the rack."},
	{in: shown, pattern: words(`the roll|a roll`),
		write: "host status", why: "one word for one thing", fires: "The roll lists the hosts.", passes: "The rollout lists the hosts; rollcall roll."},
	{in: shown, pattern: words(`(is|are) (well|ill|alive)( \w+)?`), unless: words(`well (known|formed|below|above|within|before|after)`),
		write: "is healthy, is running", why: fieldWord, fires: "The kubelets are well.", passes: "It is well known."},
	{in: shown, pattern: words(`mends?|mended|mending`),
		write: "fix, repair, correct", why: fieldWord, fires: "Mend the disk.", passes: "This is recommended."},

	// Talk: things report, log and show; they do not speak or hear.
	{in: shown, pattern: words(`told|heard|hears?|tells?|telling`),
		write: "reported, logged, found, shows, distinguishes", why: metaphor, fires: "Its console tells which.", passes: "It has a teller."},
	{in: shown, pattern: words(`said`),
		write: "reported, logged; for messages: the message, the reason", why: metaphor, fires: "What the kubelet said.", passes: "The afore-mentioned one."},
	{in: shown, pattern: words(`silent|silence`),
		write: "not responding, no log lines, without a report", why: metaphor, fires: "The name server is silent.", passes: "Use --quiet."},
	{in: shown, pattern: words(`says?|saying`),
		write: "reports, shows, contains, means; or quote it", why: metaphor, fires: "Its log says which.", passes: "It takes days."},
	{in: shown, pattern: words(`calls? (it|them|for)|young|younger`),
		write: "plain words: name, is, needs, recent", why: metaphor, fires: "The lease is young.", passes: "The caller is known."},
	{in: shown, pattern: words(`in (its|their) eyes|rests? on|lives? by`),
		write: "plain words", why: metaphor, fires: "The machine lives by that clock.", passes: "The lives of others; bypass."},

	// Plain English.
	{in: shown, pattern: words(`for ever`),
		write: "forever", why: plain, fires: "It retries for ever.", passes: "It retries for every host."},
	{in: shown, pattern: words(`nobody`),
		write: "no one, or who exactly", why: plain, fires: "Nobody approves it.", passes: "The body is empty."},
	{in: shown, pattern: words(`beside`),
		write: "also, as well as, in addition to, next to", why: plain, fires: "Port 22623 is needed beside 6443.", passes: "Besides, it needs 22623."},
	{in: shown, pattern: words(`in (the|its|their) place( of)?`), unless: words(`in place`),
		write: "instead of, instead", why: plain, fires: "It boots the image in place of its disk: in the place of it.", passes: "It is repaired in place."},
	{in: shown, pattern: words(`in place of`),
		write: "instead of", why: plain, fires: "It boots the image in place of its disk.", passes: "It is repaired in place."},
	{in: shown, pattern: words(`(puts?|putting|takes?|taken|took|taking) (\w+ ){0,2}back`),
		write: "restored, restores; undone, rolled back", why: fieldWord, fires: "The file is put back.", passes: "It takes a backup."},
	{in: shown, pattern: words(`(stand|stands|stood) (in|at|there|on|beside|before|behind|between|still|alone|open|as|under|above)`),
		write: "is, is in", why: plain, fires: "The name stands in install-config.yaml.", passes: "The standard in use."},
	{in: shown, pattern: words(`(holds?|held|holding) (\w+ ){0,3}up`),
		write: "blocks, delays", why: metaphor, fires: "It holds the rollout up.", passes: "The hold is supported."},
	{in: shown, pattern: words(`(go|goes|went|gone|going) on`), unless: words(`^go on `),
		write: "continues", why: plain, fires: "The installation goes on.", passes: "It is going, on master-0 too."},
	{in: shown, pattern: words(`(is|are|was|were) not there`),
		write: "does not exist, is missing", why: plain, fires: "The Secret is not there.", passes: "Check whether the Secret is there."},
	{in: shown, pattern: words(`(\w+ )?(is|are|was|were) no \w+`), unless: words(`(there|that|this|which|what) (is|are|was|were) no .*|` +
		`.* no (longer|more|less|later|one|reason|sign)`),
		write: "is not a", why: plain, fires: "What answers is no API server.", passes: "There is no API server; it is no longer used."},
	{in: shown, pattern: words(`(is|are|was|were) to be`),
		write: "should be, must be", why: plain, fires: "The host is to be online.", passes: "It has to be online."},
	{in: shown, pattern: words(`(not|nothing|no|none|never|nor)( [^ .,;]+){0,8} any more`),
		write: "no longer", why: plain, fires: "The token is not rotated any more.", passes: "No longer. Are there any more hosts?"},
	{in: shown, pattern: words(`without end`),
		write: "keeps retrying, endlessly", why: plain, fires: "It tries again without end.", passes: "A Service without endpoints."},
	{in: shown, pattern: regexp.MustCompile(`, as (in|on|with|at|after|before|an?|when|where|oc|the) [a-z-]+[.;)]`),
		write: "such as", why: plain, fires: "Other causes, as a firewall.", passes: "It continues, as the log shows."},
	{in: shown, pattern: words(`misspelt|learnt|whilst|cancelled|centre|licence|grey|judgement|defence|fulfil`),
		write: "misspelled, while, canceled, center, license, gray", why: american, fires: "The name is misspelt.", passes: "The defenses are centered."},
	{in: shown, pattern: words(`(un)?(synchron|recogn|sanit|initial|organ|real|normal|summar|minim|maxim|optim|util|author|serial|final|general|` +
		`custom|neutral|prior|stabil|virtual|container|anonym|equal|categor|emphas|memor|random|canonical)is(e|es|ed|er|ers|ing|ation|able)|analys(e|ed|es)`),
		write: "-ize, -yze", why: american, fires: "The clock is not synchronised.", passes: "The rise is otherwise surprising, by this analysis."},
	{in: shown, pattern: words(`(colour|behaviour|honour|favour|neighbour|labour|flavour|harbour)(s|ed|ing|able)?`),
		write: "-or", why: american, fires: "--colour changes its behaviour.", passes: "Four hours of your time."},
	{in: shown, pattern: words(`catalogues?`),
		write: "catalog", why: american, fires: "The catalogue has it.", passes: "The catalog has it."},

	// Headings and sentences of the screen.
	{in: shown, pattern: words(`what (it|this|they) leads? to|what leads to it`),
		write: "effects", why: plain, fires: "What it leads to", passes: "Find where it leads."},
	{in: shown, pattern: words(`what (can|could|may) be behind( \w+)?`),
		write: "possible causes", why: plain, fires: "What can be behind it", passes: "The host is behind it."},
	{in: shown, pattern: words(`could not be looked (at|up)|(was|were) not looked (at|up)`),
		write: "not checked", why: plain, fires: "3 causes could not be looked at.", passes: "They look at it."},
	{in: shown, pattern: words(`no proven cause`),
		write: "cause unknown", why: plain, fires: "It has no proven cause.", passes: "The cause is not proven."},
	{in: shown, pattern: words(`normal so far`),
		write: "in progress (expected until ...)", why: plain, fires: "Normal so far", passes: "This is normal."},
	{in: shown, pattern: words(`circulat\w+`),
		write: "unsafe advice", why: plain, fires: "Advice that circulates.", passes: "The circular edge."},
	{in: shown, pattern: words(`(opens?|opening) (the|a|one) (deadlock|ring)`),
		write: "breaks the deadlock", why: fieldWord, fires: "That opens the deadlock.", passes: "It opens the port."},
	{in: shown, pattern: words(`not so that`),
		write: "say what is: etcd members are healthy", why: plain, fires: "Not so that a member is unhealthy.", passes: "It is so that others can read it."},
	{in: shown, pattern: regexp.MustCompile(`, is (failed|degraded|done)\b`),
		write: "stuck at, failed", why: plain, fires: "failed at imaged for 2m, is failed", passes: "the host is failed"},
	{in: shown, pattern: words(`to answer (it|this) again`),
		write: "to replay", why: plain, fires: "To answer it again:", passes: "To answer it: yes."},
	{in: shown, pattern: regexp.MustCompile(`\b(1970-01-01|0001-01-01)`),
		write: "no time at all", why: "it is the zero value, not a time", fires: "since 1970-01-01T00:00:00Z", passes: "since 2026-01-01T00:00:00Z"},

	// Sentences.
	{in: title, pattern: regexp.MustCompile(`\.$`),
		write: "no full stop", why: "a title is a heading", fires: "etcd has lost its quorum.", passes: "etcd has lost its quorum"},
	{in: title | catalog, longest: 30,
		write: "two sentences", why: "one thought per sentence",
		fires: "the host that asks for its config from the server that runs on the machine that holds the address that the load balancer has for the " +
			"port that is used by it in the end",
		passes: "The host asks for its config. The server runs on the machine that holds the address. The load balancer has that address for the " +
			"port, which is used by the host in the end."},
}
