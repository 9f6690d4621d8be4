package installer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rollcall-project/rollcall/internal/kernel/diagnosis"
)

// addNotes adds what the log itself says of the reason: what kept the run from going on, what earlier
// runs met, and how long its files are good for. The newest line of each kind is its proof.
func addNotes(said *diagnosis.Installer, list, run []line) {
	runs := runsOf(list)
	said.Form = formOf(list)
	switch {
	case said.Ended == "gather-failed":
		noteGather(said, runs)
	case said.Ended == "interrupted" && said.Step == "assets":
		notePrompt(said, run)
	}
	made := noteExpired(said, list)
	noteWaits(said, runs)
	noteFiles(said, list, made)
}

// runsOf returns the runs of the logs, in their order.
func runsOf(list []line) [][]line {
	var runs [][]line
	for i, l := range list {
		if i == 0 || l.id == sigRun || l.Line.Loc.Path != list[i-1].Line.Loc.Path {
			runs = append(runs, nil)
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], l)
	}
	return runs
}

// The forms of an installation (diagnosis.Installer).
const (
	singleNode      = "single-node"
	userProvisioned = "user-provisioned"
	agentBased      = "agent"
	onlyConfig      = "install-config" // install-config.yaml was written, and nothing else
	onlyManifests   = "manifests"
)

// inPlace is what `create single-node-ignition-config` logs
// (openshift/installer:cmd/openshift-install/create.go singleNodeIgnitionConfigTarget).
const inPlace = "Single-Node-Ignition-Config created in"

// formOf returns the form of an installation. Ignition configs without infrastructure that
// openshift-install creates, and without an agent, are of hosts that a user provides.
func formOf(list []line) string {
	form := ""
	for _, l := range list {
		switch text := message(l); {
		case strings.Contains(text, inPlace):
			return singleNode
		case l.id == sigInfra || l.id == sigOldInfra || l.id == sigAgent || l.id == sigAgentStatus:
			return ""
		case wroteConfigs(l.id, text):
			form = userProvisioned
		case l.id == sigGenerate && wroteAgent.MatchString(text):
			return agentBased
		case l.id == sigMade && strings.Contains(text, "nstall-Config created in") && form == "":
			form = onlyConfig
		case l.id == sigMade && strings.HasPrefix(text, "Manifests created in") && (form == "" || form == onlyConfig):
			form = onlyManifests
		}
	}
	return form
}

// wroteAgent is what a run logs that makes the image of an agent-based installation, or its files for PXE
// (openshift/installer:pkg/asset/agent/image/agentimage.go, agentpxefiles.go; from 4.12 on).
var wroteAgent = regexp.MustCompile(`^(?:Generating Agent Installer (?:ISO|PXE|Ignition)|Generated ISO at )`)

// wroteConfigs reports whether a line is of a run that writes the Ignition configs: to 4.3 only that it makes one of
// these by itself shows that (openshift/installer:pkg/asset/targets/targets.go IgnitionConfigs, pkg/asset/store/store.go fetch).
func wroteConfigs(id, text string) bool {
	return id == sigMade && strings.Contains(text, "gnition-Config") || id == sigGenerate && strings.HasPrefix(text, "Generating Bootstrap Ignition Config")
}

// The reasons of a run that could not gather logs (openshift/installer:pkg/gather/ssh/ssh.go NewClient,
// cmd/openshift-install/gather.go).
var (
	keyRefused = regexp.MustCompile(`(?i)ssh: unable to authenticate`)
	noMetadata = regexp.MustCompile(`(?i)metadata\.json: no such file`)
	noClient   = regexp.MustCompile(`(?i)failed to create ssh client`)
)

