// Patterns of names as the server reads them: `*` is any text, `?` any character.

/** At most as many steps as the pattern has characters times those of the name: no pattern makes the page wait. */
export function fits(pattern: string, name: string): boolean {
  const [p, n] = [[...pattern], [...name]];
  let [at, in_name, star, from] = [0, 0, -1, 0];
  while (in_name < n.length) {
    if (p[at] === '*') {
      star = at;
      at += 1;
      from = in_name;
    } else if (at < p.length && (p[at] === '?' || p[at] === n[in_name])) {
      at += 1;
      in_name += 1;
    } else if (star >= 0) {
      from += 1;
      in_name = from;
      at = star + 1;
    } else return false;
  }
  while (p[at] === '*') at += 1;
  return at === p.length;
}

export const fitsOne = (patterns: string[], name: string) => patterns.some((pattern) => fits(pattern, name));

/** What a field with one entry in each line holds. */
export const linesOf = (text: string) => [...new Set(text.split('\n').map((line) => line.trim()).filter(Boolean))];
