"""Runs `reviewer policy simulate` in the tasks of a Spark job, and merges the reports.

Every task runs the ordinary program on its shard of the manifest; a task that runs twice
gives the same bytes. Reports are merged in a tree, by the program. The driver prints a
line of JSON for each event, which `reviewer` reads.
"""

import errno
import json
import math
import os
import subprocess
import sys
import tarfile
import tempfile
import threading
import zlib

FAN = 16  # reports that are merged at a time
NEEDED = 300 << 20  # bytes of memory that a task may take
TAIL = 2000  # characters of an error that are passed on


def say(**event):
    print(json.dumps(event), flush=True)


def unpacked(spec):
    """The folder with the program and its inputs, on this machine; unpacked once."""
    from pyspark import SparkFiles

    archive = SparkFiles.get(spec["archive"])
    folder = os.path.join(os.path.dirname(archive), "reviewer-" + spec["id"])
    if not os.path.isdir(folder):
        fresh = tempfile.mkdtemp(dir=os.path.dirname(archive))
        with tarfile.open(archive) as t:
            t.extractall(fresh, filter="data") if hasattr(tarfile, "data_filter") else t.extractall(fresh)
        try:
            os.rename(fresh, folder)
        except OSError:  # another task was faster
            if not os.path.isdir(folder):
                raise
    return folder


def free_memory():
    """Bytes that a new process can have here; None: unknown."""
    free = []
    try:
        with open("/proc/meminfo") as f:
            free += [int(line.split()[1]) << 10 for line in f if line.startswith("MemAvailable:")]
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as now:
            free.append(int(most.read()) - int(now.read()))
    except (OSError, ValueError):
        pass
    return min(free) if free else None


def check(spec):
    here = os.uname().machine
    if here not in spec["machines"]:
        raise RuntimeError(f"this worker is {here}, and the program is for {spec['machines'][0]}: "
                           "give one that was built for the workers with --program")
    free = free_memory()
    if free is not None and free < NEEDED:
        raise RuntimeError(f"too little memory: {free >> 20} MiB are free on this worker, and a task may need "
                           f"{NEEDED >> 20} MiB: run fewer tasks at a time (spark.executor.cores), or use larger workers")


def reviewer(folder, args):
    """Runs the program; returns its exit code, what it printed to standard error, and what it used."""
    program = os.path.join(folder, "reviewer")
    try:
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen([program, *args], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=errors, cwd=folder)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = code = os.waitstatus_to_exitcode(status)
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - 4 * TAIL))
            text = errors.read().decode("utf-8", "replace")[-TAIL:].strip()
    except OSError as e:
        if e.errno == errno.ENOEXEC:
            raise RuntimeError("the program is for another architecture than this worker: give one that was built for it with --program")
        if e.errno == errno.ENOENT and os.path.exists(program):
            raise RuntimeError("the program needs libraries that this worker does not have: build it with CGO_ENABLED=0")
        raise RuntimeError(f"the program cannot be started on this worker: {e}")
    if code == -9:
        raise RuntimeError("the program was killed, as a system does that runs out of memory: use larger workers, or fewer tasks at a time")
    if code == 127:
        raise RuntimeError("the program needs libraries that this worker does not have: build it with CGO_ENABLED=0: " + text)
    return code, text, {"cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss << 10}


def written(folder, args):
    """The report that the program writes, compressed, and what the program used."""
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "report.json")
        code, text, used = reviewer(folder, [*args, "-f", "json", "-o", out])
        if code not in (0, 1, 2) or not os.path.exists(out):
            raise RuntimeError(text or f"exit code {code}")
        with open(out, "rb") as f:
            content = f.read()
    report = json.loads(content)
    rows = [row["impact"] for row in report["rows"]] if "rows" in report else [report]
    if any("baseline" not in row for row in rows):
        raise RuntimeError(text or "the program wrote no report")
    if any(row.get("partial") for row in rows):
        raise RuntimeError(rows[0]["partial"])
    return zlib.compress(content), used


