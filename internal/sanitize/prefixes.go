package sanitize

import (
	"slices"
	"strings"
)

// tokenPrefixes begin tokens whose issuers made them to be found, with the least number
// of characters behind each. Longer ones stand before those that begin them.
var tokenPrefixes = []struct {
	prefix string
	least  int
}{
	{"ghp_", 20},             // GitHub
	{"gho_", 20},             // GitHub, OAuth
	{"ghu_", 20},             // GitHub, user to server
	{"ghs_", 20},             // GitHub, server to server
	{"ghr_", 20},             // GitHub, refresh
	{"github_pat_", 20},      // GitHub, fine-grained
	{"glpat-", 15},           // GitLab, personal
	{"gldt-", 15},            // GitLab, deploy
	{"glrt-", 15},            // GitLab, runner
	{"glrtr-", 15},           // GitLab, runner registration
	{"glft-", 15},            // GitLab, feed
	{"glptt-", 15},           // GitLab, pipeline trigger
	{"glagent-", 15},         // GitLab, agent for Kubernetes
	{"glsoat-", 15},          // GitLab, SCIM
	{"glimt-", 15},           // GitLab, incoming mail
	{"glcbt-", 15},           // GitLab, CI job
	{"glffct-", 15},          // GitLab, feature flags
	{"gloas-", 15},           // GitLab, OAuth application
	{"GR1348941", 15},        // GitLab, runner
	{"_gitlab_session=", 15}, // GitLab
	{"xoxb-", 10},            // Slack
	{"xoxp-", 10},            // Slack
	{"xoxa-", 10},            // Slack
	{"xoxe-", 10},            // Slack
	{"xoxe.", 10},            // Slack
	{"xoxo-", 10},            // Slack
	{"xoxs-", 10},            // Slack
	{"xoxr-", 10},            // Slack
	{"xapp-", 10},            // Slack
	{"hooks.slack.com/", 20}, // Slack, webhook
	{"AKIA", 16},             // AWS
	{"ASIA", 16},             // AWS
	{"ABIA", 16},             // AWS
	{"ACCA", 16},             // AWS
	{"A3T", 17},              // AWS
	{"ABSK", 60},             // AWS Bedrock
	{"bedrock-api-key-", 20}, // AWS Bedrock
	{"AIza", 30},             // Google
	{"ya29.", 20},            // Google, OAuth
	{"LTAI", 17},             // Alibaba Cloud
	{"hvs.", 15},             // Vault
	{"hvb.", 40},             // Vault, batch
	{"hvr.", 15},             // Vault, recovery
	{"dop_v1_", 30},          // DigitalOcean
	{"doo_v1_", 30},          // DigitalOcean
	{"dor_v1_", 30},          // DigitalOcean
	{"npm_", 30},             // npm
	{"pypi-", 30},            // PyPI
	{"rubygems_", 30},        // RubyGems
	{"CLOJARS_", 30},         // Clojars
	{"SG.", 40},              // SendGrid
	{"sk-ant-", 40},          // Anthropic
	{"sk-proj-", 30},         // OpenAI
	{"sk-svcacct-", 30},      // OpenAI
	{"sk-admin-", 30},        // OpenAI
	{"sk-", 40},              // OpenAI
	{"pplx-", 30},            // Perplexity
	{"hf_", 30},              // Hugging Face
	{"api_org_", 30},         // Hugging Face
	{"sk_live_", 10},         // Stripe
	{"sk_test_", 10},         // Stripe
	{"sk_prod_", 10},         // Stripe
	{"rk_live_", 10},         // Stripe
	{"rk_test_", 10},         // Stripe
	{"rk_prod_", 10},         // Stripe
	{"shpat_", 30},           // Shopify
	{"shpca_", 30},           // Shopify
	{"shppa_", 30},           // Shopify
	{"shpss_", 30},           // Shopify
	{"shippo_live_", 30},     // Shippo
	{"shippo_test_", 30},     // Shippo
	{"sq0atp-", 20},          // Square
	{"EAAA", 22},             // Square
	{"EAAC", 20},             // Facebook
	{"EAAM", 20},             // Facebook
	{"lin_api_", 30},         // Linear
	{"ntn_", 30},             // Notion
	{"PMAK-", 30},            // Postman
	{"pul-", 30},             // Pulumi
	{"pnu_", 30},             // Prefect
	{"rdme_", 30},            // ReadMe
	{"tk-us-", 30},           // Scalingo
	{"xkeysib-", 30},         // Brevo
	{"sntrys_", 30},          // Sentry
	{"sntryu_", 30},          // Sentry
	{"sgp_", 30},             // Sourcegraph
	{"glsa_", 30},            // Grafana
	{"glc_", 30},             // Grafana Cloud
	{"eyJrIjoi", 30},         // Grafana
	{"ico-", 30},             // Infracost
	{"pscale_tkn_", 30},      // PlanetScale
	{"pscale_oauth_", 30},    // PlanetScale
	{"pscale_pw_", 30},       // PlanetScale
	{"dp.pt.", 30},           // Doppler
	{"dapi", 32},             // Databricks
	{"dt0c01.", 40},          // Dynatrace
	{"duffel_", 30},          // Duffel
	{"EZAK", 50},             // EasyPost
	{"EZTK", 50},             // EasyPost
	{"fio-u-", 40},           // Frame.io
	{"fo1_", 30},             // Fly.io
	{"fm1r_", 40},            // Fly.io
	{"fm1a_", 40},            // Fly.io
	{"fm2_", 40},             // Fly.io
	{"FLWSECK", 12},          // Flutterwave
	{"FLWPUBK", 12},          // Flutterwave
	{"A3-", 30},              // 1Password
	{"ops_eyJ", 40},          // 1Password
	{"p8e-", 30},             // Adobe
	{"AKCp", 60},             // Artifactory
	{"cmVmd", 50},            // Artifactory
	{"ATATT3", 100},          // Atlassian
	{"v1.0-", 60},            // Cloudflare
	{"4b1d", 38},             // ClickHouse Cloud
	{"sl.", 100},             // Dropbox
	{"HRKU-AA", 50},          // Heroku
	{"tss_", 30},             // Freemius
	{"sm_aat_", 15},          // SettleMint
	{"sm_pat_", 15},          // SettleMint
	{"sm_sat_", 15},          // SettleMint
	{"s-s4t2ud-", 60},        // 42
	{"s-s4t2af-", 60},        // 42
	{"API-", 20},             // Octopus Deploy
	{"ATCTT3", 60},           // Atlassian
	{"phx_", 30},             // PostHog
	{"ZXlKaGJHY", 20},        // a token in base64, as of Secrets
	{"ZXlK", 60},             // a token in base64
}

