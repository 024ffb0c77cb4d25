// Package uicmd implements `reviewer ui`: it reads the log, the questions that wait and the policy, makes pages of them, and serves
// these on this machine or writes them to files.
//
// Out of scope: how pages look (cmd/reviewer/pages), and who may read them (engine/serve/pageserver).
package uicmd
