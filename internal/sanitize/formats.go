package sanitize

// format reads the secrets of one format: a form of text in which the place tells that a
// value is a secret, or where it ends.
type format struct {
	marks []string // literals of which a text must carry one, in lower case
	// spans returns where the secrets are, in any order. They may overlap.
	spans func(string) [][2]int
}

// formats are tried before the patterns: they know where a value ends.
var formats = []format{
	{elementMarks, elements},
	{[]string{"value:", "value\"", "value'", `value\`, "value="}, namedValues},
	{toolMarks, commandLines},
	{keyMarks, keyfiles},
	{[]string{"%3d"}, encodedFields},
	{[]string{"proxy"}, plainProxies},
}

// finder is a format or a pattern.
type finder struct {
	marks []string
	hide  func(*masked)
}

// finders are all of them in the order in which they are tried.
var finders = func() (list []finder) {
	for _, f := range formats {
		list = append(list, finder{f.marks, func(m *masked) { m.hideAll(f.spans(m.text)) }})
	}
	for _, p := range secretPatterns {
		list = append(list, finder{p.marks, func(m *masked) { m.apply(p) }})
	}
	return list
}()
