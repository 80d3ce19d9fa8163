// A font of our own for pictures that are compared: every character is the same box, so a picture depends neither on the
// fonts of the machine nor on their versions. TrueType, made here from its tables.

const UNITS = 1000;
const ADVANCE = 560;
const ASCENT = 800;
const DESCENT = 200;

const u16 = (...values) => Buffer.concat(values.map((value) => {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value & 0xffff);
  return bytes;
}));
const u32 = (...values) => Buffer.concat(values.map((value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}));
const join = (...parts) => Buffer.concat(parts);
const padded = (bytes) => join(bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4));

/** One contour: a rectangle that stands on the base line. */
function box(left, bottom, right, top) {
  const points = [[left, bottom], [left, top], [right, top], [right, bottom]];
  const deltas = (axis) => u16(...points.map((point, i) => point[axis] - (i ? points[i - 1][axis] : 0)));
  // All points are on the curve, with coordinates of two bytes.
  return padded(join(u16(1, left, bottom, right, top, points.length - 1, 0), Buffer.from([1, 1, 1, 1]), deltas(0), deltas(1)));
}

/** All of Unicode to one glyph (format 13); the blanks to the glyph without a box. */
function characters() {
  const groups = [[0x20, 0x20, 2], [0x21, 0x9f, 1], [0xa0, 0xa0, 2], [0xa1, 0xd7ff, 1], [0xe000, 0x10ffff, 1]];
  const body = join(...groups.map((group) => u32(...group)));
  const all = join(u16(13, 0), u32(16 + body.length, 0, groups.length), body);
  // What some readers ask for first: the letters of ASCII, in format 4.
  const ascii = join(u16(4, 32, 0, 4, 4, 1, 0), u16(0x20, 0xffff, 0, 0x20, 0xffff, 2 - 0x20, 1, 0, 0));
  return join(u16(0, 2), u16(3, 1), u32(20), u16(3, 10), u32(20 + ascii.length), ascii, all);
}

function names() {
  const texts = [[1, 'Boxes'], [2, 'Regular'], [4, 'Boxes'], [6, 'Boxes']].map(([id, text]) => [id, Buffer.from(text, 'utf16le').swap16()]);
  let offset = 0;
  const records = texts.map(([id, bytes]) => {
    const record = u16(3, 1, 0x409, id, bytes.length, offset);
    offset += bytes.length;
    return record;
  });
  return join(u16(0, texts.length, 6 + 12 * texts.length), ...records, ...texts.map(([, bytes]) => bytes));
}

const sumOf = (bytes) => {
  let sum = 0;
  for (let at = 0; at + 4 <= bytes.length; at += 4) sum = (sum + bytes.readUInt32BE(at)) >>> 0;
  return sum;
};

export function boxFont() {
  const glyph = box(60, 0, ADVANCE - 60, 500);
  const tables = {
    'OS/2': join(
      u16(4, ADVANCE, 400, 5, 0, 650, 600, 0, 75, 650, 600, 0, 350, 50, 250, 0), Buffer.alloc(10), u32(1, 0, 0, 0), Buffer.from('EBB '),
      u16(0x40, 0x20, 0xffff, ASCENT, -DESCENT, 0, ASCENT, DESCENT), u32(1, 0), u16(500, 700, 0, 0x20, 1),
    ),
    cmap: characters(),
    glyf: join(glyph, glyph),
    head: join(u32(0x10000, 0x10000, 0, 0x5f0f3cf5), u16(0x000b, UNITS), Buffer.alloc(16), u16(0, -DESCENT, ADVANCE, ASCENT, 0, 8, 2, 1, 0)),
    hhea: join(u32(0x10000), u16(ASCENT, -DESCENT, 0, ADVANCE, 0, 0, ADVANCE, 1, 0, 0, 0, 0, 0, 0, 0, 3)),
    hmtx: u16(ADVANCE, 60, ADVANCE, 60, ADVANCE, 0),
    loca: u32(0, glyph.length, 2 * glyph.length, 2 * glyph.length),
    maxp: join(u32(0x10000), u16(3, 4, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0)),
    name: names(),
    post: join(u32(0x30000, 0), u16(-75, 50), u32(1, 0, 0, 0, 0)),
  };
  const entries = Object.entries(tables);
  const power = 2 ** Math.floor(Math.log2(entries.length));
  let offset = 12 + 16 * entries.length;
  const directory = [];
  for (const [tag, bytes] of entries) {
    directory.push(join(Buffer.from(tag), u32(sumOf(padded(bytes)), offset, bytes.length)));
    offset += padded(bytes).length;
  }
  return join(u32(0x10000), u16(entries.length, 16 * power, Math.log2(power), 16 * (entries.length - power)), ...directory, ...entries.map(([, bytes]) => padded(bytes)));
}
