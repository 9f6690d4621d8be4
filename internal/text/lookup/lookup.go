// Package lookup finds the pages of the catalog that have the words of a question, best first.
//
// Invariants:
//   - It is built from pages when somebody asks; nothing is stored.
//   - The same pages and question give the same order.
//   - It says which pages have words, and never that one of them is the cause.
package lookup

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Page is something that can be found.
type Page struct {
	Kind, ID, Title string
	Fields          []Field
	Phrases         []string // in which people ask for the page
	Prior           float64  // how much pages of this kind are wanted; 0 counts as 1
}

// Field is a text of a page, and how much a word in it says about the page.
type Field struct {
	Weight float64
	Text   string
}

// Hit is a page that has words of a question.
type Hit struct {
	Kind  string  `json:"kind"`
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Score float64 `json:"score"` // comparable within one answer only
	// Met is the share of the question that the page has, 0 to 1: rare words count more.
	Met float64 `json:"met"`
	// Named reports whether the question is the name of the page in other words, or one of the
	// phrases in which people ask for it.
	Named bool `json:"named,omitempty"`

	Words int `json:"-"` // how many different words of the question the page has itself
}

// Index is what a list of pages can be searched with.
type Index struct {
	pages []Page
	vocab *vocabulary
	terms map[string][]posting
	names []string // the terms in alphabetical order
	ids   [][]string
	size  []float64 // of each page, 1 is the average
}

// posting is one term on one page.
type posting struct {
	page   int
	weight float64
}

// The constants of BM25: how fast a repeated word stops to count, and how much long pages are
// held against their words.
const (
	saturation = 1.6
	byLength   = 0.35
	atNearby   = 0.5 // of a word that stands for another one
	atClosest  = 0.9
	atPrefix   = 0.7 // of a word that begins with the one that was asked for
	ofWeak     = 0.6 // of how rare a word is that fits too many pages
	mostOften  = 3   // how often a word counts in one field
)

// New makes an index of pages.
func New(pages []Page) *Index {
	ix := &Index{pages: pages, vocab: newVocabulary(), terms: map[string][]posting{}, ids: make([][]string, len(pages)), size: make([]float64, len(pages))}
	total := 0.0
	for i, p := range pages {
		weights := map[string]float64{}
		for _, f := range p.Fields {
			seen := map[string]float64{}
			ix.vocab.each(f.Text, true, func(term string, _ bool) {
				if seen[term]++; seen[term] <= mostOften {
					weights[term] += f.Weight
				}
				ix.size[i]++
			})
		}
		for term, w := range weights {
			ix.terms[term] = append(ix.terms[term], posting{i, w})
		}
		if p.Kind != message {
			ix.ids[i] = ix.vocab.asked(p.ID)
		}
		total += ix.size[i]
	}
	for i := range ix.size {
		ix.size[i] /= max(1, total/float64(max(1, len(pages))))
	}
	for term := range ix.terms {
		ix.names = append(ix.names, term)
	}
	slices.Sort(ix.names)
	return ix
}

// Search returns the pages that have words of a question, best first.
func (ix *Index) Search(question string) []Hit {
	asked := ix.vocab.asked(question)
	scores, met, words := make([]float64, len(ix.pages)), make([]float64, len(ix.pages)), make([]int, len(ix.pages))
	whole := 0.0
	for _, term := range asked {
		found, rare := ix.find(term)
		whole += rare
		for page, f := range found {
			scores[page] += f.score
			if f.itself {
				words[page]++
				met[page] += rare
			} else {
				met[page] += rare / 2
			}
		}
	}
	hits := []Hit{}
	for i, p := range ix.pages {
		if scores[i] == 0 {
			continue
		}
		share := met[i] / whole
		h := Hit{Kind: p.Kind, ID: p.ID, Title: p.Title, Met: round(share), Words: words[i]}
		h.Named = ix.named(i, asked, question)
		h.Score = round(scores[i] * (0.4 + 0.6*share) * cmp.Or(p.Prior, 1) * (1 + 0.15*shared(ix.ids[i], asked)))
		hits = append(hits, h)
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		switch {
		case a.Named != b.Named:
			return map[bool]int{true: -1, false: 1}[a.Named]
		case a.Score != b.Score:
			return cmp.Compare(b.Score, a.Score)
		}
		return strings.Compare(a.ID, b.ID)
	})
	return hits
}

