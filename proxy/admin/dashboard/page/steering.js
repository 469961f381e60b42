// The form that steers, and the dry run that stands before every change.

import {api} from './api.js';
import {HeatMap} from './heatmap.js';
import {count, duration, mapShape, plural, ranges, rate, sql} from './words.js';

const by = (id) => document.getElementById(id);
const NEEDS_TARGETS = ['avoid', 'only', 'weights'];

function say(element, text) {
  element.hidden = text === '';
  element.textContent = text;
}

export class Steering {
  // board: what the page knows: {name, layout, figures, colors, mayOperate}. onChoice(slots): drawn on the map; onDone: after a change.
  constructor(board, {onChoice, onDone}) {
    this.board = board;
    this.onChoice = onChoice;
    this.onDone = onDone;
    by('steer-what').addEventListener('change', () => this.shapeForm());
    by('steer-add').addEventListener('click', () => { this.addTarget(); this.review(); });
    by('steer-form').addEventListener('input', () => this.review());
    by('steer-form').addEventListener('submit', (event) => { event.preventDefault(); this.tryOrder(); });
    by('dry-run-cancel').addEventListener('click', () => by('dry-run').close());
    by('dry-run-confirm').addEventListener('click', () => this.confirm());
    // The button lost the focus while it was disabled, so that the dialog does not give it back.
    by('dry-run').addEventListener('close', () => (by('dry-run').returnValue === 'done' ? this.onDone() : by('steer-try').focus()));
    this.preview = new HeatMap(by('dry-run-canvas'));
  }

  // Another table is shown, or its figures or the rights are known now.
  reset() {
    by('steer-targets').replaceChildren();
    this.shapeForm();
  }

  shapeForm() {
    const what = by('steer-what').value;
    const needed = NEEDS_TARGETS.includes(what);
    by('steer-targets').hidden = by('steer-add').hidden = !needed;
    by('steer-duration-label').hidden = what === 'off';
    if (needed && by('steer-targets').children.length === 0) this.addTarget(this.suggestion());
    for (const row of by('steer-targets').children) row.querySelector('.weight').hidden = what !== 'weights';
    this.review();
  }

  // The instance with the most rows a table: the likely one to spare.
  suggestion() {
    const {layout, figures} = this.board;
    let best = null;
    for (const instance of layout.instances) {
      const slots = instance.databases.flatMap((database) => database.slots);
      const mean = slots.reduce((sum, slot) => sum + figures.rows[slot], 0) / Math.max(1, slots.length);
      if (best === null || mean > best.mean) best = {mean, name: instance.name};
    }
    return {kind: 'instance', name: best?.name};
  }

  addTarget(preset = {kind: 'tables', text: ''}) {
    const row = document.createElement('div');
    row.className = 'target';
    const kind = selectOf([['instance', 'instance'], ['database', 'database'], ['tables', 'tables']], preset.kind, 'Kind');
    const weight = Object.assign(document.createElement('input'), {type: 'number', min: 0, max: 1000, value: 0, className: 'weight'});
    weight.setAttribute('aria-label', 'Weight');
    weight.hidden = by('steer-what').value !== 'weights';
    const remove = Object.assign(document.createElement('button'), {type: 'button', textContent: '×'});
    remove.setAttribute('aria-label', 'Remove these tables');
    remove.addEventListener('click', () => { row.remove(); this.review(); });
    row.append(kind, this.fieldFor(preset.kind, preset.name ?? preset.text), weight, remove);
    kind.addEventListener('change', () => { row.children[1].replaceWith(this.fieldFor(kind.value)); this.review(); });
    by('steer-targets').append(row);
  }

  fieldFor(kind, value) {
    const {layout} = this.board;
    if (kind === 'tables') {
      const field = Object.assign(document.createElement('input'), {value: value ?? '', placeholder: 'as 0-31, 40'});
      field.setAttribute('aria-label', 'Numbers of the tables');
      return field;
    }
    const names = kind === 'instance' ? layout.instances.map((instance) => instance.name)
      : [...new Set(layout.instances.flatMap((instance) => instance.databases.map((database) => database.name)))];
    return selectOf(names.map((name) => [name, name]), value, kind === 'instance' ? 'Instance' : 'Database');
  }

  // "Avoid it": the form is filled in, the dry run is still to come.
  avoidSlot(slot) {
    by('steer-what').value = 'avoid';
    by('steer-targets').replaceChildren();
    this.addTarget({kind: 'tables', text: String(slot)});
    this.shapeForm();
    by('steer-try').focus();
  }

  // Throws a sentence when the form is not complete.
  order() {
    const {name, layout} = this.board;
    const what = by('steer-what').value;
    const order = {schema: name.schema, table: name.table, what};
    const duration = Number(by('steer-duration').value);
    if (duration && what !== 'off') order.duration_s = duration;
    if (!NEEDS_TARGETS.includes(what)) return order;
    const targets = [...by('steer-targets').children].flatMap((row) => {
      const [kind, value, weight] = row.children;
      const named = kind.value === 'tables' ? ranges(value.value, layout.slots) : [{[kind.value]: value.value}];
      return what === 'weights' ? named.map((target) => ({...target, weight: weightOf(weight.value)})) : named;
    });
    if (targets.length === 0) throw new Error('Add the tables that are meant.');
    order[what === 'weights' ? 'weights' : 'targets'] = targets;
    return order;
  }

