// A browser that obeys: one JSON order a line on standard input, one JSON answer a line on standard output. The tests
// themselves are Python (tests/e2e/cases/dashboard.py), beside the SQL that the page is compared with.

import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';

const PATIENCE_MS = 90_000;  // the machine may be slow and busy
const POLL_MS = 50;

// --no-sandbox: tests run as root in containers; the pages are the proxy's own. The rule makes a foreign name lead here.
const browser = await chromium.launch({executablePath: process.argv[2], timeout: PATIENCE_MS,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--host-resolver-rules=MAP foreign.example 127.0.0.1']});
const problems = [];  // what a page should not have said
let context = null;
let page = null;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const verbs = {
  // A new page, without what an earlier one stored.
  async open({url, scheme = 'light', width = 1440, height = 900}) {
    await context?.close();
    problems.length = 0;
    context = await browser.newContext({colorScheme: scheme, viewport: {width, height}, locale: 'en-GB', timezoneId: 'UTC', reducedMotion: 'reduce'});
    context.setDefaultTimeout(PATIENCE_MS);
    page = await context.newPage();
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('dialog', (dialog) => { problems.push(`a dialog: ${dialog.message()}`); dialog.dismiss(); });
    page.on('console', (message) => {
      // Refused requests are said there too; what the page makes of them is what is tested.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
    });
    return (await page.goto(url, {waitUntil: 'load'})).status();
  },
  evaluate: ({script}) => page.evaluate(script),
  async wait({script}) {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      const value = await page.evaluate(script);
      if (value) return value;
      if (Date.now() > until) throw new Error(`this did not come true in ${PATIENCE_MS / 1000} s: ${script}\n${await page.innerText('body')}`);
      await pause(POLL_MS);
    }
  },
  text: ({at}) => page.innerText(at),
  visible: ({at}) => page.isVisible(at),
  enabled: ({at}) => page.isEnabled(at),
  click: ({at}) => page.click(at),
  fill: ({at, value}) => page.fill(at, value),
  select: ({at, value}) => page.selectOption(at, value),
  press: ({key}) => page.keyboard.press(key),
  type: ({text}) => page.keyboard.type(text),
  hover: ({at, x, y}) => page.hover(at, {position: {x, y}}),
  scheme: ({value}) => page.emulateMedia({colorScheme: value}),
  size: ({width, height}) => page.setViewportSize({width, height}),
  screenshot: async ({path}) => { await page.screenshot({path, animations: 'disabled'}); },
  problems: () => problems,
};

for await (const line of createInterface({input: process.stdin})) {
  const {verb, ...rest} = JSON.parse(line);
  let answer;
  try {
    answer = {value: await verbs[verb](rest) ?? null};
  } catch (error) {
    answer = {error: error.message};
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
await browser.close();
