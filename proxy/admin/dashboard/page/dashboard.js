// The page: signs in, asks the proxy every few seconds, and hands what it knows to the parts that draw it.

import {api, hasToken} from './api.js';
import {drawHistory} from './chart.js';
import {drawScale, readColors} from './colors.js';
import {HeatMap} from './heatmap.js';
import {fillTable, List} from './list.js';
import {facts, Steering} from './steering.js';
import {bytes, clock, compact, count, duration, isEven, mapShape, modes, moment, plural, rate, ratio, sentence, sources} from './words.js';

const FIGURES_MS = 2000;        // between two questions for figures …
const FIGURES_MANY_MS = 5000;   // … and above MANY tables
const MANY = 1024;
const HISTORY_MS = 10_000;
const TABLES_MS = 30_000;
const RATE_WINDOW_MS = 60_000;  // rates of single tables are means over so long: at low traffic a table gets few rows
const STALE_MS = 3 * FIGURES_MANY_MS;

const by = (id) => document.getElementById(id);

const board = {
  session: null, tables: [], name: null, layout: null, figures: null, colors: readColors(), mayOperate: false,
  readings: [],        // {at, inserted}, the oldest first: what rates are made of
  points: [], measure: 'rows', places: [], answeredAt: 0, failure: null, chosen: null,
};
const map = new HeatMap(by('map-canvas'));
const list = new List();
const steering = new Steering(board, {
  onChoice: (slots) => { board.chosen = slots; drawMap(); },
  onDone: () => { refresh(); by('map').focus(); },
});
let timers = [];
let generation = 0;  // of the table shown: an answer for an older one is dropped

// ---- asking ----

async function start() {
  if (!hasToken()) {
    showLogin();
    return;
  }
  try {
    signedIn(await api.session());
  } catch (error) {
    if (error.status === 401) showLogin();
    else {
      trouble(error);
      timers.push(setTimeout(start, FIGURES_MANY_MS));
    }
  }
}

function showLogin() {
  stop();
  board.session = null;
  for (const id of ['board', 'who', 'sign-out', 'pick-label', 'freshness']) by(id).hidden = true;
  by('login').hidden = false;
  by('login-user').focus();
}

function stop() {
  timers.forEach(clearTimeout);
  timers = [];
  ++generation;
}

async function signedIn(session) {
  board.session = session;
  board.mayOperate = session.rights === 'operate';
  by('login').hidden = true;
  by('who').textContent = `${session.user} · ${board.mayOperate ? 'may operate' : 'may read'}`;
  by('who').title = session.proxy ?? '';
  by('who').hidden = by('sign-out').hidden = false;
  trouble(null);
  if (await loadTables()) await pick(wantedTable());
}

async function loadTables() {
  const answer = await guarded(api.tables());
  if (!answer) {
    timers.push(setTimeout(start, FIGURES_MANY_MS));
    return false;
  }
  board.tables = answer.tables;
  by('pick').replaceChildren(...board.tables.map((table, i) => new Option(
    `${table.schema}.${table.table} · ${ratio(table.by_rows.max_over_mean)}${table.steering ? ' · steering' : ''}`, String(i), false, sameName(table, board.name))));
  by('pick-label').hidden = board.tables.length === 0;
  if (board.tables.length === 0) {
    trouble({message: 'No table of the configuration is sharded: there is nothing to draw.'});
    return false;
  }
  return true;
}

const sameName = (a, b) => a && b && a.schema === b.schema && a.table === b.table;

// How far above what counts as even: the chance of few rows makes no table worth a look. Without rows there is no bound.
const excess = (table) => (table.bound === null ? 0 : table.by_rows.max_over_mean / table.bound);

// The table in the address, otherwise the most uneven one.
function wantedTable() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const name = {schema: wanted.get('schema'), table: wanted.get('table')};
  return board.tables.find((table) => sameName(table, name))
    ?? board.tables.reduce((most, table) => (excess(table) > excess(most) ? table : most));
}

