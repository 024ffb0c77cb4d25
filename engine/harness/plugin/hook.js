// Asks reviewer about an event: its answer, or an error that says why there is none.
function ask(name, document, directory) {
  return new Promise((resolve, reject) => {
    const child = spawn(command[0], [...command.slice(1), name], { cwd: directory, stdio: "pipe", windowsHide: true });
    let out = "", err = "", settled = false;
    const settle = (act) => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      act();
    };
    const fail = (why) => settle(() => reject(new Error(why)));
    const ended = (status, signal) => settle(() => {
      try {
        resolve(answerOf(name, status, signal, out, err));
      } catch (e) {
        reject(e);
      }
    });
    const timer = setTimeout(() => {
      fail(`there was no answer within ${deadlines[name] / 1000} s`);
      child.kill("SIGKILL");
    }, deadlines[name]);
    child.on("error", (e) => fail(`the hook could not be started: ${e.message}`));
    child.on("close", ended);
    // A process that the hook left behind can keep its output open.
    child.on("exit", (status, signal) => setTimeout(() => ended(status, signal), 1000).unref());
    child.stdin.on("error", () => {}); // it ended without reading: its status says so
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (err += text));
    child.stdin.end(JSON.stringify({ hook_event_name: name, ...document }));
  });
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);

// Reads an answer. Before a call there always is one: silence would be another program's.
function answerOf(name, status, signal, out, err) {
  if (signal) throw new Error(`the hook was ended by ${signal}`);
  if (status !== 0) throw new Error(err.trim() || `the hook ended with status ${status} and without a text`);
  if (out.trim() === "" && name !== "PreToolUse") return {};
  let answer;
  try {
    answer = JSON.parse(out);
  } catch {
    throw new Error(out.trim() === "" ? "the hook did not answer" : "the hook's answer is not JSON");
  }
  const said = isObject(answer) ? answer.hookSpecificOutput : undefined;
  if (!isObject(said) || said.hookEventName !== name) throw new Error(`the hook's answer is not one to ${name}`);
  if (said.permissionDecision !== undefined && said.permissionDecision !== "deny") {
    throw new Error(`the hook's decision ${JSON.stringify(said.permissionDecision)} is unknown`);
  }
  if (said.updatedInput !== undefined && !isObject(said.updatedInput)) throw new Error("the hook's input for the call is not an object");
  return said;
}

// Asks about a call before it runs, and changes its arguments as policy says. Throws if it is
// not to run, for whatever reason.
async function review(document, args, directory) {
  const said = await ask("PreToolUse", { ...document, tool_input: isObject(args) ? args : {} }, directory).catch((e) => {
    const text = e.message.startsWith("reviewer") ? e.message : `reviewer could not review this call, so it does not run: ${e.message}`;
    throw new Error(text);
  });
  if (said.permissionDecision === "deny") throw new Error(said.permissionDecisionReason || "reviewer denied this call.");
  if (said.updatedInput) change(args, said.updatedInput);
  return said.additionalContext || "";
}

// Gives an object the contents of another one. The client keeps the object that it passed on, so a
// new one would have no effect.
function change(args, next) {
  if (!isObject(args)) throw new Error("reviewer changed this call, but its arguments are not an object, so it does not run.");
  for (const key of Object.keys(args)) if (!(key in next)) delete args[key];
  Object.assign(args, next);
  if (JSON.stringify(args, Object.keys(args).sort()) !== JSON.stringify(next, Object.keys(next).sort())) {
    throw new Error("reviewer changed this call, but its arguments cannot be replaced, so it does not run.");
  }
}

// Reports an event that no call waits for: a failure there must not disturb the client.
async function report(name, document, directory) {
  try {
    return (await ask(name, document, directory)).additionalContext || "";
  } catch {
    return "";
  }
}

// Texts for the model that wait for the next result of a tool, by session.
const waiting = new Map();

function later(session, text) {
  if (text) waiting.set(session, [...(waiting.get(session) || []), text]);
}

// Returns what the model is to read with a result.
function now(session, text) {
  const texts = waiting.get(session) || [];
  waiting.delete(session);
  return [...texts, text].filter(Boolean).join("\n");
}
