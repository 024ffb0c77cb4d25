// Command reviewer-hook is the program that an agent starts for each event: a small client of
// `reviewer serve`, with the command line of `reviewer hook`.
//
// Out of scope: everything but the command line.
package main

import (
	"os"

	"github.com/agent-reviewer/reviewer/engine/serve/client"
)

func main() { os.Exit(client.Main(os.Args[1:])) }
