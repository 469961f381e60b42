// A proxy that is none: the HTTP interface of docs/http-api.md over a small model, for working on the page and for tests
// of what a healthy proxy seldom does (failing calls, hostile names, thousands of tables). `node fake.js '{"port": 8080, "layout": "4x16x128"}'`; it ends with its input.

import {createServer} from 'node:http';
import {readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';

const PAGE = new URL('../../../../proxy/admin/dashboard/page/', import.meta.url);
const TYPES = {html: 'text/html; charset=utf-8', css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml'};
// The policy of the real one: what it forbids must fail here too.
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
  + "form-action 'none'; frame-ancestors 'none'";

class Refusal extends Error {
  constructor(status, message) { super(message); this.status = status; }
}

export class Model {
  constructor({instances = 4, databases = 16, tables = 128, schema = 'shop', table = 'orders', full = 1 / instances, name = (i) => `ds${i}`, now = Date.now()} = {}) {
    Object.assign(this, {schema, table, slots: tables, mode: 'off', weights: null, version: 0, orderedBy: '', reason: '', since: null, until: null, rate: 800, log: [], now});
    const perDatabase = tables / databases;
    this.layout = {schema, table, slots: tables, instances: Array.from({length: instances}, (_, i) => ({name: name(i),
      databases: Array.from({length: databases / instances}, (_, d) => {
        const number = i * databases / instances + d;
        const slots = Array.from({length: perDatabase}, (_, k) => number * perDatabase + k);
        return {name: `${schema}_${String(number).padStart(2, '0')}`, slots, tables: slots.map((slot) => `${table}_${String(slot).padStart(String(tables - 1).length, '0')}`)};
      })}))};
    let seed = 7;
    const random = () => (seed = seed * 48271 % 2147483647) / 2147483647;
    this.rows = Array.from({length: tables}, (_, slot) => Math.round((slot < tables * full ? 20000 : 10000) * (0.97 + 0.06 * random())));
    this.inserted = this.rows.map(() => 0);
    this.left = this.rows.map(() => 0);
    const {max_over_mean: start} = this.unevenness(this.rows);
    this.points = Array.from({length: 60}, (_, i) => [now - (60 - i) * 60_000, start - 0.004 * i * (start > 1.3 ? 1 : 0), start, 0.3, 0]).map((point, i, all) => [point[0], 1 + (all.length - i * 0.2) / all.length * (start - 1), start, 0.3, 0]);
  }

  unevenness(values) {
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    return mean === 0 ? {max_over_mean: 1, variation: 0} : {max_over_mean: values.reduce((a, b) => Math.max(a, b), 0) / mean, variation: Math.sqrt(variance) / mean};
  }

  // Time goes on: rows come by the map.
  advance(ms) {
    this.now += ms;
    const weights = this.weights ?? this.rows.map(() => 1);
    const whole = weights.reduce((a, b) => a + b, 0);
    weights.forEach((weight, slot) => {
      this.left[slot] += this.rate * ms / 1000 * weight / whole;
      const came = Math.floor(this.left[slot]);
      this.left[slot] -= came;
      this.rows[slot] += came;
      this.inserted[slot] += came;
    });
    if (this.now - this.points[this.points.length - 1][0] >= 5000) {
      const {max_over_mean: by, variation} = this.unevenness(this.rows);
      this.points.push([this.now, by, by, variation, this.weights ? 1 : 0]);
    }
  }

  outlook(weights) {
    const permitted = (weights ?? []).filter((weight) => weight > 0).length || this.slots;
    const {max_over_mean: by} = this.unevenness(this.rows);
    const total = this.rows.reduce((a, b) => a + b, 0);
    const missing = by * total - total;
    return {rows_per_s: this.rate, ids_per_s_possible: Math.floor(4096 * permitted / this.slots) * 1000,
      until_even_s: weights && this.rate ? Math.round(missing / this.rate) : null,
      remark: weights ? 'at the present rate' : 'nothing steers new rows'};
  }

  figures() {
    const bytes = this.rows.map((rows) => rows * 156 + 16384);
    return {at_ms: this.now, rows: this.rows, bytes, inserted: this.inserted, age_s: this.rows.map(() => 12), source: 'c'.repeat(this.slots),
      by_rows: this.unevenness(this.rows), by_bytes: this.unevenness(bytes), bound: 1.035, mode: this.mode, not_steerable_because: '',
      map: {version: this.version, weights: this.weights, ordered_by: this.orderedBy, reason: this.reason, since_ms: this.since, until_ms: this.until},
      outlook: this.outlook(this.weights), proxies: [{proxy: 'db-proxy-1', version: this.version}]};
  }

  weightsOf(order) {
    const slotsOf = (target) => this.layout.instances.flatMap((instance) => instance.databases.flatMap((database) => database.slots.filter((slot) =>
      target.instance === instance.name || target.database === database.name || (slot >= target.first && slot <= target.last))));
    if (order.what === 'off' || order.what === 'advise') return null;
    if (order.what === 'auto') {
      const mean = this.rows.reduce((a, b) => a + b, 0) / this.slots;
      return this.unevenness(this.rows).max_over_mean > 1.05 ? this.rows.map((rows) => (rows > mean ? 0 : Math.max(1, Math.min(8, Math.round((mean * 1.4 - rows) / mean * 8))))) : null;
    }
    if (order.what === 'weights') {
      const weights = this.rows.map(() => 1);
      order.weights.forEach((one) => slotsOf(one).forEach((slot) => { weights[slot] = one.weight; }));
      return weights;
    }
    const named = new Set(order.targets.flatMap(slotsOf));
    if (named.size === 0) throw new Refusal(422, 'the order names no table');
    const weights = this.rows.map((_, slot) => Number(named.has(slot) === (order.what === 'only')));
    if (!weights.includes(1)) throw new Refusal(422, 'no table would be left for new rows: at least one must be permitted');
    return weights;
  }

  dryRun(order) {
    const weights = this.weightsOf(order);
    const shares = weights ?? this.rows.map(() => 1);
    const whole = shares.reduce((a, b) => a + b, 0);
    let carried = 0;
    const next = shares.map((weight) => { carried += weight / whole * 10000; const rows = Math.floor(carried + 1e-9); carried -= rows; return rows; });
    return {version: this.version, next_rows: next, weights, outlook: this.outlook(weights),
      remarks: ['Batches of more than 96 rows cannot avoid the tables: 3 % of the last hour’s rows came in such.']};
  }

  steer(order, user) {
    if (order.if_version !== undefined && order.if_version !== this.version) throw new Refusal(409, `the map is version ${this.version} by now, not ${order.if_version}: look again`);
    this.weights = this.weightsOf(order);
    this.mode = {auto: 'auto', advise: 'advise', off: 'off'}[order.what] ?? 'ordered';
    ++this.version;
    this.orderedBy = this.weights ? `admin '${user}'` : '';
    this.since = this.now;
    this.until = order.duration_s ? this.now + order.duration_s * 1000 : null;
    this.reason = `${order.what} by order`;
    this.log.unshift([new Date(this.now).toISOString(), `${this.schema}.${this.table}`, this.version, order.what, `admin '${user}'`, this.reason]);
    return {columns: ['table', 'version', 'mode'], rows: [[`${this.schema}.${this.table}`, this.version, this.mode]]};
  }
}

// users: {name: {password, rights}}. `broken`: path → status or 'hang up'.
export async function startFake(models, users = {anna: {password: 'secret', rights: 'operate'}, rita: {password: 'secret', rights: 'read'}}, port = 0) {
  const tokens = new Map();
  const broken = new Map();
  const asked = [];
  const find = (query) => {
    const model = models.find((one) => one.schema === query.get('schema') && one.table === query.get('table'));
    if (!model) throw new Refusal(404, `there is no table ${query.get('schema')}.${query.get('table')}`);
    return model;
  };
  const facts = ({user, rights}) => ({user, rights, proxy: 'evenkeel 0.1.0 on db-proxy-1'});
  const answers = {
    'GET /session': (query, body, caller) => facts(caller),
    'DELETE /session': (query, body, caller) => { tokens.delete(caller.token); return null; },
    'GET /tables': () => ({at_ms: Date.now(), tables: models.map((model) => ({schema: model.schema, table: model.table, slots: model.slots, rows: 0, bytes: 0,
      by_rows: model.unevenness(model.rows), by_bytes: model.unevenness(model.rows), bound: 1.01, mode: model.mode, steering: model.weights !== null, not_steerable_because: ''}))}),
    'GET /layout': (query) => find(query).layout,
    'GET /figures': (query) => find(query).figures(),
    'GET /history': (query) => ({points: find(query).points}),
    'GET /explain': (query) => {
      const model = find(query);
      const slot = Number(query.get('slot'));
      const avoided = model.weights?.[slot] === 0;
      return {columns: ['reason'], rows: [[`Table ${slot} holds ${model.rows[slot]} rows.`], [avoided ? `Map ${model.version} avoids it.` : 'It gets its share of new rows.']]};
    },
    'GET /steering/history': () => ({columns: ['at', 'table', 'version', 'change', 'ordered_by', 'reason'], rows: models.flatMap((model) => model.log)}),
    'POST /dry-run': (query, body) => find(new Map(Object.entries(body))).dryRun(body),
    'POST /steer': (query, body, caller) => {
      if (caller.rights !== 'operate') throw new Refusal(403, `'${caller.user}' may read here; this needs the right to operate`);
      return find(new Map(Object.entries(body))).steer(body, caller.user);
    },
  };
  const server = createServer(async (request, response) => {
    const url = new URL(request.url, 'http://fake');
    let text = '';
    for await (const part of request) text += part;
    const path = url.pathname;
    asked.push(`${request.method} ${path}`);
    const send = (status, body, type = 'application/json') => response.writeHead(status, {'Content-Type': type, 'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store'}).end(body);
    if (path === '/fake/broken') {
      const {path: which, fault} = JSON.parse(text);
      if (fault === null) broken.delete(which); else broken.set(which, fault);
      send(200, 'null');
      return;
    }
    if (!path.startsWith('/api/v1/')) {
      const name = path === '/' ? 'index.html' : path.replace('/dashboard/', '');
      try { send(200, await readFile(new URL(name, PAGE)), TYPES[name.split('.').pop()]); } catch { send(404, 'nothing is here', 'text/plain'); }
      return;
    }
    try {
      const key = `${request.method} ${path.slice('/api/v1'.length)}`;
      const fault = broken.get(path.slice('/api/v1'.length));
      if (fault === 'hang up') { request.socket.destroy(); return; }
      if (fault) throw new Refusal(fault, 'the registry cannot be reached: connection refused');
      const [kind, secret] = (request.headers.authorization ?? '').split(' ');
      if (key === 'POST /session') {
        const [user, password] = kind === 'Basic' ? Buffer.from(secret, 'base64').toString().split(':') : [];
        if (!users[user] || users[user].password !== password) throw new Refusal(401, 'wrong user or password');
        const token = Math.random().toString(36);
        tokens.set(token, {user, rights: users[user].rights, token});
        send(200, JSON.stringify({...facts(tokens.get(token)), token}));
        return;
      }
      const caller = tokens.get(secret);
      if (!caller) throw new Refusal(401, 'a Bearer token, or user and password (Basic), is needed');
      if (!answers[key]) throw new Refusal(404, 'nothing is here');
      const body = answers[key](url.searchParams, text ? JSON.parse(text) : {}, caller);
      if (body === null) send(204, ''); else send(200, JSON.stringify(body));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      send(error.status, JSON.stringify({error: {status: error.status, message: error.message}}));
    }
  });
  await new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {url: `http://127.0.0.1:${server.address().port}/`, models, broken, asked, tokens,
    stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); })};
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const {port = 0, layout = '4x4x8', user = 'anna', instance = 'ds', ...names} = JSON.parse(process.argv[2] ?? '{}');
  const [instances, databases, tables] = layout.split('x').map(Number);
  const model = new Model({...names, name: (i) => `${instance}${i}`, instances, databases: instances * databases, tables: instances * databases * tables});
  const fake = await startFake([model], {[user]: {password: 'secret', rights: 'operate'}, rita: {password: 'secret', rights: 'read'}}, port);
  setInterval(() => model.advance(500), 500);
  console.log(JSON.stringify({url: fake.url, users: [user, 'rita'], password: 'secret'}));
  process.stdin.resume().on('end', () => process.exit(0));
}
