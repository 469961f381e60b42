// Draws ids by text and by prepared statements; prints them as JSON.
const mysql = require('mysql2/promise');

async function main() {
  const connection = await mysql.createConnection({
    host: '127.0.0.1', port: Number(process.env.DB_PORT), user: process.env.DB_USER, password: process.env.DB_PASSWORD,
    supportBigNumbers: true, bigNumberStrings: true,
  });
  const ids = [];
  const [one] = await connection.query("SELECT NEXT_ID('orders') AS id");
  ids.push(one[0].id);
  for (let i = 0; i < 3; ++i) {
    const [rows] = await connection.execute('SELECT * FROM NEXT_IDS(?, ?)', ['orders', 5]);
    rows.forEach((row) => ids.push(row.id));
  }
  const [prepared] = await connection.execute('SELECT NEXT_ID(?) AS id', ['orders']);
  ids.push(prepared[0].id);
  const [decoded] = await connection.execute('SELECT * FROM DECODE_ID(?, ?)', [ids[0], 'orders']);
  let refused = '';
  try {
    await connection.execute('SELECT NEXT_ID(?)', ['nothing']);
  } catch (error) {
    refused = error.errno;
  }
  await connection.ping();
  await connection.end();
  console.log(JSON.stringify({ ids: ids.map(String), decoded: decoded[0], refused }));
}

main().catch((error) => { console.error(error); process.exit(1); });
