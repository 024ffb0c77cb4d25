// Package wire defines the protocol between a hook's client and the resident process: one
// greeting, one request, one answer, before which the process may report that it waits.
//
//	greeting  magic 4 | length 4 | home, challenge
//	request   magic 4 | length 4 | home, challenge, once, maker 4, number of arguments, arguments…, number of variables, variables…, input
//	answer    magic 4 | length 4 | status 1 | exit code 1 | wait 4 | once, stdout, stderr
//
// Numbers are big-endian; a string is its length in 4 bytes and its bytes. The client
// imports this package, so it imports next to nothing: each package that it
// brings along costs each hook time.
//
// Out of scope: sockets, and which process may be trusted.
package wire

import "errors"

// MaxMessage limits a message, in bytes: the largest input of a hook with its arguments and
// variables.
const MaxMessage = 72 << 20

// SocketName is the name of the socket in the folder RunDir of the state directory.
const (
	RunDir     = "run"
	SocketName = "hook.sock"
)

// The variables with which a client starts `reviewer hook`.
const (
	WhyVariable     = "REVIEWER_RESIDENT"   // why the resident process was not used
	ElapsedVariable = "REVIEWER_ELAPSED_MS" // how long ago the event arrived, in milliseconds

	NoneRunning = "none" // as a reason: there is no resident process, or it is about to end
)

// WroteCommand is the argument of a request by a hook that reviewed its event itself: the input says which lines it wrote to
// the log.
const WroteCommand = "wrote"

// ReadyVariable names the file descriptor that a process which starts the resident one waits for: it is closed once that
// one listens.
const ReadyVariable = "REVIEWER_READY_FD"

// TimeoutFlag names the flag of a hook that says how many seconds the agent gives it, if that
// is more than `reviewer install` gives it by default.
const TimeoutFlag = "--timeout"

// InputVariable names the file descriptor of a hook's standard input, if its client has read it.
const InputVariable = "REVIEWER_INPUT_FD"

// KeyFlag names the flag of a hook with the fingerprint of the person's key: choices count only with that key, and with
// those that follow from it.
const KeyFlag = "--key"

// MaxSocketPath is the longest path of a socket on every system, in bytes.
const MaxSocketPath = 103

// Errors of reading a message.
var (
	ErrMagic    = errors.New("not a message of this protocol")
	ErrTooLong  = errors.New("message is too long")
	ErrTooShort = errors.New("message is cut off")
)

// The magic numbers of the messages. A change of the format changes them.
const (
	greetingMagic = "rvg4"
	requestMagic  = "rvq4"
	answerMagic   = "rva5"
)

// HeaderSize is the number of bytes before a message's body, which contain its length.
const HeaderSize = 8

// Greeting is the first message of the resident process, which identifies it.
type Greeting struct {
	Home      string // its state directory
	Challenge string // a random value: a request that repeats it was written after the program of whoever asks was looked at
}

// Request is a call of `reviewer hook`.
type Request struct {
	Home      string   // state directory that the client expects
	Challenge string   // of the greeting
	Once      string   // a random value that only this client knows: the answer repeats it
	Maker     int      // the process that made the socket from which the client reads its input; 0: the input is something else
	Args      []string // of the client
	Env       []string // NAME=value
	Input     []byte
}

// Status determines what the client does with an answer.
type Status byte

// The statuses.
const (
	Answered  Status = 0 // pass it on
	InProcess Status = 1 // nothing was reviewed: start `reviewer hook`
	Waiting   Status = 2 // the call waits for a person; another answer follows, as late as the agent's time-out allows
)

// Answer is what `reviewer hook` would have written, and its exit code.
type Answer struct {
	Status Status
	Exit   byte
	Wait   int    // milliseconds until the answer that follows, at most; of Waiting
	Once   string // of the request
	Stdout []byte
	Stderr []byte
}

