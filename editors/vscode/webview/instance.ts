// The page of an instance: what it waits for, what can be done, its picture, its timeline, its steps and its history.

import { lengthOf, timeline, type Act, type HistoryEvent, type Shown, type Step } from '../src/model';
import type { FromInstancePage, ToInstancePage } from '../src/protocol';
import { rebuild } from './svg';

declare function acquireVsCodeApi(): { postMessage(message: FromInstancePage): void };

const host = acquireVsCodeApi();
const main = document.getElementById('instance') as HTMLElement;
const nonce = document.body.dataset.nonce ?? '';
const isDark = () => /vscode-(dark|high-contrast)/.test(document.body.className) && !document.body.classList.contains('vscode-high-contrast-light');
const LABELS: Record<Act, string> = { decide: 'Decide...', signal: 'Send Signal...', requeue: 'Requeue', pause: 'Pause...', resume: 'Resume...', cancel: 'Cancel...', abort: 'Abort...' };

/** What lets an instance that waits for a person go on. */
const PRIMARY = new Set<Act>(['decide', 'signal', 'requeue', 'resume']);

let shown: Shown | undefined;
let acts: Act[] = [];
let fault = '';

type Child = Node | string | undefined;

/** All texts are texts: nothing of a workflow is read as HTML. */
function make<Name extends keyof HTMLElementTagNameMap>(name: Name, attributes: Record<string, string>, ...children: Child[]): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((child): child is Node | string => child !== undefined));
  return element;
}

function button(words: string, onClick: () => void, label = words): HTMLButtonElement {
  const element = make('button', label === words ? {} : { 'aria-label': label }, words);
  element.addEventListener('click', onClick);
  return element;
}

const words = (text: string) => text.replaceAll('_', ' ');
const time = (text: string) => new Date(text).toLocaleTimeString();

/** A button for each value that there is. */
function values(where: (string | number)[], of: Record<string, unknown>, title: string): HTMLElement {
  const cell = make('td', {});
  for (const [key, value] of Object.entries(of)) {
    if (value === null || value === undefined) continue;
    cell.append(button(key, () => host.postMessage({ type: 'value', title: `${title} ${key}`, pointer: [...where, key] }), `${key} of ${title}`));
  }
  return cell;
}

function nodeButton(node: string): HTMLElement {
  const element = button(node, () => host.postMessage({ type: 'open', node }), `Go to ${node}`);
  element.className = 'link';
  return element;
}

function header({ instance, why }: Shown): HTMLElement {
  const { workflow, version, status, id, key } = instance;
  const buttons = acts.map((act) => {
    const one = button(LABELS[act], () => host.postMessage({ type: 'act', act }));
    // What the instance waits for.
    one.classList.toggle('primary', PRIMARY.has(act));
    return one;
  });
  const bar = make('div', { class: 'acts', role: 'toolbar', 'aria-label': 'What can be done' }, ...buttons);
  return make(
    'header',
    {},
    make('h1', {}, `${workflow} `, make('span', { class: 'dim' }, `v${version}`), ' ', make('span', { class: `status ${status}`, role: 'status' }, words(status))),
    make('p', { class: 'dim id' }, key === null ? id : `${id}, key ${key}`),
    make('p', { class: 'why' }, why),
    fault ? make('p', { class: 'fault', role: 'alert' }, fault) : undefined,
    acts.length > 0 ? bar : undefined,
    make('div', { class: 'acts' }, ...(['input', 'output', 'error'] as const).filter((name) => instance[name] !== null).map((name) => button(name, () => host.postMessage({ type: 'value', title: `${workflow} ${name}`, pointer: ['instance', name] })))),
  );
}

function picture({ svg }: Shown): HTMLElement | undefined {
  const built = svg ? rebuild(svg, nonce, isDark()) : undefined;
  if (!built) return undefined;
  const box = built.viewBox.baseVal;
  built.setAttribute('width', String(box.width));
  built.setAttribute('height', String(box.height));
  for (const group of built.querySelectorAll<SVGGElement>('g[data-node]')) {
    const node = group.dataset.node ?? '';
    group.setAttribute('tabindex', '0');
    group.setAttribute('role', 'button');
    group.setAttribute('aria-label', `Go to ${node}`);
    const open = () => host.postMessage({ type: 'open', node });
    group.addEventListener('click', open);
    group.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' || event.key === ' ') open();
    });
  }
  return make('section', { class: 'picture', 'aria-label': 'Diagram' }, built);
}

