package rego

import (
	"github.com/agent-reviewer/reviewer/rego/reuse"
	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"
)

// MemoryLimits bound what a host keeps between decisions.
type MemoryLimits = reuse.Limits

// MemoryCounts are how often documents were found there, for any number of hosts.
type MemoryCounts = reuse.Counts

// Remember returns a host that decides as h does, and keeps what it computes for later
// decisions (see reuse.Memory).
func (h *Host) Remember(l MemoryLimits, c *MemoryCounts) *Host {
	own := *h
	own.memory = reuse.NewMemory(reuse.NewPlan(h.compiler, h.data.(*fixedData).root), l, c)
	return &own
}

// remembered is the option for an evaluation that uses the memory of the host, if it has one.
func (h *Host) remembered(value ast.Value) []opa.EvalOption {
	if h.memory == nil || h.thorough || h.cover != nil {
		return nil
	}
	return []opa.EvalOption{opa.EvalVirtualCache(h.memory.Begin(value))}
}
