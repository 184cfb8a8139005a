# --- The stage in which outputs and other targets of a step are validated (B11).
TOLD_CHECKS = 3  # in a message; the journal has all

def validate(stages, _name, node):
    found = []
    for path in dict.fromkeys(paths_of(stages.session, node)):
        for check in node["checks"]:
            found.append(checked(stages, check, path))
            if check == "exists" and found[-1]["status"] == "failed":
                break
    failed = [one for one in found if one["status"] == "failed"]
    kept = {"validation": {"status": "failed" if failed else "passed", "checks": found}}
    return Found(told_checks(failed), kept)

def told_checks(failed):
    if not failed:
        return ""
    lines = [_told_check(one) for one in failed[:TOLD_CHECKS]]
    more = f" and {len(failed) - TOLD_CHECKS} more" if len(failed) > TOLD_CHECKS else ""
    return f"validation: {'; '.join(lines)}{more}"

def _told_check(one):
    message = one_line(one["message"])[:300]
    return message if one["check"] == "exists" else f"{one['path']}: {one['check']}: {message}"

def validation_previewed(session, node):
    return f"check {', '.join(node['checks'])}: {', '.join(paths_of(session, node))}"

