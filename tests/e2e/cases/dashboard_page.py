"""DASHBOARD: the page itself, in headless Chromium. Conditions are waited for, never times: the machine may be slow."""
import json
import os
import time

from cases.admin import wait_until
from cases.dashboard import SLOTS, SPITEFUL, STEERING, dashboard, state_of, when_counted
from cases.skew import Fill, connect, prefill
from harness.browser import browsing, faking
from harness.environment import run
from harness.registry import check, check_equal, test

# Of every cell of the map: its colour below, the colour that the scale has for its share, and its share as the height of
# the level says. `values` by slot are what the admin port says.
READ_MAP = """(async () => {
  const values = %s;
  const {arrange} = await import('/dashboard/heatmap.js');
  const {readColors, colorOf} = await import('/dashboard/colors.js');
  const layout = %s;
  const place = arrange(layout, document.getElementById('map').clientWidth, Math.max(420, innerHeight * 0.6));
  const canvas = document.getElementById('map-canvas');
  const pen = canvas.getContext('2d', {willReadFrequently: true});
  const colors = readColors();
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const at = (x, y) => [...pen.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3).join(' ');
  return {width: canvas.width, wanted: Math.round(document.getElementById('map').clientWidth * devicePixelRatio), tall: place.tall,
    cells: values.map((value, slot) => {
      const x = place.x[slot] + place.width - 3;  // beside the number
      const bottom = place.y[slot] + place.tall - 2;
      const color = at(x, bottom);
      let level = 0;
      for (let y = Math.ceil(place.y[slot]); y < place.y[slot] + place.tall; ++y) level += at(x, y) === color ? 1 : 0;
      return {drawn: color, wanted: colorOf(colors, value / mean).replace(/rgb\\(|\\)/g, ''), share: level * 2 / place.tall};
    })};
})()"""


def is_drawn(browser, layout, values):
    cells = browser.evaluate(script=READ_MAP % (json.dumps(values), json.dumps(layout)))["cells"]
    return all(cell["drawn"] == cell["wanted"] for cell in cells)


def check_map(browser, layout, values):
    found = browser.evaluate(script=READ_MAP % (json.dumps(values), json.dumps(layout)))
    check_equal(found["width"], found["wanted"], "the width of the map")
    mean = sum(values) / len(values)
    for slot, cell in enumerate(found["cells"]):
        check_equal(cell["drawn"], cell["wanted"], f"the colour of table {slot}, {values[slot] / mean:.3f} of the mean")
        # One line across the cell marks the mean; the level ends within a pixel.
        allowed = 2 * 3.5 / found["tall"]
        check(abs(cell["share"] - min(2, values[slot] / mean)) <= allowed,
              f"table {slot} is drawn {cell['share']:.3f} of the mean high and holds {values[slot] / mean:.3f}")


def staircase(env):
    """No two tables alike."""
    env.fresh("l1")
    rows = [40 + 3 * slot for slot in range(SLOTS)]
    table = env.table("l1")
    for number in range(1, 5):
        with env.cluster.admin(number).cursor() as cursor:
            for slot, (instance, database, actual) in enumerate(table.places("l1")):
                if instance == number:
                    values = ",".join(f"({slot + SLOTS * (k + 1)})" for k in range(rows[slot]))
                    cursor.execute(f"INSERT INTO `{database}`.`{actual}` (id) VALUES {values}")
    return rows


def wait_for_board(browser):
    browser.wait(script="!document.getElementById('board').hidden && document.getElementById('tile-rows').textContent !== ''")


def wait_text(browser, at, part):
    browser.wait(script=f"document.querySelector({json.dumps(at)}).textContent.includes({json.dumps(part)})")


def tab_to(browser, identity, most=60):
    """Presses Tab until the element has the focus: whoever has no mouse gets there too."""
    for _ in range(most):
        browser.press(key="Tab")
        if browser.evaluate(script="document.activeElement.id") == identity:
            return
    raise AssertionError(f"{most} times Tab do not lead to #{identity}")


