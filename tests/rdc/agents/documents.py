"""Documents that tests serve."""

MIXED = """# Deploy
## 1. Build
```bash
echo built
```
## 2. Does the build look right?
Open the page.
- YES: CONTINUE
- NO: STOP "Nothing was deployed"
## 3. Deploy
```bash
[ -e tried ] || { touch tried; false; }
```
- FAIL: RETRY 2 STOP "It failed"
"""

AGENT = """name: notes
steps:
  - {name: write, prompt: Write notes., next: check}
  - name: check
    parallel:
      - {agent: one, prompt: Check them. Answer with PASSED or FAILED.}
      - {agent: two, prompt: Check them too. Answer with PASSED or FAILED.}
    check: all
    report: {name: check, format: Text, validation: "PASSED|FAILED"}
    conditions: [{keyword: PASSED, goto: last}]
  - {name: last, prompt: Say that it is good., end: true}
"""

SLOW = """# Slow
## 1. Work
```bash
echo started; echo $$ > pid
for _ in {1..600}; do [ -e go ] && break; sleep 0.1; done
echo ended; echo again >> count
```
## 2. Rest
```bash
true
```
"""
