"""DASHBOARD: the page itself, in headless Chromium. Conditions are waited for, never times: the machine may be slow."""
import json
import os
import time

from cases.dashboard import SPITEFUL, STEERING, dashboard, state_of, when_counted
from cases.skew import Fill, prefill
from harness.browser import browsing, faking
from harness.registry import check, check_equal, test

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
