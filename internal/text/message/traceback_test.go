package message

import (
	"strings"
	"testing"
)

// TestExceptions: the last line of a traceback is the error, and what Python raises for a mistake
// of the program itself is no sign of a cluster.
func TestExceptions(t *testing.T) {
	x := builtIn(t)
	for name, c := range map[string]struct {
		lines  []string
		says   string // a part of the first symptom or unknown error
		reason bool
	}{
		"own code": {[]string{"$ kcli create cluster openshift ocp", "Traceback (most recent call last):", `  File "/usr/bin/kcli", line 33, in <module>`, "    sys.exit(cli())",
			`  File "/usr/lib/python3.11/site-packages/kvirt/cli.py", line 5172, in cli`, "    tag = data.get('tag').split(':')[1]",
			"AttributeError: 'NoneType' object has no attribute 'split'"},
			"kcli fails in its own code: AttributeError: 'NoneType' object has no attribute 'split' (/usr/lib/python3.11/site-packages/kvirt/cli.py, line 5172)", true},
		"without indentation": {[]string{"Traceback (most recent call last):", `File "./inventory.py", line 3, in <module>`, "import yaml", "ModuleNotFoundError: No module named 'yaml'"},
			"inventory.py fails in its own code: ModuleNotFoundError", true},
		"behind times": {[]string{"2024-03-03 10:00:01 Traceback (most recent call last):", `2024-03-03 10:00:01   File "/d/render.py", line 31, in main`,
			"2024-03-03 10:00:01     print(nodes[3])", "2024-03-03 10:00:01 IndexError: list index out of range"}, "render.py fails in its own code: IndexError", true},
		"one while another": {[]string{"Traceback (most recent call last):", `  File "/usr/bin/kcli", line 11, in <module>`, "    k = K()", "TypeError: unexpected argument 'a'", "",
			"During handling of the above exception, another exception occurred:", "", "Traceback (most recent call last):", `  File "/opt/cli.py", line 90, in main`, "    k()",
			"UnboundLocalError: local variable 'k' referenced before assignment"},
			"kcli fails in its own code: UnboundLocalError: local variable 'k' referenced before assignment (/opt/cli.py, line 90), while it handled TypeError", true},
		"a server": {[]string{"Traceback (most recent call last):", `  File "/usr/bin/aicli", line 8, in <module>`, "    sys.exit(cli())",
			"MaxRetryError: HTTPConnectionPool(host='192.168.122.1', port=8090): Max retries exceeded with url: /api (Caused by NewConnectionError: Connection refused)"},
			"the assisted service at 192.168.122.1:8090: nothing listens there", false},
		"a command": {[]string{"Traceback (most recent call last):", `  File "/root/deploy.py", line 60, in run`, "    check_call(c)",
			`  File "/usr/lib64/python3.6/subprocess.py", line 311, in check_call`, "    raise CalledProcessError(retcode, cmd)",
			"subprocess.CalledProcessError: Command 'openshift-install' returned non-zero exit status 1."},
			"deploy.py ended with an exception: subprocess.CalledProcessError: Command 'openshift-install' returned non-zero exit status 1. (/root/deploy.py, line 60)", false},
		"a file": {[]string{"Traceback (most recent call last):", `  File "/usr/bin/x.py", line 2, in <module>`, "    open('/root/install-config.yaml')",
			"FileNotFoundError: [Errno 2] No such file or directory: '/root/install-config.yaml'"}, "x.py ended with an exception: FileNotFoundError", true},
		"ansible": {[]string{"TASK [cluster : render install-config] ****", `fatal: [m0]: FAILED! => {"changed": false, "msg": "'net' is undefined"}`},
			`task "cluster : render install-config" of Ansible failed on m0: 'net' is undefined`, true},
		"ansible in lines": {[]string{"TASK [deploy : start] ****", "fatal: [m0]: FAILED! => {", `    "changed": true,`, `    "msg": "non-zero return code",`, `    "rc": 1,`,
			`    "stderr": "podman: quota of the pool is used up"`, "}"}, `task "deploy : start" of Ansible failed on m0: podman: quota of the pool is used up`, false},
	} {
		r := readText(t, x, strings.Join(c.lines, "\n")+"\n")
		says, reason := "", false
		switch {
		case len(r.Symptoms) > 0:
			says, reason = r.Symptoms[0].Failure, r.Symptoms[0].Reason
		case len(r.Errors) > 0:
			says = r.Errors[0].Says
		}
		if !strings.Contains(says, c.says) || reason != c.reason || len(r.Symptoms)+len(r.Errors) != 1 || len(r.Matches) > 0 {
			t.Errorf("%s: %q (reason %v), %d symptoms, %d errors, %d causes; want %q", name, says, reason, len(r.Symptoms), len(r.Errors), len(r.Matches), c.says)
		}
	}
	if r := readText(t, x, "TASK [probe] ***\nfatal: [m0]: FAILED! => {\"msg\": \"no such thing\"}\n...ignoring\n"); len(r.Symptoms)+len(r.Errors) > 0 {
		t.Errorf("a result that the playbook ignores is trouble: %v %v", r.Symptoms, r.Errors)
	}
}