def shard(spec, index):
    """One task: the part of the report for a shard, or the reason after the last attempt."""
    from pyspark import TaskContext

    try:
        folder = unpacked(spec)
        check(spec)
        report, used = written(folder, [*spec["args"], "--shard", f"{index}/{spec['shards']}"])
        return {"first": index, "last": index, "report": report, **used}
    except RuntimeError as e:
        if TaskContext.get().attemptNumber() + 1 < spec["attempts"]:
            raise
        return {"first": index, "last": index, "report": None, "why": f"{e}"[-TAIL:]}


def by_shard(parts):
    return sorted(parts, key=lambda part: part["first"])


def merged(spec, parts):
    """Merges parts that follow each other; what is lost stays a gap."""
    runs, lost = [], []
    for part in by_shard(parts):
        if part["report"] is None:
            lost.append(part)
        elif runs and runs[-1][-1]["last"] + 1 == part["first"]:
            runs[-1].append(part)
        else:
            runs.append([part])
    return [merge_run(spec, run) for run in runs] + lost


def merge_run(spec, run):
    if len(run) == 1:
        return run[0]
    with tempfile.TemporaryDirectory() as scratch:
        names = save(scratch, run)
        report, used = written(unpacked(spec), ["policy", "simulate", "merge", "--some", *names])
    return {"first": run[0]["first"], "last": run[-1]["last"], "report": report, **total([*run, used])}


def total(parts):
    """What several processes used: their processor time in seconds, and the memory of the largest in bytes."""
    return {"cpu": sum(p["cpu"] for p in parts), "memory": max(p["memory"] for p in parts)}


def save(scratch, parts):
    names = []
    for part in parts:
        names.append(os.path.join(scratch, f"part-{part['first']}.json"))
        with open(names[-1], "wb") as f:
            f.write(zlib.decompress(part["report"]))
    return names


def watch(sc, total, done):
    """Tells how many tasks of the first stage have ended, until done is set."""
    tracker, told, began = sc.statusTracker(), -1, False
    while not done.wait(0.5):
        infos = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        infos = [i for i in infos if i is not None]
        if not began and any(i.numActiveTasks + i.numCompletedTasks > 0 for i in infos):
            began = True
            say(event="started")
        ended = max([i.numCompletedTasks for i in infos if i.numTasks == total], default=told)
        if ended > told:
            told = ended
            say(event="progress", done=ended, total=total)


def main():
    with open(sys.argv[1]) as f:
        spec = json.load(f)
    from pyspark import SparkContext

    sc = SparkContext.getOrCreate()
    say(event="connected", application=sc.applicationId)
    n, done = spec["shards"], threading.Event()
    threading.Thread(target=watch, args=(sc, n, done), daemon=True).start()
    parts = sc.parallelize(range(1, n + 1), n).map(lambda i: shard(spec, i))
    width, count = FAN, n
    while count > FAN:
        blocks = math.ceil(count / FAN)
        parts = (parts.map(lambda p, w=width: ((p["first"] - 1) // w, p)).groupByKey(blocks)
                 .flatMap(lambda block: merged(spec, block[1])))
        width, count = width * FAN, blocks
    parts = by_shard(parts.collect())
    done.set()
    finish(spec, parts)
    sc.stop()


def finish(spec, parts):
    lost = [p for p in parts if p["report"] is None]
    for part in lost:
        say(event="lost", shard=part["first"], why=part["why"])
    found = [p for p in parts if p["report"] is not None]
    used = {}
    if found:
        with tempfile.TemporaryDirectory() as scratch:
            names = save(scratch, found)
            code, text, merging = reviewer(spec["here"], ["policy", "simulate", "merge", "--allow-missing", *names,
                                                          "-f", "json", "-o", spec["output"]])
            if code not in (0, 1, 2) or not os.path.exists(spec["output"]):
                raise SystemExit("merge failed: " + text)
            used = total([*found, merging])
    say(event="done", found=len(found), lost=len(lost), **used)


if __name__ == "__main__":
    main()
