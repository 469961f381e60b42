// The map of tables: a panel an instance, a block a database, a cell a table, on one canvas, so that 8192 tables
// draw in a few milliseconds. It knows nothing of the network; the caller hands it arrays by slot.

import {colorOf} from './colors.js';

const PANEL_GAP = 20;
const PANEL_MIN = 210;
const TITLE = 40;      // the instance's name and sums
const LABEL = 16;      // a database's name
const BLOCK_GAP = 7;
const CELL_MAX = 46;
const CELL_MIN = 4;
const DETAILED = 17;   // cells at least so large show level, inflow and weight
const NUMBERED = 24;   // … and their number

const FONT = 'Inter, system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

// Columns of a block: all its tables in one row where they fit, otherwise a number that divides them if a good one does.
function columnsFor(tables, fitting) {
  if (fitting >= tables) return tables;
  for (let columns = fitting; columns > fitting * 0.55 && columns > 1; --columns) {
    if (tables % columns === 0) return columns;
  }
  return Math.max(1, fitting);
}

function measure(instances, panelWidth, size, largest) {
  const gap = size >= 20 ? 4 : size >= 10 ? 2 : 1;
  const height = size >= DETAILED ? Math.round(size * 1.15) : size;
  const columns = columnsFor(largest, Math.floor((panelWidth + gap) / (size + gap)));
  const tall = (instance) => instance.databases.reduce(
    (sum, database) => sum + LABEL + Math.ceil(database.slots.length / columns) * (height + gap) + BLOCK_GAP, TITLE);
  return {gap, height, columns, panelHeights: instances.map(tall)};
}

// Where everything lies: {height, cells: {x, y, slot → index}, labels, panels}. The largest cells that keep it within `target` pixels of height.
export function arrange(layout, width, target) {
  const instances = layout.instances;
  const fitting = Math.max(1, Math.floor((width + PANEL_GAP) / (PANEL_MIN + PANEL_GAP)));
  const lines = Math.ceil(instances.length / fitting);
  const perLine = Math.ceil(instances.length / lines);
  const panelWidth = (width - PANEL_GAP * (perLine - 1)) / perLine;
  const largest = Math.max(1, ...instances.flatMap((instance) => instance.databases.map((database) => database.slots.length)));
  let size = CELL_MAX;
  let plan;
  for (; ; --size) {
    plan = measure(instances, panelWidth, size, largest);
    let total = 0;
    for (let line = 0; line < lines; ++line) total += Math.max(...plan.panelHeights.slice(line * perLine, (line + 1) * perLine)) + PANEL_GAP;
    if (size === CELL_MIN || (total - PANEL_GAP <= target && (plan.columns >= Math.min(largest, 8) || size <= DETAILED))) break;
  }
  const cellWidth = Math.min(size * 1.5, (panelWidth + plan.gap) / plan.columns - plan.gap);
  return place(layout, {...plan, cellWidth, perLine, panelWidth});
}

function place(layout, plan) {
  const made = {width: plan.cellWidth, tall: plan.height, gap: plan.gap, order: [], x: new Float64Array(layout.slots), y: new Float64Array(layout.slots),
    panels: [], blocks: [], height: 0};
  let top = 0;
  layout.instances.forEach((instance, i) => {
    if (i % plan.perLine === 0 && i > 0) top = made.height + PANEL_GAP;
    const left = (i % plan.perLine) * (plan.panelWidth + PANEL_GAP);
    made.panels.push({name: instance.name, x: left, y: top, width: plan.panelWidth, first: made.order.length,
      slots: instance.databases.flatMap((database) => database.slots)});
    let y = top + TITLE;
    for (const database of instance.databases) {
      made.blocks.push({name: database.name, x: left, y, width: plan.panelWidth});
      y += LABEL;
      database.slots.forEach((slot, k) => {
        made.x[slot] = left + (k % plan.columns) * (plan.cellWidth + plan.gap);
        made.y[slot] = y + Math.floor(k / plan.columns) * (plan.height + plan.gap);
        made.order.push(slot);
      });
      y += Math.ceil(database.slots.length / plan.columns) * (plan.height + plan.gap) + BLOCK_GAP;
    }
    made.height = Math.max(made.height, y - BLOCK_GAP);
  });
  return made;
}

