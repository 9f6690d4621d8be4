package netcheck

import (
	"testing"

	"golang.org/x/net/dns/dnsmessage"
)

// TestAnswerToAnotherQuestion: an answer with the number of the query and another question is passed over.
func TestAnswerToAnotherQuestion(t *testing.T) {
	query, err := queryOf("api.lark.example.com", dnsmessage.TypeA)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, name string
		kind       dnsmessage.Type
		code       dnsmessage.RCode
		ok         bool
	}{
		{"the same", "api.lark.example.com.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, true},
		{"the same in other case", "API.lark.Example.com.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, true},
		{"another name", "api.wren.example.com.", dnsmessage.TypeA, dnsmessage.RCodeSuccess, false},
		{"another type", "api.lark.example.com.", dnsmessage.TypeAAAA, dnsmessage.RCodeSuccess, false},
		{"another name that does not exist", "api.wren.example.com.", dnsmessage.TypeA, dnsmessage.RCodeNameError, false},
		{"no question", "", dnsmessage.TypeA, dnsmessage.RCodeSuccess, false},
		{"no question, an error", "", dnsmessage.TypeA, dnsmessage.RCodeFormatError, true},
	} {
		var m dnsmessage.Message
		if err := m.Unpack(query); err != nil {
			t.Fatal(err)
		}
		m.Response, m.RCode = true, tt.code
		m.Questions[0].Type = tt.kind
		if m.Questions = m.Questions[:1]; tt.name == "" {
			m.Questions = nil
		} else {
			m.Questions[0].Name = dnsmessage.MustNewName(tt.name)
		}
		raw, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok, _ := readAnswer(raw, query); ok != tt.ok {
			t.Errorf("%s: taken %t, want %t", tt.what, ok, tt.ok)
		}
	}
}
