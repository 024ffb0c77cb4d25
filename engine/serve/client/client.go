// Package client passes an event of an agent to the resident process (`reviewer serve`)
// and copies the answer back. Where no such process can be trusted, it runs
// `reviewer hook` with the same arguments, and the resident process is started for the
// next event.
//
// It imports neither the network nor the policy: an agent waits for it before and
// after each call.
//
// Out of scope: decoding events, and any decision but one: what cannot be
// reviewed is left to `reviewer hook`, which denies it.
package client

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/agent-reviewer/reviewer/engine/serve/wire"
)

// Waits for the resident process, in milliseconds. Tests make them longer, for busy machines.
var (
	sendWait     int64 = 1000 // a process that takes nothing is stopped, or starved
	greetingWait int64 = 1000 // so is one that sends no greeting
)

// Other waits, in milliseconds.
const (
	settle     = 500   // after the time by which the process answers itself: it is stopped, or starved
	answerWait = 15000 // the shortest time-out of an event that can be denied leaves as much for `reviewer hook`
)

// Main passes on the event on standard input, given the arguments of `reviewer hook`
// including the word hook, and returns the exit code. It might not return: `reviewer hook`
// then runs in place of this process.
func Main(args []string) (exit int) {
	c := client{args: args, began: time.Now()}
	if exit, ok := c.ask(); ok {
		return exit
	}
	return c.inProcess()
}

// client is one call.
type client struct {
	args  []string
	began time.Time
	input []byte
	read  bool   // input was read
	why   string // the resident process could not be used, if that is worth a record
}

// ask lets the resident process review the event.
func (c *client) ask() (exit int, ok bool) {
	home := flagValue(c.args, "--home")
	if home == "" {
		return 0, false
	}
	s, err := connect(home + "/" + wire.RunDir + "/" + wire.SocketName)
	if err != nil {
		c.why = unreached(err)
		return 0, false
	}
	// Meanwhile the process greets.
	program, err := reviewer()
	if err == nil {
		err = c.readInput()
	}
	if err != nil {
		return 0, false
	}
	server, challenge, ok := c.meet(s, home, known(program))
	if !ok {
		return 0, false
	}
	answer, ok := c.exchange(s, home, challenge)
	if !ok {
		return 0, false
	}
	if !server.alive() {
		c.why = "the resident process is no longer the one that greeted"
		return 0, false
	}
	if writeAll(1, answer.Stdout) != nil {
		return 2, true // a denial even if nobody can read it
	}
	_ = writeAll(2, answer.Stderr) // the exit code says the same
	return int(answer.Exit), true
}

// unreached describes why there is no connection, if that is worth a record.
func unreached(err error) string {
	switch err {
	case syscall.ENOENT, syscall.ECONNREFUSED:
		return wire.NoneRunning
	case syscall.EAGAIN:
		return "the resident process accepts no connection"
	}
	return ""
}

// meet waits for the greeting, and checks who sent it.
func (c *client) meet(s *socket, home string, want expected) (server process, challenge string, ok bool) {
	b, err := s.receive(greetingWait)
	if err == syscall.EPIPE || err == syscall.ECONNRESET {
		c.why = wire.NoneRunning // it is about to end
		return process{}, "", false
	}
	var greeting wire.Greeting
	if err != nil || greeting.Decode(b) != nil {
		c.why = "the resident process sent no greeting"
		return process{}, "", false
	}
	server, why := watch(s.sender, want, home)
	if why == "" && greeting.Home != home {
		why = "the resident process serves another state directory"
	}
	c.why = why
	return server, greeting.Challenge, why == ""
}

// Check connects to the resident process of a state directory, and returns why it is not to be trusted; empty:
// it is.
func Check(home string) (why string) {
	s, err := connect(home + "/" + wire.RunDir + "/" + wire.SocketName)
	if err != nil {
		return err.Error()
	}
	defer s.close()
	program, err := reviewer()
	if err != nil {
		return err.Error()
	}
	c := client{}
	c.meet(s, home, known(program))
	return c.why
}

