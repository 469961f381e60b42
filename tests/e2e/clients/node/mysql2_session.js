// mysql2, text and prepared: connect, inserts, errors, a large result, a large value, many queries at once.
'use strict';
const mysql = require('mysql2/promise');

async function main() {
  const options = {
    host: '127.0.0.1', port: Number(process.env.DB_PORT), user: process.env.DB_USER, password: process.env.DB_PASSWORD,
    database: process.env.DB_NAME, supportBigNumbers: true, bigNumberStrings: true, multipleStatements: true,
  };
  const connection = await mysql.createConnection(options);
  const found = {};

  const [text] = await connection.query('INSERT INTO orders(user_id,amount) VALUES (?,?)', [7, '10.25']);
  found.text = { id: String(text.insertId), affected: text.affectedRows };
  const [prepared] = await connection.execute('INSERT INTO orders(user_id,amount,ref_no) VALUES (?,?,?)', [8, '11.50', null]);
  found.prepared = { id: String(prepared.insertId), affected: prepared.affectedRows };
  const [nullKey] = await connection.execute('INSERT INTO orders(id,user_id) VALUES (?,?)', [null, 9]);
  found.nullKey = { id: String(nullKey.insertId) };
  const [many] = await connection.query('INSERT INTO orders(user_id) VALUES ?', [[[20], [21], [22]]]);
  found.many = { id: String(many.insertId), affected: many.affectedRows };

  const [byText] = await connection.query('SELECT id,user_id,amount FROM orders WHERE id=?', [found.text.id]);
  const [byPrepared] = await connection.execute('SELECT id,user_id,amount FROM orders WHERE id=?', [found.text.id]);
  found.byText = byText;
  found.byPrepared = byPrepared;
  found.again = [];
  for (const key of [found.prepared.id, found.text.id, found.nullKey.id]) {
    const [rows] = await connection.execute('SELECT user_id FROM orders WHERE id=?', [key]);
    found.again.push(rows.length === 1 ? Number(rows[0].user_id) : rows);
  }
  const [noTable] = await connection.execute('SELECT 1 AS one, ? AS two', ['x']);
  found.noTable = noTable;
  const [ordered] = await connection.execute('SELECT user_id FROM orders ORDER BY user_id DESC LIMIT 2');
  found.ordered = ordered.map((row) => Number(row.user_id));
  const [count] = await connection.execute('SELECT COUNT(*) AS n FROM orders');
  found.count = Number(count[0].n);

  found.errors = [];
  for (const statement of ['SELEC 1', 'SELECT nothing FROM orders WHERE id=5', `INSERT INTO orders(id) VALUES (${found.text.id})`]) {
    try {
      await connection.query(statement);
      found.errors.push('none');
    } catch (error) {
      found.errors.push({ errno: error.errno, state: error.sqlState });
    }
  }

  const body = Buffer.alloc(20 << 20, 'evenkeel-');
  const [file] = await connection.query('INSERT INTO files(name,body) VALUES (?,?)', ['large', body]);
  const [files] = await connection.query('SELECT body FROM files WHERE id=?', [String(file.insertId)]);
  found.largeText = files[0].body.equals(body);
  const [file2] = await connection.execute('INSERT INTO files(name,body) VALUES (?,?)', ['large', body]);
  const [files2] = await connection.execute('SELECT body FROM files WHERE id=?', [String(file2.insertId)]);
  found.largePrepared = files2[0].body.equals(body);

  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => connection.query('SELECT ? AS n', [i])));
  found.inOrder = answers.every(([rows], i) => Number(rows[0].n) === i);

  const [multi] = await connection.query('SELECT 1 AS a; SELECT 2 AS b; SELECT user_id FROM orders WHERE id=' + found.text.id);
  found.multi = multi.map((rows) => Object.values(rows[0]).map(Number)[0]);

  await connection.beginTransaction();
  await connection.query('INSERT INTO orders(user_id) VALUES (77)');
  await connection.rollback();
  const [after] = await connection.query('SELECT COUNT(*) AS n FROM orders WHERE user_id=77');
  found.rolledBack = Number(after[0].n);
  await connection.changeUser({ database: process.env.DB_NAME });
  const [alive] = await connection.query('SELECT DATABASE() AS d');
  found.afterChangeUser = alive[0].d;
  await connection.end();
  console.log(JSON.stringify(found));
}

main().catch((error) => { console.error(error); process.exit(1); });
