// The picture is ours, but its texts come from a file: it is rebuilt from what a picture may contain.

const SVG = 'http://www.w3.org/2000/svg';
const ELEMENTS = new Set(['svg', 'g', 'rect', 'circle', 'path', 'polygon', 'line', 'text', 'title', 'desc', 'style']);
const ATTRIBUTES = new Set([
  'class', 'role', 'width', 'height', 'viewBox', 'x', 'y', 'rx', 'cx', 'cy', 'r', 'd', 'points', 'transform', 'data-node',
]);
const DARK = /@media \(prefers-color-scheme:dark\)\{\n([\s\S]*)\}\n$/;

/** The style sheet for the theme of the editor instead of that of the system. */
export function themed(css: string, isDark: boolean): string {
  return css.replace(DARK, isDark ? '$1' : '');
}

function copy(from: Element, nonce: string, isDark: boolean): Element | undefined {
  if (from.namespaceURI !== SVG || !ELEMENTS.has(from.localName)) return undefined;
  const to = document.createElementNS(SVG, from.localName);
  if (from.localName === 'style') {
    to.setAttribute('nonce', nonce);
    to.textContent = themed(from.textContent ?? '', isDark);
    return to;
  }
  for (const { name, value } of from.attributes) {
    if (ATTRIBUTES.has(name)) to.setAttribute(name, value);
  }
  for (const child of from.childNodes) {
    if (child instanceof Text) to.append(child.data);
    const inner = child instanceof Element ? copy(child, nonce, isDark) : undefined;
    if (inner) to.append(inner);
  }
  return to;
}

/** The picture as elements of this page; undefined if the text is not a picture. */
export function rebuild(text: string, nonce: string, isDark: boolean): SVGSVGElement | undefined {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  const built = copy(root, nonce, isDark);
  return built instanceof SVGSVGElement ? built : undefined;
}
