package sanitize

import (
	"slices"
	"strings"
)

// tokenPrefixes begin tokens whose issuers made them to be found, with the least number of characters
// behind each.
var tokenPrefixes = []struct {
	issuer   string
	least    int
	prefixes string // apart by blanks
}{
	{"1Password", 30, "A3-"},
	{"1Password", 40, "ops_eyJ"},
	{"42", 60, "s-s4t2ud- s-s4t2af-"},
	{"Adobe", 30, "p8e-"},
	{"Alibaba Cloud", 17, "LTAI"},
	{"Anthropic", 40, "sk-ant-"},
	{"Artifactory", 50, "cmVmd"},
	{"Artifactory", 60, "AKCp"},
	{"Atlassian", 60, "ATCTT3"},
	{"Atlassian", 100, "ATATT3"},
	{"AWS", 16, "AKIA ASIA ABIA ACCA"},
	{"AWS", 17, "A3T"},
	{"AWS Bedrock", 20, "bedrock-api-key-"},
	{"AWS Bedrock", 60, "ABSK"},
	{"Bitbucket", 24, "ATBB"},
	{"Bitbucket Data Center", 30, "BBDC-"},
	{"Brevo", 30, "xkeysib-"},
	{"ClickHouse Cloud", 38, "4b1d"},
	{"Clojars", 30, "CLOJARS_"},
	{"Cloudflare", 60, "v1.0-"},
	{"Contentful", 30, "CFPAT-"},
	{"Databricks", 32, "dapi"},
	{"Discord", 60, discordHooks},
	{"DigitalOcean", 30, "dop_v1_ doo_v1_ dor_v1_"},
	{"Docker", 20, "dckr_pat_ dckr_oat_"},
	{"Doppler", 30, "dp.pt."},
	{"Dropbox", 100, "sl."},
	{"Duffel", 30, "duffel_"},
	{"Dynatrace", 40, "dt0c01."},
	{"EasyPost", 50, "EZAK EZTK"},
	{"EKS", 40, "k8s-aws-v1."},
	{"Facebook", 20, "EAAC EAAM"},
	{"Figma", 30, "figd_"},
	{"Flutterwave", 12, "FLWSECK FLWPUBK"},
	{"Fly.io", 30, "fo1_"},
	{"Fly.io", 40, "fm1r_ fm1a_ fm2_"},
	{"Frame.io", 40, "fio-u-"},
	{"Freemius", 30, "tss_"},
	{"GitHub", 20, "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_"},
	{"GitLab", 15, "glpat- gldt- glrt- glrtr- glft- glptt- glagent- glsoat- glimt- glcbt- glffct- gloas- GR1348941 _gitlab_session="},
	{"Google", 20, "ya29. GOCSPX-"},
	{"Google", 30, "AIza"},
	{"Grafana", 30, "glsa_ eyJrIjoi"},
	{"Grafana Cloud", 30, "glc_"},
	{"Groq", 40, "gsk_"},
	{"Heroku", 50, "HRKU-AA"},
	{"Hugging Face", 30, "hf_ api_org_"},
	{"Infracost", 30, "ico-"},
	{"Linear", 30, "lin_api_"},
	{"New Relic", 20, "NRAK-"},
	{"Notion", 30, "ntn_"},
	{"npm", 30, "npm_"},
	{"NVIDIA", 40, "nvapi-"},
	{"Octopus Deploy", 20, "API-"},
	{"OpenAI", 30, "sk-proj- sk-svcacct- sk-admin-"},
	{"OpenAI", 40, "sk-"},
	{"Perplexity", 30, "pplx-"},
	{"Pinecone", 40, "pcsk_"},
	{"PlanetScale", 30, "pscale_tkn_ pscale_oauth_ pscale_pw_"},
	{"PostHog", 30, "phx_"},
	{"Postman", 30, "PMAK-"},
	{"Prefect", 30, "pnu_"},
	{"Pulumi", 30, "pul-"},
	{"PyPI", 30, "pypi-"},
	{"ReadMe", 30, "rdme_"},
	{"Replicate", 30, "r8_"},
	{"RubyGems", 30, "rubygems_"},
	{"Scalingo", 30, "tk-us-"},
	{"SendGrid", 40, "SG."},
	{"Sentry", 30, "sntrys_ sntryu_"},
	{"SettleMint", 15, "sm_aat_ sm_pat_ sm_sat_"},
	{"Shippo", 30, "shippo_live_ shippo_test_"},
	{"Shopify", 30, "shpat_ shpca_ shppa_ shpss_"},
	{"Slack", 10, "xoxb- xoxp- xoxa- xoxe- xoxe. xoxo- xoxs- xoxr- xapp- xoxc- xoxd-"},
	{"Slack", 20, slackHooks},
	{"SonarQube", 30, "squ_ sqp_ sqa_"},
	{"Sourcegraph", 30, "sgp_"},
	{"Square", 20, "sq0atp-"},
	{"Square", 22, "EAAA"},
	{"Stripe", 10, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_"},
	{"Stripe", 24, "whsec_"},
	{"Supabase", 30, "sbp_"},
	{"Tailscale", 20, "tskey-"},
	{"tokens in base64", 20, "ZXlKaGJHY"},
	{"tokens in base64", 60, "ZXlK"},
	{"Vault", 15, "hvs. hvr."},
	{"Vault", 40, "hvb."},
	{"xAI", 40, "xai-"},
}

// Addresses whose path is the token begin so.
const (
	slackHooks   = "hooks.slack.com/"
	discordHooks = "discord.com/api/webhooks/ discord.com/api/v10/webhooks/ discordapp.com/api/webhooks/"
)

type tokenPrefix struct {
	text  string
	least int
	path  bool // the token is the path of an address
}

// prefixesBy are the prefixes by their first character, longer ones before those that begin them.
var prefixesBy = func() (by [256][]tokenPrefix) {
	for _, p := range tokenPrefixes {
		for text := range strings.FieldsSeq(p.prefixes) {
			by[text[0]] = append(by[text[0]], tokenPrefix{text, p.least, strings.HasSuffix(text, "/")})
		}
	}
	for _, of := range by {
		slices.SortStableFunc(of, func(a, b tokenPrefix) int { return len(b.text) - len(a.text) })
	}
	return by
}()

// tokenMarks are the prefixes in lower case.
var tokenMarks = func() (marks []string) {
	for _, p := range tokenPrefixes {
		for prefix := range strings.FieldsSeq(strings.ToLower(p.prefixes)) {
			host, _, _ := strings.Cut(prefix, "/") // JSON may escape the slash
			marks = append(marks, host)
		}
	}
	for word := range strings.SplitSeq(tokenWords, "|") {
		marks = append(marks, "_"+word+"_", "-"+word+"-")
	}
	return append(marks, ".atlasv1.")
}()

// tokenWords stand between the name of an issuer and its token, as in vendor_pat_X: of whatever
// issuer, what is random behind one is a token.
const tokenWords = "pat|oat|tok|token|key|secret|live|prod|api|auth|bot|refresh"

var terraformToken = form{".atlasv1.", lazily(`\b\w{8,}\.atlasv1\.[\w=-]{20,}`)} // of HCP Terraform

var wordedToken = lazily(`\b[a-z][a-z0-9]{1,15}[_-](?:` + tokenWords + `)[_-]([A-Za-z0-9]{20,})\b`)

// prefixStarts are the first two characters of the prefixes: few places of a text have
// them, and the others are not looked at again.
var prefixStarts = func() (starts [1 << 16]bool) {
	for _, of := range prefixesBy {
		for _, p := range of {
			starts[int(p.text[0])<<8|int(p.text[1])] = true
		}
	}
	return starts
}()

// prefixedTokens returns where tokens are that their prefix tells.
func prefixedTokens(v string) (found []span) {
	for i := 0; i+1 < len(v); i++ {
		if !prefixStarts[int(v[i])<<8|int(v[i+1])] {
			continue
		}
		inside := i > 0 && (word(v[i-1]) || v[i-1] == '-') && !escapedBefore(v, i)
		part := i > 0 && v[i-1] == '/' // of a path, or of base64
		for _, p := range prefixesBy[v[i]] {
			if inside && v[i] != '_' || !strings.HasPrefix(v[i:], p.text) {
				continue
			}
			at := i + len(p.text)
			end := at
			for end < len(v) && (!p.path || end < at+maxBeside) && (word(v[end]) || strings.IndexByte("-.=+~", v[end]) >= 0 || v[end] == '/' &&
				(p.path || !part && p.least >= 40)) {
				end++
			}
			if token := strings.TrimRight(v[at:end], ".-"); len(token) >= p.least && mixed(token, p.text) &&
				(!part || p.path || randomPart(token) && !inBase64(v[:i-1])) && !isDigest(v[i:at+len(token)]) {
				found = append(found, span{i, at + len(token)})
				i = at + len(token) - 1
				break
			}
		}
	}
	if hasWordedToken(v) {
		for _, m := range wordedToken.get().FindAllStringSubmatchIndex(v, -1) {
			if token := v[m[2]:m[3]]; randomWord(token) && mixedWord(token) {
				found = append(found, span{m[2], m[3]})
			}
		}
	}
	for _, m := range terraformToken.findAll(v) {
		found = append(found, span{m[0], m[1]})
	}
	return found
}

// isDigest reports whether a token and its prefix are no more than a number in hexadecimal: one of 65,536 digests begins as
// a token of ClickHouse does.
func isDigest(v string) bool { return len(v) >= 40 && only(v, "0123456789abcdef") }

// leastPathPart is the least length of the random part of a token in a path.
const leastPathPart = 8

// randomPart tells a token in a path from a file with such a name: a part of it changes between capitals, small letters and
// digits at every fourth character or more often, or has none of the small letters.
func randomPart(token string) bool {
	for part := range strings.FieldsFuncSeq(token, func(r rune) bool { return strings.ContainsRune("-._/", r) }) {
		changes := 0
		for i := 1; i < len(part); i++ {
			if classOf(part[i]) != classOf(part[i-1]) {
				changes++
			}
		}
		if len(part) >= leastPathPart && 4*changes > len(part) || len(part) >= 2*leastPathPart && classesOf(part).lower == 0 {
			return true
		}
	}
	return false
}

// inBase64 reports whether a text ends in base64 rather than in a path, in front of a slash.
func inBase64(v string) bool {
	const enough = 16
	from := len(v)
	for from > 0 && len(v)-from < 3*enough && sixBits[v[from-1]] != 0xff {
		from--
	}
	n := classesOf(v[from:])
	return len(v)-from >= enough && n.upper > 2 && n.lower > 2 && n.digits > 1
}

// hasWordedToken is a quick look for what wordedToken needs: 20 letters and digits behind a sign, and one of
// the words in front of it.
func hasWordedToken(v string) bool {
	for i := 0; i < len(v); {
		start := i
		for i < len(v) && word(v[i]) && v[i] != '_' {
			i++
		}
		if i-start >= 20 && start > 0 && (v[start-1] == '_' || v[start-1] == '-') && endsInTokenWord(v[:start-1]) {
			return true
		}
		i = max(i, start+1)
	}
	return false
}

func endsInTokenWord(v string) bool {
	at := strings.LastIndexAny(v[max(0, len(v)-len("refresh")-1):], "_-")
	return at >= 0 && slices.Contains(strings.Split(tokenWords, "|"), v[max(0, len(v)-len("refresh")-1)+at+1:])
}

// escapedBefore reports whether what precedes i is the letter of an escape.
func escapedBefore(v string, i int) bool {
	return i >= 2 && v[i-2] == '\\' && strings.IndexByte("nrt", v[i-1]) >= 0
}

// mixed tells a token from words that are joined by hyphens or underscores.
func mixed(token, prefix string) bool {
	n := classesOf(token)
	return n.digits > 1 || n.digits+n.upper > 3 && (len(prefix) > 3 || randomPart(token))
}
