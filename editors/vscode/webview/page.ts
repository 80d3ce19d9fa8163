// The page of the picture: a click opens the lines of a node, the cursor's node is marked, Ctrl and the wheel zoom, the arrows
// go from node to node, and / finds one. It also shows a difference: a picture and a list.

import type { FromPage, ToPage } from '../src/protocol';
import { rebuild } from './svg';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; getState(): State | undefined; setState(state: State): void };

/** What the window gives back when it is opened again: the extension reads `uri`. */
interface State {
  uri?: string;
  zoom: number;
}

/** A picture with so many nodes is too large to be seen at once. */
const MAP_NODES_MIN = 60;
/** The longer side of the small picture. */
const MAP_PIXELS = 160;
/** What a canvas of a browser can have in one direction. */
const PNG_PIXELS_MAX = 16_384;

const host = acquireVsCodeApi();
const picture = document.getElementById('picture') as HTMLElement;
const state = document.getElementById('state') as HTMLElement;
const search = document.getElementById('search') as HTMLInputElement | null;
const list = document.getElementById('list');
const map = document.getElementById('map');
const nonce = document.body.dataset.nonce ?? '';
let zoom = host.getState()?.zoom ?? 1;
let last: string | undefined;
let marked: string | null = null;

const groups = () => [...picture.querySelectorAll<SVGGElement>('g[data-node]')];
const isDark = () => /vscode-(dark|high-contrast)/.test(document.body.className) && !document.body.classList.contains('vscode-high-contrast-light');

function resize(): void {
  const svg = picture.querySelector('svg');
  const box = svg?.viewBox.baseVal;
  if (!svg || !box) return;
  svg.setAttribute('width', String(box.width * zoom));
  svg.setAttribute('height', String(box.height * zoom));
  moveFrame();
}

function setZoom(value: number): void {
  zoom = Math.min(4, Math.max(0.2, value));
  host.setState({ ...host.getState(), zoom });
  resize();
}

function mark(name: string | null): void {
  marked = name;
  for (const group of groups()) group.classList.toggle('here', group.dataset.node === name);
  const here = groups().find((group) => group.dataset.node === name);
  here?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** As large as the page, and not larger than it is drawn. */
function fit(): void {
  const box = picture.querySelector('svg')?.viewBox.baseVal;
  if (box && box.width > 0 && box.height > 0) setZoom(Math.min(1, picture.clientWidth / box.width, picture.clientHeight / box.height));
}

/** The nearest node in the direction of an arrow. */
function step(key: string): void {
  const from = document.activeElement?.closest<SVGGElement>('g[data-node]');
  if (!from) return groups()[0]?.focus();
  const middle = (group: Element) => {
    const { left, top, width, height } = group.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const here = middle(from);
  const isAcross = key === 'ArrowLeft' || key === 'ArrowRight';
  const sign = key === 'ArrowLeft' || key === 'ArrowUp' ? -1 : 1;
  let best: SVGGElement | undefined;
  let least = Infinity;
  for (const group of groups()) {
    const { x, y } = middle(group);
    const [along, beside] = isAcross ? [x - here.x, y - here.y] : [y - here.y, x - here.x];
    // Twice as far as it is beside: a neighbor in the row comes first.
    const distance = along * sign + 2 * Math.abs(beside);
    if (along * sign > 1 && distance < least) [best, least] = [group, distance];
  }
  best?.focus();
}

/** The nodes whose names have the text: the one that was found before if it still fits, or the one behind it. */
function find(text: string, isNext: boolean): void {
  const wanted = text.trim().toLowerCase();
  const found = groups().filter((group) => wanted !== '' && group.dataset.node?.toLowerCase().includes(wanted));
  const present = found.findIndex((group) => group.classList.contains('found'));
  const next = found[present < 0 ? 0 : (present + (isNext ? 1 : 0)) % found.length];
  for (const group of groups()) group.classList.toggle('found', group === next);
  next?.scrollIntoView({ block: 'center', inline: 'center' });
  search?.setAttribute('aria-invalid', String(wanted !== '' && !next));
}

/** The whole of a large picture in a corner, with a frame around the part that is seen. A click goes there. */
function drawMap(text: string): void {
  if (!map) return;
  const svg = groups().length < MAP_NODES_MIN ? undefined : rebuild(text, nonce, isDark());
  map.hidden = !svg;
  if (!svg) return;
  svg.setAttribute('aria-hidden', 'true');
  const frame = document.createElement('div');
  const { width, height } = svg.viewBox.baseVal;
  const scale = MAP_PIXELS / Math.max(width, height, 1);
  svg.setAttribute('width', String(width * scale));
  svg.setAttribute('height', String(height * scale));
  map.replaceChildren(svg, frame);
  moveFrame();
}

function moveFrame(): void {
  const frame = map?.querySelector('div');
  const drawn = map?.querySelector('svg');
  if (!frame || !drawn) return;
  const [width, height] = [Number(drawn.getAttribute('width')), Number(drawn.getAttribute('height'))];
  frame.style.left = `${(picture.scrollLeft / picture.scrollWidth) * width}px`;
  frame.style.top = `${(picture.scrollTop / picture.scrollHeight) * height}px`;
  frame.style.width = `${Math.min(1, picture.clientWidth / picture.scrollWidth) * width}px`;
  frame.style.height = `${Math.min(1, picture.clientHeight / picture.scrollHeight) * height}px`;
}

function show(text: string): void {
  const svg = rebuild(text, nonce, isDark());
  if (!svg) return;
  last = text;
  const { scrollLeft, scrollTop } = picture;
  picture.replaceChildren(svg);
  for (const group of groups()) {
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'button');
    group.setAttribute('aria-label', `Go to ${group.dataset.node}`);
  }
  resize();
  picture.scrollTo(scrollLeft, scrollTop);
  mark(marked);
  drawMap(text);
}

/** The picture in its light colors, twice as large as it is drawn. */
async function sendPng(): Promise<void> {
  const svg = last === undefined ? undefined : rebuild(last, nonce, false);
  if (!svg) return;
  const { width, height } = svg.viewBox.baseVal;
  const scale = Math.min(2, PNG_PIXELS_MAX / Math.max(width, height, 1));
  svg.setAttribute('width', String(width * scale));
  svg.setAttribute('height', String(height * scale));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0);
  host.postMessage({ type: 'png', data: canvas.toDataURL('image/png') });
}

