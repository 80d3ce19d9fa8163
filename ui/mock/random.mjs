// Chance that repeats: the same seed makes the same life.
export function random(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = state;
    value = Math.imul(value ^ (value >>> 15), value | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (list) => list[Math.floor(next() * list.length)],
    is: (chance) => next() < chance,
    /** An id that sorts by `ms`, as UUIDv7 does. */
    id(ms) {
      const time = Math.floor(ms).toString(16).padStart(12, '0');
      const hex = (count) => Array.from({ length: count }, () => Math.floor(next() * 16).toString(16)).join('');
      return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-${'89ab'[Math.floor(next() * 4)]}${hex(3)}-${hex(12)}`;
    },
  };
}
