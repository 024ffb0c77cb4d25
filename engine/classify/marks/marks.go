package marks

import (
	"slices"
	"strings"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/abstract"
	"github.com/agent-reviewer/reviewer/engine/classify/mask"
)

// Limits of what is examined for marks and of what is kept.
const (
	maxActionMarks = 28
	MaxResultMarks = 48
	maxMarked      = 64 << 10 // bytes at the start of a string
	MaxLooks       = 64       // names that are looked up on the disk
	longToken      = 12       // minimum length of a distinctive token, in bytes
	longWords      = 16       // the same for tokens that consist of words
	maxLiteral     = 2048     // bytes of a literal
	maxValues      = 4        // values after = in one piece
	maxBackwards   = 512      // bytes of a word that is reversed
	secretValue    = 8        // minimum length of a value in a file with secrets, in bytes
)

// The ranks of literals, the most distinctive first: if there are too many, those are kept.
const (
	rankPlace    = iota // an address, a host, a package, a command
	rankToken           // long and not made of words
	rankDecoded         // a literal in encoded text
	rankShort           // in actions: could be a short secret
	rankReversed        // a reversed text
	rankGram            // in secrets, and in actions possible parts of one: see grams
	rankWord            // in prompts: could be the name of a package
	ranks
)

// markShares is the number of the 28 marks that a rank may take before the others
// have had their share: a large number of words cannot displace what is hidden.
var markShares = [ranks]int{10, 4, 4, 3, 3, 4, 0}

// literals are the parts of a string that could have come from elsewhere, by rank, each once.
type literals struct {
	list [ranks][]string
	seen map[string]bool
	room int  // how many literals of a rank are collected beyond those that are kept
	act  bool // of an action, which may contain parts of secrets

	// For the response of a service: what it merely names, as opposed to what could be an
	// instruction, and its own hosts. Nil: no such distinction.
	names *literals
	own   func(host string) bool

	// Packages that the call itself asked for, as packageStem returns them: the path under which a package is found
	// instructs nobody.
	asked []string
}

// named returns where names are collected.
func (l *literals) named() *literals {
	if l.names != nil {
		return l.names
	}
	return l
}

// address collects an address. An address of the service itself is a name.
func (l *literals) address(rank int, s string) {
	host, _, _ := strings.Cut(s[strings.LastIndexByte(s, '@')+1:], "/")
	if l.own != nil && l.own(host) {
		l = l.named()
	}
	l.add(rank, s)
}

func newLiterals(keep int) *literals { return &literals{seen: map[string]bool{}, room: 4 * keep} }

func (l *literals) add(rank int, s string) {
	if s == "" || len(s) > maxLiteral || l.full(rank) || l.seen[s] {
		return
	}
	l.seen[s] = true
	l.list[rank] = append(l.list[rank], s)
}

func (l *literals) full(rank int) bool { return len(l.list[rank]) >= l.room }

// Marker makes marks: keyed hashes of literals. Literals that are common to everything in
// the workspace get none.
type Marker struct {
	Mac   func([]byte) string
	Known func(name string) bool // reports whether the workspace contains a file of that name
	Masks *mask.Masker           // recognises secrets
}

// hashes returns the marks of the most distinctive literals, at most n: first the share of
// each rank, then by rank.
func (k *Marker) hashes(l *literals, n int) []string {
	var out []string
	took := map[string]bool{}
	take := func(list []string, n int) {
		for _, s := range list {
			if n <= 0 {
				return
			}
			mark := k.Mac([]byte("mark\x00" + s))[:8]
			if took[s] || k.Known(s) || slices.Contains(out, mark) {
				continue
			}
			took[s] = true
			out = append(out, mark)
			n--
		}
	}
	for rank, list := range l.list {
		take(list, n*markShares[rank]/maxActionMarks)
	}
	for _, list := range l.list {
		take(list, n-len(out))
	}
	return out
}

// OfOutput returns the marks of an action's output.
func (k *Marker) OfOutput(text string, a *engine.Action) []string {
	if ReadsSecrets(a) {
		return k.ofSecrets(text)
	}
	l := newLiterals(MaxResultMarks)
	l.asked = installs(a)
	l.text(abstract.Clip(text, maxMarked), rankToken)
	return k.hashes(l, MaxResultMarks)
}

