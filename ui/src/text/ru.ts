// Russian. A status is neuter or a noun ("завершено", "сбой"), so that it fits a process, a step and a number alike.
import type { Messages } from '.';
import { bare, counting } from './locales';

const { number, form, count } = counting('ru');

const STATUS: Record<string, string> = {
  running: 'выполняется', waiting: 'ожидание', retrying: 'повтор', completed: 'завершено', failed: 'сбой', compensating: 'компенсация',
  compensated: 'компенсировано', compensation_failed: 'сбой компенсации', dead_letter: 'dead letter', paused: 'на паузе',
  cancelled: 'отменено', aborted: 'прервано', skipped: 'пропущено', pending: 'не начато', moved: 'перенесено',
};

export const ru: Messages = {
  number,
  status: (status: string) => STATUS[status] ?? status,
  common: {
    again: 'Повторить', cancel: 'Отмена', close: 'Закрыть', copy: 'Копировать', open: 'Открыть', save: 'Сохранить', show: 'Показать', hide: 'Скрыть', loading: 'Загрузка',
    copied: (what: string) => `Скопировано: ${what.slice(0, 60)}`,
    copyThis: (what: string) => `Копировать ${what.slice(0, 60)}`,
    notCopied: 'Браузер не разрешает копирование. Выделите текст и скопируйте его вручную.',
    version: (versions: number[]) => versions.map((version) => `v${version}`).join(', '),
  },
  unit: { ms: 'мс', s: 'с', m: 'мин', h: 'ч', d: 'д', B: 'Б', kB: 'кБ', MB: 'МБ', point: ',' },
  time: { now: 'сейчас', ago: (time: string) => `${time} назад`, in: (time: string) => `через ${time}` },
  nav: {
    label: 'Страницы', skip: 'Перейти к содержимому', home: 'Обзор', find: 'Найти или перейти…', more: 'Ещё', logout: 'Выйти', waitingFor: 'ожидает:',
    overview: 'Обзор', instances: 'Экземпляры', failures: 'Сбои', decisions: 'Решения', workflows: 'Процессы', workers: 'Воркеры', queues: 'Очереди', settings: 'Настройки',
  },
  live: {
    open: 'онлайн', lost: 'нет обновлений', lostHint: 'Соединение для обновлений потеряно. Оно восстановится автоматически; до этого список не обновляется.',
    silent: 'Сервер не отвечает.', silentSince: (time: string) => `Данным на экране ${time}. Соединение восстановится автоматически; до этого ничего нельзя изменить.`,
    draining: 'Сервер завершает работу.', drainingHint: 'Данные на экране остаются. Соединение восстановится автоматически, когда сервер вернётся; до этого ничего нельзя изменить.',
    noAuth: 'Этот сервер работает без аутентификации: каждый на этой машине может делать всё.',
  },
  login: {
    title: 'Вход', how: 'Создайте ссылку для входа в терминале на сервере и откройте её или вставьте сюда:', paste: 'Ссылка для входа', submit: 'Войти',
    help: 'Ссылка действует один раз и в течение десяти минут.',
    with: (name: string) => `Войти через ${name}`, or: 'Или по ссылке для входа:',
    denied: 'Служба входа отклонила вход.', unavailable: 'Служба входа не отвечает. Попробуйте позже или используйте ссылку для входа.', failed: 'Войти не удалось. Начните заново.',
  },
  trouble: {
    title: 'Не получилось.', notFound: 'Не найдено.', forbidden: 'Нет доступа.', forbiddenHint: 'Ваша роль этого не позволяет. Доступ может дать администратор.',
    unreachable: 'Сервер не отвечает.', unreachableHint: 'Возможно, он перезапускается. Попробуйте ещё раз чуть позже.',
    busy: 'Сервер сейчас не может ответить.', byItself: (time: string) => `Повтор автоматически через ${time}.`,
    staleSince: (time: string) => `Данные ниже — на ${time}.`,
    request: (id: string) => `Запрос ${id}`,
    chunk: 'Не удалось загрузить эту страницу. Вероятно, сервер был обновлён.', reload: 'Перезагрузить', noPage: 'Такой страницы нет', noPageHint: 'Возможно, в адресе опечатка или ссылка относится к другой версии.',
  },
  overview: {
    attention: 'Требует внимания', quiet: 'Всё спокойно: ничто не ждёт человека, dead letter нет, у каждого обработчика есть воркер.', now: 'Сейчас',
    overdue: (n: number) => form(n, 'решение просрочено', 'решения просрочены', 'решений просрочено'),
    decisions: (n: number) => form(n, 'решение ожидается', 'решения ожидаются', 'решений ожидается'),
    oldest: (time: string) => (time.startsWith('NaN') ? '' : `ждёт ${time}`),
    unserved: (handler: string) => `нет воркера для «${handler}»`, unservedWhy: 'Задачи готовы, но ни у одного работающего воркера нет этого обработчика.',
    queue: (queue: string) => `очередь ${queue}`,
    deadWorkers: (n: number) => form(n, 'воркер остановился без предупреждения', 'воркера остановились без предупреждения', 'воркеров остановилось без предупреждения'), deadWorkersWhy: 'Их задачи забирают другие воркеры.',
    live: 'активно', total: 'всего', share: 'по статусам',
  },
  filter: {
    label: 'Фильтр', placeholder: 'status:dead_letter workflow:order key:k7-* since:24h', clear: 'Очистить', remove: (term: string) => `Убрать ${term}`,
    help: { status: 'один или несколько через запятую', workflow: 'его имя', version: 'число', key: 'целиком или начало с *', since: 'запущено после: 2h, 7d или дата', before: 'запущено до' },
    problem: (problem: string, word: string, names: string, statuses: string) =>
      ({ name: `Фильтра «${word}» нет. Есть ${names}.`, status: `Такого статуса нет. Есть ${statuses}.`, version: 'Версия — целое число.', time: 'Это не время. Напишите 15m, 2h, 7d или дату, например 2026-11-22.', value: 'требуется значение.' })[problem] ?? '',
  },
  instances: {
    all: 'Все', live: 'Активные', ended: 'Неудачные', views: 'Сохранённые виды', viewName: 'Название вида', saveView: 'Сохранить вид', dropView: 'Удалить вид', export: 'Экспорт',
    status: 'Статус', workflow: 'Процесс', key: 'Ключ', id: 'ID', started: 'Запуск', changed: 'Изменение', took: 'Длительность',
    select: (name: string) => `Выбрать ${name}`, selectAll: 'Выбрать все показанные', noMatch: 'Ничего не найдено.', clear: 'Сбросить фильтры', none: 'Экземпляров пока нет. Запустите первый:',
    more: 'Прокрутите дальше', loadMore: 'Загрузить ещё', end: (n: number) => `${count(n, 'экземпляр', 'экземпляра', 'экземпляров')}, это всё`, scannedTo: 'Просмотрено до',
    fresh: (n: number) => `${number(n)} ${form(n, 'новый', 'новых', 'новых')}`,
  },
  bulk: {
    label: 'Выбранные экземпляры', selected: (n: number) => `Выбрано: ${number(n)}`, clear: 'Сбросить',
    title: (verb: string, n: number) => `${bare(verb)}: ${count(n, 'экземпляр', 'экземпляра', 'экземпляров')}`,
    cannot: (n: number) => `${count(n, 'выбранный экземпляр находится', 'выбранных экземпляра находятся', 'выбранных экземпляров находятся')} в состоянии, которое этого не допускает, и ${form(n, 'будет пропущен', 'будут пропущены', 'будут пропущены')}.`,
    trial: 'Проба', watching: 'Проверяем, не повторится ли сбой…', failedAgain: 'Сбой повторился. Разберитесь с ним, прежде чем повторять остальные.', worked: 'Экземпляр завершён.', stillRuns: 'Экземпляр ещё выполняется, сбоев пока нет.',
    progress: (done: number, skipped: number, all: number) => `Готово: ${number(done)} из ${number(all)}${skipped ? `, пропущено: ${number(skipped)}` : ''}`,
    which: 'Какие', looking: (n: number) => `Найдено: ${number(n)}…`, failedOther: 'Сбой повторился, но другой. Разберитесь с ним, прежде чем повторять остальные.', refused: 'Сервер отказал. Посмотрите причину, прежде чем повторять остальные.', goOn: (n: number) => `Продолжить с ${form(n, 'оставшимся', 'остальными', 'остальными')} ${number(n)}`, again: (n: number) => `Повторить ${form(n, 'пропущенный', 'пропущенные', 'пропущенные')}: ${number(n)}`,
    skipped: (n: number) => `Пропущено: ${number(n)}`, tryOne: 'Сначала повторить один', all: (verb: string, n: number) => (n === 1 ? bare(verb) : `${bare(verb)}: все ${number(n)}`), rest: (n: number) => `Повторить ${form(n, 'остальной', 'остальные', 'остальные')} ${number(n)}`, stop: 'Остановиться здесь',
  },
  act: {
    will: 'Что произойдёт', done: (verb: string, name: string) => `${bare(verb)}: ${name}`, leave: 'Оставить как есть',
    cancelAndUndo: (n: number) => `Отменить и откатить ${count(n, 'шаг', 'шага', 'шагов')}`,
    undoes: (n: number) => (n === 1 ? 'Выполнится эта компенсация:' : 'По очереди выполнятся эти компенсации:'), undoesStep: (node: string) => `откатывает ${node}`, undoesNothing: 'Ни у одного завершённого шага нет компенсации, поэтому ничего не откатывается.',
    keeps: (nodes: string) => `Сделанное этими шагами останется: ${nodes}.`, stops: (nodes: string) => `Выполняются сейчас и получат запрос на остановку: ${nodes}.`,
    changed: 'За это время экземпляр изменился.', changedHint: 'Ничего не сделано. Посмотрите на его текущее состояние и решите заново.',
    reason: 'Причина', comment: 'Комментарий', reasonHelp: 'Сохраняется в истории вместе с вашим именем.', skip: 'Пропустить компенсацию, в которой произошёл сбой', edit: 'Повторить с другими входными данными', input: 'Входные данные', payload: 'Данные', signalName: 'Сигнал',
    json: 'Любое значение JSON.', notJson: (why: string) => `Это не JSON. ${why}`, asCurl: 'То же через curl',
    cancel: { name: 'Отменить…', title: 'Отменить этот экземпляр', button: 'Отменить экземпляр', will: (_: string) => 'Он остановится, откатит сделанное от последнего шага к первому и будет отменён. Точки сохранения не учитываются.' },
    abort: { name: 'Прервать…', title: 'Прервать этот экземпляр', button: 'Прервать без отката', will: (_: string) => 'Он остановится сразу и будет прерван. Ничего не откатывается.' },
    pause: { name: 'Приостановить', title: 'Приостановить этот экземпляр', button: 'Приостановить', will: (_: string) => 'Он не начнёт ничего нового, пока его не возобновят. Что выполняется сейчас, будет доведено до конца.' },
    resume: { name: 'Возобновить', title: 'Возобновить этот экземпляр', button: 'Возобновить', will: (_: string) => 'Он продолжит с того места, где был приостановлен.' },
    requeue: { name: 'Повторить отсюда…', title: 'Повторить с шага, где произошёл сбой', button: 'Повторить отсюда', will: (node: string) => `Он продолжит с того места, где остановился${node ? `: «${node}»` : ''}. Попытки снова считаются с первой.` },
    signal: { name: 'Отправить сигнал…', title: 'Отправить сигнал', button: 'Отправить сигнал', will: (_: string) => 'Если экземпляр ждёт этого сигнала, он продолжит, а данные сигнала станут выходными данными этого узла. Если нет, сигнал хранится, пока экземпляр его не дождётся.' },
    confirm: { name: 'Подтвердить', title: 'Подтвердить решение', button: 'Подтвердить', will: (node: string) => `Ваш голос засчитывается как подтверждение${node ? ` в «${node}»` : ''}. Когда подтверждений станет достаточно, экземпляр продолжит работу.` },
    reject: { name: 'Отклонить', title: 'Отклонить решение', button: 'Отклонить', will: (node: string) => `Решение${node ? ` в «${node}»` : ''} будет отклонено. Экземпляр пойдёт по ветви отказа либо откатит сделанное и завершится сбоем.` },
    newest: 'Последние события',
  },
  instance: {
    why: 'Почему:', started: 'запуск', ran: (time: string) => `длительность ${time}`, runs: (time: string) => `уже ${time}`, until: (kind: string): string => (kind === 'retry' ? 'Следующая попытка:' : kind === 'timer' ? 'Продолжение:' : kind === 'decision' || kind === 'signal' ? 'Срок:' : 'До:'), priority: (n: number) => `приоритет ${n}`,
    tab: { graph: 'Граф', timeline: 'Шкала времени', steps: 'Шаги', history: 'История', data: 'Данные' },
  },
  graph: {
    label: 'Шаги процесса', described: (n: number) => `Схема: ${count(n, 'узел', 'узла', 'узлов')}. «Список» показывает то же текстом.`, zoomIn: 'Увеличить', zoomOut: 'Уменьшить', fit: 'Вписать', list: 'Список', picture: 'Схема',
  },
  timeline: {
    idle: (time: string) => `Ничего не происходило ${time}`, cut: (shown: number, all: number) => `Показаны последние шаги: ${number(shown)} из ${number(all)}.`, lastEvents: (n: string) => `Построено по последним событиям: ${n}.`,
    kind: { attempt: 'попытка', failed: 'неудачная попытка', retry: 'ждёт повтора', wait: 'ожидание', running: 'выполняется', undo: 'компенсация', undo_failed: 'сбой компенсации' },
  },
  steps: {
    step: 'Шаг', branch: 'Ветвь', tries: 'Попытки', took: 'Длительность', worker: 'Воркер', error: 'Ошибка', started: 'Начало', attempts: (n: number) => count(n, 'попытка', 'попытки', 'попыток'), eachAttempt: 'Попытки',
    notYet: 'Ещё не достигнут.', visit: (n: number, all: number) => `Проход ${n} из ${all}`, toHistory: 'События этого шага',
  },
  history: {
    type: 'Тип', allTypes: 'Все типы', node: 'Шаг', at: 'Время', attempt: 'Попытка', took: 'Длительность', about: 'Относится к', by: 'Кто', count: (n: string) => `Событий: ${n}`, following: 'обновляется', toEnd: 'В конец', event: (seq: number) => `Событие ${seq}`,
  },
  data: {
    input: 'Вход', output: 'Выход', error: 'Ошибка', instanceInput: 'Вход экземпляра', instanceOutput: 'Выход экземпляра', outputOf: (node: string) => `Выход ${node}`, find: 'Найти в данных', left: 'Слева', right: 'Справа', nothing: 'пусто',
    path: 'Путь', differences: (n: number) => count(n, 'отличие', 'отличия', 'отличий'), forbidden: 'Ваша роль показывает размеры и имена, но не сами данные.',
  },
  json: { cut: (size: string) => `${size}, не показано`, download: 'Скачать', more: (n: number) => `ещё ${number(n)}` },
  failures: {
    which: 'Какие сбои', all: 'Все', none: 'Сбоев нет. Здесь появляются шаги с окончательным сбоем, сгруппированные по ошибке.', count: (n: number) => count(n, 'экземпляр', 'экземпляра', 'экземпляров'),
    waiting: (n: number) => `${number(n)} ${form(n, 'ожидает', 'ожидают', 'ожидают')}`, ended: (n: number) => `${number(n)} со сбоем`, retryAll: (n: number) => `Повторить один, затем все ${number(n)}…`, copy: 'Копировать как issue', first: 'Первый', last: 'Последний', versions: 'Версии',
    growth: (hour: string, day: string) => `${hour} за последний час, ${day} за последние 24 ч`, fresh: 'новый', newest: 'Экземпляры, сначала новые', gone: 'Таких сбоев больше нет.', cancelAll: (n: number) => form(n, 'Отменить…', `Отменить все ${number(n)}…`, `Отменить все ${number(n)}…`),
  },
  decisions: {
    roles: 'Роли', allRoles: 'Все роли', none: 'Ничто не ждёт решения.', late: (time: string) => `просрочено на ${time}`, left: (time: string) => `осталось ${time}`, quorum: (have: number, need: number) => `Подтверждений: ${have} из ${need}`,
    question: (node: string) => node.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()) + '?', more: 'Ещё данные', who: 'Кто может решать', anyone: 'любой', votes: 'Голоса', since: 'Поступило', deadline: 'Срок', keysMove: 'следующее, предыдущее',
    gone: 'Решение по этой ссылке уже не открыто.',
    forbidden: 'Ваша роль может видеть решения, но не принимать их.',
  },
  workflows: {
    name: 'Процесс', version: 'Версия', versions: 'Версии', registered: 'Регистрация', find: 'Найти процесс', none: 'Процессов пока нет. Зарегистрируйте первый:', noMatch: (text: string) => `Нет процессов, в имени которых есть «${text}».`, yaml: 'YAML', newest: '(новейшая)',
    from: 'Из', to: 'В', fromVersion: (n: number) => `Сравнить с версии ${n}`, toVersion: (n: number) => `Сравнить с версией ${n}`, difference: (from: number, to: number) => `Из v${from} в v${to}`, same: 'Тексты одинаковы.', noInstances: 'У этого процесса пока нет экземпляров.', allInstances: 'Все экземпляры этого процесса',
    structure: 'Что меняется', change: { added: 'добавлен', removed: 'удалён', changed: 'изменён' }, onlyText: 'Узлы одинаковы; отличается только текст вокруг них.',
  },
  build: {
    title: (name: string) => `Новая версия ${name}`, fresh: 'Новый процесс', draft: 'Черновик хранится в этом браузере', restored: 'Ваш прошлый черновик', undo: 'Отменить', redo: 'Повторить', download: 'Скачать', kind: 'Вид узла', addAfter: (name: string) => `Добавить после ${name}`, addLast: 'Добавить в конец', earlier: 'Выше', later: 'Ниже', remove: 'Удалить', inText: 'Записано в тексте.',
  },
  register: {
    button: 'Новый процесс…', edit: 'Новая версия…', title: 'Зарегистрировать версию', text: 'Определение', picture: 'Схема', problems: 'Проблемы', valid: 'Проблем нет.', noPicture: 'Схема появится, когда определение удастся прочитать.', submit: 'Зарегистрировать', reset: 'Отменить изменения', editor: 'Определение в YAML',
    done: (name: string, version: number) => `Зарегистрировано: ${name} v${version}`,
  },
  start: {
    button: 'Запустить…', again: 'Запустить снова…', title: (name: string) => (name ? `Запустить ${name}` : 'Запустить экземпляр'), choose: 'Выберите процесс', form: 'Форма', input: 'Входные данные', key: 'Ключ (необязательно)', keyHelp: 'Один и тот же ключ — один и тот же экземпляр, сколько бы раз его ни запускали.', asCommand: 'То же командой', submit: 'Запустить', optional: '(необязательно)',
    required: 'Обязательное поле.', pattern: (pattern: string) => `Должно соответствовать ${pattern}`, least: (n: number) => `Не меньше ${n}.`, most: (n: number) => `Не больше ${n}.`,
  },
  workers: {
    count: (alive: number, threads: number) => `активно: ${number(alive)}, ${count(threads, 'поток', 'потока', 'потоков')}`, worker: 'Воркер', host: 'Хост', tasks: 'Задачи', threads: 'Потоки', handlers: 'Обработчики', handler: 'Обработчик', since: 'Запуск', lease: 'Конец аренды', allQueues: 'все',
    state: { alive: 'активен', draining: 'завершается', dead: 'не отвечает' }, ranOut: (time: string) => `истекла ${time} назад`, none: 'Воркеров нет. Экземпляры ждут, пока не запустится хотя бы один:',
    unserved: (n: number, handler: string) => `${count(n, 'задача ждёт', 'задачи ждут', 'задач ждут')} «${handler}»: ни у одного работающего воркера нет этого обработчика.`, unservedHint: (queue: string) => `Очередь ${queue}. Запустите воркер, у которого он есть, или проверьте имя на опечатку.`,
    matrix: 'Кто что может выполнять', nobody: 'нет воркера', runs: (worker: string, handler: string) => `${worker} выполняет ${handler}`,
  },
  queues: {
    queue: 'Очередь', running: 'Выполняются', use: 'Занято', waiting: 'ожидают', sleeping: 'Спят', concurrency: 'Одновременно', perKey: 'Одновременно на ключ', rate: 'Частота', unlimited: '–', full: 'заполнена', edit: 'Лимиты…', editOf: (name: string) => `Лимиты ${name}`, none: 'Нет очередей с лимитами или задачами.',
    used: (used: number, of: number) => `Занято ${number(used)} из ${number(of)}`, rateOf: (starts: number, period: string) => `${starts} / ${period}`, will: (running: number, waiting: number) => `Новые лимиты действуют сразу и на всех воркерах. Сейчас ${form(running, 'выполняется', 'выполняются', 'выполняются')} ${number(running)} и ${form(waiting, 'ожидает', 'ожидают', 'ожидают')} ${number(waiting)}; что выполняется, не останавливается.`,
    concurrencyHelp: 'Сколько задач этой очереди могут выполняться одновременно на всех воркерах вместе. Пусто: без лимита.', perKeyHelp: 'То же для каждого ключа параллельности. Пусто: без лимита.', rateHelp: 'Сколько задач могут начаться за период, например 1s или 1m. Пусто: без лимита.', starts: 'Запуски', per: 'за', period: 'Период',
    stops: '0 останавливает очередь: из неё ничего не запускается, пока лимит не поднимут.', save: 'Задать лимиты', saved: (name: string) => `Лимиты заданы: ${name}`,
    nobody: 'нет воркера', stopped: 'остановлена', runningNow: (n: number) => `выполняются: ${n}`, sleepingHelp: 'Задачи ждут своего времени, например следующей попытки.',
  },
  settings: {
    look: 'Вид', theme: 'Цвета', system: 'Как в системе', light: 'Светлые', dark: 'Тёмные', zone: 'Время', local: 'Местное время', density: 'Строки', compact: 'Компактные', comfortable: 'Просторные', language: 'Язык', browser: 'Как в браузере',
    you: 'Вы', principal: 'Имя в системе', role: 'Роль', may: 'Права', server: 'Сервер', version: 'Версия', store: 'Хранилище', noWorker: '(не выполняет обработчики)', openapi: 'Документ OpenAPI', limits: 'Ограничения',
    tokens: 'Токены API', token: 'Токен', newToken: 'Новый токен…', once: 'Это токен. Он показывается только сейчас.', noTokens: 'Токенов нет.', created: 'Создан', used: 'Использован', expires: 'Истекает', never: 'никогда', revoke: 'Отозвать…', revokeOf: (name: string) => `Отозвать токен ${name}`, revokeWill: 'Программы, которые его используют, получат отказ: здесь сразу, на других серверах в течение 5 с.',
    create: 'Создать токен', expiresHelp: 'Длительность, например 2160h, или never.',
    roleHelp: { viewer: 'Видит всё, кроме данных.', approver: 'Видит и принимает решения.', operator: 'Управляет экземплярами и очередями.', developer: 'Также регистрирует процессы и запускает экземпляры.', admin: 'Может всё.', worker: 'Только выполняет обработчики.', starter: 'Запускает экземпляры и читает свои.' } as Record<string, string>,
  },
  palette: {
    placeholder: 'ID, ключ, процесс или страница', page: 'страница', workflow: 'процесс', none: 'Ничего не найдено.', hits: 'Результаты', keys: 'Клавиши', filter: 'К фильтру', move: 'Следующая, предыдущая строка', select: 'Выбрать строку', decide: 'Подтвердить, отклонить решение',
    act: 'действие', recent: 'недавно', light: 'Светлая тема', dark: 'Тёмная тема',
  },
  compare: {
    button: 'Сравнить', title: 'Два запуска', same: 'Все шаги завершились одинаково.', parts: (node: string) => `Запуски расходятся на «${node}».`, absent: 'не достигнут', sameInput: 'Входные данные одинаковы.',
    apart: 'Разница', whole: 'Весь запуск', otherWorkflows: 'Это экземпляры разных процессов. Шаги сравниваются по именам.', swap: 'Поменять местами',
  },
  rehearsal: {
    button: 'Репетиция', hide: 'Скрыть репетицию', plan: 'Что, если…', reset: 'Всё завершается', ends: 'Исход', undo: 'Откат', endOf: (node: string) => `Исход ${node}`, undoOf: (node: string) => `Исход отката ${node}`, noUndo: 'отката нет', outcome: { complete: 'завершается', fail: 'сбой и новая попытка', fail_for_good: 'окончательный сбой', never: 'не отвечает' } as Record<string, string>, verdict: { complete: 'подтверждено', fail: 'подтверждено', fail_for_good: 'отклонено', never: 'никто не решает' } as Record<string, string>, signal: { complete: 'приходит', fail: 'приходит', fail_for_good: 'приходит', never: 'не приходит' } as Record<string, string>, cancel: 'Оператор отменяет', noCancel: 'никогда', after: (node: string) => `после ${node}`, help: 'Обработчики не вызываются, ничего не сохраняется. Шаг передаёт свои входные данные дальше.', result: 'Что произойдёт', invalid: 'Репетиция возможна, когда нет ошибок.', lasts: (time: string) => `через ${time}`, undone: (n: number) => `Откат в этом порядке (${n}):`, left: (nodes: string) => `Сделанное этими шагами остаётся: ${nodes}`, clean: 'Ничего не остаётся.', cut: 'Продолжение есть; репетиция дошла до предела.',
  },
};
