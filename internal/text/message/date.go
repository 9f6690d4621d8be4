package message

import (
	"strconv"
	"strings"
	"time"
)

// weekdays and months are what date prints in the locales of C, de, es, fr, it, nl and pt, short
// and long, without points and accents (glibc:localedata/locales, abday, day, abmon, mon).
var (
	weekdays = set("mon", "tue", "wed", "thu", "fri", "sat", "sun", "mo", "di", "mi", "do", "fr", "sa", "so", "montag", "dienstag", "mittwoch",
		"donnerstag", "freitag", "samstag", "sonntag", "lun", "mar", "mie", "jue", "vie", "sab", "dom", "lunes", "martes", "miercoles",
		"jueves", "viernes", "sabado", "domingo", "mer", "jeu", "ven", "sam", "dim", "lundi", "mardi", "mercredi", "jeudi", "vendredi",
		"samedi", "dimanche", "gio", "lunedi", "martedi", "mercoledi", "giovedi", "venerdi", "sabato", "domenica", "ma", "wo", "vr", "za",
		"zo", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag", "seg", "ter", "qua", "qui", "sex",
		"segunda", "terca", "quarta", "quinta", "sexta")
	months = [12][]string{
		{"jan", "januar", "januari", "ene", "enero", "janv", "janvier", "gen", "gennaio", "janeiro"},
		{"feb", "februar", "februari", "febrero", "fevr", "fevrier", "febbraio", "fev", "fevereiro"},
		{"mar", "marz", "maerz", "mrz", "marzo", "mars", "maart", "mrt", "marco"},
		{"apr", "april", "abr", "abril", "avr", "avril", "aprile"},
		{"may", "mai", "mayo", "mag", "maggio", "mei", "maio"},
		{"jun", "juni", "junio", "juin", "giu", "giugno", "junho"},
		{"jul", "juli", "julio", "juil", "juillet", "lug", "luglio", "julho"},
		{"aug", "august", "ago", "agosto", "aout", "augustus"},
		{"sep", "sept", "september", "septiembre", "septembre", "set", "settembre", "setembro"},
		{"oct", "okt", "oktober", "octubre", "octobre", "ott", "ottobre", "out", "outubro"},
		{"nov", "november", "noviembre", "novembre", "novembro"},
		{"dec", "dez", "dezember", "dic", "diciembre", "decembre", "dicembre", "december", "dezembro"},
	}
	accents = strings.NewReplacer("ä", "a", "á", "a", "à", "a", "é", "e", "è", "e", "ì", "i", "ç", "c", "û", "u", "Ä", "A", "Á", "A", "É", "E", "Û", "U")
)

// longestDate is the longest line that is read as one that date printed.
const longestDate = 70

// localDate reads what date prints in another locale than C. Its first word is the day of the
// week; the order of the others differs. Zone: its zone is not UTC, and the time is only near.
func localDate(text string) (t time.Time, zone, ok bool) {
	if len(text) > longestDate || strings.Count(text, ":") < 2 {
		return t, false, false
	}
	fields := strings.FieldsFunc(strings.ToLower(accents.Replace(text)), func(r rune) bool { return strings.ContainsRune(" ,()\u00a0\u202f", r) })
	if len(fields) < 5 || !weekdays[strings.TrimSuffix(strings.TrimSuffix(fields[0], "."), "-feira")] {
		return t, false, false
	}
	var year, month, day int
	var clock time.Time
	half, hasClock, zones := "", false, 0
	for _, field := range fields[1:] {
		field = strings.TrimSuffix(field, ".")
		n, err := strconv.Atoi(field)
		m := monthOf(field)
		switch {
		case err == nil && len(field) == 4 && year == 0 && field[0] != '+' && field[0] != '-':
			year = n
		case err == nil && len(field) <= 2 && day == 0:
			day = n
		case m > 0 && month == 0:
			month = m
		case strings.Count(field, ":") == 2 && !hasClock:
			clock, err = time.Parse("15:04:05", field)
			if hasClock = err == nil; !hasClock {
				return t, false, false
			}
		case field == "am" || field == "pm":
			half = field
		case field == "de" || field == "uhr":
		default:
			zones++
			zone = field != "utc" && field != "gmt"
		}
	}
	if year == 0 || month == 0 || day < 1 || day > 31 || !hasClock || zones > 1 {
		return t, false, false
	}
	hour := clock.Hour()
	switch {
	case half == "pm" && hour < 12:
		hour += 12
	case half == "am" && hour == 12:
		hour = 0
	}
	return time.Date(year, time.Month(month), day, hour, clock.Minute(), clock.Second(), 0, time.UTC), zone || zones == 0, true
}

// monthOf is the number of a month by its name, 0 where it is none.
func monthOf(name string) int {
	for i, names := range months {
		for _, n := range names {
			if n == name {
				return i + 1
			}
		}
	}
	return 0
}