// OfAnswer returns the marks of the output of a repository's service: of what could be an
// instruction, such as commands, packages and other addresses; and of what it merely names,
// such as ids, branches and its own addresses.
func (k *Marker) OfAnswer(text string, own func(host string) bool) (orders, names []string) {
	l := newLiterals(MaxResultMarks)
	l.names, l.own = newLiterals(MaxResultMarks), own
	l.text(abstract.Clip(text, maxMarked), rankToken)
	return k.hashes(l, MaxResultMarks), k.hashes(l.names, MaxResultMarks)
}

// OfNames returns the marks of what an output merely names: ids and paths, which instruct
// nobody.
func (k *Marker) OfNames(text string) []string {
	_, names := k.OfAnswer(text, nil)
	return names
}

// OfText returns the marks of an output or a prompt.
func (k *Marker) OfText(text string) []string {
	l := newLiterals(MaxResultMarks)
	l.text(abstract.Clip(text, maxMarked), rankToken)
	return k.hashes(l, MaxResultMarks)
}

// OfPrompt returns the marks of a person's prompt. Each word could be the name of a package
// that they want.
func (k *Marker) OfPrompt(text string) []string {
	l := newLiterals(MaxResultMarks)
	text = abstract.Clip(text, maxMarked)
	l.text(text, rankToken)
	for w := range strings.FieldsSeq(text) {
		if name := packageName(strings.Trim(w, "\"'`(),;")); len(name) > 1 && !slices.Contains(StopWords, name) {
			l.add(rankWord, packageLiteral+name)
		}
	}
	return k.hashes(l, MaxResultMarks)
}

// ofSecrets returns the marks of the output of a file with secrets: its values. Hosts and
// addresses in it are not secrets, and occur elsewhere.
func (k *Marker) ofSecrets(text string) []string {
	l := newLiterals(MaxResultMarks)
	for line := range strings.Lines(abstract.Clip(text, maxMarked)) {
		l.secrets(line)
	}
	return k.hashes(l, MaxResultMarks)
}

// OfFound returns the marks of the secrets that are recognisable in a string, wherever it
// comes from; asked reports whether a secret, and nothing else, was requested.
func (k *Marker) OfFound(text string, asked bool) []string {
	l := newLiterals(MaxResultMarks)
	text = abstract.Clip(text, maxMarked)
	for line := range strings.Lines(text) {
		if asked {
			l.secrets(line)
		}
	}
	for _, s := range k.Masks.Secrets(text) {
		if s.Kind == mask.KindMasked || s.Kind == "client_id" {
			continue
		}
		for line := range strings.Lines(text[s.Start:s.End]) { // a key has several
			if line = strings.TrimSpace(line); len(line) >= secretValue && !strings.HasPrefix(line, "-----") && mask.Distinct(s.Kind, line) {
				l.secret(line)
			}
		}
	}
	return k.hashes(l, MaxResultMarks)
}

// OfAction returns the marks of a call's raw arguments, as they are and decoded. Only the
// beginning of contents counts.
func (k *Marker) OfAction(texts []string) []string {
	l := newLiterals(maxActionMarks)
	l.act = true
	room := maxMarked
	for _, text := range texts {
		text = abstract.Clip(text, room)
		room -= len(text)
		l.text(text, rankToken)
		l.short(text, rankShort)
		l.decoded(text)
	}
	return k.hashes(l, maxActionMarks)
}

// text collects the literals of a string; tokens get the given rank.
func (l *literals) text(text string, rank int) {
	place := rank
	if rank == rankToken {
		place = rankPlace
	}
	for line := range strings.Lines(text) {
		for _, command := range commandsIn(line) {
			l.add(place, command)
		}
		l.packages(line)
		for _, piece := range pieces(line) {
			if l.full(place) && l.full(rank) {
				return
			}
			l.piece(piece, place, rank)
			for range maxValues { // the value of an option or a parameter
				_, value, ok := strings.Cut(piece, "=")
				if piece = value; !ok {
					break
				}
				l.piece(value, place, rank)
			}
		}
	}
}

// signs is a set of ASCII characters. Looking up a character is much faster than searching
// a string for it, and is done for every character of every output.
type signs [0x80]bool

func newSigns(text string) *signs {
	var s signs
	for i := range len(text) {
		s[text[i]] = true
	}
	return &s
}

func (s *signs) has(r rune) bool { return r >= 0 && int(r) < len(s) && s[r] }

var (
	betweenPieces = newSigns("\"'`<>()[]{}|;,\\")
	betweenTokens = newSigns(":/?&#@%!$^~*=")
	quotes        = newSigns("\"'`")
	betweenShort  = newSigns("=:&?@,;(){}[]<>|")
)

