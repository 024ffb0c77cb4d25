// Stands for pi: loads the extension, and calls its handlers as the client does.
const { default: load } = await import(process.argv[2]);
const handlers = {};
load({ on: (name, handler) => (handlers[name] = handler) });
const ctx = { cwd: process.cwd(), sessionManager: { getSessionId: () => "session-1", getSessionFile: () => "/home/kim/.pi/s.jsonl" } };
await handlers.session_start({ type: "session_start" }, ctx);
await handlers.before_agent_start({ type: "before_agent_start", prompt: "Make the tests pass." }, ctx);

async function call(toolName, toolCallId, input, result, ctx) {
  const said = await handlers.tool_call({ type: "tool_call", toolName, toolCallId, input }, ctx);
  if (said && said.block) return { blocked: said.reason };
  const changed = await handlers.tool_result({ type: "tool_result", toolName, toolCallId, input, ...result }, ctx);
  return { ran: input, result: { ...result, ...changed } };
}
const out = [
  await call("bash", "call_1", { command: "git push --force", timeout: 5 }, { content: [{ type: "text", text: "pushed" }], isError: false }, ctx),
  await call("bash", "call_2", { command: "go vet" }, { content: [{ type: "text", text: "failed" }], isError: true }, ctx),
  await call("read", "call_3", { path: "main.go" }, { content: [] }, {}),
];
await handlers.agent_end({ type: "agent_end" }, ctx);
await handlers.session_shutdown({ type: "session_shutdown" }, ctx);
process.stdout.write(JSON.stringify(out));
