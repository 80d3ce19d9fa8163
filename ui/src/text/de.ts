// German. Neutral in style: buttons are infinitives, and nobody is addressed. What operators call by its English name
// (Worker, Handler, Queue, Dead Letter, Payload) keeps it.
import type { Messages } from '.';
import { bare, counting } from './locales';

const { number, form, count } = counting('de');

const STATUS: Record<string, string> = {
  running: 'läuft', waiting: 'wartet', retrying: 'Wiederholung', completed: 'abgeschlossen', failed: 'fehlgeschlagen', compensating: 'Kompensation',
  compensated: 'kompensiert', compensation_failed: 'Kompensation fehlgeschlagen', dead_letter: 'Dead Letter', paused: 'pausiert',
  cancelled: 'abgebrochen', aborted: 'hart abgebrochen', skipped: 'übersprungen', pending: 'steht aus', moved: 'verschoben', delivered: 'zugestellt', stopped: 'beendet',
};

export const de: Messages = {
  number,
  status: (status: string) => STATUS[status] ?? status,
  common: {
    again: 'Erneut versuchen', cancel: 'Abbrechen', close: 'Schließen', copy: 'Kopieren', open: 'Öffnen', save: 'Speichern', show: 'Anzeigen', hide: 'Ausblenden', loading: 'Wird geladen',
    copied: (what: string) => `Kopiert: ${what.slice(0, 60)}`,
    copyThis: (what: string) => `${what.slice(0, 60)} kopieren`,
    notCopied: 'Der Browser erlaubt das Kopieren nicht. Den Text markieren und von Hand kopieren.',
    version: (versions: number[]) => versions.map((version) => `v${version}`).join(', '),
  },
  unit: { ms: 'ms', s: 's', m: 'min', h: 'h', d: 'd', B: 'B', kB: 'kB', MB: 'MB', point: ',' },
  time: { now: 'jetzt', ago: (time: string) => `vor ${time}`, in: (time: string) => `in ${time}` },
  nav: {
    label: 'Seiten', skip: 'Zum Inhalt springen', home: 'Übersicht', find: 'Suchen oder gehen zu…', more: 'Mehr', logout: 'Abmelden', waitingFor: 'offen:',
    overview: 'Übersicht', instances: 'Instanzen', failures: 'Fehler', decisions: 'Entschei\u00ADdungen', workflows: 'Workflows', workers: 'Worker', queues: 'Queues', bulk: 'Massen\u00ADakte', notifications: 'Meldungen', docs: 'API', settings: 'Einstel\u00ADlungen',
  },
  live: {
    open: 'live', lost: 'nicht live', lostHint: 'Die Live-Verbindung ist unterbrochen. Sie wird automatisch wiederhergestellt; bis dahin aktualisiert sich die Liste nicht.',
    silent: 'Der Server antwortet nicht.', silentSince: (time: string) => `Die Anzeige ist ${time} alt. Die Verbindung wird automatisch wiederhergestellt; bis dahin sind keine Änderungen möglich.`,
    draining: 'Der Server fährt herunter.', drainingHint: 'Die Anzeige bleibt. Sobald wieder ein Server da ist, wird die Verbindung automatisch wiederhergestellt; bis dahin sind keine Änderungen möglich.',
    noAuth: 'Dieser Server läuft ohne Authentifizierung: Alle auf diesem Rechner dürfen alles.',
    isDev: 'Dieser Server dient der Entwicklung: Eine geänderte Workflow-Datei wird zur nächsten Version.',
  },
  login: {
    title: 'Anmelden', how: 'Auf dem Server in einem Terminal einen Anmeldelink erzeugen und ihn öffnen oder hier einfügen:', paste: 'Anmeldelink', submit: 'Anmelden',
    help: 'Ein Link gilt einmal und zehn Minuten lang.',
    with: (name: string) => `Mit ${name} anmelden`, or: 'Oder mit einem Anmeldelink:',
    denied: 'Der Anmeldedienst hat die Anmeldung abgelehnt.', unavailable: 'Der Anmeldedienst antwortet nicht. Später noch einmal versuchen oder einen Anmeldelink verwenden.', failed: 'Die Anmeldung ist nicht gelungen. Bitte neu beginnen.',
  },
  trouble: {
    needs: (permission: string) => `Dafür braucht es die Berechtigung „${permission}“.`,
    title: 'Das hat nicht funktioniert.', notFound: 'Nicht gefunden.', forbidden: 'Keine Berechtigung.', forbiddenHint: 'Die eigene Rolle umfasst das nicht. Eine Person mit Administratorrechten kann es freigeben.',
    unreachable: 'Der Server antwortet nicht.', unreachableHint: 'Möglicherweise startet er gerade neu. Gleich noch einmal versuchen.',
    busy: 'Der Server kann gerade nicht antworten.', byItself: (time: string) => `Neuer Versuch automatisch in ${time}.`,
    staleSince: (time: string) => `Die Anzeige unten ist von ${time}.`,
    request: (id: string) => `Anfrage ${id}`, about: 'Was das bedeutet',
    chunk: 'Diese Seite konnte nicht geladen werden. Wahrscheinlich wurde der Server aktualisiert.', reload: 'Neu laden', noPage: 'Diese Seite gibt es nicht', noPageHint: 'Vielleicht enthält die Adresse einen Tippfehler, oder der Link stammt aus einer anderen Version.',
  },
  overview: {
    refused: (n: number) => form(n, 'Workflow-Datei ist nicht registriert', 'Workflow-Dateien sind nicht registriert'), refusedWhy: (n: number): string => (n === 1 ? 'Sie ist ungültig, oder ihre Version ist mit anderem Inhalt registriert.' : 'Sie sind ungültig, oder ihre Version ist mit anderem Inhalt registriert.'),
    suspended: (n: number) => form(n, 'Webhook ist ausgesetzt', 'Webhooks sind ausgesetzt'), suspendedWhy: (n: number): string => (n === 1 ? 'Seine Ereignisse warten und werden nicht gesendet.' : 'Ihre Ereignisse warten und werden nicht gesendet.'),
    attention: 'Handlungsbedarf', quiet: 'Alles ruhig: nichts wartet auf eine Person, keine Dead Letters, jeder Handler hat einen Worker.', now: 'Jetzt',
    overdue: (n: number) => form(n, 'Entscheidung ist überfällig', 'Entscheidungen sind überfällig'),
    decisions: (n: number) => form(n, 'Entscheidung ist offen', 'Entscheidungen sind offen'),
    oldest: (time: string) => (time.startsWith('NaN') ? '' : `seit ${time}`),
    unserved: (handler: string) => `kein Worker für „${handler}“`, unservedWhy: (n: number): string => (n === 1 ? 'Eine Aufgabe ist fällig, aber kein laufender Worker hat diesen Handler.' : 'Aufgaben sind fällig, aber kein laufender Worker hat diesen Handler.'),
    queue: (queue: string) => `Queue ${queue}`,
    stuck: (n: number) => form(n, 'Handler-Aufruf kehrt nicht zurück', 'Handler-Aufrufe kehren nicht zurück'), stuckWhy: (n: number): string => (n === 1 ? 'Er wurde nach seinem Timeout aufgegeben und belegt noch einen Thread dieses Servers.' : 'Sie wurden nach ihrem Timeout aufgegeben und belegen noch Threads dieses Servers.'),
    deadWorkers: (n: number) => form(n, 'Worker ohne Abmeldung ausgefallen', 'Worker ohne Abmeldung ausgefallen'), deadWorkersWhy: (n: number): string => (n === 1 ? 'Andere Worker übernehmen seine Aufgaben.' : 'Andere Worker übernehmen ihre Aufgaben.'),
    delayedTimers: (n: number) => form(n, 'Timer oder Frist wird nicht ausgeführt', 'Timer und Fristen werden nicht ausgeführt'),
    delayed: (n: number, handler: string) => form(n, `Aufgabe für „${handler}“ startet nicht`, `Aufgaben für „${handler}“ starten nicht`), waited: (time: string) => `seit ${time}`,
    delayWhy: { no_engine: (_: string) => 'Ein Prozess von Ebb führt sie aus, etwa ein Worker. Keiner läuft oder hat Zeit.', no_worker: (_: string) => 'Kein laufender Worker hat diesen Handler für die Queue.', exec_not_allowed: (_: string) => 'Nur die Datenbank nennt dieses Programm, und kein Worker darf es ausführen. Ein Worker braucht die Datei oder --allow-exec.', queue_closed: (queue: string) => `Ein Operator hat die Queue „${queue}“ angehalten.`, queue_full: (queue: string) => `Alle Plätze der Queue „${queue}“ sind belegt.`, queue_key: (queue: string) => `Alle Plätze ihres Schlüssels in der Queue „${queue}“ sind belegt.`, queue_rate: (queue: string) => `Die Rate der Queue „${queue}“ ist ausgeschöpft.`, workers_busy: (_: string) => 'Alle Worker mit diesem Handler sind ausgelastet.' } as Record<string, (queue: string) => string>,
    quantiles: 'p50 / p95', live: 'aktiv', total: 'gesamt', share: 'nach Status',
  },
  activity: {
    delay: 'Startverzögerung', delayHelp: 'Von der Fälligkeit einer Aufgabe, bis ein Worker sie startet, in einer Stichprobe der beendeten Instanzen.', noStarts: 'In dieser Zeit wurde keine Aufgabe gestartet.',
    byStep: 'Nach Schritten', newest: (n: number) => `Von den neuesten ${count(n, 'Instanz', 'Instanzen')}.`, leftOut: (n: number) => `Ausgelassen, weil ihr Verlauf lang ist: ${number(n)}.`, visits: 'Besuche', retried: 'Wiederholt', endsIn: (time: string) => `endet meist in ${time}`,
    title: 'Aktivität', window: 'Zeitraum', last: (window: string) => ({ '1h': '1 Stunde', '6h': '6 Stunden', '24h': '24 Stunden', '7d': '7 Tage', '30d': '30 Tage' })[window] ?? window,
    ends: 'Gestartet und beendet', durations: 'Wie lange es gedauert hat', started: 'gestartet', failed: 'fehlgeschlagen oder Dead Letter', stopped: 'abgebrochen', stoppedShort: 'abgebrochen', compensated: 'kompensiert', steps: 'Schritte', p50: 'die Hälfte in', p95: '95 % in', span: 'Zeit', table: 'Als Tabelle',
    none: 'In dieser Zeit wurde nichts gestartet oder beendet.', nothingCompleted: 'In dieser Zeit wurde nichts abgeschlossen.', counting: 'Der Server zählt noch…',
    partial: (time: string) => `Der Server zählt noch: Von den vor ${time} gestarteten Instanzen sind noch nicht alle enthalten.`,
    at: (span: string, started: number, completed: number, failed: number) => `${span}: ${number(started)} gestartet, ${number(completed)} abgeschlossen, ${number(failed)} fehlgeschlagen`,
    took: (span: string, half: string, most: string) => `${span}: die Hälfte in ${half}, 95 % in ${most}`,
    spark: (completed: number, failed: number) => `${number(completed)} abgeschlossen, ${number(failed)} fehlgeschlagen`,
    slower: (time: string) => `Langsamer als üblich: 95 % der Läufe der letzten 30 Tage waren in ${time} abgeschlossen.`,
  },
  filter: {
    label: 'Filter', placeholder: 'status:dead_letter workflow:order key:k7-* since:24h', clear: 'Leeren', remove: (term: string) => `${term} entfernen`,
    help: { status: 'einer oder mehrere, mit Komma', workflow: 'sein Name', version: 'eine Zahl', key: 'genau, oder ein Anfang mit *', label: 'NAME=WERT, etwa tenant=acme', step: 'an dem sie scheiterte', error: 'sein Code, etwa http_503', since: 'gestartet nach: 2h, 7d oder ein Datum', before: 'gestartet vor' },
    problem: (problem: string, word: string, names: string, statuses: string) =>
      ({ name: `Den Filter „${word}“ gibt es nicht. Möglich sind ${names}.`, status: `Kein gültiger Status. Möglich sind ${statuses}.`, version: 'Eine Version ist eine ganze Zahl.', time: 'Keine gültige Zeit. Möglich sind 15m, 2h, 7d oder ein Datum wie 2026-11-22.', value: 'braucht einen Wert.', label: 'Ein Label ist NAME=WERT, etwa label:tenant=acme.' })[problem] ?? '',
  },
  instances: {
    noMatchSoFar: 'Bisher keine gefunden.', order: 'Reihenfolge', newestFirst: 'Neueste zuerst', oldestFirst: 'Älteste zuerst', columns: 'Spalten', defaultColumns: 'Standard', priority: 'Priorität', waits: 'Wartet auf',
    labels: 'Labels',
    all: 'Alle', live: 'Aktiv', ended: 'Erfolglos beendet', views: 'Gespeicherte Ansichten', viewName: 'Name der Ansicht', saveView: 'Ansicht speichern', dropView: 'Ansicht entfernen', shareView: 'Mit allen teilen', unshareView: 'Nicht mehr teilen', shared: 'geteilt', export: 'Exportieren',
    status: 'Status', workflow: 'Workflow', key: 'Schlüssel', id: 'ID', started: 'Gestartet', changed: 'Geändert', took: 'Dauer',
    select: (name: string) => `${name} auswählen`, selectAll: 'Alle angezeigten auswählen', noMatch: 'Keine Instanz passt.', clear: 'Filter löschen', none: 'Noch keine Instanzen. Eine starten:',
    more: 'Für mehr scrollen', loadMore: 'Mehr laden', end: (n: number) => `${count(n, 'Instanz', 'Instanzen')}, keine weiteren`, scannedTo: 'Durchsucht bis zurück zu', scannedUpTo: 'Durchsucht bis',
    fresh: (n: number) => `${number(n)} neue`,
  },
  bulk: {
    label: 'Ausgewählte Instanzen', selected: (n: number) => `${number(n)} ausgewählt`, clear: 'Aufheben',
    acts: (verb: string, n: number, more = '') => {
      const what = `${number(n)}${more} ${form(n, 'Instanz', 'Instanzen')}`;
      return ({ cancel: `${what} abbrechen`, abort: `${what} hart abbrechen`, pause: `${what} pausieren`, resume: `${what} fortsetzen`, requeue: `${what} wiederholen`, rerun: `${what} neu starten`, signal: `Signal an ${what} senden` })[verb] ?? what;
    },
    will: {
      cancel: 'Jede Instanz hält an, macht vom letzten Schritt bis zum ersten rückgängig, was sie getan hat, und ist dann abgebrochen. Savepoints gelten dabei nicht.', abort: 'Jede Instanz hält sofort an und ist hart abgebrochen. Nichts wird rückgängig gemacht.', pause: 'Jede Instanz startet nichts Neues, bis sie fortgesetzt wird. Was jetzt läuft, läuft zu Ende.', resume: 'Jede Instanz läuft dort weiter, wo sie pausiert wurde.',
      requeue: 'Jede Instanz läuft bei dem Schritt weiter, der fehlgeschlagen ist. Ihre Versuche zählen wieder ab eins.', rerun: 'Die Arbeit jeder Instanz beginnt einmal neu, als neue Instanz mit derselben Eingabe und denselben Labels. Die alte ändert sich nicht.', signal: 'Jede Instanz, die auf dieses Signal wartet, läuft mit der Payload als Ausgabe dieses Knotens weiter. Für die anderen bleibt das Signal aufgehoben, bis sie darauf warten.',
    },
    cannot: (n: number) => form(n, '1 der ausgewählten Instanzen ist in einem Zustand, der das nicht erlaubt, und wird ausgelassen.', `${number(n)} der ausgewählten Instanzen sind in einem Zustand, der das nicht erlaubt, und werden ausgelassen.`),
    trial: 'Probe', watching: 'Es wird beobachtet, ob sie wieder fehlschlägt…', failedAgain: 'Sie ist auf dieselbe Weise wieder fehlgeschlagen. Vor dem Wiederholen der anderen ansehen.', worked: 'Sie ist abgeschlossen.', stillRuns: 'Sie läuft noch und ist bisher nicht fehlgeschlagen.',
    progress: (done: number, skipped: number, all: number) => `${number(done)} von ${number(all)} erledigt${skipped ? `, ${number(skipped)} übersprungen` : ''}`,
    which: 'Instanzen', looking: (n: number) => `${number(n)} bisher gefunden…`, failedOther: 'Sie ist wieder fehlgeschlagen, auf andere Weise. Vor dem Wiederholen der anderen ansehen.', refused: 'Der Server hat es abgelehnt. Vor dem Wiederholen der anderen den Grund ansehen.', goOn: (n: number) => form(n, 'Mit der anderen fortfahren', `Mit den anderen ${number(n)} fortfahren`), again: (n: number) => form(n, 'Die übersprungene erneut versuchen', `Die ${number(n)} übersprungenen erneut`),
    skipped: (n: number) => `Übersprungen: ${number(n)}`, tryOne: 'Erst eine wiederholen', rest: (n: number) => form(n, 'Die andere wiederholen', `Die anderen ${number(n)} wiederholen`), stop: 'Hier anhalten',
  },
  bulks: {
    able: (n: number, more: string) => `Bei ${number(n)}${more} davon ist das möglich.`, leftOut: 'ausgelassen', noneAble: 'Keine Aktion ist möglich: Diese Instanzen sind beendet.', onlyDead: 'Nur Dead Letters können wiederholt werden. Fehlgeschlagene Instanzen sind beendet: „Neu starten“ führt ihre Arbeit noch einmal aus.', nothingDone: 'nichts getan',
    all: 'Mit allen passenden etwas tun', button: 'Mit allen…', action: 'Aktion', filter: 'Filter', instances: 'Instanzen', rate: 'Höchstens', progress: 'Fortschritt', by: 'Von', begun: 'Begonnen', ended: 'Beendet', done: 'Erledigt', unchanged: 'Nichts zu tun', skipped: 'Ausgelassen', failed: 'Gescheitert', speed: 'Je Sekunde', eta: 'Noch',
    actions: { cancel: 'Abbrechen', abort: 'Hart abbrechen', pause: 'Pausieren', resume: 'Fortsetzen', requeue: 'Wiederholen', rerun: 'Neu starten' }, rateHelp: 'Die höchste Rate, etwa 100/1s oder 600/1m. Leer: kein Limit.', canary: 'Zuerst eine wiederholen und anhalten, wenn sie wieder scheitert.', nothing: 'Keine Instanz passt.', matches: (n: string) => `${n} passen jetzt`,
    pause: 'Anhalten', resume: 'Fortsetzen', cancel: 'Hier beenden', goOn: 'Trotzdem fortsetzen', canaryFailed: (n: number): string => (n === 1 ? 'Die zuerst wiederholte Instanz ist wieder gescheitert. Sehen Sie sie an, dann setzen Sie fort oder beenden hier.' : 'Die zuerst wiederholten Instanzen sind wieder gescheitert. Sehen Sie sie an, dann setzen Sie fort oder beenden hier.'), waits: 'wartet auf Sie', trouble: 'Der letzte Versuch ist gescheitert und wird wiederholt.', counting: 'zählt…', seen: (n: string, all: string) => `${n} von ${all}`,
    named: (n: number) => `${n} gewählte`, leftAlone: 'Ausgelassen', left: (n: number) => `Ausgelassen: ${n}`, none: 'Keine Massenaktionen in den letzten 30 Tagen.', noneHint: 'Instanzen mit einem Filter wählen, dann „Mit allen…“', newest: 'Neueste',
  },
  act: {
    will: 'Was geschieht', done: (verb: string, name: string) => `${bare(verb)}: ${name}`, leave: 'Nichts ändern',
    cancelAndUndo: (n: number) => `Abbrechen und ${count(n, 'Schritt', 'Schritte')} zurücknehmen`,
    undoes: (n: number) => form(n, 'Diese Kompensation läuft:', 'Diese Kompensationen laufen nacheinander:'), undoesStep: (node: string) => `macht ${node} rückgängig`, undoesNothing: 'Kein abgeschlossener Schritt hat eine Kompensation; daher wird nichts rückgängig gemacht.',
    keeps: (nodes: string) => `Was diese Schritte getan haben, bleibt bestehen: ${nodes}.`, stops: (nodes: string) => `Läuft gerade und wird zum Anhalten aufgefordert: ${nodes}.`,
    changed: 'Die Instanz hat sich inzwischen geändert.', changedHint: 'Es wurde nichts getan. Erst den jetzigen Zustand ansehen, dann neu entscheiden.',
    reason: 'Grund', comment: 'Kommentar', role: 'In welcher Rolle', reasonHelp: 'Steht danach mit dem eigenen Namen im Verlauf.', skip: 'Die fehlgeschlagene Kompensation überspringen', edit: 'Mit anderer Eingabe wiederholen', input: 'Eingabe', payload: 'Payload', signalName: 'Signal',
    json: 'Ein beliebiger JSON-Wert.', notJson: (why: string) => `Das ist kein JSON. ${why}`, asCurl: 'Dasselbe mit curl',
    cancel: { name: 'Abbrechen…', title: 'Diese Instanz abbrechen', button: 'Instanz abbrechen', will: (_: string) => 'Sie hält an, macht vom letzten Schritt bis zum ersten rückgängig, was sie getan hat, und ist dann abgebrochen. Savepoints gelten dabei nicht.' },
    abort: { name: 'Hart abbrechen…', title: 'Diese Instanz hart abbrechen', button: 'Ohne Kompensation abbrechen', will: (_: string) => 'Sie hält sofort an und ist hart abgebrochen. Nichts wird rückgängig gemacht.' },
    pause: { name: 'Pausieren', title: 'Diese Instanz pausieren', button: 'Pausieren', will: (_: string) => 'Sie startet nichts Neues, bis sie fortgesetzt wird. Was jetzt läuft, läuft zu Ende.' },
    resume: { name: 'Fortsetzen', title: 'Diese Instanz fortsetzen', button: 'Fortsetzen', will: (_: string) => 'Sie läuft dort weiter, wo sie pausiert wurde.' },
    requeue: { name: 'Ab hier wiederholen…', title: 'Ab dem fehlgeschlagenen Schritt wiederholen', button: 'Ab hier wiederholen', will: (node: string) => `Sie läuft dort weiter, wo sie stehen geblieben ist${node ? `: bei „${node}“` : ''}. Ihre Versuche zählen wieder ab eins.` },
    rerun: { name: 'Neu starten…', title: 'Die Arbeit neu starten', button: 'Neu starten', will: (_: string) => 'Ihre Arbeit beginnt neu, als neue Instanz mit der neuesten Version des Workflows, mit der gespeicherten Eingabe (auch dem, was hier verborgen ist), denselben Labels und derselben Priorität. Diese hier ändert sich nicht. Die Arbeit beginnt einmal neu: Ist das schon geschehen, wird die Instanz gezeigt, die dabei entstanden ist.' },
    signal: { name: 'Signal senden…', title: 'Ein Signal senden', button: 'Signal senden', will: (_: string) => 'Wenn die Instanz auf dieses Signal wartet, läuft sie mit der Payload als Ausgabe dieses Knotens weiter. Sonst bleibt das Signal aufgehoben, bis sie darauf wartet.' },
    confirm: { name: 'Bestätigen', title: 'Die Entscheidung bestätigen', button: 'Bestätigen', will: (node: string) => `Die eigene Stimme zählt als Bestätigung${node ? ` bei „${node}“` : ''}. Sobald genug Personen bestätigt haben, läuft die Instanz weiter.` },
    reject: { name: 'Ablehnen', title: 'Die Entscheidung ablehnen', button: 'Ablehnen', will: (node: string) => `Die Entscheidung${node ? ` bei „${node}“` : ''} wird abgelehnt. Die Instanz nimmt ihren Zweig für Ablehnung, oder sie macht rückgängig, was sie getan hat, und schlägt fehl.` },
    write: { name: 'Schreiben…', title: 'Attribute schreiben', button: 'Schreiben', will: (_: string) => 'Die Werte werden in die Attribute übernommen, und im selben Schritt werden alle Bedingungen geprüft: Was sie auslösen, beginnt sofort, und was sie verbieten, wird abgelehnt.' },
    recover: { name: 'Zurücknehmen…', title: 'Auf einen früheren Stand zurücknehmen', button: 'Zurücknehmen', will: (_: string) => 'Was noch aussteht, wird angehalten, und die Übergänge seit diesem Schreiben werden kompensiert, der neueste zuerst. Von außen geschriebene Werte bleiben.' },
    export: { name: 'Herausgeben…', title: 'Diese Instanz herausgeben', button: 'Herausgeben und herunterladen', will: (_: string) => 'Sie hält hier an und wird zu einer Datei, die dieser Browser herunterlädt. Sie läuft dort weiter, wo die Datei importiert wird; „ebb import“ holt sie zurück.' },
    rerunOther: 'Mit anderer Eingabe…', rerunBefore: 'Diese Arbeit war schon neu gestartet worden, als diese Instanz.',
    recoverTo: 'Zurück zu', recoverStops: 'Die Bedingungen nicht prüfen und es einem Operator überlassen', attributes: 'Jetzige Attribute', values: 'Zu schreibende Werte',
    newest: 'Was inzwischen geschah',
  },
  instance: {
    quiet: (n: number) => `${count(n, 'unwichtiger Schritt', 'unwichtige Schritte')} ohne Auffälligkeit.`,
    why: 'Warum:', started: 'gestartet', ran: (time: string) => `Dauer ${time}`, runs: (time: string) => `seit ${time}`, until: (kind: string): string => (kind === 'retry' ? 'Nächster Versuch:' : kind === 'timer' ? 'Weiter:' : kind === 'decision' || kind === 'signal' ? 'Frist:' : 'Bis:'), priority: (n: number) => `Priorität ${n}`,
    actAt: (verb: string, at: string) => `${verb}: „${at}“…`,
    tab: { graph: 'Graph', timeline: 'Zeitachse', steps: 'Schritte', history: 'Verlauf', data: 'Daten', related: 'Zusammenhang', raw: 'Rohdaten' }, inApi: 'Dasselbe aus der API',
  },
  related: {
    startedBy: 'Gestartet von', trace: 'Trace-ID', links: 'In anderen Systemen', rerunOf: 'Wiederholt die Arbeit von', reruns: 'Neu gestartet als', sameKey: 'Mit demselben Schlüssel', sameLabels: 'Mit demselben Label', sameFailure: 'Genauso fehlgeschlagen', group: 'Die ganze Gruppe', bulks: 'Massenaktionen', cut: 'Nur die neuesten sind zu sehen.',
    none: 'Keine andere Instanz hat ihren Schlüssel oder ihren Fehler, keine Massenaktion hat sie berührt, und nichts wurde über sie gesendet.',
  },
  graph: {
    label: 'Schritte des Workflows', described: (n: number) => `Bild von ${count(n, 'Knoten', 'Knoten')}. „Liste“ zeigt dasselbe als Text.`, zoomIn: 'Vergrößern', zoomOut: 'Verkleinern', fit: 'Einpassen', list: 'Liste', picture: 'Bild',
  },
  timeline: {
    idle: (time: string) => `${time} lang ist nichts geschehen`, cut: (shown: number, all: number) => `Gezeigt werden die letzten ${number(shown)} von ${number(all)} Schritten.`, lastEvents: (n: string) => `Gezeichnet aus den letzten ${n} Ereignissen.`,
    kind: { attempt: 'Versuch', failed: 'fehlgeschlagener Versuch', retry: 'wartet auf Wiederholung', queue: 'wartet auf einen Worker', wait: 'wartet', running: 'läuft', undo: 'Kompensation', undo_failed: 'fehlgeschlagene Kompensation' },
  },
  steps: {
    step: 'Schritt', branch: 'Zweig', tries: 'Versuche', took: 'Dauer', worker: 'Worker', error: 'Fehler', started: 'Gestartet', attempts: (n: number) => count(n, 'Versuch', 'Versuche'), eachAttempt: 'Versuche',
    notYet: 'Noch nicht erreicht.', visit: (n: number, all: number) => `Durchlauf ${n} von ${all}`, toHistory: 'Ereignisse dieses Schritts',
  },
  history: {
    type: 'Typ', allTypes: 'Alle Typen', node: 'Schritt', at: 'Zeit', attempt: 'Versuch', took: 'Dauer', about: 'Bezug', by: 'Durch', count: (n: number) => count(n, 'Ereignis', 'Ereignisse'), following: 'folgt', toEnd: 'Zum Ende', event: (seq: number) => `Ereignis ${seq}`,
  },
  data: {
    input: 'Eingabe', output: 'Ausgabe', error: 'Fehler', instanceInput: 'Eingabe der Instanz', instanceOutput: 'Ausgabe der Instanz', outputOf: (node: string) => `Ausgabe von ${node}`, find: 'In den Daten suchen', left: 'Links', right: 'Rechts', nothing: 'nichts',
    path: 'Pfad', differences: (n: number) => count(n, 'Unterschied', 'Unterschiede'), forbidden: 'Die eigene Rolle sieht Größen und Namen, aber nicht die Daten selbst.',
  },
  json: { cut: (size: string) => `${size}, nicht angezeigt`, download: 'Herunterladen', more: (n: number) => `${number(n)} weitere` },
  failures: {
    which: 'Welche Fehler', all: 'Alle', none: 'Keine Fehler. Hier erscheinen Schritte, die endgültig fehlschlagen, gruppiert nach Fehler.', count: (n: number) => count(n, 'Instanz', 'Instanzen'),
    waiting: (n: number) => `${number(n)} ${form(n, 'wartet', 'warten')}`, ended: (n: number) => `${number(n)} fehlgeschlagen`, retryAll: (n: number) => `Erst eine, dann alle ${number(n)} wiederholen…`, copy: 'Als Issue kopieren', first: 'Zuerst', last: 'Zuletzt', versions: 'Versionen',
    growth: (hour: string, day: string) => `${hour} in der letzten Stunde, ${day} in den letzten 24 h`, fresh: 'neu', newest: 'Instanzen, neueste zuerst', gone: 'Keine Instanz schlägt mehr so fehl.', cancelAll: (n: number) => form(n, 'Abbrechen…', `Alle ${number(n)} abbrechen…`),
  },
  decisions: {
    mine: 'Meine', roles: 'Rollen', allRoles: 'Alle Rollen', none: 'Keine Entscheidung steht aus.', late: (time: string) => `${time} überfällig`, left: (time: string) => `noch ${time}`, quorum: (have: number, need: number) => `${have} von ${need} bestätigt`,
    question: (node: string) => node.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()) + '?', more: 'Weitere Daten', who: 'Wer entscheiden darf', anyone: 'alle', votes: 'Stimmen', since: 'Eingegangen', deadline: 'Frist', keysMove: 'nächste, vorige',
    gone: 'Die Entscheidung dieses Links ist nicht mehr offen.',
    forbidden: 'Die eigene Rolle darf Entscheidungen sehen, aber nicht treffen.',
  },
  workflows: {
    retention: 'Aufbewahrung', kept: 'Abgeschlossene Instanzen bleiben', keptFailed: 'Andere beendete Instanzen bleiben', keptHelp: 'Eine Dauer wie 30d, oder forever.', ownRule: 'Dieser Workflow hat eine eigene Regel.', generalRule: 'Es gilt die Regel für alle Workflows.', noRule: 'Es gibt keine Regel: Instanzen bleiben für immer.', keepWill: 'Was älter ist, wird innerhalb von sechs Stunden endgültig entfernt.', setRule: 'Regel setzen', dropRule: 'Regel entfernen', ruleSet: (name: string) => `Aufbewahrung gesetzt: ${name}`, ruleDropped: (name: string) => `Regel entfernt: ${name}`,
    name: 'Workflow', version: 'Version', versions: 'Versionen', registered: 'Registriert', find: 'Workflow suchen', none: 'Noch keine Workflows. Einen registrieren:', noMatch: (text: string) => `Kein Workflow hat „${text}“ im Namen.`, yaml: 'YAML', newest: '(neueste)',
    from: 'Von', to: 'Zu', fromVersion: (n: number) => `Vergleichen ab Version ${n}`, toVersion: (n: number) => `Vergleichen mit Version ${n}`, difference: (from: number, to: number) => `Von v${from} zu v${to}`, same: 'Die Texte sind gleich.', noInstances: 'Noch keine Instanzen dieses Workflows.', allInstances: 'Alle Instanzen dieses Workflows',
    structure: 'Was sich ändert', change: { added: 'neu', removed: 'entfernt', changed: 'geändert' }, onlyText: 'Die Knoten sind gleich; nur der Text um sie herum ist anders.',
  },
  build: {
    tried: 'Ausdrücke in seinen Zeilen', triedInput: 'Beispieleingabe', triedHelp: 'Damit werden Ausdrücke ausprobiert. Eine Definition kann mehrere Eingaben unter „samples“ nennen.',
    title: (name: string) => `Neue Version von ${name}`, fresh: 'Neuer Workflow', draft: 'Entwurf, in diesem Browser aufbewahrt', restored: 'Ihr Entwurf vom letzten Mal', undo: 'Rückgängig', redo: 'Wiederholen', download: 'Herunterladen', kind: 'Art des Knotens', addAfter: (name: string) => `Nach ${name} einfügen`, addLast: 'Am Ende einfügen', earlier: 'Nach oben', later: 'Nach unten', remove: 'Entfernen', inText: 'Steht im Text.',
  },
  register: {
    button: 'Neuer Workflow…', edit: 'Neue Version…', title: 'Eine Version registrieren', text: 'Definition', picture: 'Bild', problems: 'Probleme', valid: 'Keine Probleme.', noPicture: 'Das Bild erscheint, sobald die Definition lesbar ist.', submit: 'Registrieren', reset: 'Änderungen verwerfen', editor: 'Definition als YAML',
    done: (name: string, version: number) => `Registriert: ${name} v${version}`,
  },
  start: {
    notWhole: 'Die gespeicherte Eingabe wird hier nicht ganz gezeigt. Überall, wo ein Wert fehlt oder ••• steht, den Wert eintragen.',
    button: 'Starten…', title: (name: string) => (name ? `${name} starten` : 'Eine Instanz starten'), choose: 'Workflow wählen', form: 'Formular', input: 'Eingabe', key: 'Schlüssel (optional)', keyHelp: 'Derselbe Schlüssel ist dieselbe Instanz, egal wie oft sie gestartet wird.', asCommand: 'Dasselbe als Befehl', submit: 'Starten', optional: '(optional)',
    required: 'Pflichtfeld.', pattern: (pattern: string) => `Muss zu ${pattern} passen`, least: (n: number) => `Mindestens ${n}.`, most: (n: number) => `Höchstens ${n}.`,
  },
  workers: {
    count: (alive: number, threads: number) => `${number(alive)} aktiv, ${count(threads, 'Thread', 'Threads')}`, worker: 'Worker', host: 'Rechner', tasks: 'Aufgaben', threads: 'Threads', handlers: 'Handler', handler: 'Handler', since: 'Gestartet', lease: 'Lease endet', allQueues: 'alle',
    state: { alive: 'aktiv', draining: 'fährt herunter', dead: 'ausgefallen' }, ranOut: (time: string) => `abgelaufen vor ${time}`, none: 'Keine Worker. Instanzen warten, bis einer gestartet wird:',
    unserved: (n: number, handler: string) => `${count(n, 'Aufgabe wartet', 'Aufgaben warten')} auf „${handler}“: Kein laufender Worker hat diesen Handler.`, unservedHint: (queue: string) => `Queue ${queue}. Einen Worker starten, der ihn hat, oder nach einem Tippfehler im Namen suchen.`,
    matrix: 'Wer was ausführen kann', no_worker: 'kein Worker', runs: (worker: string, handler: string) => `${worker} führt ${handler} aus`,
  },
  queues: {
    longest: 'Älteste',
    queue: 'Queue', running: 'Laufend', use: 'Auslastung', waiting: 'wartend', sleeping: 'Schlafend', concurrency: 'Gleichzeitig', perKey: 'Gleichzeitig je Schlüssel', rate: 'Startrate', unlimited: '–', full: 'voll', edit: 'Limits…', editOf: (name: string) => `Limits der Queue ${name}`, none: 'Keine Queues mit Limits oder Aufgaben.',
    used: (used: number, of: number) => `${number(used)} von ${number(of)} belegt`, rateOf: (starts: number, period: string) => `${starts} / ${period}`, will: (running: number, waiting: number) => `Die neuen Limits gelten sofort und auf allen Workern. Zurzeit ${form(running, 'läuft', 'laufen')} ${count(running, 'Aufgabe', 'Aufgaben')} und ${form(waiting, 'wartet', 'warten')} ${number(waiting)}; laufende Aufgaben werden nicht angehalten.`,
    concurrencyHelp: 'Wie viele Aufgaben dieser Queue gleichzeitig laufen dürfen, auf allen Workern zusammen. Leer: kein Limit.', perKeyHelp: 'Dasselbe für jeden Concurrency-Schlüssel. Leer: kein Limit.', rateHelp: 'Wie viele Aufgaben in einem Zeitraum wie 1s oder 1m starten dürfen. Leer: kein Limit.', starts: 'Starts', per: 'pro', period: 'Zeitraum',
    stops: '0 hält die Queue an: Nichts daraus startet, bis das Limit erhöht wird.', save: 'Limits setzen', saved: (name: string) => `Limits gesetzt: ${name}`,
    no_worker: 'kein Worker dafür', stopped: 'angehalten', runningNow: (n: number) => `${n} laufend`, sleepingHelp: 'Aufgaben, die auf ihre Zeit warten, etwa auf den nächsten Versuch.',
  },
  settings: {
    tab: { general: 'Allgemein', grants: 'Rollenvergaben', projects: 'Projekte', tokens: 'API-Tokens', sessions: 'Anmeldungen', audit: 'Protokoll', definitions: 'Definitionsordner', config: 'Konfiguration' }, name: 'Name', nameHelp: 'Buchstaben, Ziffern, „_“, „-“ und „.“.',
    look: 'Darstellung', theme: 'Farben', system: 'Wie das System', light: 'Hell', dark: 'Dunkel', zone: 'Zeiten', local: 'Ortszeit', density: 'Zeilen', compact: 'Kompakt', comfortable: 'Luftig', language: 'Sprache', browser: 'Wie der Browser',
    you: 'Eigenes Konto', principal: 'Bekannt als', role: 'Rolle', may: 'Rechte', server: 'Server', version: 'Version', store: 'Speicher', noWorker: '(führt keine Handler aus)', openapi: 'OpenAPI-Dokument', limits: 'Limits',
    tokens: 'API-Tokens', token: 'Token', newToken: 'Neues Token…', once: 'Das ist das Token. Es wird nur jetzt angezeigt.', noTokens: 'Keine Tokens.', created: 'Erstellt', used: 'Zuletzt benutzt', expires: 'Läuft ab', never: 'nie', revoke: 'Widerrufen…', revokeOf: (name: string) => `Das Token ${name} widerrufen`, revokeWill: 'Programme, die es benutzen, werden abgewiesen: hier sofort, auf anderen Servern innerhalb von 5 s.',
    create: 'Token erstellen', expiresHelp: 'Eine Dauer wie 2160h, oder never.',
    roleHelp: { viewer: 'Sieht alles außer Payloads.', approver: 'Sieht und entscheidet.', operator: 'Steuert Instanzen und Queues.', developer: 'Registriert außerdem Workflows und startet Instanzen.', admin: 'Darf alles.', worker: 'Führt Handler aus, sonst nichts.', starter: 'Startet Instanzen und liest die eigenen.' } as Record<string, string>,
  },
  access: {
    project: 'Projekt', everywhere: 'alles', change: 'Ändern…', remove: 'Entfernen…', saved: (name: string) => `Gespeichert: ${name}`, removed: (name: string) => `Entfernt: ${name}`, taken: (name: string) => `„${name}“ gibt es schon. Anderen Namen wählen oder den vorhandenen Eintrag ändern.`,
    patternsHelp: 'Ein Muster je Zeile: * ist beliebiger Text, ? ein beliebiges Zeichen.', actAs: 'Darf für andere handeln', actAsHelp: 'Eine Aktion darf die Person nennen, für die sie geschieht. Für Programme mit eigenen Benutzern.', yes: 'ja', no: 'nein',
  },
  projects: {
    fresh: 'Neues Projekt…', what: 'Ein Projekt ist eine Menge von Workflows und Queues. Eine Rollenvergabe gilt nur in einem Projekt.', title: 'Titel', builtIn: 'eingebaut, hat alles', none: 'Keine eigenen Projekte. Jede Rolle gilt für alles.', editOf: (name: string) => `Projekt ${name} ändern`, removeOf: (name: string) => `Projekt ${name} entfernen`,
    fits: (n: number) => `${count(n, 'registrierter Workflow passt', 'registrierte Workflows passen')}:`, fitsNone: 'Kein registrierter Workflow passt.', firstOnly: (n: number) => `Nur die ersten ${number(n)} Workflows werden verglichen.`, gains: 'Hinzu kommen:', loses: 'Es verliert:', follow: (n: number) => `${count(n, 'Rollenvergabe folgt', 'Rollenvergaben folgen')}: hier sofort, auf anderen Servern innerhalb von 5 s.`,
    save: 'Projekt speichern', create: 'Projekt erstellen', inUse: (n: number) => `${count(n, 'Rollenvergabe nennt', 'Rollenvergaben nennen')} dieses Projekt. Diese zuerst entfernen oder ändern.`, toGrants: 'Diese Rollenvergaben zeigen', removeWill: 'Das Projekt wird entfernt. Seine Workflows und Instanzen bleiben, wie sie sind.', removeTokens: 'Ein Token in diesem Projekt darf dann nichts mehr.', remove: 'Projekt entfernen',
  },
  grants: {
    again: 'Diese Rolle besteht dort schon.', fresh: 'Neue Rollenvergabe…', find: 'Name, Rolle oder Projekt suchen', count: (n: number) => count(n, 'Rollenvergabe', 'Rollenvergaben'), none: 'Keine Rollenvergaben. Eine Rollenvergabe gibt einer Person, einer Gruppe oder einem Token eine Rolle in einem Projekt.', noMatch: 'Keine Rollenvergabe passt.', subject: 'Wer', kind: { user: 'Person', group: 'Gruppe', token: 'Token', cert: 'Zertifikat' }, kindOf: 'Art',
    kindHelp: { user: 'Der Name, mit dem sich die Person anmeldet.', group: 'Alle, von denen die Anmeldung sagt, dass sie in dieser Gruppe sind.', token: 'Der Name eines API-Tokens. Die Rolle kommt zu seiner eigenen hinzu.', cert: 'Der Name in einem Client-Zertifikat: seine erste URI, sein erster DNS-Name oder seine erste Mail-Adresse.' }, limits: 'Grenzen', editOf: (name: string) => `Rollenvergabe ${name} ändern`, removeOf: (name: string) => `Rollenvergabe ${name} entfernen`,
    keeps: 'Daneben besteht:', keepsNone: 'Daneben besteht keine Rollenvergabe.', ofToken: 'die Rolle des Tokens selbst', decisionRoles: 'Entscheidungsrollen', decisionHelp: 'Eine je Zeile. Leer: Entscheidungen jeder Rolle.', same: 'An Rolle und Projekt ändert sich nichts.', own: 'Das ist eine eigene Rollenvergabe: Der eigene Zugang kann verloren gehen.',
    gives: (name: string, role: string, where: string) => `${name} erhält die Rolle ${role}${where ? ` in ${where}` : ''}.`, takes: (name: string, role: string, where: string) => `${name} verliert die Rolle ${role}${where ? ` in ${where}` : ''}.`, nobody: 'Zuerst wählen, wer sie erhält.', soon: 'Das gilt hier sofort und auf anderen Servern innerhalb von 5 s.', save: 'Rollenvergabe speichern', create: 'Rollenvergabe erstellen', remove: 'Rollenvergabe entfernen',
  },
  sessions: {
    none: 'Keine Anmeldungen von Browsern.', current: '(dieser Browser)', method: 'Anmeldung', by: { link: 'Anmeldelink', oidc: 'Anmeldedienst' }, agent: 'Browser', since: 'Seit', end: 'Beenden…', endOthers: 'Meine anderen Anmeldungen beenden…',
    endOf: (name: string, id: string) => `Anmeldung ${id} von ${name} beenden`, endAll: (n: number) => `${count(n, 'Anmeldung', 'Anmeldungen')} beenden`, will: 'Der Browser muss sich neu anmelden: hier sofort, auf anderen Servern innerhalb von 5 s. Tokens und Instanzen bleiben, wie sie sind.', willHere: 'Dieser Browser muss sich neu anmelden.', ended: (n: number) => `${count(n, 'Anmeldung', 'Anmeldungen')} beendet`,
  },
  audit: {
    who: 'Wer', action: 'Operation', target: 'Ziel', workflow: 'Workflow', since: 'In den letzten', only: (value: string) => `Nur Zeilen mit ${value}`, count: (n: number) => count(n, 'Zeile', 'Zeilen'), none: 'Noch nichts aufgezeichnet. Jede Anfrage, die etwas ändern kann, hat hier eine Zeile.', noMatch: 'Keine Zeile passt.', row: (n: number) => `Zeile ${n} ihrer Kette`,
    whole: (n: number) => `Kette der Hashes ungebrochen: ${count(n, 'Zeile', 'Zeilen')} geprüft`, each: (n: number) => `Hashes richtig: ${count(n, 'Zeile', 'Zeilen')}; Zeilen dazwischen sind nicht zu sehen`, broken: (n: number) => (n === 1 ? '1 Zeile ist nicht, wie sie geschrieben wurde.' : `${n} Zeilen sind nicht, wie sie geschrieben wurden.`), brokenHint: 'Eine Kopie der Datenbank aufheben und das ganze Protokoll prüfen:', unknown: 'Ohne HTTPS kann der Browser die Hashes nicht prüfen. Dafür gibt es',
    fault: { changed: 'Diese Zeile wurde geändert: Ihr Hash ist ein anderer.', link: 'Die Zeile davor wurde geändert oder eingefügt.', doubled: 'Diese Zeile wurde eingefügt: Ihre Kette hat diese Nummer schon.' }, removed: (n: number) => (n === 1 ? '1 Zeile davor wurde entfernt.' : `${n} Zeilen davor wurden entfernt.`), outcome: { allowed: 'erlaubt', failed: 'misslungen', refused: 'abgelehnt' },
    credential: 'Bekannt durch', by: { token: 'ein API-Token', session: 'eine Anmeldung', proxy: 'einen Proxy', anonymous: 'nichts', oidc: 'ein Token des Anbieters', certificate: 'ein Client-Zertifikat', local: 'Zugriff auf die Datenbank' }, remote: 'Adresse', request: 'Anfrage', chain: 'Kette', hash: 'Hash', prev: 'Hash davor',
  },
  docs: {
    problems: 'Arten von Problemen', find: 'Operation suchen', none: 'Keine Operation passt.', all: 'Alle Operationen', needs: 'Braucht', noLogin: 'keine Anmeldung', anyLogin: 'irgendeine Anmeldung', lacks: 'Dieses Recht haben Sie nicht.', parameters: 'Parameter', body: 'Inhalt', answers: 'Antworten', other: 'andere', required: 'nötig', members: 'Felder', choose: (n: number) => `${count(n, 'Operation', 'Operationen')}. Wählen Sie eine, um zu sehen, was sie nimmt und antwortet.`,
  },
  config: {
    setting: 'Einstellung', value: 'Wert', from: 'Herkunft', about: 'Bedeutung', applies: 'Eine Änderung gilt', set: 'Gesetzt', defaults: 'Vorgaben', find: 'Einstellung suchen', loaded: 'Gelesen', none: 'Keine Einstellungen. Das Programm, das diese Seite liefert, zeigt keine.', nothing: 'Keine Einstellung passt.',
    refused: 'Die letzte neue Konfiguration wurde abgelehnt. Die Einstellungen unten gelten weiter.', waiting: (n: number) => `${count(n, 'Einstellung hat', 'Einstellungen haben')} sich seit dem Start geändert. Ein Neustart übernimmt:`,
    atReload: 'beim Neuladen', atRestart: 'beim Neustart', needsRestart: 'wartet auf Neustart', origin: { default: 'Vorgabe', flag: 'Befehlszeile', environment: 'Umgebung', file: 'Datei' },
  },
  files: {
    noFolder: 'Dieser Server hat keinen Definitionsordner. Mit einem registriert er die Workflows der Dateien darin:', none: 'Der Ordner hat keine Dateien.', file: 'Datei', since: 'Seit', state: { registered: 'registriert', invalid: 'ungültig', refused: 'abgelehnt', unreadable: 'nicht lesbar', gone: 'fort' },
  },
  notifications: {
    redeliver: 'Erneut zustellen', redelivered: (name: string) => `Wird erneut gesendet: ${name}`, hooks: 'Eingehende Ereignisse', noHooks: 'Keine Hooks. Mit einem Hook startet ein Ereignis eines anderen Programms eine Instanz oder sendet ihr ein Signal.', hookStarts: (workflow: string) => `startet ${workflow}`, hookSignals: (signal: string, workflow: string) => `sendet ${signal} an ${workflow}`, hookDoes: 'Ein Ereignis', hookKey: 'Schlüssel der Instanz',
    allEvents: 'Alle Ereignisse', only: 'Nur diese:', choose: 'Mindestens ein Ereignis wählen.', fresh: 'Neuer Webhook…', none: 'Keine Webhooks. Ein Webhook sagt einem anderen Programm, dass eine Instanz fehlgeschlagen ist, geendet hat oder auf eine Person wartet.', webhook: 'Webhook', to: 'An', toHelp: 'Wohin Anfragen gehen: ins öffentliche Internet, wenn der Server keine privaten Adressen erlaubt.', format: 'Format', formatHelp: { standard: 'Standard Webhooks: signiertes JSON.', cloudevents: 'CloudEvents 1.0: Die Attribute sind Header.', slack: 'Ein Satz für Slack, Mattermost, Rocket.Chat oder Discord.', teams: 'Eine Karte für Microsoft Teams.', email: 'Eine Mail; Fehler mit einer Ursache kommen in einer.' },
    events: 'Ereignisse', all: 'alle', patterns: 'Muster von Ereignissen', patternsHelp: 'Eines je Zeile, etwa instance.*.', workflowsHelp: 'Ein Muster je Zeile. Leer: alle Workflows.', whereHelp: 'Ein Filter über Labels und anderes, etwa labels.vip. Leer: alle Instanzen.', isEnabled: 'Ereignisse senden', willNot: 'Bis zum Einschalten wird nichts gesendet.', getsAll: 'Er bekommt alle Ereignisse.', gets: (n: number) => `Er bekommt ${count(n, 'Art von Ereignis', 'Arten von Ereignissen')}:`,
    keepsSecret: 'Er behält sein Geheimnis. Fehlschläge und eine Aussetzung sind vergessen.', makesSecret: 'Er bekommt ein Geheimnis, das einmal gezeigt wird.', save: 'Webhook speichern', create: 'Webhook erstellen', editOf: (name: string) => `Webhook ${name} ändern`, state: { ok: 'stellt zu', enabled: 'aktiv', suspended: 'ausgesetzt', disabled: 'ausgeschaltet' }, failures: (n: number) => count(n, 'Fehlschlag in Folge', 'Fehlschläge in Folge'),
    suspended: (n: number) => (n === 1 ? '1 Webhook ist ausgesetzt.' : `${n} Webhooks sind ausgesetzt.`), suspendedHint: (n: number): string => (n === 1 ? 'Zu viele Versuche sind misslungen. Ereignisse warten bis zu 7 Tage; was älter ist, geht verloren. Den Empfänger reparieren, dann einen Ping senden oder fortsetzen.' : 'Zu viele Versuche sind misslungen. Ereignisse warten bis zu 7 Tage; was älter ist, geht verloren. Die Empfänger reparieren, dann Pings senden oder die Webhooks fortsetzen.'), failingHint: 'Der Empfänger nimmt keine Ereignisse an. Sie werden etwa drei Tage lang erneut versucht.', once: (name: string) => `Das ist das Geheimnis von ${name}. Es wird nur jetzt angezeigt.`, oldSecret: 'Altes Geheimnis endet',
    pinged: (name: string) => `Ein Ping ist unterwegs: ${name}`, enabled: (name: string) => `Eingeschaltet: ${name}`, disabled: (name: string) => `Ausgeschaltet: ${name}`, ping: 'Ping senden', resume: 'Fortsetzen', enable: 'Einschalten', disable: 'Ausschalten', rotate: 'Neues Geheimnis…', rotateNow: 'Neues Geheimnis erstellen', rotateWill: 'Er bekommt ein neues Geheimnis, das einmal gezeigt wird. Für die Zeit unten tragen Anfragen auch eine Signatur mit dem alten.', keepOld: 'Altes Geheimnis behalten für', keepOldHelp: 'Eine Dauer wie 1d. 0s beendet es sofort.',
    remove: 'Webhook entfernen', removeWill: 'Der Webhook wird entfernt, mit den Ereignissen, die auf ihn warten. Sie werden nicht gesendet.', deliveries: 'Zustellungen', allDeliveries: 'Alle Zustellungen', noDeliveries: 'Noch nichts gesendet.',
  },
  palette: {
    placeholder: 'ID, Schlüssel, Workflow oder Seite', page: 'Seite', workflow: 'Workflow', none: 'Nichts gefunden.', hits: 'Treffer', keys: 'Tastenkürzel', filter: 'Zum Filter', move: 'Nächste, vorige Zeile', select: 'Zeile auswählen', decide: 'Entscheidung bestätigen, ablehnen',
    act: 'Aktion', here: 'auf dieser Seite', recent: 'zuletzt gesehen', light: 'Helle Farben', dark: 'Dunkle Farben',
  },
  compare: {
    sameData: 'Die Daten beider Läufe sind gleich.', button: 'Vergleichen', title: 'Zwei Ausführungen', same: 'Alle Schritte sind auf dieselbe Weise beendet.', parts: (node: string) => `Die Ausführungen trennen sich bei „${node}“.`, absent: 'nicht erreicht', sameInput: 'Die Eingaben sind gleich.',
    apart: 'Unterschied', whole: 'Die ganze Ausführung', otherWorkflows: 'Das sind Instanzen verschiedener Workflows. Schritte werden nach ihren Namen verglichen.', swap: 'Seiten tauschen',
  },
  rehearsal: {
    button: 'Proben', hide: 'Probe ausblenden', plan: 'Was wäre, wenn…', reset: 'Alle schließen ab', ends: 'Ende', undo: 'Zurücknehmen', endOf: (node: string) => `Wie ${node} endet`, undoOf: (node: string) => `Wie das Zurücknehmen von ${node} endet`, noUndo: 'nichts nimmt ihn zurück', outcome: { complete: 'schließt ab', fail: 'scheitert, neuer Versuch', fail_for_good: 'scheitert endgültig', never: 'antwortet nie' } as Record<string, string>, verdict: { complete: 'wird bestätigt', fail: 'wird bestätigt', fail_for_good: 'wird abgelehnt', never: 'niemand entscheidet' } as Record<string, string>, signal: { complete: 'kommt', fail: 'kommt', fail_for_good: 'kommt', never: 'kommt nie' } as Record<string, string>, cancel: 'Jemand bricht sie ab', noCancel: 'nie', after: (node: string) => `nach ${node}`, help: 'Kein Handler wird aufgerufen und nichts gespeichert. Ein Schritt gibt seine Eingabe weiter.', result: 'Was geschehen würde', invalid: 'Proben geht, sobald es keine Probleme gibt.', lasts: (time: string) => `nach ${time}`, undone: (n: number) => `Zurückgenommen, in dieser Reihenfolge (${n}):`, left: (nodes: string) => `Was diese Schritte taten, bleibt: ${nodes}`, clean: 'Nichts bleibt zurück.', cut: 'Es ginge weiter; die Probe endet an ihrer Grenze.',
  },
};
