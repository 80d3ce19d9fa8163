// English, and the shape of every other language. Texts with values are functions, so that each language has its own
// order and plurals.
import { bare, counting } from './locales';

const { number, form, count } = counting('en');

const STATUS: Record<string, string> = {
  running: 'running', waiting: 'waiting', retrying: 'retrying', completed: 'completed', failed: 'failed', compensating: 'compensating',
  compensated: 'compensated', compensation_failed: 'compensation failed', dead_letter: 'dead letter', paused: 'paused',
  cancelled: 'cancelled', aborted: 'aborted', skipped: 'skipped', pending: 'pending', moved: 'moved', delivered: 'delivered', stopped: 'stopped',
};

export const en = {
  number,
  status: (status: string) => STATUS[status] ?? status,
  common: {
    again: 'Try again', cancel: 'Cancel', close: 'Close', copy: 'Copy', open: 'Open', save: 'Save', show: 'Show', hide: 'Hide', loading: 'Loading',
    copied: (what: string) => `Copied: ${what.slice(0, 60)}`,
    copyThis: (what: string) => `Copy ${what.slice(0, 60)}`,
    notCopied: 'The browser does not allow copying. Select the text and copy it by hand.',
    version: (versions: number[]) => versions.map((version) => `v${version}`).join(', '),
  },
  unit: { ms: 'ms', s: 's', m: 'm', h: 'h', d: 'd', B: 'B', kB: 'kB', MB: 'MB', point: '.' },
  time: { now: 'now', ago: (time: string) => `${time} ago`, in: (time: string) => `in ${time}` },
  nav: {
    label: 'Pages', skip: 'Skip to the content', home: 'Overview', find: 'Find or go to…', more: 'More', logout: 'Log out', waitingFor: 'waiting:',
    overview: 'Overview', instances: 'Instances', failures: 'Failures', decisions: 'Decisions', workflows: 'Workflows', workers: 'Workers', queues: 'Queues', bulk: 'Bulk', notifications: 'Notifications', docs: 'API', settings: 'Settings',
  },
  live: {
    open: 'live', lost: 'not live', lostHint: 'The live connection is lost. It comes back by itself; until then the list does not follow.',
    silent: 'The server does not answer.', silentSince: (time: string) => `What you see is ${time} old. It reconnects by itself; until then nothing can be changed.`,
    draining: 'The server shuts down.', drainingHint: 'What you see stays. It reconnects by itself when a server is back; until then nothing can be changed.',
    noAuth: 'This server runs without authentication: everyone on this machine can do everything.',
    isDev: 'This server is for development: a workflow file that changes becomes the next version.',
  },
  login: {
    title: 'Log in', how: 'Make a login link in a terminal on the server, and open it or paste it here:', paste: 'Login link', submit: 'Log in',
    help: 'A link works once and for ten minutes.',
    with: (name: string) => `Log in with ${name}`, or: 'Or with a login link:',
    denied: 'The login provider has refused the login.', unavailable: 'The login provider does not answer. Try again later, or use a login link.', failed: 'The login did not succeed. Begin again.',
  },
  trouble: {
    needs: (permission: string) => `It needs the permission “${permission}”.`,
    title: 'That did not work.', notFound: 'Not found.', forbidden: 'You may not see this.', forbiddenHint: 'Your role does not include it. An administrator can grant it.',
    unreachable: 'The server does not answer.', unreachableHint: 'It may be restarting. Try again in a moment.',
    busy: 'The server cannot answer now.', byItself: (time: string) => `Tries again by itself in ${time}.`,
    staleSince: (time: string) => `What is shown below is from ${time}.`,
    request: (id: string) => `Request ${id}`, about: 'What this means',
    chunk: 'This page could not be loaded. The server was probably updated.', reload: 'Reload', noPage: 'There is no such page', noPageHint: 'The address may be misspelled, or the link may be of another version.',
  },
  overview: {
    refused: (n: number) => form(n, 'workflow file is not registered', 'workflow files are not registered'), refusedWhy: (n: number): string => (n === 1 ? 'It is invalid, or its version is registered with other content.' : 'They are invalid, or their version is registered with other content.'),
    suspended: (n: number) => form(n, 'webhook is suspended', 'webhooks are suspended'), suspendedWhy: (n: number): string => (n === 1 ? 'Its events wait and are not sent.' : 'Their events wait and are not sent.'),
    attention: 'Needs attention', quiet: 'All quiet: nothing waits for a person, no dead letters, every handler has a worker.', now: 'Now',
    overdue: (n: number) => form(n, 'decision is overdue', 'decisions are overdue'),
    decisions: (n: number) => form(n, 'decision is open', 'decisions are open'),
    oldest: (time: string) => (time.startsWith('NaN') ? '' : `oldest ${time}`),
    unserved: (handler: string) => `no worker for “${handler}”`, unservedWhy: (n: number): string => (n === 1 ? 'A task is due, but no living worker has this handler.' : 'Tasks are due, but no living worker has this handler.'),
    queue: (queue: string) => `queue ${queue}`,
    stuck: (n: number) => form(n, 'handler call does not return', 'handler calls do not return'), stuckWhy: (n: number): string => (n === 1 ? 'It was given up after its timeout, and still holds a thread of this server.' : 'They were given up after their timeout, and still hold threads of this server.'),
    deadWorkers: (n: number) => form(n, 'worker stopped without signing off', 'workers stopped without signing off'), deadWorkersWhy: (n: number): string => (n === 1 ? 'Other workers take over its tasks.' : 'Other workers take over their tasks.'),
    delayedTimers: (n: number) => form(n, 'timer or deadline is not carried out', 'timers and deadlines are not carried out'),
    delayed: (n: number, handler: string) => form(n, `task for “${handler}” does not start`, `tasks for “${handler}” do not start`), waited: (time: string) => `for ${time}`,
    delayWhy: { no_engine: (_: string) => 'A process of Ebb, such as a worker, carries them out. None lives or has time.', no_worker: (_: string) => 'No living worker has this handler for the queue.', exec_not_allowed: (_: string) => 'Only the database names this program, and no worker may run it. Give a worker the file, or --allow-exec.', queue_closed: (queue: string) => `An operator has stopped the queue “${queue}”.`, queue_full: (queue: string) => `All slots of the queue “${queue}” are in use.`, queue_key: (queue: string) => `All slots of its key in the queue “${queue}” are in use.`, queue_rate: (queue: string) => `The rate of the queue “${queue}” is used up.`, workers_busy: (_: string) => 'All workers that have this handler are busy.' } as Record<string, (queue: string) => string>,
    quantiles: 'p50 / p95', live: 'live', total: 'total', share: 'by status',
  },
  activity: {
    delay: 'Start delay', delayHelp: 'From when a task is due until a worker starts it, in a sample of the instances that ended.', noStarts: 'No task was started in this time.',
    byStep: 'By step', newest: (n: number) => `Of the newest ${count(n, 'instance', 'instances')}.`, leftOut: (n: number) => `Left out, because their histories are long: ${number(n)}.`, visits: 'Visits', retried: 'Retried', endsIn: (time: string) => `usually ends in ${time}`,
    title: 'Activity', window: 'Window', last: (window: string) => ({ '1h': '1 hour', '6h': '6 hours', '24h': '24 hours', '7d': '7 days', '30d': '30 days' })[window] ?? window,
    ends: 'Started and ended', durations: 'How long it took', started: 'started', failed: 'failed or dead letter', stopped: 'cancelled or aborted', stoppedShort: 'stopped', compensated: 'undone', steps: 'steps', p50: 'half within', p95: '95 % within', span: 'Time', table: 'As a table',
    none: 'Nothing started or ended in this time.', nothingCompleted: 'Nothing completed in this time.', counting: 'The server is counting…',
    partial: (time: string) => `The server is still counting: of the instances started before ${time}, not all are in these figures.`,
    at: (span: string, started: number, completed: number, failed: number) => `${span}: ${number(started)} started, ${number(completed)} completed, ${number(failed)} failed`,
    took: (span: string, half: string, most: string) => `${span}: half within ${half}, 95 % within ${most}`,
    spark: (completed: number, failed: number) => `${number(completed)} completed, ${number(failed)} failed`,
    slower: (time: string) => `Slower than usual: 95 % of the runs of the last 30 days completed within ${time}.`,
  },
  filter: {
    label: 'Filter', placeholder: 'status:dead_letter workflow:order key:k7-* since:24h', clear: 'Clear', remove: (term: string) => `Remove ${term}`,
    help: { status: 'one or more, with commas', workflow: 'its name', version: 'a number', key: 'exactly, or a beginning with *', label: 'NAME=VALUE, such as tenant=acme', step: 'at which it failed', error: 'its code, such as http_503', since: 'started after: 2h, 7d, or a date', before: 'started before' },
    problem: (problem: string, word: string, names: string, statuses: string) =>
      ({ name: `There is no filter “${word}”. Known are ${names}.`, status: `Not a status. Known are ${statuses}.`, version: 'A version is a whole number.', time: 'Not a time. Write 15m, 2h, 7d, or a date such as 2026-11-22.', value: 'needs a value.', label: 'A label is NAME=VALUE, such as label:tenant=acme.' })[problem] ?? '',
  },
  instances: {
    noMatchSoFar: 'None found so far.', order: 'Order', newestFirst: 'Newest first', oldestFirst: 'Oldest first', columns: 'Columns', defaultColumns: 'Default', priority: 'Priority', waits: 'Waits for',
    labels: 'Labels',
    all: 'All', live: 'Live', ended: 'Ended badly', views: 'Saved views', viewName: 'Name of the view', saveView: 'Save as view', dropView: 'Remove view', shareView: 'Share with everyone', unshareView: 'Stop sharing', shared: 'shared', export: 'Export',
    status: 'Status', workflow: 'Workflow', key: 'Key', id: 'ID', started: 'Started', changed: 'Changed', took: 'Duration',
    select: (name: string) => `Select ${name}`, selectAll: 'Select all shown', noMatch: 'No instances match.', clear: 'Clear filters', none: 'No instances yet. Start one:',
    more: 'Scroll for more', loadMore: 'Load more', end: (n: number) => `${count(n, 'instance', 'instances')}, no more`, scannedTo: 'Searched back to', scannedUpTo: 'Searched up to',
    fresh: (n: number) => `${n} new`,
  },
  bulk: {
    label: 'Selected instances', selected: (n: number) => `${n} selected`, clear: 'Clear',
    acts: (verb: string, n: number, more = '') => {
      const what = `${number(n)}${more} ${form(n, 'instance', 'instances')}`;
      return ({ cancel: `Cancel ${what}`, abort: `Abort ${what}`, pause: `Pause ${what}`, resume: `Resume ${what}`, requeue: `Retry ${what}`, rerun: `Start ${what} again`, signal: `Send the signal to ${what}` })[verb] ?? what;
    },
    will: {
      cancel: 'Each instance stops, undoes what it did, from the last step back to the first, and is then cancelled. Savepoints are ignored.', abort: 'Each instance stops at once and is aborted. Nothing is undone.', pause: 'Each instance starts nothing more until it is resumed. What runs now finishes.', resume: 'Each instance continues where it was paused.',
      requeue: 'Each instance continues at the step that failed. Its attempts count from one again.', rerun: 'The work of each instance starts again, once, as a new instance with the same input and labels. The old one does not change.', signal: 'Each instance that waits for this signal continues with the payload as the output of that node. For the others, the signal is kept until they wait for it.',
    },
    cannot: (n: number) => (n === 1 ? '1 of the selected instances is in a state that does not allow it and is left out.' : `${n} of the selected instances are in a state that does not allow it and are left out.`),
    trial: 'Trial', watching: 'Watching whether it fails again…', failedAgain: 'It failed again in the same way. Look at it before you retry the others.', worked: 'It completed.', stillRuns: 'It still runs and has not failed so far.',
    progress: (done: number, skipped: number, all: number) => `${done} of ${all} done${skipped ? `, ${skipped} skipped` : ''}`,
    which: 'Instances', looking: (n: number) => `${n} found so far…`, failedOther: 'It failed again, in another way. Look at it before you retry the others.', refused: 'The server refused it. Look at the reason before you retry the others.', goOn: (n: number) => (n === 1 ? 'Continue with the other one' : `Continue with the other ${n}`), again: (n: number) => (n === 1 ? 'Try the skipped one again' : `Try the ${n} skipped again`),
    skipped: (n: number) => `Skipped: ${n}`, tryOne: 'Retry one first', rest: (n: number) => (n === 1 ? 'Retry the other one' : `Retry the other ${n}`), stop: 'Stop here',
  },
  bulks: {
    able: (n: number, more: string) => `This is possible for ${number(n)}${more} of them.`, leftOut: 'left out', noneAble: 'No action is possible: these instances have ended.', onlyDead: 'Only dead letters can be retried. Failed instances have ended: “Start again” runs their work once more.', nothingDone: 'nothing done',
    all: 'Act on all that match', button: 'Act on all…', action: 'Action', filter: 'Filter', instances: 'Instances', rate: 'At most', progress: 'Progress', by: 'By', begun: 'Begun', ended: 'Ended', done: 'Done', unchanged: 'Nothing to do', skipped: 'Skipped', failed: 'Failed', speed: 'Per second', eta: 'Left',
    actions: { cancel: 'Cancel', abort: 'Abort', pause: 'Pause', resume: 'Resume', requeue: 'Retry', rerun: 'Start again' }, rateHelp: 'The highest rate, such as 100/1s or 600/1m. Empty: no limit.', canary: 'Retry one first, and stop if it fails again.', nothing: 'No instance matches.', matches: (n: string) => `${n} match now`,
    pause: 'Pause', resume: 'Continue', cancel: 'End it here', goOn: 'Continue nevertheless', canaryFailed: (n: number): string => (n === 1 ? 'The instance that was retried first has failed again. Look at it, then continue or end it here.' : 'The instances that were retried first have failed again. Look at them, then continue or end it here.'), waits: 'waits for you', trouble: 'Its last attempt failed and is repeated.', counting: 'counting…', seen: (n: string, all: string) => `${n} of ${all}`,
    named: (n: number) => count(n, 'chosen instance', 'chosen instances'), leftAlone: 'Left alone', left: (n: number) => `Left alone: ${n}`, none: 'No bulk operations in the last 30 days.', noneHint: 'Choose instances by a filter, then “Act on all…”', newest: 'Newest',
  },
  act: {
    will: 'What will happen', done: (verb: string, name: string) => `${bare(verb)}: ${name}`, leave: 'Leave it as it is',
    cancelAndUndo: (n: number) => `Cancel and undo ${count(n, 'step', 'steps')}`,
    undoes: (n: number) => `${n === 1 ? 'This compensation runs' : 'These compensations run, one after another'}:`, undoesStep: (node: string) => `undoes ${node}`, undoesNothing: 'No completed step has a compensation, so nothing is undone.',
    keeps: (nodes: string) => `What these steps did stays as it is: ${nodes}.`, stops: (nodes: string) => `Running now, and asked to stop: ${nodes}.`,
    changed: 'The instance has changed meanwhile.', changedHint: 'Nothing was done. Look at its present state, then decide again.',
    reason: 'Reason', comment: 'Comment', role: 'In which role', reasonHelp: 'Kept in the history, with your name.', skip: 'Skip the compensation that failed', edit: 'Retry with another input', input: 'Input', payload: 'Payload', signalName: 'Signal',
    json: 'Any JSON value.', notJson: (why: string) => `This is not JSON. ${why}`, asCurl: 'The same with curl',
    cancel: { name: 'Cancel…', title: 'Cancel this instance', button: 'Cancel the instance', will: (_: string) => 'It stops, undoes what it did, from the last step back to the first, and is then cancelled. Savepoints are ignored.' },
    abort: { name: 'Abort…', title: 'Abort this instance', button: 'Abort without undoing', will: (_: string) => 'It stops at once and is aborted. Nothing is undone.' },
    pause: { name: 'Pause', title: 'Pause this instance', button: 'Pause', will: (_: string) => 'It starts nothing more until it is resumed. What runs now finishes.' },
    resume: { name: 'Resume', title: 'Resume this instance', button: 'Resume', will: (_: string) => 'It continues where it was paused.' },
    requeue: { name: 'Retry from here…', title: 'Retry from the failed step', button: 'Retry from here', will: (node: string) => `It continues where it froze${node ? `, at “${node}”` : ''}. Its attempts count from one again.` },
    rerun: { name: 'Start again…', title: 'Start the work again', button: 'Start again', will: (_: string) => 'Its work starts again as a new instance, with the newest version of the workflow, the stored input (also what is hidden from you), and the same labels and priority. This one does not change. The work starts again once: if that has happened before, you see the instance that was started then.' },
    signal: { name: 'Send signal…', title: 'Send a signal', button: 'Send signal', will: (_: string) => 'If the instance waits for this signal, it continues with the payload as the output of that node. If not, the signal is kept until it does.' },
    confirm: { name: 'Confirm', title: 'Confirm the decision', button: 'Confirm', will: (node: string) => `Your vote counts as a confirmation${node ? ` at “${node}”` : ''}. When enough people have confirmed, the instance continues.` },
    reject: { name: 'Reject', title: 'Reject the decision', button: 'Reject', will: (node: string) => `The decision${node ? ` at “${node}”` : ''} is rejected. The instance takes its reject branch, or undoes what it did and fails.` },
    write: { name: 'Write…', title: 'Write attributes', button: 'Write', will: (_: string) => 'The values are merged into the attributes, and all conditions are checked in the same step: what they fire begins at once, and what they forbid is refused.' },
    recover: { name: 'Take back…', title: 'Take back to an earlier write', button: 'Take back', will: (_: string) => 'What is pending stops, and the transitions since that write are undone, the newest first. Values that were written from outside stay.' },
    export: { name: 'Move out…', title: 'Move this instance out', button: 'Move out and download', will: (_: string) => 'It stops here and becomes a file, which this browser downloads. It continues where the file is imported; “ebb import” brings it back.' },
    rerunOther: 'With another input…', rerunBefore: 'This work had already been started again, as this instance.',
    recoverTo: 'Back to', recoverStops: 'Do not check the conditions; leave it to an operator', attributes: 'Present attributes', values: 'Values to write',
    newest: 'What happened meanwhile',
  },
  instance: {
    quiet: (n: number) => `${count(n, 'step of low importance went as it should', 'steps of low importance went as they should')}.`,
    why: 'Why:', started: 'started', ran: (time: string) => `took ${time}`, runs: (time: string) => `for ${time}`, until: (kind: string): string => (kind === 'retry' ? 'Next attempt' : kind === 'timer' ? 'Wakes' : kind === 'decision' || kind === 'signal' ? 'Deadline' : 'Until'), priority: (n: number) => `priority ${n}`,
    actAt: (verb: string, at: string) => `${verb} “${at}”…`,
    tab: { graph: 'Graph', timeline: 'Timeline', steps: 'Steps', history: 'History', data: 'Data', related: 'Related', raw: 'Raw' }, inApi: 'The same from the API',
  },
  related: {
    startedBy: 'Started by', trace: 'Trace ID', links: 'In other systems', rerunOf: 'Starts again the work of', reruns: 'Started again as', sameKey: 'With the same key', sameLabels: 'With the same label', sameFailure: 'Failed in the same way', group: 'The whole group', bulks: 'Bulk operations', cut: 'Only the newest are shown.',
    none: 'No other instance has its key or its failure, no bulk operation has touched it, and nothing was sent about it.',
  },
  graph: {
    label: 'Steps of the workflow', described: (n: number) => `Picture of ${count(n, 'node', 'nodes')}. “List” shows the same as text.`, zoomIn: 'Zoom in', zoomOut: 'Zoom out', fit: 'Fit', list: 'List', picture: 'Picture',
  },
  timeline: {
    idle: (time: string) => `Nothing happened for ${time}`, cut: (shown: number, all: number) => `The last ${shown} of ${all} steps are shown.`, lastEvents: (n: string) => `Drawn from the last ${n} events.`,
    kind: { attempt: 'attempt', failed: 'failed attempt', retry: 'waits for retry', queue: 'waits for a worker', wait: 'waits', running: 'running', undo: 'compensation', undo_failed: 'failed compensation' },
  },
  steps: {
    step: 'Step', branch: 'Branch', tries: 'Attempts', took: 'Duration', worker: 'Worker', error: 'Error', started: 'Started', attempts: (n: number) => count(n, 'attempt', 'attempts'), eachAttempt: 'Attempts',
    notYet: 'Not reached yet.', visit: (n: number, all: number) => `Visit ${n} of ${all}`, toHistory: 'Events of this step',
  },
  history: {
    type: 'Type', allTypes: 'All types', node: 'Step', at: 'At', attempt: 'Attempt', took: 'Duration', about: 'About', by: 'By', count: (n: number) => count(n, 'event', 'events'), following: 'following', toEnd: 'To the end', event: (seq: number) => `Event ${seq}`,
  },
  data: {
    input: 'Input', output: 'Output', error: 'Error', instanceInput: 'Input of the instance', instanceOutput: 'Output of the instance', outputOf: (node: string) => `Output of ${node}`, find: 'Find in the data', left: 'Left', right: 'Right', nothing: 'nothing',
    path: 'Path', differences: (n: number) => count(n, 'difference', 'differences'), forbidden: 'Your role shows sizes and names but not the data itself.',
  },
  json: { cut: (size: string) => `${size}, not shown`, download: 'Download', more: (n: number) => `${n} more` },
  failures: {
    which: 'Which failures', all: 'All', none: 'No failures. Steps that fail for good appear here, grouped by error.', count: (n: number) => count(n, 'instance', 'instances'),
    waiting: (n: number) => `${n} waiting`, ended: (n: number) => `${n} failed`, retryAll: (n: number) => `Retry one, then all ${n}…`, copy: 'Copy as issue', first: 'First', last: 'Last', versions: 'Versions',
    growth: (hour: string, day: string) => `${hour} in the last hour, ${day} in the last 24 h`, fresh: 'new', newest: 'Instances, newest first', gone: 'No instance fails like this any more.', cancelAll: (n: number) => (n === 1 ? 'Cancel…' : `Cancel all ${n}…`),
  },
  decisions: {
    mine: 'Mine', roles: 'Roles', allRoles: 'All roles', none: 'Nothing waits for a decision.', late: (time: string) => `${time} overdue`, left: (time: string) => `${time} left`, quorum: (have: number, need: number) => `${have} of ${need} confirmed`,
    question: (node: string) => node.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()) + '?', more: 'More data', who: 'Who may decide', anyone: 'anyone', votes: 'Votes', since: 'Requested', deadline: 'Deadline', keysMove: 'next, previous',
    gone: 'The decision of this link is not open any more.',
    forbidden: 'Your role may see decisions but not make them.',
  },
  workflows: {
    retention: 'Retention', kept: 'Completed instances are kept for', keptFailed: 'Others that have ended are kept for', keptHelp: 'A duration such as 30d, or forever.', ownRule: 'This workflow has a rule of its own.', generalRule: 'The rule for all workflows holds.', noRule: 'There is no rule: instances are kept forever.', keepWill: 'What is older is removed for good, within six hours.', setRule: 'Set the rule', dropRule: 'Remove the rule', ruleSet: (name: string) => `Retention set: ${name}`, ruleDropped: (name: string) => `Rule removed: ${name}`,
    name: 'Workflow', version: 'Version', versions: 'Versions', registered: 'Registered', find: 'Find a workflow', none: 'No workflows yet. Register one:', noMatch: (text: string) => `No workflow has “${text}” in its name.`, yaml: 'YAML', newest: '(newest)',
    from: 'From', to: 'To', fromVersion: (n: number) => `Compare from version ${n}`, toVersion: (n: number) => `Compare to version ${n}`, difference: (from: number, to: number) => `From v${from} to v${to}`, same: 'The texts are the same.', noInstances: 'No instances of this workflow yet.', allInstances: 'All instances of this workflow',
    structure: 'What changes', change: { added: 'added', removed: 'removed', changed: 'changed' }, onlyText: 'The nodes are the same; only the text around them differs.',
  },
  build: {
    tried: 'Expressions in its lines', triedInput: 'Sample input', triedHelp: 'What expressions are tried on. A definition can name several inputs in “samples”.',
    title: (name: string) => `New version of ${name}`, fresh: 'New workflow', draft: 'Draft, kept in this browser', restored: 'Your draft from last time', undo: 'Undo', redo: 'Redo', download: 'Download', kind: 'Kind of node', addAfter: (name: string) => `Add after ${name}`, addLast: 'Add at the end', earlier: 'Move up', later: 'Move down', remove: 'Remove', inText: 'Written in the text.',
  },
  register: {
    button: 'New workflow…', edit: 'New version…', title: 'Register a version', text: 'Definition', picture: 'Picture', problems: 'Problems', valid: 'No problems.', noPicture: 'The picture appears when the definition can be read.', submit: 'Register', reset: 'Discard changes', editor: 'Definition as YAML',
    done: (name: string, version: number) => `Registered: ${name} v${version}`,
  },
  start: {
    notWhole: 'Not all of the stored input is shown here. Enter a value wherever one is missing or is •••.',
    button: 'Start…', title: (name: string) => (name ? `Start ${name}` : 'Start an instance'), choose: 'Choose a workflow', form: 'Form', input: 'Input', key: 'Key (optional)', keyHelp: 'Start at most one instance with this key per workflow.', asCommand: 'The same as a command', submit: 'Start', optional: '(optional)',
    required: 'This is required.', pattern: (pattern: string) => `It must match ${pattern}`, least: (n: number) => `At least ${n}.`, most: (n: number) => `At most ${n}.`,
  },
  workers: {
    count: (alive: number, threads: number) => `${alive} alive, ${count(threads, 'thread', 'threads')}`, worker: 'Worker', host: 'Host', tasks: 'Tasks', threads: 'Threads', handlers: 'Handlers', handler: 'Handler', since: 'Started', lease: 'Lease ends', allQueues: 'all',
    state: { alive: 'alive', draining: 'draining', dead: 'dead' }, ranOut: (time: string) => `ended ${time} ago`, none: 'No workers. Instances wait until one is started:',
    unserved: (n: number, handler: string) => `${count(n, 'task waits', 'tasks wait')} for “${handler}”: no living worker has this handler.`, unservedHint: (queue: string) => `Queue ${queue}. Start a worker that has it, or look for a misspelled name.`,
    matrix: 'Who can run what', no_worker: 'no worker', runs: (worker: string, handler: string) => `${worker} runs ${handler}`,
  },
  queues: {
    longest: 'Oldest',
    queue: 'Queue', running: 'Running', use: 'In use', waiting: 'waiting', sleeping: 'Sleeping', concurrency: 'At once', perKey: 'At once per key', rate: 'Rate', unlimited: '–', full: 'full', edit: 'Limits…', editOf: (name: string) => `Limits for queue ${name}`, none: 'No queues with limits or tasks.',
    used: (used: number, of: number) => `${used} of ${of} in use`, rateOf: (starts: number, period: string) => `${starts} / ${period}`, will: (running: number, waiting: number) => `The new limits apply at once, on all workers. ${count(running, 'task is', 'tasks are')} running now and ${count(waiting, 'task is', 'tasks are')} waiting; running tasks are not stopped.`,
    concurrencyHelp: 'How many tasks of this queue may run at the same time, on all workers together. Empty: no limit.', perKeyHelp: 'The same for each concurrency key. Empty: no limit.', rateHelp: 'How many tasks may start in a period such as 1s or 1m. Empty: no limit.', starts: 'Starts', per: 'per', period: 'Period',
    stops: '0 stops the queue: nothing of it starts until the limit is raised.', save: 'Set limits', saved: (name: string) => `Limits set: ${name}`,
    no_worker: 'no worker for it', stopped: 'stopped', runningNow: (n: number) => `${n} running`, sleepingHelp: 'Tasks that wait for their time, such as the next attempt.',
  },
  settings: {
    tab: { general: 'General', grants: 'Grants', projects: 'Projects', tokens: 'API tokens', sessions: 'Logins', audit: 'Audit', definitions: 'Definitions folder', config: 'Configuration' }, name: 'Name', nameHelp: 'Letters, digits, “_”, “-” and “.”.',
    look: 'Look', theme: 'Colors', system: 'As the system', light: 'Light', dark: 'Dark', zone: 'Times', local: 'Local time', density: 'Rows', compact: 'Compact', comfortable: 'Comfortable', language: 'Language', browser: 'As the browser',
    you: 'You', principal: 'Known as', role: 'Role', may: 'May', server: 'Server', version: 'Version', store: 'Store', noWorker: '(runs no handlers)', openapi: 'OpenAPI document', limits: 'Limits',
    tokens: 'API tokens', token: 'Token', newToken: 'New token…', once: 'This is the token. It is shown only now.', noTokens: 'No tokens.', created: 'Created', used: 'Last used', expires: 'Expires', never: 'never', revoke: 'Revoke…', revokeOf: (name: string) => `Revoke the token ${name}`, revokeWill: 'Programs that use it are refused: at once here, within 5 s on other servers.',
    create: 'Create token', expiresHelp: 'A duration such as 2160h, or never.',
    roleHelp: { viewer: 'Sees everything but payloads.', approver: 'Sees and decides.', operator: 'Steers instances and queues.', developer: 'Also registers workflows and starts instances.', admin: 'May do everything.', worker: 'Runs handlers, nothing else.', starter: 'Starts instances and reads its own.' } as Record<string, string>,
  },
  access: {
    project: 'Project', everywhere: 'everything', change: 'Change…', remove: 'Remove…', saved: (name: string) => `Saved: ${name}`, removed: (name: string) => `Removed: ${name}`, taken: (name: string) => `“${name}” already exists. Choose another name, or change that one.`,
    patternsHelp: 'One pattern in each line: * is any text, ? any character.', actAs: 'May act for others', actAsHelp: 'An act may name the person for whom it is done. For programs with users of their own.', yes: 'yes', no: 'no',
  },
  projects: {
    fresh: 'New project…', what: 'A project is a set of workflows and queues. A grant gives a role in one project only.', title: 'Title', builtIn: 'built in, has everything', none: 'No projects of your own. Every role holds for everything.', editOf: (name: string) => `Change the project ${name}`, removeOf: (name: string) => `Remove the project ${name}`,
    fits: (n: number) => `${count(n, 'registered workflow fits', 'registered workflows fit')}:`, fitsNone: 'No registered workflow fits.', firstOnly: (n: number) => `Only the first ${number(n)} workflows are compared.`, gains: 'It gains:', loses: 'It loses:', follow: (n: number) => `${count(n, 'grant follows', 'grants follow')}: at once here, within 5 s on other servers.`,
    save: 'Save the project', create: 'Create the project', inUse: (n: number) => `${count(n, 'grant names', 'grants name')} this project. Remove or change them first.`, toGrants: 'Show these grants', removeWill: 'The project is removed. Its workflows and instances stay as they are.', removeTokens: 'A token in this project may do nothing any more.', remove: 'Remove the project',
  },
  grants: {
    again: 'It already has this role there.', fresh: 'New grant…', find: 'Find a name, a role or a project', count: (n: number) => count(n, 'grant', 'grants'), none: 'No grants. A grant gives a person, a group or a token a role in a project.', noMatch: 'No grant matches.', subject: 'Who', kind: { user: 'person', group: 'group', token: 'token', cert: 'certificate' }, kindOf: 'Kind',
    kindHelp: { user: 'The name by which the person logs in.', group: 'Everyone of whom the login says that they are in this group.', token: 'The name of an API token. The grant adds to its own role.', cert: 'The name in a client certificate: its first URI, DNS name or mail address.' }, limits: 'Limits', editOf: (name: string) => `Change the grant ${name}`, removeOf: (name: string) => `Remove the grant ${name}`,
    keeps: 'Besides that it has:', keepsNone: 'Besides that it has no other grant.', ofToken: 'the role of the token itself', decisionRoles: 'Decision roles', decisionHelp: 'One in each line. Empty: decisions of any role.', same: 'Nothing of its role or project changes.', own: 'This grant is one of yours: you may lose your own access.',
    gives: (name: string, role: string, where: string) => `${name} gets the role ${role}${where ? ` in ${where}` : ''}.`, takes: (name: string, role: string, where: string) => `${name} loses the role ${role}${where ? ` in ${where}` : ''}.`, nobody: 'Choose first who gets it.', soon: 'It holds at once here, and within 5 s on other servers.', save: 'Save the grant', create: 'Create the grant', remove: 'Remove the grant',
  },
  sessions: {
    none: 'No logins of browsers.', current: '(this browser)', method: 'Login', by: { link: 'login link', oidc: 'login provider' }, agent: 'Browser', since: 'Since', end: 'End…', endOthers: 'End my other logins…',
    endOf: (name: string, id: string) => `End the login ${id} of ${name}`, endAll: (n: number) => `End ${count(n, 'login', 'logins')}`, will: 'The browser must log in again: at once here, within 5 s on other servers. Tokens and instances stay as they are.', willHere: 'This browser must log in again.', ended: (n: number) => `${count(n, 'login', 'logins')} ended`,
  },
  audit: {
    who: 'Who', action: 'Operation', target: 'Target', workflow: 'Workflow', since: 'In the last', only: (value: string) => `Only rows with ${value}`, count: (n: number) => count(n, 'row', 'rows'), none: 'Nothing is recorded yet. Every request that may change something has a row here.', noMatch: 'No row matches.', row: (n: number) => `Row ${n} of its chain`,
    whole: (n: number) => `Chain of hashes unbroken in the ${count(n, 'row', 'rows')} shown`, each: (n: number) => `Hashes right in ${count(n, 'row', 'rows')}; rows between them are not shown`, broken: (n: number) => (n === 1 ? '1 row is not as it was written.' : `${n} rows are not as they were written.`), brokenHint: 'Keep a copy of the database, and look at the whole audit:', unknown: 'Without HTTPS, the browser cannot check the hashes. Use',
    fault: { changed: 'This row was changed: its hash is another one.', link: 'The row before it was changed or inserted.', doubled: 'This row was inserted: its chain already has its number.' }, removed: (n: number) => (n === 1 ? '1 row before it was removed.' : `${n} rows before it were removed.`), outcome: { allowed: 'allowed', failed: 'failed', refused: 'refused' },
    credential: 'Known by', by: { token: 'an API token', session: 'a login', proxy: 'a proxy', anonymous: 'nothing', oidc: 'a token of the provider', certificate: 'a client certificate', local: 'access to the database' }, remote: 'Address', request: 'Request', chain: 'Chain', hash: 'Hash', prev: 'Hash before it',
  },
  docs: {
    problems: 'Kinds of problems', find: 'Find an operation', none: 'No operation matches.', all: 'All operations', needs: 'Needs', noLogin: 'no login', anyLogin: 'any login', lacks: 'You lack this permission.', parameters: 'Parameters', body: 'Body', answers: 'Answers', other: 'others', required: 'required', members: 'Members', choose: (n: number) => `${count(n, 'operation', 'operations')}. Choose one to see what it takes and answers.`,
  },
  config: {
    setting: 'Setting', value: 'Value', from: 'From', about: 'About', applies: 'A change applies', set: 'Set', defaults: 'Defaults', find: 'Find a setting', loaded: 'Read', none: 'No settings. The program that serves this page shows none.', nothing: 'No setting matches.',
    refused: 'The last reload was refused. The settings below are still in force.', waiting: (n: number) => `${count(n, 'setting has', 'settings have')} changed since the start. A restart applies:`,
    atReload: 'at a reload', atRestart: 'at a restart', needsRestart: 'waits for a restart', origin: { default: 'default', flag: 'command line', environment: 'environment', file: 'file' },
  },
  files: {
    noFolder: 'This server has no definitions folder. With one, it registers the workflows of the files in it:', none: 'The folder has no files.', file: 'File', since: 'Since', state: { registered: 'registered', invalid: 'invalid', refused: 'refused', unreadable: 'unreadable', gone: 'gone' },
  },
  notifications: {
    redeliver: 'Deliver again', redelivered: (name: string) => `It is sent again: ${name}`, hooks: 'Incoming events', noHooks: 'No hooks. With a hook, an event of another program starts an instance or signals it.', hookStarts: (workflow: string) => `starts ${workflow}`, hookSignals: (signal: string, workflow: string) => `sends ${signal} to ${workflow}`, hookDoes: 'An event', hookKey: 'Key of the instance',
    allEvents: 'All events', only: 'Only these:', choose: 'Choose at least one event.', fresh: 'New webhook…', none: 'No webhooks. A webhook tells another program that an instance has failed, has ended or waits for a person.', webhook: 'Webhook', to: 'To', toHelp: 'Where requests are sent: on the public internet, unless the server allows private addresses.', format: 'Format', formatHelp: { standard: 'Standard Webhooks: signed JSON.', cloudevents: 'CloudEvents 1.0: the attributes are headers.', slack: 'A sentence for Slack, Mattermost, Rocket.Chat or Discord.', teams: 'A card for Microsoft Teams.', email: 'A mail, with one mail for failures of one cause.' },
    events: 'Events', all: 'all', patterns: 'Patterns of events', patternsHelp: 'One in each line, such as instance.*.', workflowsHelp: 'One pattern in each line. Empty: all workflows.', whereHelp: 'A filter over labels and others, such as labels.vip. Empty: all instances.', isEnabled: 'Send events', willNot: 'Nothing is sent until it is enabled.', getsAll: 'It gets all events.', gets: (n: number) => `It gets ${count(n, 'type of event', 'types of events')}:`,
    keepsSecret: 'It keeps its secret. Failures and a suspension are forgotten.', makesSecret: 'It gets a secret, which is shown once.', save: 'Save the webhook', create: 'Create the webhook', editOf: (name: string) => `Change the webhook ${name}`, state: { ok: 'delivers', enabled: 'enabled', suspended: 'suspended', disabled: 'disabled' }, failures: (n: number) => count(n, 'failure in a row', 'failures in a row'),
    suspended: (n: number) => (n === 1 ? '1 webhook is suspended.' : `${n} webhooks are suspended.`), suspendedHint: (n: number): string => (n === 1 ? 'Too many attempts failed. Events wait for up to 7 days; what is older is lost. Repair the receiver, then send a ping or resume it.' : 'Too many attempts failed. Events wait for up to 7 days; what is older is lost. Repair the receivers, then send pings or resume the webhooks.'), failingHint: 'The receiver does not accept events. They are tried again for about three days.', once: (name: string) => `This is the secret of ${name}. It is shown only now.`, oldSecret: 'Old secret ends',
    pinged: (name: string) => `A ping is on its way: ${name}`, enabled: (name: string) => `Enabled: ${name}`, disabled: (name: string) => `Disabled: ${name}`, ping: 'Send a ping', resume: 'Resume', enable: 'Enable', disable: 'Disable', rotate: 'New secret…', rotateNow: 'Make a new secret', rotateWill: 'It gets a new secret, which is shown once. For the time below, requests are signed with the old one, too.', keepOld: 'Keep the old secret for', keepOldHelp: 'A duration such as 1d. 0s ends it now.',
    remove: 'Remove the webhook', removeWill: 'The webhook is removed, with the events that wait for it. They are not sent.', deliveries: 'Deliveries', allDeliveries: 'All deliveries', noDeliveries: 'Nothing was sent yet.',
  },
  palette: {
    placeholder: 'An ID, a key, a workflow or a page', page: 'page', workflow: 'workflow', none: 'Nothing found.', hits: 'Hits', keys: 'Keys', filter: 'To the filter', move: 'Next, previous row', select: 'Select the row', decide: 'Confirm, reject a decision',
    act: 'act', here: 'on this page', recent: 'seen lately', light: 'Light colors', dark: 'Dark colors',
  },
  compare: {
    sameData: 'The data of both runs are the same.', button: 'Compare', title: 'Two runs', same: 'All steps ended in the same way.', parts: (node: string) => `The runs part at “${node}”.`, absent: 'not reached', sameInput: 'The inputs are the same.',
    apart: 'Difference', whole: 'The whole run', otherWorkflows: 'These are instances of different workflows. Steps are compared by their names.', swap: 'Swap sides',
  },
  rehearsal: {
    button: 'Rehearse', hide: 'Hide the rehearsal', plan: 'What if…', reset: 'All complete', ends: 'It ends', undo: 'Undoing it', endOf: (node: string) => `How ${node} ends`, undoOf: (node: string) => `How undoing ${node} ends`, noUndo: 'nothing undoes it', outcome: { complete: 'completes', fail: 'fails, is retried', fail_for_good: 'fails for good', never: 'never answers' } as Record<string, string>, verdict: { complete: 'is confirmed', fail: 'is confirmed', fail_for_good: 'is rejected', never: 'nobody decides' } as Record<string, string>, signal: { complete: 'comes', fail: 'comes', fail_for_good: 'comes', never: 'never comes' } as Record<string, string>, cancel: 'An operator cancels it', noCancel: 'never', after: (node: string) => `after ${node}`, help: 'No handler is called and nothing is stored. A step passes its input on.', result: 'What would happen', invalid: 'It can be rehearsed when it has no problems.', lasts: (time: string) => `after ${time}`, undone: (n: number) => `Undone, in this order (${n}):`, left: (nodes: string) => `What these steps did stays: ${nodes}`, clean: 'Nothing is left behind.', cut: 'It goes on; the rehearsal ends at its limit.',
  },
};
