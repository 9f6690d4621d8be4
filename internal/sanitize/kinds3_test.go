package sanitize

// kindTexts3 are kinds that a later attack found, with variations of each.
var kindTexts3 = map[string][]string{
	"changes": {
		"[-password: §V-]{+password: §V+}", "password: [-§V-]{+§V+}", "password = [-§V-] {+§V+}", "[-password=§V-]{+password=§V+}", "apiKey: [-§V99-]{+§V99+}",
		"-password = §V", "2026-11-28T10:12:05.123456789Z -password = §V\n2026-11-28T10:12:06.123456789Z +password = §V", "-password: §V\n+password: §V\n~", "-password §V",
		"< password = §V\n> password = §V", "[-\"password\": \"§V\",-]{+\"password\": \"§V\",+}", "[-DB_PASSWORD=§V-]\n{+DB_PASSWORD=§V+}", " - password = §W two", "tool --password = §V",
		"-client_secret = §V", "- bmc_password = \"§V\"", "[-password: \"§V\"-]{+password: \"§V\"+}", "  password: [-'§V'-]{+'§V'+}", "{+admin_password: §V+}", "[-admin_password: §V-]",
	},
	"tables": {
		"| host | bmc password | state |\n|------|--------------|-------|\n| w1 | `§V` | failed |\n| w2 | §V | ok |", "| user | **password** |\n|:--|--:|\n| a | **§W** |\n| b | §V |", "|password|\n|---|\n|§V|",
		"host,user,\"bmc_password\",note\nw1,root,\"§V\",\"a,b failed\"\nw2,root,§V,", "host,user,password,note\nw1,root,§V,\"a,b failed\"", "\"host\",\"pass,word\",\"password\"\n\"a,b\",\"x\",\"§V\"\n\"a\",\"x,y\",\"§V\"",
		"host;user;password\nw1;root;§V", "host\tuser\tpassword\nw1\troot\t§V\nw2\troot\t§W", " name | password | state\n------+----------+------\n w1   | §V | ok\n w2   | §W | ok\n(2 rows)",
		"+------+----------------+\n| name | password       |\n+------+----------------+\n| w1   | §V |\n+------+----------------+\n| w2   | §V |\n+------+----------------+",
		"┌──────┬────────────────┐\n│ name │ password       │\n├──────┼────────────────┤\n│ w1   │ §V │\n│ w2   │ §V │\n└──────┴────────────────┘", "║ name ║ password ║\n╠══╬══╣\n║ w1 ║ §V ║",
		"HOST  USER  PASSWORD        STATE\nw1    root  §V  failed\nw2    root  §V  ready", "HOST  PASSWORD             STATE\nw1    §V  failed\nw2                         ready\nw3    §V  ready",
		"NAME    BMC PASSWORD     STATE\nw1      §V   failed", "|= host |= password |\n| w1 | §V |", "||host||password||\n|w1|§V|", "name     | w1\npassword | §V9", "-[ RECORD 1 ]----\nname     | w1\npassword | §V9",
		"*************************** 1. row ***\n    user: root\nauthentication_string: §V\npassword: §V", "user,client_secret\nw1,§V9x8", "user,api_key,note\nw1,§V77Kd8Wq3,x", "user,token\nw1,§V77Kd8Wq3Lm5",
		"2026-11-28T10:12:04.123456789Z stdout F | name | password |\n2026-11-28T10:12:04.123456789Z stdout F |---|---|\n2026-11-28T10:12:04.123456789Z stdout F | w1 | §V |",
		"Nov 28 10:12:01 master-0 x[2345]: host,password\nNov 28 10:12:01 master-0 x[2345]: w1,§V", "{\"msg\": \"| name | password |\\n|---|---|\\n| w1 | §V |\"}", "{\"msg\": \"name,password\\nw1,§V\\n\"}",
		" password \n----------\n §W\n(1 row)", "====  ============\nhost  password\n====  ============\nw1    §V\n====  ============", "| Field | Value |\n|---|---|\n| password | §V9 |\n| adminPass | §V9 |",
		"user,password\na,§V\nb,§W\nc,§V", "| user | password (BMC) |\n| a | §V |", "HOST   PASSWORD       TOKEN\nw1     §V   §V9xKp3Lm5Xz", "    HOST        USER   PASSWORD            STATE\n    w1          root   §V      failed",
	},
	"wrapped tokens": {
		"projected token §J.P\nPARPF6SKklTgTDQbcG8ykIZUA§K expired", "Nov 28 10:12:03 m0 kubenswrapper[2]: token §J.P\nNov 28 10:12:03 m0 kubenswrapper[2]: PARPF6SKklTgTDQbcG8ykIZUA§K expired",
		"token eyJhbGciOiJSUzI1NiIsImtp\nZCI6IjA4TFJ6bUlQbEJSMm5KdzJZckxI§Kn0.eyJpc3MiOiJrdWJl", "curl -H 'Authorization: Bearer §J\nL3NlcnZpY2VhY2NvdW50§K0.PARPF6SKklTgTDQbc' https://a:6443/",
		"token §J\nL3NlcnZpY2VhY2NvdW50Iiwic3ViIjoic3lzdGVtOnNlcnZpY2VhY2NvdW50OjM3cGox§KbzpT.PARPF6SKklTg\nTDQbcG8ykIZUA381§K expired\nnext line",
	},
	"passwords of kubeadmin": {
		`msg="kubeadmin: \u0022§P\u002d§P\u002d§P\u002d§P\u0022 login failed"`, `x \u0041§Q-§P-§P-§P login failed`, "x §P%2D§P%2D§P%2D§P y", "x §P&#45;§P&#45;§P&#45;§P y", `x §P&#x2d;§P\x2d§P\055§P y`,
		`{"x":"\\u0041§Q\\u002d§P-§P-§P"}`, "<p>§P-§P-§P-§P</p>",
	},
	"sequences": {
		"Nov 28 10:12:01 m0 x[2345]: #033[33mdb_password#033[0m=#033[1m§V#033[0m failed", "#033[1mpassword#033[0m: #033[32m\"§V\"#033[0m", "db_#033[31mpass#033[0mword=#033[1m§V#033[0m failed",
		"^[[33mdb_password^[[0m=^[[1m§V^[[0m failed", "␛[33mdb_password␛[0m=␛[1m§V␛[0m failed", "[33mdb_password[0m=[1m§V[0m failed", "<ESC>[33mdb_password<ESC>[0m=<ESC>[1m§V<ESC>[0m failed",
		"#011password:#011§V", "password: §V#012user: root", "a#012password: §V#012b", "[1;31mpassword: §V[m",
	},
	"tokens": {
		"dckr_pat_§T unauthorized", "dckr_oat_§T unauthorized", "acme_pat_§T x", "x: foo-secret-§T", "\"vendor_live_§T\"", "figd_§T§T", "https://a/?x=acme_key_§T&y", "GOCSPX-§T", "xoxc-1234-§T",
	},
	"values on the next line": {
		"client_secret=§V\\\n§V\nlogin failed", "tool --username=ops --password=\\\n§V --auto-attach", "  102  tool --username=ops --password=\\\n  103  §V --auto-attach", "db.password=§W morwenbry\\\n    §W\nx",
		"password = \"\"\"\n§V\"\"\"\n[[users]]", "{\n  \"admin_password\": {\n    \"value\": \"§V\",\n    \"type\": \"string\"\n  }\n}", "{\n  \"Cmd\": [\n    \"/bin/run\",\n    \"--db-password\",\n    \"§V\",\n    \"-v\"\n  ]\n}",
		" apiVersion: v1\n kind: Secret\n data:\n-  pin: §B\n+  pin: §B", "Annotations:map[kubectl.kubernetes.io/last-applied-configuration:{\"kind\":\"ConfigMap\",\"data\":{\"x\":\"§W\"}} other:kept]",
		"blob §X rejected",
	},
}
