// Package engines runs simulations on real engines: a Spark cluster, Slurm, and a server
// that speaks the protocol of S3. `make e2e-engines` installs what it needs.
//
// Out of scope: what a simulation finds; every report is compared with that of the plain
// command, byte for byte.
package engines
