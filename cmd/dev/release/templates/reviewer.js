#!/usr/bin/env node
// Starts the program of the package for this machine, with the same arguments, streams,
// signals and exit code.
"use strict";

const { spawn } = require("node:child_process");

const name = `@agent-reviewer/reviewer-${process.platform}-${process.arch}`;
const program = process.platform === "win32" ? "reviewer.exe" : "reviewer";
const args = process.argv.slice(2);

// A hook that cannot answer denies the call: its clients take 2 as a denial, and every
// other code as leave to go on.
const failed = args[0] === "hook" ? 2 : 1;

function fail(message) {
  process.stderr.write(`reviewer: ${message}\n`);
  process.exit(failed);
}

let path;
try {
  path = require.resolve(`${name}/bin/${program}`);
} catch {
  fail(`the package ${name} is not installed: install again without --omit=optional, or see docs/install.md for systems without a package`);
}

// The program may run before spawn returns: a signal that comes in between must not
// end this process and leave that one behind.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
const pass = (signal) => child.kill(signal);
for (const signal of signals) process.on(signal, pass);
const child = spawn(path, args, { stdio: "inherit", windowsHide: true });

child.on("error", (e) => fail(`${path} cannot be started: ${e.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const s of signals) process.removeListener(s, pass);
  if (args[0] === "hook") process.exit(failed);
  process.kill(process.pid, signal);
});
