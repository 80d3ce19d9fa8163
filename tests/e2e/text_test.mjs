// The languages of the UI: complete, in their own words and plurals, no value lost, short enough for where they stand, and
// chosen by the browser's languages or by the person.
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { HAS_PACKAGES, load, messagesOf } from './messages.mjs';

const skip = HAS_PACKAGES ? false : 'the packages of the UI are not installed';
const OTHERS = ['de', 'pt', 'ru'];
const built = process.env.EBB_UI_OUT ?? fileURLToPath(new URL('../../build/ui', import.meta.url));
const messages = {};
let ui;
const kept = new Map();
const browser = {
  navigator: { languages: ['en-US'] },
  document: { documentElement: { lang: '', dataset: {} } },
  localStorage: { getItem: (name) => kept.get(name) ?? null, setItem: (name, value) => kept.set(name, value), removeItem: (name) => kept.delete(name) },
};
before(async () => {
  if (skip) return;
  for (const locale of ['en', ...OTHERS]) messages[locale] = await messagesOf(locale);
  for (const [name, value] of Object.entries(browser)) Object.defineProperty(globalThis, name, { value, configurable: true });
  ui = await load("export * from './text'; export * from './text/locales'; export * from './lib/format'; export * from './lib/settings.svelte';");
});

// Texts that are the same in English: signs, names of formats, and words that operators of that language use as they are.
const SAME = {
  all: ['nav.docs', 'act.done', 'common.version', 'unit.ms', 'unit.s', 'unit.h', 'unit.d', 'unit.B', 'unit.kB', 'unit.MB', 'filter.placeholder', 'instances.id', 'workflows.yaml', 'queues.unlimited', 'queues.rateOf', 'decisions.question', 'overview.quantiles'],
  de: ['instances.labels', 'time.in', 'sessions.agent', 'nav.workflows', 'nav.queues', 'live.open', 'filter.label', 'instances.status', 'instances.workflow', 'act.payload', 'act.signalName', 'instance.tab.graph',
    'steps.worker', 'workflows.name', 'workflows.version', 'register.text', 'start.optional', 'workers.worker', 'workers.threads', 'workers.handler', 'queues.queue', 'queues.edit', 'queues.starts',
    'settings.server', 'settings.version', 'settings.limits', 'settings.token', 'settings.name', 'audit.action', 'audit.hash', 'audit.workflow', 'notifications.format', 'notifications.webhook', 'bulks.filter'],
  pt: ['nav.workflows', 'nav.workers', 'overview.total', 'instances.status', 'instances.workflow', 'act.payload', 'steps.worker', 'workflows.name', 'workers.worker', 'workers.host', 'workers.threads',
    'workers.handlers', 'workers.handler', 'settings.token', 'palette.workflow', 'audit.hash', 'audit.workflow', 'grants.kind.token', 'notifications.webhook'],
  ru: [],
};

const STATUSES = ['running', 'waiting', 'retrying', 'completed', 'failed', 'compensating', 'compensated', 'compensation_failed', 'dead_letter', 'paused', 'cancelled', 'aborted', 'skipped', 'pending', 'moved', 'delivered', 'stopped'];

function* leaves(value, path = '') {
  if (typeof value !== 'object') yield [path, value];
  else for (const [name, one] of Object.entries(value)) yield* leaves(one, path ? `${path}.${name}` : name);
}
const at = (value, path) => path.split('.').reduce((inner, name) => inner?.[name], value);

// A value for each parameter by its name in English. 5 takes another plural form than 1 in each of the languages.
const NUMBERS = { n: 5, done: 6, skipped: 7, all: 8, shown: 9, have: 11, need: 12, alive: 13, threads: 14, used: 15, of: 16, running: 17, waiting: 18, starts: 19, from: 22, to: 23, seq: 24, version: 25, started: 31, completed: 32, failed: 33 };
const parametersOf = (text) => (/^\(?([^)=]*)\)?\s*=>/.exec(text.toString())?.[1] ?? '').split(',').map((name) => name.trim()).filter(Boolean);
const sampleOf = (name) => NUMBERS[name] ?? (name === 'versions' ? [26, 27] : `<${name}>`);
// What a function with a fixed set of arguments says for each of them.
const ARGUMENTS = {
  status: STATUSES.map((status) => [status]),
  'instance.until': ['retry', 'timer', 'decision', 'other'].map((kind) => [kind]),
  'filter.problem': ['name', 'status', 'version', 'time', 'value', 'label'].map((problem) => [problem, '<word>', '<names>', '<statuses>']),
  'activity.last': ['1h', '6h', '24h', '7d', '30d'].map((window) => [window]),
  'timeline.lastEvents': [['29']],
};

/** The texts of one entry, with the samples that went into each. */
function textsOf(locale, path) {
  const text = at(messages[locale], path);
  if (typeof text !== 'function') return [{ text, samples: [] }];
  const calls = ARGUMENTS[path] ?? [parametersOf(at(messages.en, path)).map(sampleOf)];
  return calls.map((samples) => ({ text: text(...samples), samples }));
}

