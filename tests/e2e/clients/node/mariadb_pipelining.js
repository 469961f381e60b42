// npm mariadb sends commands without waiting for the answers to earlier ones (pipelining is its default).
'use strict';
const mariadb = require('mariadb');

async function main() {
  const connection = await mariadb.createConnection({
    host: '127.0.0.1', port: Number(process.env.DB_PORT), user: process.env.DB_USER, password: process.env.DB_PASSWORD,
    database: process.env.DB_NAME, bigIntAsNumber: false, allowPublicKeyRetrieval: true, ssl: process.env.DB_TLS === '1' ? { rejectUnauthorized: false } : false,
  });
  const found = {};
  const inserts = await Promise.all(Array.from({ length: 50 }, (_, i) =>
    connection.query('INSERT INTO orders(user_id,qty) VALUES (?,?)', [i, i * 2])));
  found.ids = inserts.map((answer) => String(answer.insertId));
  const rows = await Promise.all(found.ids.map((id) => connection.query('SELECT user_id,qty FROM orders WHERE id=?', [id])));
  found.rows = rows.every((answer, i) => answer.length === 1 && Number(answer[0].user_id) === i && Number(answer[0].qty) === i * 2);
  const prepared = await Promise.all(found.ids.map((id) => connection.execute('SELECT user_id FROM orders WHERE id=?', [id])));
  found.prepared = prepared.every((answer, i) => answer.length === 1 && Number(answer[0].user_id) === i);
  const mixed = await Promise.allSettled([
    connection.query('SELECT 1 AS n'), connection.query('SELEC 2'), connection.query('SELECT 3 AS n')]);
  found.mixed = mixed.map((outcome) => outcome.status === 'fulfilled' ? Number(outcome.value[0].n) : outcome.reason.errno);
  const batch = await connection.batch('INSERT INTO orders(user_id,qty) VALUES (?,?)', [[100, 1], [101, 2], [102, 3]]);
  found.batch = [batch].flat().reduce((sum, answer) => sum + Number(answer.affectedRows), 0);
  const scattered = await connection.query('SELECT user_id FROM orders ORDER BY user_id LIMIT 3');
  found.scattered = scattered.map((row) => Number(row.user_id));
  await connection.end();
  console.log(JSON.stringify(found, (key, value) => typeof value === 'bigint' ? String(value) : value));
}

main().catch((error) => { console.error(error); process.exit(1); });
