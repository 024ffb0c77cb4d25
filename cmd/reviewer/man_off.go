//go:build !manpages

package main

import "github.com/spf13/cobra"

func releaseCommands(*cobra.Command) {}
