// The page of the picture: a click opens the lines of a node, the cursor's node is marked, Ctrl and the wheel zoom.

import type { FromPage, ToPage } from '../src/protocol';
import { rebuild } from './svg';

declare function acquireVsCodeApi(): { postMessage(message: FromPage): void; getState(): State | undefined; setState(state: State): void };

/** What the window gives back when it is opened again: the extension reads `uri`. */
interface State {
  uri?: string;
  zoom: number;
}

const host = acquireVsCodeApi();
const picture = document.getElementById('picture') as HTMLElement;
const state = document.getElementById('state') as HTMLElement;
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
}

function open(event: Event): void {
  const group = event.target instanceof Element ? event.target.closest<SVGGElement>('g[data-node]') : null;
  if (group?.dataset.node !== undefined) host.postMessage({ type: 'open', node: group.dataset.node });
}

window.addEventListener('message', (event: MessageEvent<ToPage>) => {
  const message = event.data;
  if (message.type === 'mark') return mark(message.node);
  if (message.type !== 'diagram') return;
  host.setState({ uri: message.uri, zoom });
  state.hidden = message.problems === 0;
  state.textContent = message.problems === 1 ? 'The text has 1 problem.' : `The text has ${message.problems} problems.`;
  show(message.svg);
});
picture.addEventListener('click', open);
picture.addEventListener('keydown', (event) => {
  if (event.key === 'Enter' || event.key === ' ') open(event);
});
document.addEventListener('keydown', (event) => {
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
