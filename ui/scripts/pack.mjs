// Makes what the server embeds of Vite's output: one blob of all files, each as brotli and gzip, and the table that
// says where they lie. Usage: pack.mjs DIST OUT. Writes OUT/assets.bin, OUT/assets_table.inc and OUT/sizes.json.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

function filesOf(folder) {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? filesOf(path) : [path];
    });
}

const [dist, out] = process.argv.slice(2);
if (!dist || !out) throw new Error('usage: pack.mjs DIST OUT');

const blob = [];
const rows = [];
const sizes = {};
let offset = 0;
const put = (bytes) => {
  blob.push(bytes);
  offset += bytes.length;
  return `${offset - bytes.length}, ${bytes.length}`;
};

for (const file of filesOf(dist)) {
  const path = '/' + relative(dist, file).split(sep).join('/');
  const type = TYPES[extname(file)];
  if (!type) throw new Error(`no content type for ${path}: add it to pack.mjs`);
  let bytes = readFileSync(file);
  if (path === '/index.html') {
    // The page is served at every depth of the address, so it names its files from the root; a server below a base
    // path puts that path before them (index_page in src/server/assets/assets.h).
    bytes = Buffer.from(bytes.toString('utf8').replaceAll('"./', '"/'));
  }
  const etag = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const br = brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  });
  const gz = gzipSync(bytes, { level: 9 });
  const immutable = path.startsWith('/assets/');
  rows.push(`    {"${path}", "${type}", "${etag}", ${immutable}, ${bytes.length}, ${put(br)}, ${put(gz)}},`);
  sizes[path] = { bytes: bytes.length, br: br.length, gz: gz.length };
}

mkdirSync(out, { recursive: true });
writeFileSync(join(out, 'assets.bin'), Buffer.concat(blob));
writeFileSync(join(out, 'assets_table.inc'), rows.join('\n') + '\n');
writeFileSync(join(out, 'sizes.json'), JSON.stringify(sizes, null, 1) + '\n');
const total = Object.values(sizes).reduce((sum, size) => sum + size.br, 0);
console.log(`-- ui: ${rows.length} files, ${(total / 1000).toFixed(0)} kB as brotli`);
