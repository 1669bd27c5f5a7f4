// Measures the exact search of usearch over float32 in memory, in 2 threads.
//
//   node usearch.cjs DIM ROWS FILE QUERY.json…
const fs = require('fs');
const { exactSearch, MetricKind } = require('usearch');

const [dim, rows] = process.argv.slice(2, 4).map(Number);
const all = new Float32Array(dim * rows);
const f = fs.openSync(process.argv[4]);
const bytes = new Uint8Array(all.buffer);
for (let at = 0; at < bytes.length; at += 1 << 26) fs.readSync(f, bytes, at, Math.min(1 << 26, bytes.length - at), at);
const times = [];
for (const path of process.argv.slice(5)) {
  const b = Buffer.from(JSON.parse(fs.readFileSync(path)).vector, 'base64');
  const q = new Float32Array(new Uint8Array(b).buffer);
  const began = process.hrtime.bigint();
  exactSearch(all, q, dim, 10, MetricKind.IP, 2);
  times.push(Number(process.hrtime.bigint() - began) / 1e6);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({ Min: times[0], Median: times[times.length >> 1], P95: times[Math.floor(times.length * 0.95)] }));
