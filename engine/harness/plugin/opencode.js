
// The tool's name with the server's, as other agents write it. The client joins both with one
// underscore, so only its configuration tells where the server's name ends.
function toolName(tool, servers) {
  const clean = (name) => name.replace(/[^a-zA-Z0-9_-]/g, "_");
  const server = servers.map(clean).filter((s) => tool.startsWith(s + "_")).sort((a, b) => b.length - a.length)[0];
  return server === undefined ? tool : `mcp__${server}__${tool.slice(server.length + 1)}`;
}

// An exception here would switch the plugin off without a message, so nothing is done yet.
export const Reviewer = async (context) => {
  const here = (context && context.directory) || process.cwd();
  const parents = new Map(); // of sessions: the session that started them; "": a person did
  const spoken = new Map(); // of sessions: the tokens that the model wrote for each message
  let servers = [];

  // A session that was created before the plugin was loaded is looked up.
  async function parentOf(id) {
    if (!parents.has(id)) {
      let parent = "";
      try {
        const wait = new Promise((resolve) => setTimeout(resolve, 1000));
        const found = await Promise.race([context.client.session.get({ path: { id } }), wait]);
        parent = (found && found.data && found.data.parentID) || "";
      } catch {
        // it counts as a session of its own
      }
      parents.set(id, parent);
    }
    return parents.get(id);
  }

  // The keys of an event that name its session, and the sub-agent in it.
  async function who(id) {
    let root = id;
    for (let parent = await parentOf(root); parent; parent = await parentOf(root)) root = parent;
    const tokens = [...(spoken.get(root) || new Map()).values()].reduce((sum, n) => sum + n, 0);
    return { session_id: root, cwd: here, output_tokens: tokens, ...(root === id ? {} : { agent_id: id }) };
  }

  const call = (input) => ({ tool_name: toolName(input.tool, servers), tool_use_id: input.callID });

  return {
    config: async (config) => {
      servers = Object.keys((config && config.mcp) || {});
    },

    "tool.execute.before": async (input, output) => {
      const text = await review({ ...(await who(input.sessionID)), ...call(input) }, output.args, here);
      later(input.sessionID, text);
    },

    "tool.execute.after": async (input, output) => {
      const args = isObject(input.args) ? input.args : {};
      const shown = isObject(output) ? (output.output ?? output.content ?? "") : "";
      const document = { ...(await who(input.sessionID)), ...call(input), tool_input: args, tool_response: shown };
      const text = now(input.sessionID, await report("PostToolUse", document, here));
      if (!text || !isObject(output)) return;
      if (Array.isArray(output.content)) output.content.push({ type: "text", text });
      else if (typeof output.output === "string") output.output += "\n\n" + text;
    },

    "chat.message": async (input, output) => {
      const from = await who(input.sessionID);
      if (from.agent_id) return; // the prompt is the agent's, and a call of its own
      const parts = (output && output.parts) || [];
      const prompt = parts.filter((p) => p.type === "text" && !p.synthetic).map((p) => p.text).join("\n");
      later(input.sessionID, await report("UserPromptSubmit", { ...from, prompt }, here));
    },

    event: async ({ event }) => {
      const properties = (event && event.properties) || {};
      if (event.type === "session.created" && properties.info) {
        const { id, parentID } = properties.info;
        parents.set(id, parentID || "");
        later(id, await report(parentID ? "SubagentStart" : "SessionStart", { ...(await who(id)), source: "startup" }, here));
      } else if (event.type === "message.updated" && properties.info && properties.info.tokens) {
        const { id, sessionID, tokens } = properties.info;
        if (!spoken.has(sessionID)) spoken.set(sessionID, new Map());
        spoken.get(sessionID).set(id, (Number(tokens.output) || 0) + (Number(tokens.reasoning) || 0));
      } else if (event.type === "session.idle" && properties.sessionID) {
        const from = await who(properties.sessionID);
        await report(from.agent_id ? "SubagentStop" : "Stop", from, here);
      }
    },
  };
};