async function pick(table) {
  stop();
  Object.assign(board, {name: {schema: table.schema, table: table.table}, layout: null, figures: null, readings: [], points: [], chosen: null});
  map.focused = -1;
  by('pick').value = String(board.tables.findIndex((one) => sameName(one, table)));
  history.replaceState(null, '', '#' + new URLSearchParams(board.name));
  by('table-name').textContent = `${table.schema}.${table.table}`;
  const mine = generation;
  const layout = await guarded(api.layout(board.name));
  if (mine !== generation) return;
  if (!layout) {
    timers.push(setTimeout(() => pick(table), FIGURES_MANY_MS));
    return;
  }
  board.layout = layout;
  board.places = [];
  for (const instance of layout.instances) {
    for (const database of instance.databases) {
      database.slots.forEach((slot, i) => { board.places[slot] = {instance: instance.name, database: database.name, name: database.tables[i]}; });
    }
  }
  again(askFigures, layout.slots > MANY ? FIGURES_MANY_MS : FIGURES_MS, mine);
  again(askHistory, HISTORY_MS, mine);
  timers.push(setInterval(() => { if (!document.hidden) loadTables(); }, TABLES_MS));
  timers.push(setInterval(showFreshness, 1000));
}

// Runs `ask` now and `pause` after each answer; a hidden page asks nothing.
async function again(ask, pause, mine) {
  if (!document.hidden) await ask();
  if (mine === generation) timers.push(setTimeout(() => again(ask, pause, mine), pause));
}

async function refresh() { await Promise.all([askFigures(), askHistory()]); }

async function askFigures() {
  const mine = generation;
  const figures = await guarded(api.figures(board.name));
  if (!figures || mine !== generation) return;
  const first = board.figures === null;
  board.figures = figures;
  board.answeredAt = Date.now();
  remember(figures);
  by('board').hidden = false;
  if (first) { arrangeMap(); steering.reset(); }
  showFigures();
}

async function askHistory() {
  const mine = generation;
  const [answer, log] = await Promise.all([guarded(api.history(board.name)), guarded(api.log())]);
  if (mine !== generation) return;
  if (answer) { board.points = answer.points; showHistory(); }
  if (log) {
    fillTable(by('log'), log);
    by('log').hidden = log.rows.length === 0;
    by('log-empty').hidden = log.rows.length > 0;
  }
}

// The answer, or null after having told what failed.
async function guarded(promise) {
  try {
    const answer = await promise;
    trouble(null);
    return answer;
  } catch (error) {
    if (error.status === 401) showLogin();
    else trouble(error);
    return null;
  }
}

function remember(figures) {
  const last = board.readings[board.readings.length - 1];
  if (last && (figures.at_ms < last.at || figures.inserted.some((value, slot) => value < last.inserted[slot]))) board.readings = [];  // restarted
  if (!last || figures.at_ms > last.at || board.readings.length === 0) board.readings.push({at: figures.at_ms, inserted: figures.inserted});
  while (board.readings.length > 2 && board.readings[1].at < figures.at_ms - RATE_WINDOW_MS) board.readings.shift();
}

// New rows a second by slot; null before there are two readings.
function rates() {
  if (board.readings.length < 2) return null;
  const [first, last] = [board.readings[0], board.readings[board.readings.length - 1]];
  const seconds = (last.at - first.at) / 1000;
  return last.inserted.map((value, slot) => (value - first.inserted[slot]) / seconds);
}

// ---- showing ----

function trouble(error) {
  board.failure = error;
  by('trouble').hidden = error === null;
  by('trouble').textContent = error === null ? '' : error.message
    + (board.figures ? ` What you see are the last figures, of ${clock(board.answeredAt)}.` : '');
  showFreshness();
}

function showFreshness() {
  const shown = board.figures !== null && board.session !== null;
  by('freshness').hidden = !shown;
  if (!shown) return;
  const age = Date.now() - board.answeredAt;
  const stale = board.failure !== null || age > STALE_MS;
  by('freshness').classList.toggle('stale', stale);
  by('freshness').textContent = stale ? `figures are ${duration(age / 1000)} old` : 'live';
}