  slotsOf(order) {
    const chosen = new Set();
    for (const target of order.targets ?? order.weights ?? []) {
      for (const instance of this.board.layout.instances) {
        for (const database of instance.databases) {
          if (target.instance === instance.name || target.database === database.name) database.slots.forEach((slot) => chosen.add(slot));
        }
      }
      for (let slot = target.first ?? 1; slot <= (target.last ?? 0); ++slot) chosen.add(slot);
    }
    return chosen;
  }

  // Says below the form what it means, and draws what is chosen.
  review() {
    const {layout, figures, mayOperate} = this.board;
    const why = figures.not_steerable_because;
    say(by('steer-note'), why ? `Steering does not apply to this table: ${why}`
      : mayOperate ? 'Every order starts with a dry run; nothing changes before you confirm.'
      : 'Your account may read: it can try a dry run and change nothing.');
    let order = null;
    let wrong = '';
    try { order = this.order(); } catch (error) { wrong = error.message; }
    by('steer-try').disabled = order === null || Boolean(why);
    say(by('steer-trouble'), wrong);
    by('steer-sql').textContent = order ? sql(order) : '…';
    const chosen = order ? this.slotsOf(order) : new Set();
    by('steer-chosen').textContent = chosen.size > 0 ? `${count(chosen.size)} of ${plural(layout.slots, 'table')} chosen` : '';
    this.onChoice(chosen.size > 0 ? chosen : null);
  }

  async tryOrder() {
    this.tried = this.order();
    by('steer-try').disabled = true;
    try {
      this.outcome = await api.dryRun(this.tried);
    } catch (error) {
      say(by('steer-trouble'), error.message);
      return;
    } finally {
      by('steer-try').disabled = false;
    }
    say(by('steer-trouble'), '');
    this.showOutcome();
  }

  showOutcome() {
    const {layout, colors, mayOperate} = this.board;
    const {next_rows: rows, weights, outlook, remarks} = this.outcome;
    by('dry-run-sql').textContent = sql(this.tried);
    say(by('dry-run-trouble'), mayOperate ? '' : 'Your account may read; confirming needs the right to operate.');
    by('dry-run-confirm').disabled = !mayOperate;
    by('dry-run-confirm').textContent = {auto: 'Confirm: steer by itself', advise: 'Confirm: advise only', off: 'Confirm: steer no more'}[this.tried.what] ?? 'Confirm: steer';
    const filled = rows.filter((value) => value > 0);
    const text = `${plural(filled.length, 'table')} would get ${filled.length ? `${count(Math.min(...filled))} to ${count(Math.max(...filled))} rows each` : 'nothing'}`
      + (filled.length < rows.length ? `; ${plural(rows.length - filled.length, 'table')} would get none.` : '.');
    by('dry-run-sentence').textContent = text;
    by('dry-run-canvas').setAttribute('aria-label', text);
    const use = outlook.ids_per_s_possible > 0 ? outlook.rows_per_s / outlook.ids_per_s_possible * 100 : 0;
    facts(by('dry-run-facts'), [
      ['Even in', outlook.until_even_s === null ? `not foreseeable${outlook.remark ? ` (${outlook.remark})` : ''}` : `about ${duration(outlook.until_even_s)}`],
      ['New rows now', `${rate(outlook.rows_per_s)} a second`],
      ['Ids possible', `${rate(outlook.ids_per_s_possible)} a second (${use < 0.01 ? '< 0.01' : use.toFixed(2)} % in use)`],
      ['Map', weights ? describeMap(weights) : 'none: all tables alike'],
    ]);
    by('dry-run-remarks').replaceChildren(...remarks.map((remark) => Object.assign(document.createElement('li'), {textContent: remark})));
    by('dry-run').returnValue = '';
    by('dry-run').showModal();
    const mean = rows.reduce((sum, value) => sum + value, 0) / rows.length;
    this.preview.arrange(layout, by('dry-run').clientWidth - 48, 260);
    this.preview.draw({values: rows, mean, weights, rates: null, colors,
      note: (panel) => `${count(panel.slots.reduce((sum, slot) => sum + rows[slot], 0))} rows`});
  }

  async confirm() {
    by('dry-run-confirm').disabled = true;
    try {
      await api.steer(this.tried, this.outcome.version);
      by('dry-run').close('done');
    } catch (error) {
      say(by('dry-run-trouble'), error.message);
    } finally {
      by('dry-run-confirm').disabled = !this.board.mayOperate;
    }
  }
}

function describeMap(weights) {
  const {avoided, weighted} = mapShape(weights);
  return `${plural(weights.length - avoided, 'table')} permitted${weighted ? ' by weight' : ' alike'}, ${avoided} avoided`;
}

function weightOf(text) {
  const weight = Number(text);
  if (text.trim() === '' || !Number.isInteger(weight) || weight < 0 || weight > 1000) throw new Error('A weight is a whole number from 0 to 1000.');
  return weight;
}

function selectOf(options, value, label) {
  const select = document.createElement('select');
  select.setAttribute('aria-label', label);
  select.append(...options.map(([key, text]) => new Option(text, key, false, key === value)));
  return select;
}

export function facts(list, pairs) {
  list.replaceChildren(...pairs.flatMap(([term, text]) => [
    Object.assign(document.createElement('dt'), {textContent: term}),
    Object.assign(document.createElement('dd'), {textContent: text})]));
}
