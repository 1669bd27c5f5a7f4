// Drives sqlite-vec for the benchmark.
//
//   node sqlitevec.cjs write DIM ROWS FILE DB
//   node sqlitevec.cjs search DB QUERY.json     one process, one search
//   node sqlitevec.cjs open DB QUERY.json       the same without the search
//   node sqlitevec.cjs warm DB QUERY.json…      many searches in one process
const fs = require('fs');
const Database = require('better-sqlite3');
const sqliteVec = require('sqlite-vec');

const [command, ...args] = process.argv.slice(2);

function open(path) {
  const db = new Database(path);
  sqliteVec.load(db);
  return db;
}

function query(path) {
  const b = Buffer.from(JSON.parse(fs.readFileSync(path)).vector, 'base64');
  return new Uint8Array(b);
}

const nearest = db => db.prepare('select rowid, distance from v where embedding match ? and k = 10 order by distance');

if (command === 'write') {
  const [dim, rows, file, path] = [Number(args[0]), Number(args[1]), args[2], args[3]];
  const db = open(path);
  db.exec(`create virtual table v using vec0(embedding float[${dim}] distance_metric=cosine)`);
  const insert = db.prepare('insert into v(rowid, embedding) values (?, ?)');
  const f = fs.openSync(file), row = new Uint8Array(4 * dim);
  db.transaction(() => {
    for (let i = 0; i < rows; i++) {
      fs.readSync(f, row, 0, row.length, i * row.length);
      insert.run(BigInt(i), row);
    }
  })();
} else if (command === 'warm') {
  const statement = nearest(open(args[0])), times = [];
  for (const q of args.slice(1).map(query)) {
    const began = process.hrtime.bigint();
    statement.all(q);
    times.push(Number(process.hrtime.bigint() - began) / 1e6);
  }
  times.sort((a, b) => a - b);
  console.log(JSON.stringify({ Min: times[0], Median: times[times.length >> 1], P95: times[Math.floor(times.length * 0.95)] }));
} else {
  const statement = nearest(open(args[0])), q = query(args[1]);
  if (command === 'search') for (const hit of statement.all(q)) console.log(hit.rowid);
}
