"""Lists the questions that wait, waits for the next one, and denies it.

Usage: python3 api-example.py ADDRESS TOKEN_FILE, with the approval code on standard input.
"""
import json, sys, urllib.request

base, token = "http://" + sys.argv[1], open(sys.argv[2]).read().strip()
code = sys.stdin.readline().strip()
direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy would see the token

def call(path, document=None):
    headers = {"Authorization": "Bearer " + token}
    if document is not None:
        headers |= {"Content-Type": "application/json", "Reviewer-Approval-Code": code}
    data = None if document is None else json.dumps(document).encode()
    return direct.open(urllib.request.Request(base + path, data, headers))

events = call("/v1/events")  # before the list, so that no question is missed
for question in json.load(call("/v1/approvals"))["questions"]:
    print("waits", question["id"], question["action"], flush=True)
for line in events:
    event = json.loads(line[6:]) if line.startswith(b"data: ") else {}
    if event.get("kind") == "question_opened":
        question = json.load(call("/v1/approvals/" + event["question"]))
        answer = {"digest": question["digest"], "approve": False, "message": "not while the demo runs"}
        call("/v1/approvals/" + question["id"] + "/answer", answer)
        print("denied", question["id"], question["action"], flush=True)
        break
