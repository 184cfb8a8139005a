# --- Times that the operator gives: `90s`, `30m`, `24h`, `7d`, or a number of seconds.
TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
LONGEST_TIME = 10**9  # seconds

def seconds_of(option, given):
    found = re.fullmatch(r"([0-9]{1,9})([smhd]?)", given)
    seconds = int(found[1]) * TIME_UNITS[found[2]] if found else 0
    if not 0 < seconds <= LONGEST_TIME:
        raise RefusedError(f"{option} {one_line(given)!a}: give a time such as 90s, 30m, 24h or 7d")
    return seconds

def number_of(option, given, least):
    if not re.fullmatch("[0-9]{1,9}", given) or int(given) < least:
        raise RefusedError(f"{option} {one_line(given)!a}: give a number, at least {least}")
    return int(given)