function showDifference({ svg, list: text, note }: ToPage & { type: 'difference' }): void {
  state.hidden = note === '';
  state.textContent = note;
  show(svg);
  if (!list) return;
  list.hidden = false;
  list.textContent = text;
}

function open(event: Event): void {
  const group = event.target instanceof Element ? event.target.closest<SVGGElement>('g[data-node]') : null;
  if (group?.dataset.node !== undefined) host.postMessage({ type: 'open', node: group.dataset.node });
}

window.addEventListener('message', (event: MessageEvent<ToPage>) => {
  const message = event.data;
  if (message.type === 'mark') return mark(message.node);
  if (message.type === 'png') return void sendPng();
  if (message.type === 'difference') return showDifference(message);
  if (message.type !== 'diagram') return;
  host.setState({ uri: message.uri, zoom });
  state.hidden = message.problems === 0;
  state.textContent = message.problems === 1 ? 'The text has 1 problem.' : `The text has ${message.problems} problems.`;
  show(message.svg);
});
picture.addEventListener('scroll', moveFrame);
window.addEventListener('resize', moveFrame);
map?.addEventListener('click', ({ clientX, clientY }) => {
  const box = map.querySelector('svg')?.getBoundingClientRect();
  if (!box) return;
  const x = ((clientX - box.left) / box.width) * picture.scrollWidth;
  const y = ((clientY - box.top) / box.height) * picture.scrollHeight;
  picture.scrollTo(x - picture.clientWidth / 2, y - picture.clientHeight / 2);
});
picture.addEventListener('click', open);
picture.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' || event.key === ' ') open(event);
});
search?.addEventListener('input', () => find(search.value, false));
search?.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') find(search.value, true);
  if (event.key === 'Escape') {
    const found = picture.querySelector<SVGGElement>('g.found');
    search.value = '';
    find('', false);
    (found ?? groups()[0])?.focus();
  }
});
document.addEventListener('keydown', (event) => {
  if (event.target === search) return;
  if (event.key.startsWith('Arrow')) {
    event.preventDefault();
    step(event.key);
  }
  if (event.key === '/' && search) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === 'f') fit();
  if (event.key === '+') setZoom(zoom * 1.2);
  if (event.key === '-') setZoom(zoom / 1.2);
  if (event.key === '0') setZoom(1);
});
picture.addEventListener(
  'wheel',
  (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    setZoom(zoom * (event.deltaY < 0 ? 1.1 : 1 / 1.1));
  },
  { passive: false },
);
new MutationObserver(() => last !== undefined && show(last)).observe(document.body, { attributeFilter: ['class'] });
host.postMessage({ type: 'ready' });