// exchange sends the event and waits for the answer of the process that greeted.
func (c *client) exchange(s *socket, home, challenge string) (*wire.Answer, bool) {
	greeted := s.sender
	request := wire.Request{Home: home, Challenge: challenge, Once: strconv.FormatUint(rand.Uint64(), 36), Maker: Maker(0), Args: c.args,
		Env: syscall.Environ(), Input: c.input}
	var answer wire.Answer
	err := s.send(request.Encode())
	if err == nil {
		err = receiveAnswer(s, &answer, answerWait)
	}
	if err == nil && answer.Status == wire.Waiting && s.sender == greeted && answer.Once == request.Once {
		err = receiveAnswer(s, &answer, int64(answer.Wait)+settle)
	}
	switch {
	case err != nil:
		c.why = "the resident process did not answer"
	case s.sender != greeted || answer.Once != request.Once:
		c.why = "the answer is not from the resident process"
	default:
		return &answer, answer.Status == wire.Answered
	}
	return nil, false
}

func receiveAnswer(s *socket, answer *wire.Answer, ms int64) error {
	b, err := s.receive(ms)
	if err != nil {
		return err
	}
	return answer.Decode(b)
}

func (c *client) readInput() error {
	c.read = true
	buffer := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(0, buffer)
		if err == syscall.EINTR {
			continue
		}
		if n <= 0 || err != nil {
			return err
		}
		if c.input = append(c.input, buffer[:n]...); len(c.input) > wire.MaxMessage/2 {
			return syscall.E2BIG
		}
	}
}

// inProcess runs `reviewer hook`, replacing this process if its input is still unread.
func (c *client) inProcess() int {
	program, err := reviewer()
	if err != nil {
		return c.lost(err)
	}
	// Variables, not flags: an older program ignores them.
	env := append(os.Environ(), wire.ElapsedVariable+"="+strconv.FormatInt(time.Since(c.began).Milliseconds(), 10))
	if c.why != "" {
		env = append(env, wire.WhyVariable+"="+c.why)
	}
	args := append([]string{program}, c.args...)
	if !c.read {
		return c.lost(syscall.Exec(program, args, env))
	}
	return c.pipe(program, args, env)
}

// pipe runs a program with the input that was read.
func (c *client) pipe(program string, args, env []string) int {
	r, w, err := os.Pipe()
	if err != nil {
		return c.lost(err)
	}
	env = append(env, wire.InputVariable+"=3")
	p, err := os.StartProcess(program, args, &os.ProcAttr{Env: env, Files: []*os.File{r, os.Stdout, os.Stderr, os.Stdin}})
	if err != nil {
		return c.lost(err)
	}
	_ = r.Close()           // the program has received it
	_, _ = w.Write(c.input) // a program that stops reading has ended
	_ = w.Close()
	state, err := p.Wait()
	if err != nil {
		return c.lost(err)
	}
	if state.ExitCode() < 0 {
		return 2 // killed: a denial
	}
	return state.ExitCode()
}

// lost ends a call that nobody reviewed with a denial: exit code 2.
func (c *client) lost(err error) int {
	_ = writeAll(2, []byte("reviewer could not review this call, so it does not run: reviewer cannot be started: "+err.Error()+
		". Run `reviewer doctor` in a terminal to find the cause; do not try to get around it.\n"))
	return 2
}

// flagValue returns the value of a flag.
func flagValue(args []string, name string) string {
	for i, arg := range args {
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
		if len(arg) > len(name) && arg[:len(name)] == name && arg[len(name)] == '=' {
			return arg[len(name)+1:]
		}
	}
	return ""
}

// reviewer returns the path of the program next to this one.
func reviewer() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	i := len(self) - 1
	for i >= 0 && self[i] != '/' {
		i--
	}
	return self[:i+1] + "reviewer", nil
}