func noteGather(said *diagnosis.Installer, runs [][]line) {
	failed := 0
	var ssh, metadata line
	for _, run := range runs {
		pulls := slices.ContainsFunc(run, func(l line) bool { return l.id == sigPulls })
		if !pulls || slices.ContainsFunc(run, worksOnCluster) || gathered(run).Ended != "gather-failed" {
			continue
		}
		failed++
		for _, l := range run {
			switch text := message(l); {
			case l.id == sigConsoles && noMetadata.MatchString(text):
				metadata = l
			case l.id == sigGather, l.id == sigFatal && noClient.MatchString(text):
				ssh = l
			}
		}
	}
	if text := message(ssh); text != "" {
		words := "this is why the last run got no logs"
		if keyRefused.MatchString(text) {
			said.Blocked = "ssh-key"
			words = "the bootstrap host accepts none of the SSH keys of the machine with openshift-install"
		}
		if failed > 1 {
			words += fmt.Sprintf(" (%d runs failed)", failed)
		}
		note(said, words, ssh)
	}
	if message(metadata) != "" {
		note(said, "the directory of the run has no metadata.json, which `create ignition-configs` and `create cluster` write: "+
			"it is not the directory of an installation", metadata)
	}
}

// asked is how a run ends whose question nobody answered: it asks for what a file in its directory would
// tell (openshift/installer:pkg/asset/installconfig/basedomain.go Generate).
var asked = regexp.MustCompile(`failed to generate asset "([^"]+)": failed UserInput`)

func notePrompt(said *diagnosis.Installer, run []line) {
	for _, l := range run {
		if m := asked.FindStringSubmatch(message(l)); m != nil {
			said.Blocked, said.WaitsFor = "prompt", "an answer to its question for "+m[1]
			note(said, "openshift-install asks for "+m[1]+" only where its directory has no install-config.yaml", l)
			return
		}
	}
}

// filesMade returns the newest line of a run that wrote Ignition configs.
func filesMade(list []line) (made line) {
	for _, l := range list {
		if wroteConfigs(l.id, message(l)) && !l.Line.Time.Before(made.Line.Time) {
			made = l
		}
	}
	return made
}

// noteExpired notes the warning about certificates in an old bootstrap.ign, and returns when the files were last made
// (openshift/installer:pkg/asset/ignition/bootstrap/common.go).
func noteExpired(said *diagnosis.Installer, list []line) (made line) {
	made = filesMade(list)
	var expired line
	for _, l := range list {
		if l.id == sigExpired {
			expired = l
		}
	}
	if said.Ended == "complete" || expired.id == "" {
		return made
	}
	note(said, expired.Groups[1]+" certificates of the Ignition config that was in the directory had expired: "+
		"a host that boots with it cannot install; make the files in a new, empty directory", expired)
	return made
}

// ignitionLife is how long the first certificates of an installation are valid
// (openshift/installer:pkg/asset/tls/kubelet.go, ValidityOneDay).
const ignitionLife = 24 * time.Hour

// noteFiles says how long the files can be used, or that they are too old. How old the certificates in them
// are the log need not show: a run uses again what its directory has, so the time is the latest.
func noteFiles(said *diagnosis.Installer, list []line, made line) {
	if made.id == "" || said.Ended == "complete" || list[len(list)-1].Line.Time.IsZero() || apiSeen(list, made.Line.Time) {
		return
	}
	end := made.Line.Time.Add(ignitionLife).UTC().Format(time.RFC3339)
	switch {
	case said.Ended == "made" && said.Form == singleNode:
		note(said, "one node, which installs itself (bootstrap in place): boot it before "+end+
			"; the certificates in its Ignition config are valid for 24 hours at most", made)
	case said.Ended == "made":
		note(said, "boot the hosts before "+end+": the certificates in their Ignition configs are valid for 24 hours at most", made)
	case said.At.Sub(made.Line.Time) > ignitionLife:
		said.Stale = true
		note(said, "the last Ignition configs in this log are of "+made.Line.Time.UTC().Format(time.RFC3339)+", no run saw the API since, and "+
			"they are valid for 24 hours: make new ones in a new, empty directory, and boot all hosts with these", made)
	}
}

// apiSeen reports whether a run saw the API at a time or later
// (openshift/installer:cmd/openshift-install/create.go, since 4.16 command/waitfor.go: "API v1.27.6 up").
func apiSeen(list []line, from time.Time) bool {
	return slices.ContainsFunc(list, func(l line) bool {
		up := l.id == sigBoot || l.id == sigDone || l.id == sigAPIUp
		return up && !l.Line.Time.Before(from)
	})
}

func note(said *diagnosis.Installer, words string, l line) {
	said.Notes = append(said.Notes, diagnosis.InstallerNote{Says: words, Line: message(l), Locator: l.Line.Loc.String()})
}
