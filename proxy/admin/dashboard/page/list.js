// All actual tables as text: what the map shows, for reading, searching and screen readers.

import {bytes, count, duration, rate, ratio, sources} from './words.js';

const PAGE = 256;  // rows shown at a time: 8192 at once take the browser a second

const by = (id) => document.getElementById(id);

const COLUMNS = [
  {title: 'Table', number: true, value: (row) => row.slot, text: (row) => String(row.slot)},
  {title: 'Instance', value: (row) => row.instance, text: (row) => row.instance},
  {title: 'Actual table', value: (row) => `${row.database}.${row.name}`, text: (row) => `${row.database}.${row.name}`},
  {title: 'Rows', number: true, value: (row) => row.rows, text: (row) => count(row.rows)},
  {title: 'Over mean', number: true, value: (row) => row.overMean, text: (row) => ratio(row.overMean)},
  {title: 'Bytes', number: true, value: (row) => row.bytes, text: (row) => bytes(row.bytes)},
  {title: 'New rows/s', number: true, value: (row) => row.rate ?? -1, text: (row) => (row.rate === null ? '…' : rate(row.rate))},
  {title: 'New rows go here', number: true, value: (row) => row.share, text: (row) => (row.share === 0 ? 'avoided' : `${(row.share * 100).toFixed(2)} %`)},
  {title: 'Figure', value: (row) => row.source, text: (row) => `${sources[row.source] ?? row.source}, ${duration(row.age)} old`},
];

export class List {
  constructor() {
    this.sort = {column: 0, down: false};
    this.page = 0;
    this.rows = [];
    const head = document.createElement('tr');
    COLUMNS.forEach((column, i) => {
      const cell = document.createElement('th');
      cell.scope = 'col';
      cell.classList.toggle('number', Boolean(column.number));
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = column.title;
      button.addEventListener('click', () => {
        this.sort = {column: i, down: this.sort.column === i ? !this.sort.down : Boolean(column.number) && i > 0};
        this.page = 0;
        this.show();
      });
      cell.append(button);
      head.append(cell);
    });
    by('list').tHead.replaceChildren(head);
    by('list-filter').addEventListener('input', () => { this.page = 0; this.show(); });
    by('list-back').addEventListener('click', () => { --this.page; this.show(); });
    by('list-on').addEventListener('click', () => { ++this.page; this.show(); });
  }

  update(rows) {
    this.rows = rows;
    this.show();
  }

  show() {
    const wanted = by('list-filter').value.trim().toLowerCase();
    const column = COLUMNS[this.sort.column];
    const found = this.rows.filter((row) => wanted === '' || String(row.slot) === wanted
      || `${row.instance} ${row.database}.${row.name}`.toLowerCase().includes(wanted));
    found.sort((a, b) => {
      const [left, right] = [column.value(a), column.value(b)];
      const order = left < right ? -1 : left > right ? 1 : a.slot - b.slot;
      return this.sort.down ? -order : order;
    });
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    this.page = Math.min(Math.max(0, this.page), pages - 1);
    const shown = found.slice(this.page * PAGE, (this.page + 1) * PAGE);
    by('list').tBodies[0].replaceChildren(...shown.map((row) => {
      const line = document.createElement('tr');
      for (const one of COLUMNS) {
        const cell = line.insertCell();
        cell.classList.toggle('number', Boolean(one.number));
        cell.textContent = one.text(row);
      }
      return line;
    }));
    [...by('list').tHead.rows[0].cells].forEach((cell, i) => {
      if (i === this.sort.column) cell.setAttribute('aria-sort', this.sort.down ? 'descending' : 'ascending');
      else cell.removeAttribute('aria-sort');
    });
    by('list-count').textContent = found.length === 0 ? 'none'
      : `${this.page * PAGE + 1} to ${this.page * PAGE + shown.length} of ${count(found.length)}`;
    by('list-back').disabled = this.page === 0;
    by('list-on').disabled = this.page === pages - 1;
  }
}

// A table of values of the proxy: {columns, rows}.
export function fillTable(table, values) {
  const head = document.createElement('tr');
  for (const name of values.columns) {
    const cell = document.createElement('th');
    cell.scope = 'col';
    cell.textContent = name.replaceAll('_', ' ');
    head.append(cell);
  }
  table.tHead.replaceChildren(head);
  table.tBodies[0].replaceChildren(...values.rows.map((row) => {
    const line = document.createElement('tr');
    for (const value of row) line.insertCell().textContent = value === null ? '' : String(value);
    return line;
  }));
}