export class HeatMap {
  constructor(canvas) {
    this.canvas = canvas;
    this.arranged = null;
    this.focused = -1;
    this.chosen = null;
  }

  get detailed() { return this.arranged !== null && this.arranged.tall >= DETAILED; }

  arrange(layout, width, target) {
    this.layout = layout;
    this.width = width;
    this.arranged = arrange(layout, width, target);
    this.place = new Map(this.arranged.order.map((slot, i) => [slot, i]));
  }

  // values: what is drawn, by slot; mean: of them; weights, rates: by slot or null; note(panel) → text beside an instance's name.
  draw({values, mean, weights, rates, note, colors}) {
    const pen = this.begin(colors);
    const {x, y, width, tall, order} = this.arranged;
    const detailed = this.detailed;
    for (const slot of order) {
      const overMean = mean > 0 ? values[slot] / mean : 1;
      if (detailed) {
        pen.fillStyle = colors.cell;
        pen.fillRect(x[slot], y[slot], width, tall);
        const level = mean > 0 ? Math.max(values[slot] > 0 ? 1 : 0, Math.min(1, overMean / 2) * tall) : 0;
        pen.fillStyle = colorOf(colors, overMean);
        pen.fillRect(x[slot], y[slot] + tall - level, width, level);
      } else {
        pen.fillStyle = mean > 0 ? colorOf(colors, overMean) : colors.cell;
        pen.fillRect(x[slot], y[slot], width, tall);
      }
    }
    if (weights) this.hatch(pen, colors, weights);
    if (detailed) this.details(pen, colors, mean, weights, rates);
    this.names(pen, colors, note);
    this.frames(pen, colors);
  }

