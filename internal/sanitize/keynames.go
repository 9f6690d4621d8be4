package sanitize

// keyName is how the name of a field ends whose value is, or may be, a secret.
type keyName struct {
	end  string // in lower case and without separators: of bmc-password, ipmiPassword and ADMIN_PASSWORD it is "password"
	kind keyKind
	from string // who names fields so
}

// keyNames is the list of names by which secrets are known. The first that fits counts. To
// add one: name the program that prints it, and add a text to the tests in which it hides
// a secret and one in which it must not.
var keyNames = []keyName{
	{"password", deepKey, "BMC secrets of Metal3, install-config (vSphere, BMC), NetworkManager, cloud-init, Redfish sessions, oauth htpasswd"},
	{"passwd", deepKey, "libvirt graphics, cloud-init chpasswd, the daemon's passwd section"},
	{"passphrase", deepKey, "LUKS, wpa_supplicant, SSH keys"},
	{"passcode", deepKey, "iLO and XCC"},
	{"clientsecret", deepKey, "identity providers (openshift/api:config/v1 OpenIDIdentityProvider), Azure credentials"},
	{"bmcpass", deepKey, "dev-scripts and their kin"},
	{"ipmipass", deepKey, "dev-scripts and their kin"},
	{"psk", deepKey, "NetworkManager 802-11-wireless-security.psk, wpa_supplicant"},
	{"wepkey", deepKey, "NetworkManager wep-key0 to wep-key3"},
	{"authtok", deepKey, "sssd ldap_default_authtok"},
	{"secretkey", secretKey, "S3 and AWS credentials"},
	{"secretaccesskey", secretKey, "AWS credentials"},
	{"privatekey", secretKey, "service accounts of GCP, WireGuard, SSH"},
	{"accountkey", secretKey, "Azure storage"},
	{"presharedkey", secretKey, "WireGuard, IPsec"},
	{"apikey", secretKey, "IBM Cloud and web services"},
	{"accesstoken", secretKey, "OAuth"},
	{"refreshtoken", secretKey, "OAuth, OpenShift Cluster Manager"},
	{"bearertoken", secretKey, "client-go's rest.Config"},
	{"bootstraptoken", secretKey, "kubeadm, HyperShift"},
	{"identitytoken", secretKey, "config.json of docker and podman"},
	{"registrytoken", secretKey, "config.json of docker and podman"},
	{"dockerconfigjson", secretKey, "Secrets of type kubernetes.io/dockerconfigjson"},
	{"dockercfg", secretKey, "Secrets of type kubernetes.io/dockercfg"},
	{"clientkeydata", secretKey, "kubeconfig"},
	{"secretvalue", secretKey, "libvirt"},
	{"internalregistrypullsecret", secretKey, "ControllerConfig (openshift/api:machineconfiguration/v1 ControllerConfigSpec)"},
	{"token", maybeKey, "everybody; also the names of Secrets"},
	{"authorization", maybeKey, "HTTP; also the mode of an API server"},
	{"cookie", maybeKey, "HTTP"},
	{"credential", maybeKey, "everybody; also the names of Secrets"},
	{"accesskey", maybeKey, "AWS, where it is public, and S3"},
	{"pass", maybeKey, "scripts; also results of tests"},
	{"pwd", maybeKey, "scripts; also directories"},
}
