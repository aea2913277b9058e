"""docs/proving.md and its picture, from the results of scripts/prove."""
import json
import math

BEGIN = "<!-- runs: made by scripts/prove -->"
END = "<!-- end of runs -->"


def error_percent(record):
    return 100 * (record["forecast"]["seconds"] / record["measured"]["median_seconds"] - 1)


def physics_percent(record):
    return 100 * (record["forecast"]["physics_seconds"] / record["measured"]["median_seconds"] - 1)


def inside(record):
    low, high = record["forecast"]["interval"]
    return low is not None and low <= record["measured"]["median_seconds"] <= high


def spread_percent(record):
    seconds = sorted(record["measured"]["iteration_seconds"])
    return 100 * (seconds[-1] - seconds[0]) / record["measured"]["median_seconds"]


def table(records):
    """Markdown, a line a run."""
    text = ("| run | measured s | spread | physics alone s | error | forecast s | error | 90 % interval | inside |\n"
            "|---|---:|---:|---:|---:|---:|---:|---|---|\n")
    for record in records:
        measured, forecast = record["measured"], record["forecast"]
        low, high = forecast["interval"]
        interval = "" if low is None else f"{low:.3f} to {high:.3f}"
        text += (f"| `{record['name']}` | {measured['median_seconds']:.3f} | {spread_percent(record):.1f} % | "
                 f"{forecast['physics_seconds']:.3f} | {physics_percent(record):+.1f} % | "
                 f"{forecast['seconds']:.3f} | {error_percent(record):+.1f} % | {interval} | "
                 f"{'yes' if inside(record) else 'no'} |\n")
    return text


def mean(values):
    return sum(values) / len(values)


def summary(records):
    physics = [physics_percent(record) for record in records]
    errors = [error_percent(record) for record in records]
    return (f"{len(records)} runs. Physics alone is off by {mean([abs(e) for e in physics]):.1f} % in the mean (bias "
            f"{mean(physics):+.1f} %, worst {max(physics, key=abs):+.1f} %). With the stack `ddp-gloo` it is "
            f"{mean([abs(e) for e in errors]):.1f} % (bias {mean(errors):+.1f} %, worst {max(errors, key=abs):+.1f} %), and "
            f"{sum(inside(record) for record in records)} lie inside their 90 % interval.\n")


def picture(records):
    """An SVG: each run's measured time, and the forecast with its interval, on a logarithmic scale."""
    left, width, row, top = 210, 430, 18, 30
    times = [record["measured"]["median_seconds"] for record in records]
    for record in records:
        times += [t for t in (*record["forecast"]["interval"], record["forecast"]["seconds"]) if t]
    low, high = math.log(min(times)) - .05, math.log(max(times)) + .05

    def x(seconds):
        return left + width * (math.log(seconds) - low) / (high - low)

    height = top + row * len(records) + 34
    text = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 20} {height}" '
            'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="#fff"/>\n'
            f'<text x="{left}" y="16">seconds an iteration: ● measured, ◇ forecast with its 90 % interval</text>\n')
    bottom = top + row * len(records)
    for tick in (.2, .5, 1, 2, 5, 10, 20, 50):
        if low <= math.log(tick) <= high:
            text += (f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{top}" y2="{bottom}" stroke="#ddd"/>'
                     f'<text x="{x(tick):.1f}" y="{bottom + 14}" text-anchor="middle">{tick:g}</text>\n')
    for index, record in enumerate(records):
        y = top + row * (index + .5)
        text += f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{record["name"]}</text>'
        begin, end = record["forecast"]["interval"]
        if begin:
            text += (f'<line x1="{x(begin):.1f}" x2="{x(end):.1f}" y1="{y}" y2="{y}" stroke="#9ab" '
                     'stroke-width="5"/>')
        at = x(record["forecast"]["seconds"])
        text += (f'<path d="M{at - 5:.1f} {y}L{at:.1f} {y - 5}L{at + 5:.1f} {y}L{at:.1f} {y + 5}Z" fill="#fff" '
                 'stroke="#036"/>'
                 f'<circle cx="{x(record["measured"]["median_seconds"]):.1f}" cy="{y}" r="3.5" fill="#b30"/>\n')
    return text + "</svg>\n"


def write(root, results):
    """Puts the table between the page's markers, and the picture beside the page."""
    records = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))
               if not path.name.endswith(".forecast.json")]
    if not records:
        return
    page = root / "docs" / "proving.md"
    text = page.read_text()
    made = f"{BEGIN}\n{summary(records)}\n{table(records)}{END}"
    page.write_text(text[:text.index(BEGIN)] + made + text[text.index(END) + len(END):])
    (root / "docs" / "proving.svg").write_text(picture(records))
