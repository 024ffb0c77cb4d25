// Prints the facts that the specs of @withfig/autocomplete hold about command
// lines, one program per line as JSON, and what it left out as the last line.
// The only argument is the folder of the unpacked package.
//
// The specs are code. They are evaluated and, where a part of one is made by a
// function, that function is called; one that asks for a program to be run gets
// no answer, and its part is left out.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const build = join(process.argv[2], "build");
const listed = JSON.parse(readFileSync(join(build, "index.json")));
const leftOut = {};

const print = (x) => process.stdout.write(JSON.stringify(x) + "\n");
console.log = console.warn = console.error = () => {}; // of specs: facts only

const list = (x) => (x === undefined || x === null ? [] : Array.isArray(x) ? x : [x]);
const leaveOut = (why, where) => void (leftOut[why] ??= []).push(where);

async function spec(name) {
  const path = join(build, name + ".js");
  if (existsSync(path)) return (await import(pathToFileURL(path))).default;
  leaveOut("not in the package", name);
  return {};
}

// Of a program that has specs for several versions, the last one is read.
async function specOf(name) {
  if (!listed.diffVersionedCompletions.includes(name)) return spec(name);
  const versions = listed.completions.filter((n) => n.startsWith(name + "/") && /^\d+(\.\d+)*$/.test(n.slice(name.length + 1)));
  return spec(versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1));
}

// whole returns a subcommand with what is found elsewhere: in a spec that it
// names, in an object, or in what a function makes of it. Outer are the specs
// around it: one in itself would have no end.
async function whole(sub, where, outer) {
  if (typeof sub.loadSpec === "string") {
    if (!outer.includes(sub.loadSpec)) return whole({ ...(await spec(sub.loadSpec)), name: sub.name }, where, [...outer, sub.loadSpec]);
    leaveOut("spec within itself", where);
  }
  if (typeof sub.loadSpec === "function") leaveOut("loaded by a function of what is typed", where);
  return [joined(joined(sub, sub.loadSpec), sub.generateSpec && (await generated(sub, where))), outer];
}

async function generated(sub, where) {
  let asked = false;
  const execute = async () => ((asked = true), { stdout: "", stderr: "", status: 1 });
  const made = await sub.generateSpec(where.split(" "), execute).catch(() => undefined);
  if (made && !asked) return made;
  leaveOut("made by a function that runs programs", where);
}

function joined(sub, more) {
  if (typeof more !== "object") return sub;
  const both = (key) => [...list(sub[key]), ...list(more[key])];
  return { ...more, ...sub, options: both("options"), subcommands: both("subcommands") };
}

// valueOf says how an option takes its value. One that must be joined to its
// value by a separator counts as one that takes the next word: without a value
// it is an error, and specs ask for separators where programs do not.
function valueOf(option, where) {
  const args = list(option.args);
  if (args.length === 0) return undefined;
  if (args.length > 1) leaveOut("further values of an option", `${where} ${list(option.name)[0]}`);
  const [arg] = args;
  if (arg.isModule) leaveOut("module that is run", `${where} ${list(option.name)[0]}`);
  else if (arg.isCommand) return "code";
  else if (arg.isScript) return "script";
  return arg.isOptional ? "optional" : "next";
}

// facts says what is known about an option. Some names show the value, as in
// --output=FILE, and some begin with a dash that a word processor has made.
function facts(option, where) {
  const all = list(option.name).map((n) => n.trim().replace(/^–-?/, "--"));
  const names = all.map((n) => n.replace(/=.*/, "")).filter((n) => /^--?[^\s,'"-][^\s,'"]*$/.test(n));
  if (names.length < all.length) leaveOut("option that does not begin with - or is not a word", `${where} ${all[0]}`);
  const shown = all.some((n) => /^-.*=/.test(n)) ? "next" : undefined;
  return { names, value: valueOf(option, where) ?? shown, dangerous: option.isDangerous, persistent: option.isPersistent };
}

// A subcommand that begins with - is really an option, and what belongs to it
// depends on the program.
function namesOf(sub, where) {
  const all = list(sub.name).map((n) => n.trim());
  const names = all.filter((n) => /^[\w@+.][^\s|]*$/.test(n));
  if (names.length < all.length) leaveOut("subcommand that begins with - or is not a word", where);
  return names;
}

// operands finds the first operand that is a command and the first one that is a
// script: those before it may be missing if they are optional, so their number is
// the least there can be.
function operands(args, where) {
  const found = {};
  let least = 0;
  for (const arg of args) {
    if (arg.loadSpec) leaveOut("operand that begins another program's spec", where);
    if (arg.isModule) leaveOut("module that is run", where);
    else if (arg.isCommand) found.runs ??= least;
    else if (arg.isScript) found.script ??= least;
    if (!arg.isOptional) least++;
  }
  return found;
}

// A subcommand is dangerous if an operand is that it cannot do without.
function needsDanger(args, where) {
  const marked = args.filter((a) => a.isDangerous || list(a.suggestions).some((s) => s?.isDangerous));
  if (marked.some((a) => a.isDangerous && !a.isOptional)) return true;
  if (marked.length) leaveOut("operand that may be missing, or one value of it, marked as dangerous", where);
  return false;
}

async function row(unresolved, where, around) {
  const [sub, outer] = await whole(unresolved, where, around);
  const args = list(sub.args);
  const subcommands = [];
  for (const s of list(sub.subcommands)) subcommands.push(await row(s, `${where} ${list(s.name)[0]}`.trim(), outer));
  return {
    names: namesOf(sub, where),
    first: sub.parserDirectives?.optionsMustPrecedeArguments,
    long: sub.parserDirectives?.flagsArePosixNoncompliant,
    dangerous: sub.isDangerous || needsDanger(args, where) || undefined,
    ...operands(args, where),
    options: list(sub.options).map((o) => facts(o, where)),
    subcommands,
  };
}

// The shell itself reads these: no program has such a name.
const words = ["-", "do", "elif", "else", "for", "if", "then", "until", "while"];

for (const n of listed.completions) {
  if (n.startsWith("@")) leaveOut("name of a package rather than of a program", n);
  else if (words.includes(n)) leaveOut("word of the shell", n);
  else if (!n.includes("/")) print(await row({ ...(await specOf(n)), name: n }, n, [n]));
}
print({ leftOut });
