package sanitize

import (
	"testing"
)

// kindTexts8 are kinds that a twelfth blind attack found, with variations of each.
var kindTexts8 = map[string][]string{
	"SecureString of PowerShell": {
		"ConvertTo-SecureString -AsPlainText -Force -String §V", "ConvertTo-SecureString §V -AsPlainText -Force", "ConvertTo-SecureString -AsPlainText §V -Force", "ConvertTo-SecureString -String:§V -AsPlainText -Force", "ConvertTo-SecureString '§V' -AsPlainText",
		"convertto-securestring \"§V\" -asplaintext -force", "$p = ConvertTo-SecureString -Force -AsPlainText '§V'", "ConvertTo-SecureString -s §V -a -f", "^ConvertTo-SecureString `\n  -AsPlainText -Force `\n  -String '§V'", "'§V' | ConvertTo-SecureString -AsPlainText -Force", "\"§V\" | ConvertTo-SecureString -AsPlainText",
		"level=info msg=\"run: ConvertTo-SecureString -String '§V' -AsPlainText -Force\"",
	},
	"here-documents of tokens": {
		"admin_token = <<EOT\n§V\nEOT", "admin_token = <<-EOT\n    §V\n  EOT", "auth_token: <<~TOKEN\n  §V\nTOKEN", "resource \"x\" \"y\" {\n  admin_token = <<-EOT\n    §V\n  EOT\n}", "registry_auth = <<EOT\n§V\nEOT", "ADMIN_PASS=<<EOF\n§V\nEOF",
	},
	"formats for chpasswd": {
		"printf \"%s:%s\\n\" core §V | chpasswd", "printf \"core:%s\\n\" §V | chpasswd", "printf 'core:%s\\n' '§V' | sudo chpasswd", "printf '%s:%s\\n' core §V root §V | /usr/sbin/chpasswd", "+ printf 'root:%s' \"§V\" | chpasswd -e",
	},
	"headers with escaped blanks": {
		"curl -H Authorization:\\ Bearer\\ §K https://h", "curl -k -HAuthorization:\\ Basic\\ §K https://h", "curl -H X-Auth-Token:\\ §K https://h/redfish/v1", "curl --header X-Auth-Token:\\ §K https://h", "curl -HAuthorization:Bearer\\ §K https://h", "curl -HX-Vault-Token:\\ §K https://h",
	},
	"users of one letter":      {"curl -uu:§V https://h", "curl -uU:§V https://h", "curl -uk:§V -k https://h", "curl -kuk:§V https://h", "curl -Uu:§V https://h"},
	"quoted logins of sqlplus": {"sqlplus sys/\"§V\"@db1", "sqlplus 'system/\"§V\"@orcl'", "sqlplus -S sys/\"§V\"@db1 as sysdba", "sqlplus -s \"app/§V@db1\""},
	"cookies by what they are": {
		"Cookie: lang=de; sessionid=§K; theme=dark", "Cookie: PHPSESSID=§K", "cookie: a=b; JSESSIONID=§K; Path=/", "Set-Cookie: connect.sid=s%3A§K; Path=/; HttpOnly", "> Cookie: lang=de; session=§K", "curl --cookie \"_oauth_proxy=§K\" https://h", "{\"Cookie\":\"lang=de; _oauth_proxy=§K\"}", "map[Cookie:[a=b; sid=§K]]",
	},
}

// keptTexts8 look like the kinds of kindTexts8.
var keptTexts8 = []string{
	"ConvertTo-SecureString $password -AsPlainText -Force", "ConvertTo-SecureString -AsPlainText -Force -String $env:PASSWORD", "ConvertTo-SecureString: the term is not recognized", "ConvertTo-SecureString (Get-Content file) -Force",
	"description = <<EOT\nworker pool of rack 7\nEOT", "printf '%s\\n' worker-0 worker-1 | sort", "curl -H Accept:\\ application/json https://h", "curl -sSku https://h:6443/version", "curl -H Content-Type:\\ application/json",
	"Cookie: lang=de; theme=dark", "Set-Cookie: lang=en-US; Path=/; Max-Age=3600", "the cookie is missing", "sqlplus / as sysdba", "sqlplus system@orcl",
}

// TestKept8: what looks like them stays.
func TestKept8(t *testing.T) {
	stays(t, keptTexts8...)
}