def luminance(color):
    parts = [int(color.strip()[at:at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_contrast(browser, scheme):
    names = ("ground", "surface", "field", "ink", "muted", "accent", "accent-ink", "warning", "warning-ground")
    colors = browser.evaluate(script="((style) => Object.fromEntries(%s.map((name) => [name, style.getPropertyValue('--' + name).trim()])))"
                              "(getComputedStyle(document.documentElement))" % json.dumps(names))
    for text, ground in (("ink", "surface"), ("ink", "ground"), ("ink", "field"), ("muted", "surface"), ("muted", "ground"),
                         ("accent-ink", "accent"), ("warning", "surface"), ("warning", "warning-ground")):
        light, dark = sorted((luminance(colors[text]), luminance(colors[ground])), reverse=True)
        ratio = (light + 0.05) / (dark + 0.05)
        check(ratio >= 4.5, f"{scheme}: {text} on {ground} has contrast {ratio:.2f}; text needs 4.5")
    return luminance(colors["surface"])


@test("DASHBOARD-map", "the page draws what the admin port says: tiles, the map pixel by pixel, the list; light and dark",
      servers=("mariadb",), needs_proxy=True)
def draws(env):
    rows = staircase(env)
    with dashboard(env, "map") as one:
        when_counted(one, rows)
        layout = one.ask("GET", "api/v1/layout?schema=l1&table=orders")[1]
        said = one.skew()
        with browsing(one.url) as browser:
            browser.sign_in("anna", one.password)
            wait_for_board(browser)
            check_equal(browser.text(at="#who"), "anna · may operate", "who is signed in")
            check_equal(browser.text(at="#table-name"), "l1.orders", "the most uneven table is shown first")
            check_equal(browser.text(at="#tile-skew"), f"{said[0]['max_over_mean']:.2f} ×", "the fullest table")
            check_equal(browser.text(at="#tile-rows"), f"{sum(rows):,}", "rows")
            check("exact count" in browser.text(at="#tile-rows-note"), browser.text(at="#tile-rows-note"))
            check_map(browser, layout, [row["rows"] for row in said])
            bright = check_contrast(browser, "light")
            browser.scheme(value="dark")
            browser.wait(script="getComputedStyle(document.documentElement).getPropertyValue('--surface').trim() !== '#ffffff'")
            # The page hears of the change after the style sheet has it.
            wait_until(lambda: is_drawn(browser, layout, [row["rows"] for row in said]), patience=90)
            check_map(browser, layout, [row["rows"] for row in said])
            check(check_contrast(browser, "dark") < 0.05 < 0.9 < bright, "dark is dark and light is light")
            browser.scheme(value="light")

            browser.click(at="#measure label:has(input[value=bytes])")
            # The servers tell new sizes when they have looked again, and the page asks every two seconds.
            wait_until(lambda: is_drawn(browser, layout, [row["bytes"] for row in one.skew()]), patience=90)
            browser.click(at="#form label:has(input[value=list])")
            listed = browser.evaluate(script="[...document.querySelectorAll('#list tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))")
            check_equal([(row[0], row[1], row[2], row[3]) for row in listed],
                        [(row["slots"], row["instance"], f"{row['database']}.{row['table']}", f"{row['rows']:,}") for row in said], "the list")
            browser.fill(at="#list-filter", value="l1_03.")
            check_equal(browser.text(at="#list-count"), "1 to 8 of 8", "tables of one database")
            browser.select(at="#pick", value="1")
            wait_text(browser, "#table-name", "l2.orders")
            wait_text(browser, "#sentence", "Steering does not apply")
            check(not browser.enabled(at="#steer-try"), "an order for a table that cannot be steered")
            browser.click(at="#sign-out")
            browser.wait(script="!document.getElementById('login').hidden")
            check(not browser.visible(at="#board"), "figures after signing out")


@test("DASHBOARD-keyboard", "by keyboard alone: over the map, an order, its dry run, and the map of the proxy has changed",
      servers=("mariadb",), needs_proxy=True)
def steers_by_keyboard(env):
    prefill(env, 400, 200)
    with connect(env.proxy) as client:  # eight times the mean, by the chance of one row: not what the page opens with
        env.fresh("l2")
        run(client, "INSERT INTO l2.orders(user_id) VALUES (7)")
    with dashboard(env, "keyboard") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        with browsing(one.url) as browser:
            browser.wait(script="document.activeElement.id === 'login-user'")
            browser.type(text="anna")
            browser.press(key="Tab")
            browser.type(text=one.password)
            browser.press(key="Enter")
            wait_for_board(browser)
            tab_to(browser, "map")
            wait_text(browser, "#map-spoken", "Table 0, instance1, l1_00.orders_000: 400 rows, 1.60 × the mean")
            for key, slot in (("ArrowRight", 1), ("ArrowDown", 9), ("PageDown", 32), ("End", 127), ("ArrowLeft", 126), ("PageUp", 96), ("Home", 0), ("ArrowLeft", 0),
                              ("ArrowRight", 1), ("ArrowRight", 2)):
                browser.press(key=key)
                check(browser.text(at="#map-spoken").startswith(f"Table {slot},"), f"{key} led to {browser.text(at='#map-spoken')}, not to table {slot}")
            browser.press(key="Enter")
            wait_text(browser, "#detail-reasons", "Table 2 is l1_00.orders_002 on instance1: 400 rows")
            tab_to(browser, "detail-avoid")
            browser.press(key="Enter")
            check_equal(browser.evaluate(script="document.activeElement.id"), "steer-try", "where the focus is")
            order = browser.text(at="#steer-sql")
            check_equal(order, "STEER l1.orders AVOID TABLES 2 FOR 2 HOURS", "the same as SQL")
            browser.press(key="Enter")
            browser.wait(script="document.getElementById('dry-run').open")
            check("127 tables would get" in browser.text(at="#dry-run-sentence"), browser.text(at="#dry-run-sentence"))
            check_equal(len(one.sql("DRY RUN " + order)) > 0, True, "the admin port understands the order as SQL")
            browser.press(key="Escape")
            browser.wait(script="!document.getElementById('dry-run').open")
            check_equal(state_of(one), ("off", 0), "after a dry run that was not confirmed")
            browser.wait(script="document.activeElement.id === 'steer-try'")
            browser.press(key="Enter")
            browser.wait(script="document.getElementById('dry-run').open")
            tab_to(browser, "dry-run-confirm")
            browser.press(key="Enter")
            browser.wait(script="!document.getElementById('dry-run').open")
            check_equal(state_of(one), ("on, ordered", 1), "SHOW STEERING after the order")
            browser.wait(script="document.activeElement.id === 'map'")
            wait_text(browser, "#sentence", "New rows avoid 1 of 128 tables")
            wait_text(browser, "#tile-mode", "by order: on")
            wait_text(browser, "#log", "anna")
            history = one.sql("SHOW STEERING HISTORY")
            check_equal(history[0]["by"], "admin 'anna' from 127.0.0.1", "who ordered it")
        with connect(one.proxy) as client:
            keys = [run(client, "INSERT INTO orders(user_id) VALUES (7)")[1] % SLOTS for _ in range(400)]
        check(2 not in keys and len(set(keys)) > 120, f"new rows went to {len(set(keys))} tables, table 2 with them: {2 in keys}")


@test("DASHBOARD-rights", "a reader tries and changes nothing; an order about an older map is refused; names are text",
      servers=("mariadb",), needs_proxy=True)
def rights(env):
    prefill(env, 400, 200)
    with dashboard(env, "rights") as one:
        when_counted(one, [400] * 32 + [200] * 96)
        with browsing(one.url) as browser:
            browser.sign_in("rita", one.password)
            wait_for_board(browser)
            check_equal(browser.text(at="#who"), "rita · may read", "who is signed in")
            browser.select(at="#steer-what", value="avoid")
            browser.click(at="#steer-try")
            browser.wait(script="document.getElementById('dry-run').open")
            check("96 tables would get" in browser.text(at="#dry-run-sentence"), browser.text(at="#dry-run-sentence"))
            check(not browser.enabled(at="#dry-run-confirm"), "a reader could confirm")
            # Who enables the button by hand is refused by the proxy.
            browser.evaluate(script="document.getElementById('dry-run-confirm').disabled = false")
            browser.click(at="#dry-run-confirm")
            wait_text(browser, "#dry-run-trouble", "'rita' may read here; this needs the right to operate")
            check_equal(state_of(one), ("off", 0), "after a reader's order")

            browser.open(url=one.url)
            browser.sign_in("anna", one.password)
            wait_for_board(browser)
            browser.select(at="#steer-what", value="only")
            browser.click(at="#steer-try")
            browser.wait(script="document.getElementById('dry-run').open")
            one.sql("STEER l1.orders AVOID TABLES 7")
            browser.click(at="#dry-run-confirm")
            wait_text(browser, "#dry-run-trouble", "look again")
            check_equal(state_of(one), ("on, ordered", 1), "the map is still that of the other operator")
            browser.click(at="#dry-run-cancel")
            wait_text(browser, "#sentence", "New rows avoid 1 of 128 tables")

            browser.open(url=one.url)
            browser.sign_in(SPITEFUL, one.password)
            wait_for_board(browser)
            check_equal(browser.text(at="#who"), f"{SPITEFUL} · may read", "a user whose name is markup")
            check_equal(browser.evaluate(script="document.querySelectorAll('#who img').length"), 0, "elements that a name made")


@test("DASHBOARD-strangers", "wrong logins wait; a browser that thinks it speaks to another host gets nothing",
      servers=("mariadb",), needs_proxy=True)
def strangers(env):
    with dashboard(env, "strangers") as one, browsing(one.url) as browser:
        for _ in range(12):
            browser.sign_in("anna", "wrong")
            browser.wait(script="document.getElementById('login-trouble').textContent !== ''")
            if "too many wrong" in browser.text(at="#login-trouble"):
                break
            browser.evaluate(script="document.getElementById('login-trouble').textContent = ''")
        check("too many wrong passwords or tokens from 127.0.0.1" in browser.text(at="#login-trouble"), browser.text(at="#login-trouble"))
        check_equal(one.ask("GET", "api/v1/tables")[0] in (200, 429), True, "the right password, while waiting or after it")
        begun = time.monotonic()
        while browser.visible(at="#login"):
            check(time.monotonic() - begun < 120, "the right password does not help after the wait")
            browser.evaluate(script="document.getElementById('login-trouble').textContent = ''")
            browser.sign_in("anna", one.password)
            browser.wait(script="document.getElementById('login').hidden || document.getElementById('login-trouble').textContent !== ''")
        wait_for_board(browser)
        check_equal(browser.open(url=one.url.replace("127.0.0.1", "foreign.example")), 421, "the page under a foreign name")
        check("hosts" in browser.text(at="body"), browser.text(at="body"))
        check_equal(browser.open(url=one.url.replace("127.0.0.1", "localhost")), 200, "the page as localhost")


@test("DASHBOARD-8192", "8192 tables whose names are markup: drawn, listed, walked over; and a proxy that fails on the way", servers=())
def many(_program):
    markup = "<b onmouseover=alert(1)>t</b>"
    with faking(layout="4x16x128", schema="s<i>", table=markup, instance="<img src=x onerror=alert(2)>") as fake, browsing(fake.url) as browser:
        browser.sign_in("anna", "secret")
        wait_for_board(browser)
        check_equal(browser.text(at="#table-name"), f"s<i>.{markup}", "the table's name")
        check_equal(browser.evaluate(script="document.querySelectorAll('main b, main i:not(.swatch), main img').length"), 0, "elements that names made")
        figures = "(await (await fetch('/api/v1/%s?' + new URLSearchParams({schema: 's<i>', table: " + json.dumps(markup) + \
            "}), {headers: {Authorization: 'Bearer ' + sessionStorage.getItem('evenkeel-session')}})).json())"
        drawn = browser.evaluate(script="""(async () => {
            const {arrange} = await import('/dashboard/heatmap.js');
            const layout = %s;
            const rows = %s.rows;
            const map = document.getElementById('map');
            const place = arrange(layout, map.clientWidth, Math.max(420, innerHeight * 0.6));
            const pen = document.getElementById('map-canvas').getContext('2d', {willReadFrequently: true});
            const warm = (slot) => { const [r, , b] = pen.getImageData(Math.round(place.x[slot] + place.width / 2), Math.round(place.y[slot] + place.tall / 2), 1, 1).data; return r > b; };
            return {cells: place.order.length, full: rows.map((_, slot) => slot).filter((slot) => rows[slot] > 15000).every(warm),
              others: rows.map((_, slot) => slot).filter((slot) => rows[slot] < 12500).filter(warm).length, inside: place.x.every((x) => x + place.width <= map.clientWidth + 1)};
        })()""" % (figures % "layout", figures % "figures"))
        check_equal(drawn, {"cells": 8192, "full": True, "others": 0, "inside": True}, "the map: 2048 full tables orange, the others not")
        tab_to(browser, "map")
        for key, slot in (("PageDown", 2048), ("End", 8191), ("ArrowLeft", 8190)):
            browser.press(key=key)
            wait_text(browser, "#map-spoken", f"Table {slot},")
        browser.click(at="#form label:has(input[value=list])")
        check_equal(browser.text(at="#list-count"), "1 to 256 of 8,192", "the list's first page")
        browser.click(at="#list-on")
        check_equal(browser.text(at="#list-count"), "257 to 512 of 8,192", "its second page")
        browser.fill(at="#list-filter", value="8191")
        check_equal(browser.evaluate(script="document.querySelector('#list tbody td').textContent"), "8191", "the last table")
        browser.click(at="#form label:has(input[value=map])")
        browser.select(at="#steer-what", value="avoid")
        check("`" in browser.text(at="#steer-sql"), "names that are no words are quoted: " + browser.text(at="#steer-sql"))
        browser.click(at="#steer-try")
        browser.wait(script="document.getElementById('dry-run').open")
        check("2,048 tables would get none" in browser.text(at="#dry-run-sentence"), browser.text(at="#dry-run-sentence"))
        browser.click(at="#dry-run-confirm")
        browser.wait(script="!document.getElementById('dry-run').open")
        wait_text(browser, "#sentence", "New rows avoid 2,048 of 8,192 tables")

        fake.break_path("/figures", 503)
        wait_text(browser, "#trouble", "the registry cannot be reached")
        wait_text(browser, "#freshness", "old")
        check("8,192 tables" in browser.text(at="#tile-rows-note"), "the last figures stay")
        fake.break_path("/figures", "hang up")
        wait_text(browser, "#trouble", "The proxy cannot be reached")
        fake.break_path("/figures", None)
        browser.wait(script="document.getElementById('freshness').textContent === 'live'")
        check(not browser.visible(at="#trouble"), "the trouble is over")


@test("DASHBOARD-live", "auto: the page shows steering begin, new rows arrive in the tables that are short, and even at the end",
      servers=("mariadb",), needs_proxy=True)
def live(env):
    prefill(env, 1_000, 500)
    with dashboard(env, "live", STEERING.replace("mode: off", "mode: auto")) as one, browsing(one.url, width=1440, height=1060) as browser:
        browser.sign_in("anna", one.password)
        wait_for_board(browser)
        wait_text(browser, "#tile-mode", "auto: on")
        fills = [Fill(one.proxy, 0, 400) for _ in range(4)]
        for each in fills:
            each.start()
        try:
            ratio = "parseFloat(document.getElementById('tile-skew').textContent)"
            browser.wait(script=f"{ratio} < 1.4 && parseFloat(document.getElementById('tile-rate').textContent) > 0")
            wait_text(browser, "#sentence", "even in about")
            browser.wait(script="document.querySelectorAll('#history polyline').length === 1 && document.querySelectorAll('#history rect').length > 0")
            # docs/images/dashboard.png is made so: EVENKEEL_SCREENSHOT=docs/images/dashboard.png ./run test e2e -k DASHBOARD-live
            if os.environ.get("EVENKEEL_SCREENSHOT"):
                browser.screenshot(path=os.environ["EVENKEEL_SCREENSHOT"])
            browser.wait(script=f"{ratio} < 1.02 && document.getElementById('tile-mode').textContent === 'auto'")
        finally:
            for each in fills:
                each.stopping = True
            for each in fills:
                each.join()
        check_equal([each.error for each in fills if each.error], [], "errors of the clients")
        wait_text(browser, "#sentence", "Even:")
        wait_text(browser, "#log", "steering off")
        check_equal(state_of(one)[0], "off", "SHOW STEERING")
