package logline

import (
	"bytes"
	"regexp"
	"strings"
)

// refusals are the forms in which an API answers that it does not do what it is asked for:
// that of Kubernetes (kubernetes/apimachinery:pkg/api/errors/errors.go NewInvalid, NewNotFound,
// NewForbidden), and those of clouds. near is a part of each, in lower case, that is looked for
// first. The groups object, field and what go into the Failure.
var refusals = []struct {
	near []byte
	leaf Leaf
	form *regexp.Regexp
}{
	{[]byte(" is invalid: "), Invalid, regexp.MustCompile(`(?P<object>[A-Za-z][\w.-]*\\? ?\\?"[^"\\]+\\?") is invalid: \[?(?P<field>[a-z][\w.\[\]/-]*): `)},
	{[]byte(" not found"), Missing, regexp.MustCompile(`\b(?P<object>[A-Za-z][A-Za-z0-9]*(?:\.[a-z0-9-]+)* \\?"[^"\\]+\\?") not found`)},
	{[]byte(" is invalid: * "), Invalid,
		regexp.MustCompile(`(?i:the) (?P<object>[A-Z][A-Za-z]+ \\?"[^"\\]+\\?") is invalid: \* (?P<field>[a-z][\w.\[\]/-]*): `)},
	{[]byte(" cannot "), NotAllowed, regexp.MustCompile(`(?i:user) \\?"(?P<object>[^"\\]+)\\?" cannot (?P<what>[a-z]+ (?:resource )?\\?"[^"\\]+\\?")`)},
	{[]byte("not authorized to perform"), CloudDenied, regexp.MustCompile(`(?i)not authorized to perform(?:: (?P<object>[\w:.-]+))?`)},
	{[]byte("accessdenied"), CloudDenied, regexp.MustCompile(`AccessDenied`)},
	{[]byte("unauthorizedoperation"), CloudDenied, regexp.MustCompile(`UnauthorizedOperation`)},
	{[]byte("authorizationfailed"), CloudDenied, regexp.MustCompile(`AuthorizationFailed`)},
	{[]byte("iam_permission_denied"), CloudDenied, regexp.MustCompile(`IAM_PERMISSION_DENIED`)},
	{[]byte("permission to perform this operation"), CloudDenied, regexp.MustCompile(`Permission to perform this operation was denied`)}, // vSphere
	{[]byte("credentials insufficient"), CloudDenied, regexp.MustCompile(`(?i)credentials insufficient`)},
	{[]byte("pendingverification"), CloudDenied, regexp.MustCompile(`(?P<object>PendingVerification)`)},
	{[]byte("invalidclienttokenid"), CloudCredential, regexp.MustCompile(`InvalidClientTokenId`)},
	{[]byte("signaturedoesnotmatch"), CloudCredential, regexp.MustCompile(`SignatureDoesNotMatch`)},
	{[]byte("expiredtoken"), CloudCredential, regexp.MustCompile(`ExpiredToken`)},
	{[]byte("authfailure"), CloudCredential, regexp.MustCompile(`AuthFailure`)},
	{[]byte("invalid_client"), CloudCredential, regexp.MustCompile(`invalid_client`)},
	{[]byte("invalid_grant"), CloudCredential, regexp.MustCompile(`invalid_grant`)},
	{[]byte("invalidparametervalue"), CloudInvalid,
		regexp.MustCompile(`InvalidParameterValue\b(?:.*?Value \((?P<object>[^)]+)\) for parameter (?P<field>[\w.]+))?`)},
	{[]byte("invalid"), CloudInvalid, regexp.MustCompile(`\b(?P<object>Invalid[A-Z][A-Za-z]*\.[A-Z][A-Za-z]+)\b`)},   // EC2
	{[]byte("code=\"invalid"), CloudInvalid, regexp.MustCompile(`\bCode=\\?"(?P<object>Invalid[A-Z][A-Za-z]*)\\?"`)}, // Azure
	{[]byte("operation is not supported on the object"), CloudUnsupported,
		regexp.MustCompile(`(?:(?P<object>\w+\.[\w-]+): )?[^:]*:? ?The operation is not supported on the object`)}, // vSphere, vim.fault.NotSupported
	{[]byte("unit "), NoUnit, regexp.MustCompile(`(?i)\bunit (?:file )?(?P<object>[\w@.\\:-]+\.(?:service|socket|timer|mount|target|path)) ` +
		`(?:does not exist|not found|could not be found)`)},
	{[]byte("googleapi: error 403"), CloudDenied, regexp.MustCompile(`googleapi: Error 403: (?P<object>[^,\n]*(?i:permission)[^,\n]*)`)},
	{[]byte("auth_permission_denied"), CloudDenied, regexp.MustCompile(`AUTH_PERMISSION_DENIED`)},                                   // Google Cloud
	{[]byte("alreadyexists"), CloudExists, regexp.MustCompile(`(?:resource '(?P<object>[^']+)' )?already exists, alreadyExists\b`)}, // Google Cloud
	{[]byte("is not unique"), CloudExists, regexp.MustCompile(`(?i)\bname \(?[\\"']*(?P<object>[\w.-]+)[\\"']*\)? is not unique`)},  // IBM Cloud
	{[]byte("already "), CloudExists, regexp.MustCompile(`(?i)\b(?:the )?name [\\"'(]*(?P<object>[\w.-]+)[\\"')]* is already (?:taken|used|in use)\b`)},
	{[]byte("internal_error"), CloudFailed, regexp.MustCompile(`\b(?P<object>INTERNAL_ERROR)\b`)}, // Prism, IBM Cloud
	{[]byte("googleapi: error 5"), CloudFailed, regexp.MustCompile(`googleapi: (?P<object>Error 5\d\d)\b`)},
	{[]byte("internalservererror"), CloudFailed, regexp.MustCompile(`\b(?:Code|ERROR CODE)[=:] ?\\?"?(?P<object>InternalServerError)\b`)}, // Azure
	{[]byte("internalexecutionerror"), CloudFailed, regexp.MustCompile(`\b(?P<object>InternalExecutionError)\b`)},                         // Azure
	{[]byte("api error internal"), CloudFailed, regexp.MustCompile(`api error (?P<object>Internal(?:Error|Failure))\b`)},                  // AWS
	{[]byte("unable to fulfill the request"), CloudFailed, regexp.MustCompile(`is currently unable to fulfill the request`)},              // IBM Cloud
	{[]byte("alreadyexists"), CloudExists, regexp.MustCompile(`\b(?P<object>[A-Z][A-Za-z]*AlreadyExists)\b`)},
	{[]byte("duplicate"), CloudExists, regexp.MustCompile(`\b(?P<object>Duplicate[A-Z][A-Za-z]*Name)\b`)},
	{[]byte("missingquota"), CloudQuota, regexp.MustCompile(`MissingQuota\)?:? (?P<object>[\w./-]+)`)},
	{[]byte("limitexceeded"), CloudQuota, regexp.MustCompile(`\b(?P<object>[A-Z][A-Za-z]*LimitExceeded)\b`)},
	{[]byte("limitreached"), CloudQuota, regexp.MustCompile(`\b(?P<object>[A-Z][A-Za-z]*LimitReached)\b`)}, // Azure
	{[]byte("quotaexceeded"), CloudQuota, regexp.MustCompile(`\b(?P<object>[A-Za-z]*QuotaExceeded)\b`)},
	{[]byte("quota exceeded"), CloudQuota, regexp.MustCompile(`(?i)quota exceeded(?: for (?:resources: \[?'?)?(?P<object>[\w./-]+))?`)},
	{[]byte("resource quota of "), CloudQuota, regexp.MustCompile(`(?i)resource quota of (?P<object>[\w./-]+) exceeded`)},    // Azure/ARO-RP:pkg/validate
	{[]byte("exceeding approved "), CloudQuota, regexp.MustCompile(`(?i)exceeding approved (?P<object>[\w ./-]+?) quota\b`)}, // Azure Resource Manager
	{[]byte("' exceeded."), CloudQuota, regexp.MustCompile(`(?i)quota '(?P<object>[\w./-]+)' exceeded`)},                     // Google Cloud
	{[]byte("quota_exceeded"), CloudQuota, regexp.MustCompile(`\b(?P<object>QUOTA_EXCEEDED)\b`)},                             // Google Cloud
	{[]byte("quotaexceededexception"), CloudQuota, regexp.MustCompile(`\b(?P<object>[A-Za-z]*QuotaExceededException)\b`)},    // AWS
	{[]byte("countexceeded"), CloudQuota, regexp.MustCompile(`\b(?P<object>Max[A-Za-z]+CountExceeded)\b`)},                   // EC2
	{[]byte("notavailableforsubscription"), CloudCapacity, regexp.MustCompile(`NotAvailableForSubscription`)},                // Azure
	{[]byte("in your requested availability zone"), CloudInvalid, // EC2, Unsupported
		regexp.MustCompile(`(?i)instance type \(?(?P<object>[\w.-]+)\)? is not supported in your requested availability zone`)},
	{[]byte("your current vcpu limit"), CloudQuota, regexp.MustCompile(`(?i)your current (?P<object>vCPU) limit`)}, // EC2, VcpuLimitExceeded
	{[]byte("insufficientinstancecapacity"), CloudCapacity, regexp.MustCompile(`InsufficientInstanceCapacity`)},
	{[]byte("zone_resource_pool_exhausted"), CloudCapacity, regexp.MustCompile(`ZONE_RESOURCE_POOL_EXHAUSTED`)},
	{[]byte("skunotavailable"), CloudCapacity, regexp.MustCompile(`SkuNotAvailable`)},
	{[]byte("allocationfailed"), CloudCapacity, regexp.MustCompile(`\b(?:Zonal)?AllocationFailed\b`)},                                         // Azure
	{[]byte("not have enough resources available"), CloudCapacity, regexp.MustCompile(`does not have enough resources available to fulfill`)}, // Google Cloud
}

// refusal finds the refusal of an API that a message ends with. at is where it begins, -1
// where there is none.
func refusal(message, lower []byte) (f Failure, at int) {
	at = -1
	for _, r := range refusals {
		if !bytes.Contains(lower, r.near) {
			continue
		}
		all := r.form.FindAllSubmatchIndex(message, -1)
		if len(all) == 0 {
			continue
		}
		m := all[len(all)-1]
		if m[0] < at {
			continue
		}
		at, f = m[0], Failure{Leaf: r.leaf}
		for i, name := range r.form.SubexpNames() {
			if i == 0 || m[2*i] < 0 {
				continue
			}
			text := string(message[m[2*i]:m[2*i+1]])
			switch name {
			case "object":
				f.Object = unquoted(text)
			case "field":
				f.Field = text
			case "what":
				f.Field = strings.Replace(unquoted(text), "resource ", "", 1)
			}
		}
	}
	return f, at
}

// unquoted is a text without its quotes, and without the backslashes before them.
func unquoted(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer(`\`, "", `"`, " ").Replace(text)), " ")
}
