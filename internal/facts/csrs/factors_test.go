package csrs

import (
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"testing"
)

func TestFactored(t *testing.T) {
	prime := func(bits int) *big.Int {
		p, err := rand.Prime(rand.Reader, bits)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	next := func(p *big.Int) *big.Int {
		q := new(big.Int).Add(p, big.NewInt(2))
		for !q.ProbablyPrime(20) {
			q.Add(q, big.NewInt(2))
		}
		return q
	}
	p := prime(1024)
	for _, c := range []struct {
		name string
		n    *big.Int
		want string
	}{
		{"a factor of 24 bits", new(big.Int).Mul(big.NewInt(16777213), prime(2024)), "its modulus has the factor 16777213"},
		{"a cube", new(big.Int).Exp(prime(683), big.NewInt(3), nil), "its modulus is a power of one number"},
		{"a small factor", new(big.Int).Mul(big.NewInt(65539), prime(2031)), "its modulus has the factor 65539"},
		{"a prime", prime(2048), "its modulus is a prime"},
		{"neighbours", new(big.Int).Mul(p, next(p)), "the two factors of its modulus are next to each other"},
		{"a square", new(big.Int).Mul(p, p), "the two factors of its modulus are next to each other"},
	} {
		if got := factored(c.n); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	if got := factored(key.N); got != "" {
		t.Errorf("a key as it should be: %s", got)
	}
}