function showFigures() {
  const {figures} = board;
  const rows = sum(figures.rows);
  by('sentence').textContent = sentence(figures);
  tile('skew', ratio(figures.by_rows.max_over_mean), `the mean; ${figures.bound === null ? 'no rows to judge by' : `even below ${ratio(figures.bound)}`}, variation ${(figures.by_rows.variation * 100).toFixed(1)} %`);
  tile('rows', compact(rows), `${bytes(sum(figures.bytes))} in ${plural(figures.rows.length, 'table')}; ${freshnessOfFigures(figures)}`);
  tile('rate', `${rate(figures.outlook.rows_per_s)} /s`, `the generators can make ${compact(figures.outlook.ids_per_s_possible)} ids/s`);
  tile('even', isEven(figures) ? 'even now' : figures.outlook.until_even_s === null ? '—' : duration(figures.outlook.until_even_s), figures.outlook.remark);
  tile('mode', figures.map.weights ? `${modes[figures.mode] ?? figures.mode}: on` : modes[figures.mode] ?? figures.mode, mapNote(figures));
  showFreshness();
  drawMap();
  if (!by('list-view').hidden) showList();
  showDetail();
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

function tile(name, value, note) {
  by(`tile-${name}`).textContent = value;
  by(`tile-${name}-note`).textContent = note;
}

function freshnessOfFigures(figures) {
  const oldest = figures.age_s.reduce((most, age) => Math.max(most, age), 0);
  const kinds = [...new Set(figures.source)];
  return `${kinds.length === 1 ? sources[kinds[0]] ?? kinds[0] : 'figures of several kinds'}, asked ${duration(oldest)} ago at most`;
}

function mapNote(figures) {
  const {map: state, proxies} = figures;
  const said = [];
  if (state.weights) said.push(`map ${state.version} by ${state.ordered_by || 'nobody known'}`);
  if (state.until_ms) said.push(`ends ${moment(state.until_ms)}`);
  const behind = proxies.filter((proxy) => proxy.version !== state.version);
  if (behind.length > 0) said.push(`${behind.map((proxy) => `${proxy.proxy} still at ${proxy.version}`).join(', ')}`);
  if (state.reason) said.push(state.reason);
  return said.join('; ');
}

function arrangeMap() {
  const width = by('map').clientWidth || by('map-view').clientWidth;
  if (!board.layout || width === 0) return;
  map.arrange(board.layout, width, Math.max(420, window.innerHeight * 0.6));
  for (const item of document.querySelectorAll('.legend .detailed')) item.hidden = !map.detailed;
}

function drawMap() {
  const {figures, colors, measure} = board;
  if (!figures || !map.arranged || by('map-view').hidden) return;
  const perTable = rates();
  const values = measure === 'rate' ? perTable ?? figures.rows.map(() => 0) : figures[measure];
  const total = sum(values);
  const unit = {rows: (value) => `${compact(value)} rows`, bytes, rate: (value) => `${rate(value)} new rows/s`}[measure];
  const mean = total / values.length;
  map.chosen = board.chosen;
  map.draw({values, mean, weights: figures.map.weights, rates: perTable, colors,
    note: (panel) => {
      const mine = panel.slots.reduce((part, slot) => part + values[slot], 0);
      return total > 0 ? `${unit(mine)} · ${ratio(mine / panel.slots.length / mean)} the mean` : unit(mine);
    }});
  drawScale(by('legend-scale'), colors);
  const shape = figures.map.weights ? mapShape(figures.map.weights) : {avoided: 0};
  by('map-canvas').setAttribute('aria-label', `${plural(values.length, 'table')} on ${plural(board.layout.instances.length, 'instance')}, `
    + `coloured against the mean of ${unit(mean)}; ${shape.avoided} avoided.`);
}

function rowOf(slot, perTable = rates(), totals = {rows: sum(board.figures.rows), weights: sum(board.figures.map.weights ?? [])}) {
  const {figures, places} = board;
  const weights = figures.map.weights;
  return {slot, ...places[slot], rows: figures.rows[slot], bytes: figures.bytes[slot],
    overMean: totals.rows > 0 ? figures.rows[slot] * figures.rows.length / totals.rows : 1, rate: perTable ? perTable[slot] : null,
    share: weights ? weights[slot] / totals.weights : 1 / figures.rows.length, source: figures.source[slot], age: figures.age_s[slot]};
}

function showList() {
  const perTable = rates();
  const totals = {rows: sum(board.figures.rows), weights: sum(board.figures.map.weights ?? [])};
  list.update(board.places.map((_, slot) => rowOf(slot, perTable, totals)));
}

function showDetail() {
  const slot = map.focused;
  by('detail').hidden = slot < 0;
  by('detail-hint').hidden = slot >= 0;
  if (slot < 0) return;
  const row = rowOf(slot);
  by('detail-name').textContent = `Table ${slot}: ${row.database}.${row.name} on ${row.instance}`;
  facts(by('detail-facts'), [
    ['Rows', `${count(row.rows)}, ${ratio(row.overMean)} the mean`],
    ['Bytes', bytes(row.bytes)],
    ['New rows', row.rate === null ? 'known with the next reading' : `${rate(row.rate)} a second`],
    ['Gets', row.share === 0 ? 'no new rows: avoided' : `${(row.share * 100).toFixed(2)} % of new rows`],
    ['Figure', `${sources[row.source] ?? row.source}, ${duration(row.age)} old`],
  ]);
  by('detail-avoid').disabled = Boolean(board.figures.not_steerable_because);
}

function focusSlot(slot, spoken) {
  if (slot < 0 || slot === map.focused) return;
  map.focused = slot;
  by('detail-reasons').replaceChildren();
  drawMap();
  showDetail();
  if (spoken) {
    const row = rowOf(slot);
    by('map-spoken').textContent = `Table ${slot}, ${row.instance}, ${row.database}.${row.name}: ${count(row.rows)} rows, ${ratio(row.overMean)} the mean, `
      + (row.share === 0 ? 'avoided' : `${row.rate === null ? '' : `${rate(row.rate)} new rows a second, `}${(row.share * 100).toFixed(2)} % of new rows`);
  }
}

async function explain() {
  const slot = map.focused;
  if (slot < 0) return;
  let reasons;
  try {
    const values = await api.explain(board.name, slot);
    reasons = values.rows.map((row) => row.filter((value) => value !== null).join(' · '));
  } catch (error) {
    reasons = [error.message];
  }
  if (slot !== map.focused) return;
  by('detail-reasons').replaceChildren(...reasons.map((reason) => Object.assign(document.createElement('li'), {textContent: reason})));
}

function showHistory() {
  if (board.figures) drawHistory(by('history'), board.points, board.figures.bound, board.measure);
}

// ---- what people do ----

by('login-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const session = await api.signIn(by('login-user').value, by('login-password').value);
    by('login-trouble').hidden = true;
    by('login-password').value = '';
    signedIn(session);
  } catch (error) {
    by('login-trouble').hidden = false;
    by('login-trouble').textContent = error.message;
  }
});
by('sign-out').addEventListener('click', async () => {
  await guarded(api.signOut());
  trouble(null);
  showLogin();
});
by('pick').addEventListener('change', () => pick(board.tables[Number(by('pick').value)]));
by('measure').addEventListener('change', (event) => { board.measure = event.target.value; drawMap(); showHistory(); });
by('form').addEventListener('change', (event) => {
  by('map-view').hidden = event.target.value !== 'map';
  by('list-view').hidden = event.target.value !== 'list';
  if (event.target.value === 'list') showList();
  else { arrangeMap(); drawMap(); }
});
by('map').addEventListener('keydown', (event) => {
  if (event.key === 'Enter') { explain(); return; }
  if (!['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'].includes(event.key) || !map.arranged) return;
  event.preventDefault();
  focusSlot(map.focused < 0 ? map.arranged.order[0] : map.after(map.focused, event.key), true);
});
by('map').addEventListener('focus', () => {
  if (map.arranged && map.focused < 0 && by('map').matches(':focus-visible')) focusSlot(map.arranged.order[0], true);
});
by('map-canvas').addEventListener('mousemove', (event) => { if (map.arranged) focusSlot(map.at(event.offsetX, event.offsetY), false); });
by('map-canvas').addEventListener('click', explain);
by('detail-why').addEventListener('click', explain);
by('detail-avoid').addEventListener('click', () => steering.avoidSlot(map.focused));
new ResizeObserver(() => { if (map.arranged && by('map').clientWidth > 0 && by('map').clientWidth !== map.width) { arrangeMap(); drawMap(); } }).observe(by('map'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { board.colors = readColors(); drawMap(); });
document.addEventListener('visibilitychange', () => { if (!document.hidden && board.layout) refresh(); });

start();
