// Stands for OpenCode: loads the plugin, and calls its hooks as the client does.
const { Reviewer, ...others } = await import(process.argv[2]);
if (Object.keys(others).length > 0) throw new Error("the client would take another export for a plugin");
const client = { session: { get: async ({ path }) => ({ data: path.id === "ses_old" ? { parentID: "ses_1" } : {} }) } };
const hooks = await Reviewer({ directory: process.cwd(), client });
await hooks.config({ mcp: { "my stock": {}, my: {} } });
await hooks.event({ event: { type: "session.created", properties: { info: { id: "ses_1" } } } });
await hooks.event({ event: { type: "session.created", properties: { info: { id: "ses_2", parentID: "ses_1" } } } });
await hooks["chat.message"]({ sessionID: "ses_1" }, { parts: [{ type: "text", text: "Make the tests pass." }, { type: "text", text: "x", synthetic: true }] });
await hooks["chat.message"]({ sessionID: "ses_2" }, { parts: [{ type: "text", text: "look" }] });

async function call(tool, sessionID, callID, args, result) {
  const output = { args };
  try {
    await hooks["tool.execute.before"]({ tool, sessionID, callID }, output);
  } catch (e) {
    return { blocked: e.message };
  }
  if (output.args !== args) return { blocked: "", wrong: "the client would run the old arguments" };
  await hooks["tool.execute.after"]({ tool, sessionID, callID, args }, result);
  return { ran: args, result };
}
const out = [
  await call("bash", "ses_1", "call_1", { command: "git push --force", description: "push", workdir: "cart" }, { title: "t", output: "pushed", metadata: {} }),
  await call("my_stock_count", "ses_2", "call_2", { item: "tea" }, { content: [{ type: "text", text: "12" }] }),
  await call("read", "ses_old", "call_3", { filePath: "main.go" }, undefined),
];
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_2" } } });
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "ses_1" } } });
await hooks.event({ event: { type: "something.new" } });
process.stdout.write(JSON.stringify(out));