// What a line and a page must share that it is no chance: words of the line itself, their
// score, and how much of the line they are. Of the lines of the public reports that no message
// knows, pages that have nothing to do with them stay below 15.
const (
	nearWords = 4
	nearScore = 16
	nearMet   = 0.45
	nearRest  = 0.7 // of the score of the first one
	mostNear  = 3
)

// Near returns the pages whose words a line of a program has, best first: at most three, and
// only those that have clearly more of them than a page has by chance.
func (ix *Index) Near(line string) []Hit {
	list := []Hit{}
	for _, h := range ix.Search(plainWords(line)) {
		if len(list) < mostNear && h.Words >= nearWords && h.Score >= nearScore && h.Met >= nearMet && (len(list) == 0 || h.Score >= nearRest*list[0].Score) {
			list = append(list, h)
		}
	}
	return list
}

// plainWords are the words of a line without names, numbers, paths and addresses: these are
// rare, and say nothing about what is wrong.
func plainWords(line string) string {
	return strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool {
		return strings.ContainsAny(w, "/@[=0123456789") || strings.Count(w, ".") > 1
	}), " ")
}

// found is how well a page has one word of a question; itself, not only one that stands for it.
type found struct {
	score  float64
	itself bool
}

// find returns the pages with a term, or with a word that stands for it, and how rare it is.
func (ix *Index) find(term string) (pages map[int]found, rare float64) {
	pages = map[int]found{}
	rare = ix.rarity(term)
	add := func(t string, share float64, itself bool) {
		r := min(rare, ix.rarity(t))
		for _, p := range ix.terms[t] {
			long := 1 - byLength + byLength*min(3, ix.size[p.page])
			f := pages[p.page]
			f.score = max(f.score, share*r*p.weight*(saturation+1)/(p.weight+saturation*long))
			f.itself = f.itself || itself
			pages[p.page] = f
		}
	}
	add(term, 1, true)
	for _, near := range ix.vocab.closest[term] {
		add(near, atClosest, false)
	}
	for _, near := range ix.vocab.nearby[term] {
		add(near, atNearby, false)
	}
	if len(term) >= 4 && len(ix.terms[term]) == 0 && !strings.Contains(term, " ") {
		i, _ := slices.BinarySearch(ix.names, term)
		for ; i < len(ix.names) && strings.HasPrefix(ix.names[i], term); i++ {
			add(ix.names[i], atPrefix, true)
		}
	}
	return pages, rare
}

// rarity is how much a word says: the fewer pages have it, the more.
func (ix *Index) rarity(term string) float64 {
	n, with := float64(len(ix.pages)), float64(len(ix.terms[term]))
	r := math.Log(1 + (n-with+0.5)/(with+0.5))
	if weak[term] {
		r *= ofWeak
	}
	return r
}

// How much of a question a phrase must have, and of the phrase the question, to be the same.
const (
	enough = 0.75
	mutual = 0.6
)

func (ix *Index) named(page int, asked []string, question string) bool {
	p := ix.pages[page]
	if len(ix.ids[page]) > 1 && sameTerms(asked, ix.ids[page]) && slices.Equal(turns(question), turns(p.ID)) {
		return true
	}
	return len(asked) > 2 && slices.ContainsFunc(p.Phrases, func(phrase string) bool {
		in := ix.vocab.asked(phrase)
		return shared(asked, in) >= enough && shared(in, asked) >= mutual
	})
}

// shared is the share of one list that is in another.
func shared(of, in []string) float64 {
	n := 0
	for _, t := range of {
		if slices.Contains(in, t) {
			n++
		}
	}
	return float64(n) / float64(max(1, len(of)))
}

func sameTerms(a, b []string) bool { return len(a) == len(b) && shared(a, b) == 1 }

// round keeps as much of a number as is worth to be shown.
func round(f float64) float64 { return math.Round(f*100) / 100 }
