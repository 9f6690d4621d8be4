package sanitize

import (
	"strings"
	"testing"
)

// kindTexts5 are kinds that a third blind attack found, with variations of each.
var kindTexts5 = map[string][]string{
	"networks": {
		"nmcli device wifi connect lab-ap password §V ifname wlp1s0", "nmcli dev wifi connect 'lab ap' password \"§V\"", "sudo nmcli d w connect lab password §W", "nmcli con modify lab wifi-sec.psk §V",
		"nmcli connection add type wifi ssid lab 802-11-wireless-security.psk '§V §V'", "nmcli c mod vpn0 802-1x.private-key-password §V", "nmcli con mod gsm gsm.pin §V", "wpa_passphrase lab-ap §V", "wpa_passphrase 'lab ap' §W",
		"+ nmcli device wifi connect lab password §V", "virsh set-user-password vm0 root §V", "redis-cli CONFIG SET requirepass §V", "redis-cli -h x config set masterauth '§V'", "{\"cmd\":\"nmcli device wifi connect lab password §V\"}",
	},
	"forms": {
		"------b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§V\r\n------b--\r\n", "--b\nContent-Disposition: form-data; name=\"bmc_password\"\n\n§V\n--b--", "--b\nContent-Disposition: form-data; name=apiToken\n\n§V77",
		"^--b\r\nContent-Disposition: form-data; name=\"password\"\r\nContent-Type: text/plain\r\n\r\n§V\r\n--b--", "{\"body\":\"--b\\r\\nContent-Disposition: form-data; name=\\\"password\\\"\\r\\n\\r\\n§V\\r\\n--b--\"}",
		"^--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n§V and §V\r\n--b--\r\n",
	},
	"lines that end as on Windows": {
		"password:\r\n  §V\r\nuser: root\r\n", "password: |\r\n  §V\r\n", "tool --password \\\r\n  §V\r\n", "- name: DB_PASSWORD\r\n  value: §V\r\n", "passphrase = \"\"\"\r\nfour plain words here\r\n\"\"\"\r\n",
	},
	"documents of Terraform": {
		"vsphere_password = <<-EOT\n  §V\nEOT\nvsphere_server = \"vc.example.com\"\n", "bmc_password = <<EOF\n§V\nEOF\n", "  admin_password = <<~PW\n    §V §V\n  PW\n", "password: <<EOT\n§V\n§V\nEOT", "PASSWORD=<<'EOF'\n§V\nEOF\n",
	},
	"elements inside": {
		"<AdministratorPassword><Value>§V</Value><PlainText>true</PlainText></AdministratorPassword>", "<Password>\n  <Value>§V</Value>\n  <PlainText>true</PlainText>\n</Password>", "<password><string>§V</string></password>",
		"<password><value xsi:type=\"x\">§V</value></password>", "<AdminPassword> <VALUE>§W</VALUE></AdminPassword>", "<password><![CDATA[§W]]></password>",
	},
	"several hosts": {
		"transport_url = rabbit://ironic:§V@192.0.2.1:5672,ironic:§V@192.0.2.2:5672/", "rabbit://a:§V@h1.example.com:5671,a:§V@h2.example.com:5671,a:§V@h3.example.com:5671//", "mongodb://u:§V@192.0.2.1:27017,192.0.2.2:27017/db",
	},
	"values of helm": {
		"helm upgrade pg x --set global.auth.postgresPassword=§W,primary.size=8Gi", "helm install x y --set auth.password=§V,auth.username=root,replicas=2", "--set-string auth.replicationPassword=\"§V\"",
	},
}

// keptTexts5 look like the kinds of kindTexts5.
var keptTexts5 = []string{
	"commit a8e60ff7b6032530d60b85b1a192a43b7890d4fa\n+++ b/pkg/secrets/token_controller.go\n+\tpassword := os.Getenv(\"BMC_PASSWORD\")\n+\treturn errNoPassword", "password = os.environ['BMC_PASSWORD']", "password: process.env.DB_PASSWORD",
	"password = System.getenv(\"DB_PASSWORD\");", "password = ENV['DB_PASSWORD']", "\"password\": os.getenv(\"DB_PASSWORD\"),", "Settings(user='root', password=SecretStr('**********'), host='bmc1.example.com')", "password=Secret(\"***\")",
	"nmcli device wifi list", "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello world", "wpa_passphrase is not installed",
	"<Name><Value>worker-0</Value></Name>", "ca_bundle = <<EOF\nx\nEOF",
}

// TestBlindAttack7: what stands behind a value that was hidden is still there to be read.
func TestBlindAttack7(t *testing.T) {
	s := sanitizer(t, "a")
	ways := sanitizedWays(s)
	for _, text := range keptTexts5 {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](text); got != text {
				t.Errorf("%s: %q\nbecame %q", how, text, got)
			}
		}
	}
	for _, c := range []struct{ text, kept, gone string }{
		{"nmcli device wifi connect lab-ap password plovernest ifname wlp1s0", "ifname wlp1s0", "plovernest"},
		{"vsphere_password = <<-EOT\n  Tern83Wq9xKp\nEOT\nvsphere_server = \"vc.example.com\"\n", "EOT\nvsphere_server = \"vc.example.com\"", "Tern83"},
		{"<AdministratorPassword><Value>Tern83Wq9xKp</Value><PlainText>true</PlainText></AdministratorPassword>", "</Value><PlainText>true</PlainText>", "Tern83"},
		{"rabbit://ironic:Tern83Wq9xKp@192.0.2.1:5672,ironic:osprey44wall@192.0.2.2:5672/", "@192.0.2.1:5672,ironic:[redacted", "osprey44"},
		{"rabbit://ironic:Tern83Wq9xKp@192.0.2.1:5672,ironic:osprey44wall@192.0.2.2:5672/", "@192.0.2.2:5672/", "Tern83"},
		{"helm upgrade pg x --set a.postgresPassword=plovernest,primary.size=8Gi", ",primary.size=8Gi", "plovernest"},
		{"--b\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\nTern83Wq9xKp\r\n--b\r\nContent-Disposition: form-data; name=\"host\"\r\n\r\nbmc1.example.com\r\n--b--", "bmc1.example.com", "Tern83"},
	} {
		for _, how := range []string{"text", "lines"} {
			if got := ways[how](c.text); !strings.Contains(got, c.kept) || strings.Contains(got, c.gone) {
				t.Errorf("%s: %q became %q", how, c.text, got)
			}
		}
	}
}