test('every language has the messages of English, with the same parameters', { skip }, () => {
  const names = readdirSync(fileURLToPath(new URL('../../ui/src/text/', import.meta.url))).filter((name) => /^[a-z]{2}\.ts$/.test(name));
  assert.deepEqual(names.sort(), ['en', ...OTHERS].sort().map((locale) => `${locale}.ts`));
  assert.deepEqual(Object.keys(ui.LOCALES), ['en', ...OTHERS]);
  const shape = (locale) => [...leaves(messages[locale])].map(([path, text]) => `${path}: ${typeof text}${typeof text === 'function' ? ` of ${text.length}` : ''}`).sort();
  for (const locale of OTHERS) assert.deepEqual(shape(locale), shape('en'), locale);
});

test('no text is empty or left in English', { skip }, () => {
  for (const locale of OTHERS) {
    const same = [];
    for (const [path] of leaves(messages.en)) {
      const english = textsOf('en', path);
      for (const [i, { text }] of textsOf(locale, path).entries()) {
        assert.notEqual(text, '', `${locale}: ${path}`);
        if (text === english[i].text && path !== 'number' && !(text === 'dead letter' && path === 'status')) same.push(path);
      }
    }
    const allowed = [...SAME.all, ...SAME[locale]].filter((path) => locale !== 'ru' || !path.startsWith('unit.'));
    assert.deepEqual(same.sort(), allowed.sort(), locale);
  }
});

test('no language loses a value, and a sentence ends as it does in English', { skip }, () => {
  const ends = (text) => /[.…?:]$/.exec(text)?.[0] ?? '';
  for (const locale of OTHERS) {
    for (const [path] of leaves(messages.en)) {
      const english = textsOf('en', path);
      for (const [i, { text, samples }] of textsOf(locale, path).entries()) {
        for (const sample of samples.flat().map(String)) if (/^[<\d]/.test(sample) && english[i].text.includes(sample)) assert.ok(text.includes(sample), `${locale}: ${path} without ${sample}: ${text}`);
        if (!['instance.until', 'unit.point'].includes(path)) assert.equal(ends(text), ends(english[i].text), `${locale}: ${path}: ${text}`);
      }
    }
  }
});