// tokenMarks are the prefixes in lower case.
var tokenMarks = func() (marks []string) {
	for _, p := range tokenPrefixes {
		if m := strings.ToLower(p.prefix); !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	return append(marks, ".atlasv1.")
}()

// prefixesBy are the indexes of tokenPrefixes by their first character.
var prefixesBy = func() (by [256][]int) {
	for i, p := range tokenPrefixes {
		by[p.prefix[0]] = append(by[p.prefix[0]], i)
	}
	return by
}()

// prefixStarts are the first two characters of the prefixes: few places of a text have
// them, and the others are not looked at again.
var prefixStarts = func() (starts [1 << 16]bool) {
	for _, p := range tokenPrefixes {
		starts[int(p.prefix[0])<<8|int(p.prefix[1])] = true
	}
	return starts
}()

// prefixedTokens returns where tokens are that their prefix tells.
func prefixedTokens(v string) (found []span) {
	for i := 0; i+1 < len(v); i++ {
		if !prefixStarts[int(v[i])<<8|int(v[i+1])] {
			continue
		}
		inside := i > 0 && (word(v[i-1]) || v[i-1] == '-' || v[i-1] == '/') && !escapedBefore(v, i)
		for _, n := range prefixesBy[v[i]] {
			p := tokenPrefixes[n]
			if inside && v[i] != '_' && (v[i-1] != '/' || p.prefix != "hooks.slack.com/") || !strings.HasPrefix(v[i:], p.prefix) {
				continue
			}
			at := i + len(p.prefix)
			end := at
			for end < len(v) && (word(v[end]) || strings.IndexByte("-.=+~", v[end]) >= 0 || v[end] == '/' &&
				(strings.HasSuffix(p.prefix, "/") || p.least >= 40)) {
				end++
			}
			if token := strings.TrimRight(v[at:end], ".-"); len(token) >= p.least && mixed(token, p.prefix) {
				found = append(found, span{i, at + len(token)})
				i = at + len(token) - 1
				break
			}
		}
	}
	for at := 0; ; { // of HCP Terraform
		const mark = ".atlasv1."
		i := strings.Index(v[at:], mark)
		if i < 0 {
			return found
		}
		from := at + i
		end := from + len(mark)
		for from > at && word(v[from-1]) {
			from--
		}
		for end < len(v) && (word(v[end]) || strings.IndexByte("-=", v[end]) >= 0) {
			end++
		}
		found = append(found, span{from, end})
		at = end
	}
}

// escapedBefore reports whether what precedes i is the letter of an escape.
func escapedBefore(v string, i int) bool {
	return i >= 2 && v[i-2] == '\\' && strings.IndexByte("nrt", v[i-1]) >= 0
}

// mixed tells a token from words that are joined by hyphens or underscores.
func mixed(token, prefix string) bool {
	n := classesOf(token)
	return n.digits > 1 || n.digits+n.upper > 3 && len(prefix) > 3
}
