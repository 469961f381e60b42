// Skew over time: max/mean of a table as a line, the times of steering behind it, the bound of evenness across it.

import {clock, moment, ratio} from './words.js';

const WIDTH = 900;
const HEIGHT = 190;
const EDGE = {left: 56, right: 78, top: 12, bottom: 26};

function add(parent, name, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// A round step that gives about four lines.
function stepOf(span) {
  const power = 10 ** Math.floor(Math.log10(span / 4));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => span / step <= 4.5);
}

function bands(points) {
  const found = [];
  points.forEach(([at, , , , steering], i) => {
    const next = points[i + 1]?.[0] ?? at;
    if (!steering) return;
    if (found.length && found[found.length - 1].to === at) found[found.length - 1].to = next;
    else found.push({from: at, to: next});
  });
  return found;
}

// points: [at, rows max/mean, bytes max/mean, variation, steering 0|1], the oldest first.
export function drawHistory(host, points, bound, measure) {
  host.replaceChildren();
  if (points.length < 2) {
    const empty = document.createElement('p');
    empty.className = 'muted';
    empty.textContent = 'The line begins with the second measurement.';
    host.append(empty);
    return;
  }
  const field = measure === 'bytes' ? 2 : 1;
  const from = points[0][0];
  const to = Math.max(from + 1, points[points.length - 1][0]);
  const highest = Math.max(...points.map((point) => point[field]));
  // With few rows a table the bound lies far above everything that is drawn.
  const limit = bound !== null && bound <= Math.max(2, highest * 1.5) ? bound : null;
  const most = Math.max(limit ?? 1, highest);
  const span = Math.max(0.02, (most - 1) * 1.12);
  const x = (at) => EDGE.left + (at - from) / (to - from) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - (value - 1) / span * (HEIGHT - EDGE.top - EDGE.bottom);
  const last = points[points.length - 1];
  const svg = add(host, 'svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img',
    'aria-label': `The fullest table over the mean by ${field === 2 ? 'bytes' : 'rows'}: ${ratio(points[0][field])} at ${moment(from)}, `
      + `at most ${ratio(highest)}, now ${ratio(last[field])}${bound === null ? '' : `; even below ${ratio(bound)}`}.`});

  for (const band of bands(points)) {
    add(svg, 'rect', {class: 'steered', x: x(band.from), width: Math.max(2, x(band.to) - x(band.from)), y: EDGE.top, height: HEIGHT - EDGE.top - EDGE.bottom});
  }
  const step = stepOf(span);
  for (let value = 1; value <= 1 + span + 1e-9; value += step) {
    add(svg, 'line', {class: 'axis', x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value)});
    add(svg, 'text', {x: EDGE.left - 8, y: y(value) + 4, 'text-anchor': 'end'}, `${+value.toFixed(4)} ×`);
  }
  for (let tick = 0; tick <= 4; ++tick) {
    const at = from + (to - from) * tick / 4;
    add(svg, 'text', {x: x(at), y: HEIGHT - 6, 'text-anchor': 'middle'}, to - from > 86400e3 ? moment(at).slice(5, 16) : clock(at));
  }
  if (limit !== null) add(svg, 'line', {class: 'limit', x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(limit), y2: y(limit)});
  add(svg, 'polyline', {class: 'line', points: points.map((point) => `${x(point[0]).toFixed(1)},${y(point[field]).toFixed(1)}`).join(' ')});
  add(svg, 'circle', {class: 'end', cx: x(last[0]), cy: y(last[field]), r: 4});
  add(svg, 'text', {class: 'now', x: x(last[0]) + 9, y: y(last[field]) + 4}, ratio(last[field]));
}
