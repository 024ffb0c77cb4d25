
export default function (pi) {
  const unnamed = `pi-${process.pid}-${Date.now()}`; // for a session that the client does not name

  function who(ctx) {
    let id = "", file = "";
    try {
      id = ctx.sessionManager.getSessionId() || "";
      file = ctx.sessionManager.getSessionFile() || "";
    } catch {
      // a session without a file
    }
    return { session_id: id || unnamed, cwd: directory(ctx), ...(file ? { transcript_path: file } : {}) };
  }

  const directory = (ctx) => (ctx && ctx.cwd) || process.cwd();
  const call = (event) => ({ tool_name: event.toolName, tool_use_id: event.toolCallId });

  pi.on("tool_call", async (event, ctx) => {
    const from = who(ctx);
    try {
      later(from.session_id, await review({ ...from, ...call(event) }, event.input, directory(ctx)));
    } catch (e) {
      return { block: true, reason: e.message };
    }
  });

  pi.on("tool_result", async (event, ctx) => {
    const from = who(ctx);
    const shown = { tool_input: isObject(event.input) ? event.input : {} };
    const result = event.isError ? { error: textIn(event.content) } : { tool_response: event.content ?? "" };
    const name = event.isError ? "PostToolUseFailure" : "PostToolUse";
    const text = now(from.session_id, await report(name, { ...from, ...call(event), ...shown, ...result }, directory(ctx)));
    if (text && Array.isArray(event.content)) return { content: [...event.content, { type: "text", text }] };
  });

  pi.on("before_agent_start", async (event, ctx) => {
    const from = who(ctx);
    later(from.session_id, await report("UserPromptSubmit", { ...from, prompt: event.prompt || "" }, directory(ctx)));
  });

  pi.on("session_start", async (event, ctx) => {
    const from = who(ctx);
    later(from.session_id, await report("SessionStart", { ...from, source: "startup" }, directory(ctx)));
  });

  pi.on("agent_end", async (event, ctx) => {
    await report("Stop", who(ctx), directory(ctx));
  });

  pi.on("session_shutdown", async (event, ctx) => {
    await report("SessionEnd", who(ctx), directory(ctx));
  });
}

function textIn(content) {
  const list = Array.isArray(content) ? content : [];
  return list.map((part) => (part && part.text) || "").join("\n");
}