test('each language has its own letters and quotation marks', { skip }, () => {
  const FOREIGN = { de: /["”«»]|“[^“„]*“/, pt: /["„«»]/, ru: /["“”„]|[а-яё][a-z]|[a-z][а-яё]/i };
  for (const locale of OTHERS) {
    for (const [path] of leaves(messages.en)) {
      for (const { text } of textsOf(locale, path)) assert.doesNotMatch(text, FOREIGN[locale], `${locale}: ${path}: ${text}`);
    }
  }
  assert.equal(messages.de.overview.unserved('x'), 'kein Worker für „x“');
  assert.equal(messages.pt.overview.unserved('x'), 'nenhum worker para “x”');
  assert.equal(messages.ru.overview.unserved('x'), 'нет воркера для «x»');
});

test('Russian has a form for 1, for 2 and for 5, and 21 is like 1', { skip }, () => {
  const { ru } = messages;
  const of = (text) => [1, 2, 5, 11, 21, 22].map(text);
  assert.deepEqual(of(ru.act.cancelAndUndo), ['1 шаг', '2 шага', '5 шагов', '11 шагов', '21 шаг', '22 шага'].map((steps) => `Отменить и откатить ${steps}`));
  assert.deepEqual(of(ru.failures.count), ['1 экземпляр', '2 экземпляра', '5 экземпляров', '11 экземпляров', '21 экземпляр', '22 экземпляра']);
  assert.deepEqual(of(ru.overview.overdue), ['решение просрочено', 'решения просрочены', 'решений просрочено', 'решений просрочено', 'решение просрочено', 'решения просрочены']);
  assert.deepEqual(of((n) => ru.workers.count(3, n)).map((text) => text.split(', ')[1]), ['1 поток', '2 потока', '5 потоков', '11 потоков', '21 поток', '22 потока']);
  assert.match(ru.workers.unserved(21, 'x'), /^21 задача ждёт «x»/);
  assert.match(ru.bulk.cannot(2), /^2 выбранных экземпляра находятся .* будут пропущены\.$/);
  assert.match(ru.bulk.cannot(21), /^21 выбранный экземпляр находится .* будет пропущен\.$/);
});

test('German and Portuguese tell one from many', { skip }, () => {
  const { de, pt } = messages;
  assert.deepEqual([1, 2, 21].map(de.act.cancelAndUndo), ['Abbrechen und 1 Schritt zurücknehmen', 'Abbrechen und 2 Schritte zurücknehmen', 'Abbrechen und 21 Schritte zurücknehmen']);
  assert.deepEqual([1, 2, 21].map(de.failures.waiting), ['1 wartet', '2 warten', '21 warten']);
  assert.deepEqual([1, 2, 21].map(pt.failures.count), ['1 instância', '2 instâncias', '21 instâncias']);
  assert.deepEqual([1, 2, 21].map(pt.bulk.selected), ['1 selecionada', '2 selecionadas', '21 selecionadas']);
});

test('a sentence about one thing does not speak of several', { skip }, () => {
  const { en, de, pt, ru } = messages;
  const why = ({ overview }) => [overview.deadWorkersWhy, overview.suspendedWhy, overview.refusedWhy, overview.stuckWhy, overview.unservedWhy];
  assert.deepEqual(why(en).map((text) => text(1).split(' ').slice(0, 3).join(' ')), ['Other workers take', 'Its events wait', 'It is invalid,', 'It was given', 'A task is']);
  assert.equal(en.overview.deadWorkersWhy(1), 'Other workers take over its tasks.');
  assert.equal(en.overview.deadWorkersWhy(2), 'Other workers take over their tasks.');
  for (const locale of [en, de, pt, ru]) {
    for (const text of [...why(locale), locale.bulks.canaryFailed, locale.notifications.suspendedHint]) {
      assert.notEqual(text(1), text(2));
      assert.equal(text(2), text(5));
    }
  }
  assert.deepEqual([1, 2].map(en.history.count), ['1 event', '2 events']);
});

test('short texts (buttons, heads of tables, labels) stay short', { skip }, () => {
  const visible = (text) => text.replaceAll('\u00AD', '').length;
  for (const locale of OTHERS) {
    for (const [path] of leaves(messages.en)) {
      const english = textsOf('en', path);
      for (const [i, { text }] of textsOf(locale, path).entries()) {
        const length = english[i].text.length;
        if (length <= 30) assert.ok(visible(text) <= Math.max(1.8 * length, length + 12), `${locale}: ${path}: "${text}" is much longer than "${english[i].text}"`);
      }
    }
  }
});

test('numbers, durations and sizes read as the language writes them', { skip }, async () => {
  const show = async (locale) => {
    ui.settings.locale = locale;
    await ui.loadText();
    return [ui.t.number(1234567).replace(/\s/g, '_'), ui.duration(350), ui.duration(1234), ui.duration(184_000), ui.duration(187_200_000), ui.age(240_000), ui.t.time.ago(ui.age(7_200_000)), ui.bytes(1500)];
  };
  assert.deepEqual(await show('en'), ['1,234,567', '350 ms', '1.2 s', '3 m 04 s', '2 d 4 h', '4 m', '2 h ago', '1.5 kB']);
  assert.deepEqual(await show('de'), ['1.234.567', '350 ms', '1,2 s', '3 min 04 s', '2 d 4 h', '4 min', 'vor 2 h', '1,5 kB']);
  assert.deepEqual(await show('pt'), ['1.234.567', '350 ms', '1,2 s', '3 min 04 s', '2 d 4 h', '4 min', 'há 2 h', '1,5 kB']);
  assert.deepEqual(await show('ru'), ['1_234_567', '350 мс', '1,2 с', '3 мин 04 с', '2 д 4 ч', '4 мин', '2 ч назад', '1,5 кБ']);
});

test('the language is the first of the browser that the UI has, or else English', { skip }, () => {
  assert.equal(ui.preferred(['de-AT', 'en']), 'de');
  assert.equal(ui.preferred(['pt-PT']), 'pt');
  assert.equal(ui.preferred(['fr', 'ja-JP', 'RU', 'de']), 'ru');
  assert.equal(ui.preferred(['den', 'rue', 'constructor']), 'en');
  assert.equal(ui.preferred([]), 'en');
});

test('a change of the language shows at once and is kept', { skip }, async () => {
  ui.settings.locale = '';
  browser.navigator.languages = ['ru-RU', 'en'];
  await ui.loadText();
  assert.equal(ui.t.nav.instances, 'Экземпляры');
  assert.equal(browser.document.documentElement.lang, 'ru');
  ui.settings.locale = 'pt';
  ui.saveSettings();
  await ui.loadText();
  assert.equal(ui.t.nav.instances, 'Instâncias');
  assert.equal(browser.document.documentElement.lang, 'pt-BR');
  assert.equal(JSON.parse(kept.get('ebb.settings')).locale, 'pt');
});

test('each language is a chunk of its own that only its users load', { skip: !existsSync(join(built, 'sizes.json')) && 'the UI is not built' }, () => {
  const assets = join(built, 'dist', 'assets');
  const scripts = readdirSync(assets).filter((name) => name.endsWith('.js'));
  const chunks = scripts.filter((name) => /^(en|de|pt|ru)\.[\w-]+\.js$/.test(name));
  assert.equal(chunks.length, 4, chunks.join());
  for (const name of scripts) {
    const source = readFileSync(join(assets, name), 'utf8');
    for (const [, to] of source.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) assert.ok(!chunks.includes(to), `${name} loads ${to} whether or not it is needed`);
  }
  assert.doesNotMatch(readFileSync(join(built, 'dist', 'index.html'), 'utf8'), /\/(en|de|pt|ru)\.[\w-]+\.js/);
});
