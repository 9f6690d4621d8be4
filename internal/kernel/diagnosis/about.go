package diagnosis

// About is how the subject stands that an answer was narrowed to.
type About struct {
	State AboutState
	Says  string // one sentence, without the name of the subject; it begins in small letters
}

// AboutState is the sign of an answer about one subject. It agrees with the exit code.
type AboutState string

// The states, the worst first.
const (
	AboutBroken   AboutState = "broken"   // an error is present whose cause is known: 2
	AboutOpen     AboutState = "open"     // something has no answer, or the host is not done: 3
	AboutWarning  AboutState = "warning"  // a warning is present
	AboutProgress AboutState = "progress" // something holds that is normal until a time
	AboutAccepted AboutState = "accepted" // something is wrong, and a person accepts it
	AboutGood     AboutState = "good"     // nothing wrong was found
)