// pieces returns the parts of a line between spaces, quotes and brackets.
func pieces(line string) []string {
	return strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || betweenPieces.has(r) || r > 0x7f })
}

// piece collects the literals of a piece.
func (l *literals) piece(p string, place, token int) {
	p = strings.TrimRight(p, ".:!?*")
	if !l.act && optionName(p) || l.knows(p) {
		return // an option says nothing without its program; commands have marks of their own
	}
	for _, address := range addresses(p) {
		l.address(place, address)
	}
	if packageSpec(p) {
		l.add(place, p)
	}
	if !strings.HasPrefix(p, "-") && foreignPath(p) {
		l.named().add(place, p)
	}
	for part := range strings.FieldsFuncSeq(p, func(r rune) bool { return betweenTokens.has(r) }) {
		switch part = strings.Trim(part, ".-_+"); {
		case rare(part):
			l.named().add(token, part)
			l.between(part, token)
			l.pieces(part)
		case HostName(mask.Lower(part)):
			l.labels(part, token)
		}
	}
	if coded := strings.TrimRight(p[strings.LastIndexAny(p, ":?&@")+1:], "="); strings.ContainsAny(coded, "/+") &&
		!strings.ContainsAny(coded, "._-~") && rare(withoutSigns.Replace(coded)) {
		l.named().add(token, coded) // base64, whose letters two of these are
		l.pieces(coded)
	}
}

// withoutSigns removes the characters of base64 other than letters and digits.
var withoutSigns = strings.NewReplacer("/", "", "+", "")

// labels collects what the name of a host carries: its labels, and what precedes each of its domains. Whoever serves the
// domain sees these, even if the host does not exist.
func (l *literals) labels(host string, rank int) {
	if !l.act || strings.Count(host, ".") < 2 {
		return
	}
	labels := strings.Split(host, ".")
	carried := labels[:len(labels)-2]
	for i, label := range carried {
		for _, text := range []string{label, strings.Join(carried[:i+1], "."), strings.Join(carried[:i+1], "")} {
			if len(text) >= longToken {
				l.add(rank, text)
				l.add(rank, mask.Lower(text))
			}
		}
		l.pieces(label)
	}
	l.pieces(strings.Join(carried, ""))
}

// between collects random tokens with a suffix, as in the name of a file or a repository.
func (l *literals) between(token string, rank int) {
	if !l.act || !strings.Contains(token, ".") {
		return
	}
	for part := range strings.SplitSeq(token, ".") {
		if Dense(part) {
			l.add(rank, part)
		}
	}
}

// pieces collects possible parts of a secret.
func (l *literals) pieces(token string) {
	if !l.act || l.full(rankGram) {
		return
	}
	for _, g := range grams(token) {
		l.add(rankGram, g)
	}
}

// StopWords are words that say nothing about the topic of a string.
var StopWords = []string{"the", "and", "for", "with", "from", "into", "onto", "that", "this", "these", "those", "then", "than",
	"when", "where", "which", "while", "what", "who", "whom", "whose", "why", "how", "not", "but", "nor", "yet", "can", "could",
	"would", "should", "will", "shall", "may", "might", "must", "are", "was", "were", "been", "being", "have", "has", "had",
	"does", "did", "doing", "done", "its", "our", "your", "their", "his", "her", "him", "she", "they", "them", "you", "all",
	"any", "some", "each", "every", "both", "few", "more", "most", "other", "another", "such", "only", "own", "same", "just",
	"also", "very", "too", "please", "let", "lets", "make", "sure", "need", "want", "like", "get", "got", "use", "using", "used",
	"out", "over", "under", "about", "after", "before", "again", "here", "there", "now", "new", "old", "one", "two", "way",
	"thing", "things", "something", "anything", "everything", "still", "already", "via", "per", "etc", "todo", "okay", "yes",
	"thanks", "thank", "hello", "dev", "null", "usr", "bin", "lib", "src", "www", "com", "org", "net", "http", "https", "true",
	"false", "none", "der", "die", "das", "und", "oder", "nicht", "mit", "von", "für", "auf", "ist", "sind", "ein", "eine",
	"einen", "dem", "den", "des", "zu", "zur", "zum", "im", "als", "auch", "bitte", "les", "une", "est", "dans", "pour", "avec",
	"sur", "pas", "qui", "que", "aux", "los", "las", "del", "una", "por", "para", "con", "como", "uma", "dos", "não", "mais"}
