package csrs

import (
	"crypto/rsa"
	"crypto/x509"
	"math/big"
	"strconv"
)

// What is looked for in the modulus of an RSA key. Not more: this is against broken generators and keys
// that were made to be read, and not a search.
const (
	maxFactor  = 1 << 24
	closeSteps = 100 // of Fermat's method: the two primes are next to each other
)

// Factored returns how the private key of a request's RSA key can be computed in a moment, "" where it cannot, or the key
// is none. It takes a tenth of a second.
func (r Request) Factored() string {
	block, err := onlyBlock(r.raw)
	if err != nil {
		return ""
	}
	p, err := x509.ParseCertificateRequest(block)
	if err != nil {
		return ""
	}
	if key, ok := p.PublicKey.(*rsa.PublicKey); ok {
		return factored(key.N)
	}
	return ""
}

func factored(n *big.Int) string {
	if p := smallFactor(n); p != 0 {
		return "its modulus has the factor " + strconv.Itoa(p)
	}
	if n.ProbablyPrime(1) {
		return "its modulus is a prime"
	}
	root := new(big.Int).Sqrt(n)
	if new(big.Int).Mul(root, root).Cmp(n) < 0 {
		root.Add(root, big.NewInt(1))
	}
	for range closeSteps { // n = root² - other², if it is the product of two numbers that are close
		other := new(big.Int).Mul(root, root)
		other.Sub(other, n)
		if is := new(big.Int).Sqrt(other); is.Mul(is, is).Cmp(other) == 0 {
			return "the two factors of its modulus are next to each other"
		}
		root.Add(root, big.NewInt(1))
	}
	for _, k := range []int64{3, 5, 7} { // a square is found above
		if r := rootOf(n, k); new(big.Int).Exp(r, big.NewInt(k), nil).Cmp(n) == 0 {
			return "its modulus is a power of one number"
		}
	}
	return ""
}

// rootOf is the k-th root of n, rounded down.
func rootOf(n *big.Int, k int64) *big.Int {
	low, high := big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), uint(n.BitLen())/uint(k)+1)
	for one := big.NewInt(1); new(big.Int).Sub(high, low).Cmp(one) > 0; {
		mid := new(big.Int).Add(low, high)
		if mid.Rsh(mid, 1); new(big.Int).Exp(mid, big.NewInt(k), nil).Cmp(n) > 0 {
			high = mid
		} else {
			low = mid
		}
	}
	return low
}

// smallFactor returns a prime below maxFactor that divides n, 0 where none does. The primes are tried together, as many as one
// word holds.
func smallFactor(n *big.Int) int {
	primes := smallPrimes(maxFactor)
	rest, product := new(big.Int), new(big.Int)
	for len(primes) > 0 {
		together, taken := uint64(1), 0
		for taken < len(primes) && together <= (1<<63)/uint64(primes[taken]) {
			together *= uint64(primes[taken])
			taken++
		}
		r := rest.Mod(n, product.SetUint64(together)).Uint64()
		for _, p := range primes[:taken] {
			if r%uint64(p) == 0 {
				return p
			}
		}
		primes = primes[taken:]
	}
	return 0
}

// smallPrimes are the primes below a limit.
func smallPrimes(limit int) (list []int) {
	composite := make([]bool, limit)
	for i := 2; i < limit; i++ {
		if composite[i] {
			continue
		}
		list = append(list, i)
		for j := i * i; j < limit; j += i {
			composite[j] = true
		}
	}
	return list
}