  begin(colors) {
    const ratio = window.devicePixelRatio || 1;
    const {height} = this.arranged;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext('2d');
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, this.width, height);
    if (this.pattern?.color !== colors.hatch) this.pattern = {color: colors.hatch, fill: hatchPattern(pen, colors.hatch)};
    return pen;
  }

  hatch(pen, colors, weights) {
    const {x, y, width, tall, order} = this.arranged;
    pen.fillStyle = this.pattern.fill;
    for (const slot of order) {
      if (weights[slot] === 0) pen.fillRect(x[slot], y[slot], width, tall);
    }
  }

  details(pen, colors, mean, weights, rates) {
    const {x, y, width, tall, order} = this.arranged;
    const busiest = rates ? rates.reduce((most, rate) => Math.max(most, rate), 0) : 0;
    const heaviest = weights ? weights.reduce((most, weight) => Math.max(most, weight), 0) : 0;
    const weighted = weights?.some((weight) => weight > 0 && weight !== heaviest);
    pen.font = `10px ${FONT}`;
    pen.textBaseline = 'top';
    for (const slot of order) {
      if (mean > 0) {
        pen.fillStyle = colors.ink;
        pen.globalAlpha = 0.45;
        pen.fillRect(x[slot], y[slot] + tall / 2 - 0.5, width, 1);
        pen.globalAlpha = 1;
      }
      if (busiest > 0 && rates[slot] > 0) {
        pen.fillStyle = colors.inflow;
        pen.fillRect(x[slot], y[slot], Math.max(1, width * rates[slot] / busiest), 3);
      }
      if (weighted && weights[slot] > 0) {
        const part = tall * weights[slot] / heaviest;
        pen.fillStyle = colors.ink;
        pen.fillRect(x[slot] + width - 3, y[slot] + tall - part, 3, part);
      }
      if (width >= NUMBERED && !(weights && weights[slot] === 0)) {
        pen.fillStyle = colors.ink;
        pen.globalAlpha = 0.75;
        pen.fillText(String(slot), x[slot] + 3, y[slot] + 5);
        pen.globalAlpha = 1;
      }
    }
  }

  names(pen, colors, note) {
    for (const panel of this.arranged.panels) {
      pen.textBaseline = 'top';
      pen.font = `650 14px ${FONT}`;
      pen.fillStyle = colors.ink;
      pen.fillText(fitted(pen, panel.name, panel.width), panel.x, panel.y);
      pen.font = `12px ${FONT}`;
      pen.fillStyle = colors.muted;
      if (note) pen.fillText(fitted(pen, note(panel), panel.width), panel.x, panel.y + 18);
    }
    pen.font = `11px ${FONT}`;
    pen.fillStyle = colors.muted;
    for (const block of this.arranged.blocks) pen.fillText(fitted(pen, block.name, block.width), block.x, block.y + 2);
  }

  frames(pen, colors) {
    const {x, y, width, tall, order} = this.arranged;
    if (this.chosen) {
      pen.strokeStyle = colors.accent;
      pen.lineWidth = this.detailed ? 2 : 1;
      for (const slot of order) {
        if (this.chosen.has(slot)) pen.strokeRect(x[slot] - 0.5, y[slot] - 0.5, width + 1, tall + 1);
      }
    }
    if (this.focused >= 0) {
      const slot = this.focused;
      pen.lineWidth = 4;
      pen.strokeStyle = colors.surface;
      pen.strokeRect(x[slot] - 2, y[slot] - 2, width + 4, tall + 4);
      pen.lineWidth = 2.5;
      pen.strokeStyle = colors.ink;
      pen.strokeRect(x[slot] - 2, y[slot] - 2, width + 4, tall + 4);
    }
  }

  // The slot under a point of the canvas, or -1.
  at(left, top) {
    const {x, y, width, tall, gap, order} = this.arranged;
    return order.find((slot) => left >= x[slot] && left < x[slot] + width + gap && top >= y[slot] && top < y[slot] + tall + gap) ?? -1;
  }

  // Where a key moves the focus to; the same slot when there is nothing in that direction.
  after(slot, key) {
    const {order, panels} = this.arranged;
    const at = this.place.get(slot) ?? 0;
    if (key === 'ArrowRight') return order[Math.min(order.length - 1, at + 1)];
    if (key === 'ArrowLeft') return order[Math.max(0, at - 1)];
    if (key === 'Home') return order[0];
    if (key === 'End') return order[order.length - 1];
    if (key === 'PageDown') return order[panels.find((panel) => panel.first > at)?.first ?? order.length - 1];
    if (key === 'PageUp') return order[panels.findLast((panel) => panel.first < at)?.first ?? 0];
    return this.nearest(slot, key === 'ArrowDown' ? 1 : -1);
  }

  // The nearest cell below (1) or above (-1) in the same panel's columns.
  nearest(from, direction) {
    const {x, y, order} = this.arranged;
    let best = from;
    let least = Infinity;
    for (const slot of order) {
      const down = (y[slot] - y[from]) * direction;
      const distance = down + Math.abs(x[slot] - x[from]) * 4;
      if (down > 0 && distance < least) { least = distance; best = slot; }
    }
    return best;
  }
}

function fitted(pen, text, width) {
  if (pen.measureText(text).width <= width) return text;
  let end = text.length;
  while (end > 1 && pen.measureText(text.slice(0, end) + '…').width > width) --end;
  return text.slice(0, end) + '…';
}

function hatchPattern(pen, color) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 5;
  const ink = tile.getContext('2d');
  ink.strokeStyle = color;
  ink.globalAlpha = 0.75;
  ink.lineWidth = 1;
  ink.beginPath();
  for (const shift of [-5, 0, 5]) { ink.moveTo(shift - 1, 6); ink.lineTo(shift + 6, -1); }
  ink.stroke();
  return pen.createPattern(tile, 'repeat');
}
