// Figures as people read them. Pure functions: no page, no network.

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const short = new Intl.NumberFormat('en', {notation: 'compact', maximumSignificantDigits: 4});

export const count = (value) => (value === null || value === undefined ? 'not known' : whole.format(value));
export const compact = (value) => (Math.abs(value) < 1e6 ? whole.format(value) : short.format(value));
export const plural = (number, one, many = one + 's') => `${count(number)} ${number === 1 ? one : many}`;

export function bytes(value) {
  let unit = 0;
  while (value >= 1024 && unit < 5) { value /= 1024; ++unit; }
  return `${value < 10 && unit > 0 ? value.toFixed(1) : whole.format(value)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][unit]}`;
}

// Near 1 the decimals are what matters: 1.004 is even, 1.04 is not.
export const ratio = (value) => `${value >= 100 ? whole.format(value) : value >= 10 ? value.toFixed(1) : value < 1.1 && value >= 0.9 ? value.toFixed(3) : value.toFixed(2)} ×`;

export const rate = (value) => (value === 0 ? '0' : value < 0.01 ? '< 0.01' : value < 10 ? value.toFixed(2) : compact(value));

export function duration(seconds) {
  const parts = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
  let left = Math.max(0, Math.round(seconds));
  const said = [];
  for (const [length, unit] of parts) {
    if (left >= length || (unit === 's' && said.length === 0)) said.push(`${Math.floor(left / length)} ${unit}`);
    left %= length;
    if (said.length === 2 || (said.length === 1 && seconds >= 86400 * 30)) break;
  }
  return said.join(' ');
}

export const clock = (ms) => new Date(ms).toLocaleTimeString('en-GB');
export const moment = (ms) => `${new Date(ms).toLocaleDateString('en-CA')} ${clock(ms)}`;

export const sources = {x: 'exact count', e: "server's estimate", c: 'carried forward by counted rows', '-': 'not measured yet'};

export const modes = {off: 'off', ordered: 'by order', advise: 'advise', auto: 'auto'};

const numbers = (values) => values.reduce((sum, value) => sum + value, 0);

// How many slots get nothing, and whether those that get rows get different shares.
export function mapShape(weights) {
  const permitted = weights.filter((weight) => weight > 0);
  return {avoided: weights.length - permitted.length, weighted: permitted.some((weight) => weight !== permitted[0])};
}

// A table without rows has no bound yet, and nothing to say against it.
export function isEven(figures) { return figures.bound === null || figures.by_rows.max_over_mean <= figures.bound; }

// What an operator must know, in one or two sentences.
export function sentence(figures) {
  const rows = numbers(figures.rows);
  const state = rows === 0 ? 'No rows yet.'
    : isEven(figures) ? `Even: no table holds more than ${ratio(figures.by_rows.max_over_mean)} the mean.`
    : `Uneven: the fullest table holds ${ratio(figures.by_rows.max_over_mean)} the mean.`;
  return `${state} ${steeringSentence(figures)}`;
}

function steeringSentence(figures) {
  if (figures.not_steerable_because) return `Steering does not apply: ${figures.not_steerable_because}`;
  const weights = figures.map.weights;
  if (!weights) {
    if (figures.mode === 'auto') return 'Nothing needs steering; auto watches.';
    if (figures.mode === 'advise') return figures.map.reason ? `Advice: ${figures.map.reason}` : 'Advise watches and changes nothing.';
    return 'New rows go to all tables alike.';
  }
  const {avoided, weighted} = mapShape(weights);
  const how = avoided > 0 ? `New rows avoid ${count(avoided)} of ${plural(weights.length, 'table')}${weighted ? ' and are weighted over the rest' : ''}`
    : weighted ? `New rows are weighted over ${plural(weights.length, 'table')}` : 'A map is in force that treats all tables alike';
  return figures.outlook.until_even_s === null || isEven(figures) ? `${how}.` : `${how}; even in about ${duration(figures.outlook.until_even_s)}.`;
}

// The same order for a MySQL client at the admin port.
export function sql(order) {
  const name = (text) => (/^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? text : '`' + text.replaceAll('`', '``') + '`');
  const target = (one) => (one.instance !== undefined ? `INSTANCE ${name(one.instance)}`
    : one.database !== undefined ? `DATABASE ${name(one.database)}`
    : `TABLES ${one.first === one.last ? one.first : `${one.first}-${one.last}`}`);
  const targets = (order.targets || []).map(target);
  const weights = (order.weights || []).map((one) => `${target(one)} = ${one.weight}`);
  const what = {auto: 'AUTO', advise: 'ADVISE', off: 'OFF', avoid: `AVOID ${targets.join(', ')}`, only: `ONLY ${targets.join(', ')}`,
    weights: `WEIGHTS ${weights.join(', ')}`}[order.what];
  const until = order.duration_s ? ` FOR ${order.duration_s % 3600 === 0 ? plural(order.duration_s / 3600, 'HOUR', 'HOURS') : plural(order.duration_s / 60, 'MINUTE', 'MINUTES')}` : '';
  return `STEER ${name(order.schema)}.${name(order.table)} ${what}${until}`;
}

// "0-31, 40" -> [{first, last}, …]; throws a sentence that says what is wrong.
export function ranges(text, slots) {
  const parts = text.split(',').map((part) => part.trim()).filter((part) => part !== '');
  if (parts.length === 0) throw new Error('Say which tables, for example 0-31, 40.');
  return parts.map((part) => {
    const found = /^(\d{1,9})(?:\s*-\s*(\d{1,9}))?$/.exec(part);
    if (!found) throw new Error(`“${part}” is neither a table's number nor a range like 0-31.`);
    const first = Number(found[1]);
    const last = Number(found[2] ?? found[1]);
    if (first > last) throw new Error(`The range ${part} runs backwards.`);
    if (last >= slots) throw new Error(`There is no table ${last}: they are numbered 0 to ${slots - 1}.`);
    return {first, last};
  });
}