function bars(all: Shown): HTMLElement | undefined {
  const rows = timeline(all);
  if (rows.length === 0) return undefined;
  const list = make('ol', { class: 'timeline' });
  for (const row of rows) {
    const lane = make('div', { class: 'lane' });
    for (const bar of row.bars) {
      const one = make('span', { class: `bar ${bar.kind}`, title: bar.title, role: 'img', 'aria-label': bar.title });
      one.style.left = `${bar.from * 100}%`;
      one.style.width = `${(bar.to - bar.from) * 100}%`;
      lane.append(one);
    }
    list.append(make('li', { 'data-node': row.node }, make('span', { class: 'name', title: row.node }, row.node), lane));
  }
  const from = Date.parse(all.instance.created_at);
  const whole = Date.parse(all.instance.finished_at ?? all.now) - from;
  return make('section', {}, make('h2', {}, 'Timeline ', make('span', { class: 'dim' }, lengthOf(Math.max(0, whole)))), list);
}

const table = (caption: string, titles: string[], rows: HTMLElement[]) =>
  make('section', {}, make('h2', {}, caption), make('table', {}, make('thead', {}, make('tr', {}, ...titles.map((title) => make('th', { scope: 'col' }, title)))), make('tbody', {}, ...rows)));

function steps({ instance }: Shown): HTMLElement | undefined {
  if (instance.steps.length === 0) return undefined;
  const seen = new Map<string, number>();
  const row = (step: Step, place: number) => {
    const { input, output, error } = step;
    const turn = (seen.get(step.node) ?? 0) + 1;
    seen.set(step.node, turn);
    const name = make('td', {}, nodeButton(step.node), turn > 1 ? `, turn ${turn}` : '');
    return make('tr', { 'data-step': step.node }, name, make('td', { class: step.status }, words(step.status)), make('td', { class: 'number' }, String(step.attempts)), values(['instance', 'steps', place], { input, output, error }, step.node));
  };
  return table('Steps', ['Step', 'Status', 'Attempts', 'Values'], instance.steps.map(row));
}

function history({ events }: Shown): HTMLElement {
  const row = (event: HistoryEvent, place: number) =>
    make(
      'tr',
      { 'data-event': event.type },
      make('td', { class: 'number' }, String(event.seq)),
      make('td', {}, make('time', { datetime: event.at }, time(event.at))),
      make('td', {}, words(event.type)),
      event.node === null ? make('td', {}) : make('td', {}, nodeButton(event.node), event.attempt > 1 ? `, attempt ${event.attempt}` : ''),
      values(['events', place], { payload: event.payload }, `event ${event.seq}`),
    );
  return table('History', ['#', 'At', 'Event', 'Node', 'Values'], events.map(row));
}

/** What had the focus has it again: a person who reads with the keyboard is not thrown out by an event. */
function keepFocus(draw: () => void): void {
  const { activeElement } = document;
  const label = activeElement?.getAttribute('aria-label') ?? activeElement?.textContent ?? '';
  draw();
  if (label === '') return;
  const again = [...main.querySelectorAll<HTMLElement>('button, g[tabindex]')].find((one) => (one.getAttribute('aria-label') ?? one.textContent) === label);
  again?.focus();
}

function draw(): void {
  const all = shown;
  if (!all) {
    if (fault) main.replaceChildren(make('p', { class: 'fault', role: 'alert' }, fault));
    return;
  }
  keepFocus(() => main.replaceChildren(...[header(all), picture(all), bars(all), steps(all), history(all)].filter((part) => part !== undefined)));
}

window.addEventListener('message', ({ data }: MessageEvent<ToInstancePage>) => {
  if (data.type === 'fault') {
    fault = data.text;
    return draw();
  }
  if (data.type === 'now') {
    if (!shown) return;
    shown.now = data.now;
    // Only the bars grow: the rest stays as it is, with its focus and its selection.
    const old = main.querySelector('.timeline')?.parentElement;
    const grown = bars(shown);
    if (old && grown) old.replaceWith(grown);
    return;
  }
  ({ shown, acts } = data);
  fault = '';
  draw();
});
new MutationObserver(draw).observe(document.body, { attributeFilter: ['class'] });
host.postMessage({ type: 'ready' });
