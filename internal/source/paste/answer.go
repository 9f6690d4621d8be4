package paste

import (
	"github.com/rollcall-project/rollcall/internal/kernel/evidence"
	"github.com/rollcall-project/rollcall/internal/source/assisted"
	"github.com/rollcall-project/rollcall/internal/source/plaintext"
)

// savedAnswer reads a text that is an answer of the assisted-service, and reports whether it is one.
// Its clusters and hosts are objects, its events lines: the text is these lines from then on.
func (s *Source) savedAnswer() bool {
	if plaintext.JSON(s.text) == "" {
		return false
	}
	saved, err := assisted.ReadSaved(s.name, s.text)
	s.answer, s.mixed = true, true
	if err != nil {
		s.broken = err
		return true
	}
	s.objects[evidence.AssistedClusters], s.objects[evidence.AssistedHosts] = saved.Clusters, saved.Hosts
	if saved.Whole {
		s.whole = []evidence.Resource{evidence.AssistedClusters, evidence.AssistedHosts}
	}
	s.text, s.now, s.atLeast = saved.Events, saved.Newest, !saved.Newest.IsZero()
	return true
}