// Encode returns the message.
func (g *Greeting) Encode() []byte {
	return finish(text(text(begin(greetingMagic), g.Home), g.Challenge))
}

// Encode returns the message.
func (r *Request) Encode() []byte {
	b := number(text(text(text(begin(requestMagic), r.Home), r.Challenge), r.Once), r.Maker)
	for _, list := range [][]string{r.Args, r.Env} {
		b = number(b, len(list))
		for _, s := range list {
			b = text(b, s)
		}
	}
	return finish(append(number(b, len(r.Input)), r.Input...))
}

// Encode returns the message.
func (a *Answer) Encode() []byte {
	b := text(number(append(begin(answerMagic), byte(a.Status), a.Exit), a.Wait), a.Once)
	b = append(number(b, len(a.Stdout)), a.Stdout...)
	return finish(append(number(b, len(a.Stderr)), a.Stderr...))
}

func begin(magic string) []byte { return append([]byte(magic), 0, 0, 0, 0) }

func finish(b []byte) []byte {
	n := number(nil, len(b)-HeaderSize)
	copy(b[4:], n)
	return b
}

func number(b []byte, n int) []byte {
	return append(b, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func text(b []byte, s string) []byte { return append(number(b, len(s)), s...) }

// BodyLength returns how many bytes follow a header.
func BodyLength(header []byte) (int, error) {
	if len(header) < HeaderSize {
		return 0, ErrTooShort
	}
	if s := string(header[:4]); s != greetingMagic && s != requestMagic && s != answerMagic {
		return 0, ErrMagic
	}
	n := uint32(header[4])<<24 | uint32(header[5])<<16 | uint32(header[6])<<8 | uint32(header[7])
	if n > MaxMessage {
		return 0, ErrTooLong
	}
	return int(n), nil
}

// Decode reads a whole message, header included.
func (g *Greeting) Decode(b []byte) error {
	r := reader{rest: b}
	r.open(greetingMagic)
	g.Home, g.Challenge = r.text(), r.text()
	return r.close()
}

// Decode reads a whole message, header included.
func (q *Request) Decode(b []byte) error {
	r := reader{rest: b}
	r.open(requestMagic)
	q.Home, q.Challenge, q.Once, q.Maker = r.text(), r.text(), r.text(), r.number()
	q.Args, q.Env = r.list(), r.list()
	q.Input = r.bytes()
	return r.close()
}

// Decode reads a whole message, header included.
func (a *Answer) Decode(b []byte) error {
	r := reader{rest: b}
	r.open(answerMagic)
	two := r.take(2)
	if r.err == nil {
		a.Status, a.Exit = Status(two[0]), two[1]
	}
	a.Wait, a.Once = r.number(), r.text()
	a.Stdout, a.Stderr = r.bytes(), r.bytes()
	if r.err == nil && a.Status > Waiting {
		return ErrMagic
	}
	return r.close()
}

// reader parses a message.
type reader struct {
	rest []byte
	err  error
}

func (r *reader) open(magic string) {
	n, err := BodyLength(r.rest)
	switch {
	case err != nil:
		r.err = err
	case string(r.rest[:4]) != magic:
		r.err = ErrMagic
	case n != len(r.rest)-HeaderSize:
		r.err = ErrTooShort
	default:
		r.rest = r.rest[HeaderSize:]
	}
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.err = ErrTooShort
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() int {
	b := r.take(4)
	if r.err != nil {
		return 0
	}
	return int(uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3]))
}

func (r *reader) bytes() []byte { return r.take(r.number()) }

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) list() []string {
	n := r.number()
	if r.err == nil && n > len(r.rest)/4 {
		r.err = ErrTooShort
	}
	var list []string
	for i := 0; i < n && r.err == nil; i++ {
		list = append(list, r.text())
	}
	return list
}

func (r *reader) close() error {
	if r.err == nil && len(r.rest) > 0 {
		r.err = ErrTooLong
	}
	return r.err
}
