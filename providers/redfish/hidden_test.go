package main

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/url"
	"strings"
	"testing"
)

// TestHidden: what a BMC repeats of the password is not shown, in whatever form.
func TestHidden(t *testing.T) {
	for _, password := range []string{"calvin", "kestrel77!wall", "moss/Lantern+42?Fern"} {
		l := login{Username: "root", Password: password}
		basic := base64.StdEncoding.EncodeToString([]byte("root:" + password))
		for name, words := range map[string]string{
			"plain": password, "Basic": "Basic " + basic, "broken": basic[:8] + "\n " + basic[8:], "URL": "https://root:" + url.QueryEscape(password) + "@192.0.2.1",
			"hex": hex.EncodeToString([]byte(password)), "HEX of Basic": strings.ToUpper(hex.EncodeToString([]byte(basic))),
			"base64 URL": base64.RawURLEncoding.EncodeToString([]byte("root:" + password)),
		} {
			if err := hidden(errors.New("401: refused "+words+" of the session"), l); strings.Contains(err.Error(), "refused") {
				t.Errorf("%s of %s: %v", name, password, err)
			}
		}
		if err := hidden(errors.New("401: root was refused: Base.1.8.AccessDenied"), l); !strings.Contains(err.Error(), "AccessDenied") {
			t.Errorf("%s: %v", password, err)
		}
	}
}
