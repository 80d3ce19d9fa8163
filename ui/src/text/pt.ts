// Portuguese as in Brazil. Instances and steps ("etapas") are both feminine, so one word fits a status of either.
import type { Messages } from '.';
import { bare, counting } from './locales';

const { number, form, count } = counting('pt-BR');

const STATUS: Record<string, string> = {
  running: 'em execução', waiting: 'aguardando', retrying: 'repetindo', completed: 'concluída', failed: 'com falha', compensating: 'compensando',
  compensated: 'compensada', compensation_failed: 'falha na compensação', dead_letter: 'dead letter', paused: 'pausada',
  cancelled: 'cancelada', aborted: 'abortada', skipped: 'ignorada', pending: 'pendente', moved: 'movida', delivered: 'entregue', stopped: 'encerrada',
};

export const pt: Messages = {
  number,
  status: (status: string) => STATUS[status] ?? status,
  common: {
    again: 'Tentar de novo', cancel: 'Cancelar', close: 'Fechar', copy: 'Copiar', open: 'Abrir', save: 'Salvar', show: 'Mostrar', hide: 'Ocultar', loading: 'Carregando',
    copied: (what: string) => `Copiado: ${what.slice(0, 60)}`,
    copyThis: (what: string) => `Copiar ${what.slice(0, 60)}`,
    notCopied: 'O navegador não permite copiar. Selecione o texto e copie manualmente.',
    version: (versions: number[]) => versions.map((version) => `v${version}`).join(', '),
  },
  unit: { ms: 'ms', s: 's', m: 'min', h: 'h', d: 'd', B: 'B', kB: 'kB', MB: 'MB', point: ',' },
  time: { now: 'agora', ago: (time: string) => `há ${time}`, in: (time: string) => `em ${time}` },
  nav: {
    label: 'Páginas', skip: 'Pular para o conteúdo', home: 'Visão geral', find: 'Buscar ou ir para…', more: 'Mais', logout: 'Sair', waitingFor: 'aguardando:',
    overview: 'Visão geral', instances: 'Instâncias', failures: 'Falhas', decisions: 'Decisões', workflows: 'Workflows', workers: 'Workers', queues: 'Filas', bulk: 'Em massa', notifications: 'Notificações', docs: 'API', settings: 'Configu\u00ADrações',
  },
  live: {
    open: 'ao vivo', lost: 'sem atualização', lostHint: 'A conexão ao vivo caiu. Ela volta sozinha; até lá, a lista não se atualiza.',
    silent: 'O servidor não responde.', silentSince: (time: string) => `Os dados na tela são de ${time} atrás. A reconexão é automática; até lá, nada pode ser alterado.`,
    draining: 'O servidor está sendo desligado.', drainingHint: 'O que está na tela permanece. A reconexão é automática quando um servidor voltar; até lá, nada pode ser alterado.',
    noAuth: 'Este servidor roda sem autenticação: qualquer pessoa nesta máquina pode fazer tudo.',
    isDev: 'Este servidor é para desenvolvimento: um arquivo de workflow alterado vira a próxima versão.',
  },
  login: {
    title: 'Entrar', how: 'Gere um link de login em um terminal no servidor e abra-o ou cole-o aqui:', paste: 'Link de login', submit: 'Entrar',
    help: 'O link vale uma única vez, por dez minutos.',
    with: (name: string) => `Entrar com ${name}`, or: 'Ou com um link de login:',
    denied: 'O provedor de login recusou o login.', unavailable: 'O provedor de login não responde. Tente mais tarde ou use um link de login.', failed: 'O login não deu certo. Comece de novo.',
  },
  trouble: {
    needs: (permission: string) => `É preciso ter a permissão “${permission}”.`,
    title: 'Não funcionou.', notFound: 'Não encontrado.', forbidden: 'Você não tem permissão para ver isto.', forbiddenHint: 'Seu papel não inclui esta permissão. Um administrador pode concedê-la.',
    unreachable: 'O servidor não responde.', unreachableHint: 'Ele pode estar reiniciando. Tente de novo em instantes.',
    busy: 'O servidor não pode responder agora.', byItself: (time: string) => `Nova tentativa automática em ${time}.`,
    staleSince: (time: string) => `Os dados abaixo são de ${time}.`,
    request: (id: string) => `Requisição ${id}`, about: 'O que isto significa',
    chunk: 'Não foi possível carregar esta página. Provavelmente o servidor foi atualizado.', reload: 'Recarregar', noPage: 'Esta página não existe', noPageHint: 'O endereço pode estar errado, ou o link pode ser de outra versão.',
  },
  overview: {
    refused: (n: number) => form(n, 'arquivo de workflow não está registrado', 'arquivos de workflow não estão registrados'), refusedWhy: (n: number): string => (n === 1 ? 'É inválido, ou a versão está registrada com outro conteúdo.' : 'São inválidos, ou a versão está registrada com outro conteúdo.'),
    suspended: (n: number) => form(n, 'webhook está suspenso', 'webhooks estão suspensos'), suspendedWhy: (n: number): string => (n === 1 ? 'Seus eventos esperam e não são enviados.' : 'Os eventos deles esperam e não são enviados.'),
    attention: 'Requer atenção', quiet: 'Tudo tranquilo: nada espera por uma pessoa, não há dead letters e todo handler tem um worker.', now: 'Agora',
    overdue: (n: number) => form(n, 'decisão está atrasada', 'decisões estão atrasadas'),
    decisions: (n: number) => form(n, 'decisão está aberta', 'decisões estão abertas'),
    oldest: (time: string) => (time.startsWith('NaN') ? '' : `há ${time}`),
    unserved: (handler: string) => `nenhum worker para “${handler}”`, unservedWhy: (n: number): string => (n === 1 ? 'Há uma tarefa pronta, mas nenhum worker ativo tem este handler.' : 'Há tarefas prontas, mas nenhum worker ativo tem este handler.'),
    queue: (queue: string) => `fila ${queue}`,
    stuck: (n: number) => form(n, 'chamada de handler não retorna', 'chamadas de handlers não retornam'), stuckWhy: (n: number): string => (n === 1 ? 'Foi abandonada após o tempo limite e ainda ocupa uma thread deste servidor.' : 'Foram abandonadas após o tempo limite e ainda ocupam threads deste servidor.'),
    deadWorkers: (n: number) => form(n, 'worker parou sem avisar', 'workers pararam sem avisar'), deadWorkersWhy: (n: number): string => (n === 1 ? 'Outros workers assumem as tarefas dele.' : 'Outros workers assumem as tarefas deles.'),
    delayedTimers: (n: number) => form(n, 'temporizador ou prazo não é processado', 'temporizadores e prazos não são processados'),
    delayed: (n: number, handler: string) => form(n, `tarefa de “${handler}” não começa`, `tarefas de “${handler}” não começam`), waited: (time: string) => `há ${time}`,
    delayWhy: { no_engine: (_: string) => 'Um processo do Ebb os processa, como um worker. Nenhum está ativo ou disponível.', no_worker: (_: string) => 'Nenhum worker ativo tem este handler para a fila.', exec_not_allowed: (_: string) => 'Só o banco de dados nomeia este programa, e nenhum worker pode executá-lo. Dê o arquivo a um worker, ou --allow-exec.', queue_closed: (queue: string) => `Um operador parou a fila “${queue}”.`, queue_full: (queue: string) => `Todas as vagas da fila “${queue}” estão em uso.`, queue_key: (queue: string) => `Todas as vagas da sua chave na fila “${queue}” estão em uso.`, queue_rate: (queue: string) => `A taxa da fila “${queue}” está esgotada.`, workers_busy: (_: string) => 'Todos os workers com este handler estão ocupados.' } as Record<string, (queue: string) => string>,
    quantiles: 'p50 / p95', live: 'ativas', total: 'total', share: 'por status',
  },
  activity: {
    delay: 'Atraso de início', delayHelp: 'Desde que uma tarefa está pronta até um worker iniciá-la, em uma amostra das instâncias que terminaram.', noStarts: 'Nenhuma tarefa foi iniciada neste período.',
    byStep: 'Por etapa', newest: (n: number) => `De ${count(n, 'instância mais recente', 'instâncias mais recentes')}.`, leftOut: (n: number) => `Omitidas, porque o histórico é longo: ${number(n)}.`, visits: 'Visitas', retried: 'Repetidas', endsIn: (time: string) => `costuma terminar em ${time}`,
    title: 'Atividade', window: 'Período', last: (window: string) => ({ '1h': '1 hora', '6h': '6 horas', '24h': '24 horas', '7d': '7 dias', '30d': '30 dias' })[window] ?? window,
    ends: 'Iniciadas e encerradas', durations: 'Quanto tempo levou', started: 'iniciadas', failed: 'com falha ou dead letter', stopped: 'canceladas ou abortadas', stoppedShort: 'paradas', compensated: 'compensadas', steps: 'etapas', p50: 'metade em até', p95: '95 % em até', span: 'Tempo', table: 'Como tabela',
    none: 'Nada foi iniciado nem encerrado neste período.', nothingCompleted: 'Nada foi concluído neste período.', counting: 'O servidor está contando…',
    partial: (time: string) => `O servidor ainda está contando: nem todas as instâncias iniciadas antes de ${time} estão nestes números.`,
    at: (span: string, started: number, completed: number, failed: number) => `${span}: ${number(started)} iniciadas, ${number(completed)} concluídas, ${number(failed)} com falha`,
    took: (span: string, half: string, most: string) => `${span}: metade em até ${half}, 95 % em até ${most}`,
    spark: (completed: number, failed: number) => `${number(completed)} concluídas, ${number(failed)} com falha`,
    slower: (time: string) => `Mais lenta que o normal: 95 % das execuções dos últimos 30 dias foram concluídas em até ${time}.`,
  },
  filter: {
    label: 'Filtro', placeholder: 'status:dead_letter workflow:order key:k7-* since:24h', clear: 'Limpar', remove: (term: string) => `Remover ${term}`,
    help: { status: 'um ou mais, com vírgulas', workflow: 'o nome', version: 'um número', key: 'exata, ou o início com *', label: 'NOME=VALOR, como tenant=acme', step: 'em que ela falhou', error: 'o código, como http_503', since: 'iniciada depois de: 2h, 7d ou uma data', before: 'iniciada antes de' },
    problem: (problem: string, word: string, names: string, statuses: string) =>
      ({ name: `Não existe o filtro “${word}”. Os filtros são ${names}.`, status: `Não é um status. Os status são ${statuses}.`, version: 'A versão é um número inteiro.', time: 'Não é um tempo. Escreva 15m, 2h, 7d ou uma data como 2026-11-22.', value: 'precisa de um valor.', label: 'Um rótulo é NOME=VALOR, como label:tenant=acme.' })[problem] ?? '',
  },
  instances: {
    noMatchSoFar: 'Nenhuma até agora.', order: 'Ordem', newestFirst: 'Mais recentes primeiro', oldestFirst: 'Mais antigas primeiro', columns: 'Colunas', defaultColumns: 'Padrão', priority: 'Prioridade', waits: 'Aguarda',
    labels: 'Rótulos',
    all: 'Todas', live: 'Ativas', ended: 'Sem sucesso', views: 'Visões salvas', viewName: 'Nome da visão', saveView: 'Salvar visão', dropView: 'Remover visão', shareView: 'Compartilhar com todos', unshareView: 'Parar de compartilhar', shared: 'compartilhada', export: 'Exportar',
    status: 'Status', workflow: 'Workflow', key: 'Chave', id: 'ID', started: 'Início', changed: 'Alteração', took: 'Duração',
    select: (name: string) => `Selecionar ${name}`, selectAll: 'Selecionar todas as exibidas', noMatch: 'Nenhuma instância corresponde.', clear: 'Limpar filtros', none: 'Ainda não há instâncias. Inicie uma:',
    more: 'Role para ver mais', loadMore: 'Carregar mais', end: (n: number) => `${count(n, 'instância', 'instâncias')}, não há mais`, scannedTo: 'Busca feita até', scannedUpTo: 'Busca feita até',
    fresh: (n: number) => `${number(n)} ${form(n, 'nova', 'novas')}`,
  },
  bulk: {
    label: 'Instâncias selecionadas', selected: (n: number) => `${number(n)} ${form(n, 'selecionada', 'selecionadas')}`, clear: 'Limpar',
    acts: (verb: string, n: number, more = '') => {
      const what = `${number(n)}${more} ${form(n, 'instância', 'instâncias')}`;
      return ({ cancel: `Cancelar ${what}`, abort: `Abortar ${what}`, pause: `Pausar ${what}`, resume: `Retomar ${what}`, requeue: `Repetir ${what}`, rerun: `Iniciar ${what} de novo`, signal: `Enviar o sinal a ${what}` })[verb] ?? what;
    },
    will: {
      cancel: 'Cada instância para, desfaz o que fez, da última etapa até a primeira, e então fica cancelada. Savepoints são ignorados.', abort: 'Cada instância para imediatamente e fica abortada. Nada é desfeito.', pause: 'Cada instância não inicia mais nada até ser retomada. O que está em execução termina.', resume: 'Cada instância continua de onde foi pausada.',
      requeue: 'Cada instância continua na etapa que falhou. As tentativas voltam a contar do um.', rerun: 'O trabalho de cada instância começa de novo, uma vez, como uma nova instância com a mesma entrada e os mesmos rótulos. A antiga não muda.', signal: 'Cada instância que espera por este sinal continua com o payload como saída desse nó. Para as outras, o sinal fica guardado até que esperem por ele.',
    },
    cannot: (n: number) => form(n, '1 das instâncias selecionadas está em um estado que não permite isso e fica de fora.', `${number(n)} das instâncias selecionadas estão em um estado que não permite isso e ficam de fora.`),
    trial: 'Teste', watching: 'Verificando se falha de novo…', failedAgain: 'Falhou de novo da mesma forma. Examine-a antes de repetir as outras.', worked: 'Foi concluída.', stillRuns: 'Ainda está em execução e não falhou até agora.',
    progress: (done: number, skipped: number, all: number) => `${number(done)} de ${number(all)} ${form(done, 'feita', 'feitas')}${skipped ? `, ${number(skipped)} ${form(skipped, 'ignorada', 'ignoradas')}` : ''}`,
    which: 'Instâncias', looking: (n: number) => `${number(n)} ${form(n, 'encontrada', 'encontradas')} até agora…`, failedOther: 'Falhou de novo, de outra forma. Examine-a antes de repetir as outras.', refused: 'O servidor recusou. Examine o motivo antes de repetir as outras.', goOn: (n: number) => form(n, 'Continuar com a outra', `Continuar com as outras ${number(n)}`), again: (n: number) => form(n, 'Tentar a ignorada de novo', `Tentar as ${number(n)} ignoradas de novo`),
    skipped: (n: number) => `Ignoradas: ${number(n)}`, tryOne: 'Repetir uma primeiro', rest: (n: number) => form(n, 'Repetir a outra', `Repetir as outras ${number(n)}`), stop: 'Parar aqui',
  },
  bulks: {
    able: (n: number, more: string) => `A ação é possível em ${number(n)}${more} delas.`, leftOut: 'de fora', noneAble: 'Nenhuma ação é possível: estas instâncias terminaram.', onlyDead: 'Só dead letters podem ser repetidas. Instâncias que falharam terminaram: “Iniciar de novo” executa o trabalho delas mais uma vez.', nothingDone: 'nada feito',
    all: 'Agir em todas as que correspondem', button: 'Agir em todas…', action: 'Ação', filter: 'Filtro', instances: 'Instâncias', rate: 'No máximo', progress: 'Progresso', by: 'Por', begun: 'Início', ended: 'Fim', done: 'Feitas', unchanged: 'Nada a fazer', skipped: 'Puladas', failed: 'Com falha', speed: 'Por segundo', eta: 'Restam',
    actions: { cancel: 'Cancelar', abort: 'Abortar', pause: 'Pausar', resume: 'Retomar', requeue: 'Repetir', rerun: 'Iniciar de novo' }, rateHelp: 'A taxa máxima, como 100/1s ou 600/1m. Vazio: sem limite.', canary: 'Tentar uma primeiro e parar se falhar de novo.', nothing: 'Nenhuma instância corresponde.', matches: (n: string) => `${n} correspondem agora`,
    pause: 'Pausar', resume: 'Continuar', cancel: 'Encerrar aqui', goOn: 'Continuar mesmo assim', canaryFailed: (n: number): string => (n === 1 ? 'A primeira instância falhou de novo. Examine-a e depois continue ou encerre aqui.' : 'As primeiras instâncias falharam de novo. Examine-as e depois continue ou encerre aqui.'), waits: 'aguarda você', trouble: 'A última tentativa falhou e será repetida.', counting: 'contando…', seen: (n: string, all: string) => `${n} de ${all}`,
    named: (n: number) => (n === 1 ? '1 escolhida' : `${n} escolhidas`), leftAlone: 'Não tratadas', left: (n: number) => `Não tratadas: ${n}`, none: 'Nenhuma ação em massa nos últimos 30 dias.', noneHint: 'Escolha instâncias com um filtro e depois “Agir em todas…”', newest: 'Mais recentes',
  },
  act: {
    will: 'O que vai acontecer', done: (verb: string, name: string) => `${bare(verb)}: ${name}`, leave: 'Deixar como está',
    cancelAndUndo: (n: number) => `Cancelar e desfazer ${count(n, 'etapa', 'etapas')}`,
    undoes: (n: number) => form(n, 'Esta compensação é executada:', 'Estas compensações são executadas, uma após a outra:'), undoesStep: (node: string) => `desfaz ${node}`, undoesNothing: 'Nenhuma etapa concluída tem compensação, portanto nada é desfeito.',
    keeps: (nodes: string) => `O que estas etapas fizeram permanece como está: ${nodes}.`, stops: (nodes: string) => `Em execução agora, e será solicitado que parem: ${nodes}.`,
    changed: 'A instância mudou nesse meio-tempo.', changedHint: 'Nada foi feito. Veja o estado atual e decida de novo.',
    reason: 'Motivo', comment: 'Comentário', role: 'Em qual papel', reasonHelp: 'Fica no histórico, com o seu nome.', skip: 'Ignorar a compensação que falhou', edit: 'Repetir com outra entrada', input: 'Entrada', payload: 'Payload', signalName: 'Sinal',
    json: 'Qualquer valor JSON.', notJson: (why: string) => `Isto não é JSON. ${why}`, asCurl: 'O mesmo com curl',
    cancel: { name: 'Cancelar…', title: 'Cancelar esta instância', button: 'Cancelar a instância', will: (_: string) => 'Ela para, desfaz o que fez, da última etapa até a primeira, e então fica cancelada. Savepoints são ignorados.' },
    abort: { name: 'Abortar…', title: 'Abortar esta instância', button: 'Abortar sem desfazer', will: (_: string) => 'Ela para imediatamente e fica abortada. Nada é desfeito.' },
    pause: { name: 'Pausar', title: 'Pausar esta instância', button: 'Pausar', will: (_: string) => 'Ela não inicia mais nada até ser retomada. O que está em execução termina.' },
    resume: { name: 'Retomar', title: 'Retomar esta instância', button: 'Retomar', will: (_: string) => 'Ela continua de onde foi pausada.' },
    requeue: { name: 'Repetir a partir daqui…', title: 'Repetir a partir da etapa que falhou', button: 'Repetir a partir daqui', will: (node: string) => `Ela continua de onde parou${node ? `, em “${node}”` : ''}. As tentativas voltam a contar do um.` },
    rerun: { name: 'Iniciar de novo…', title: 'Iniciar o trabalho de novo', button: 'Iniciar de novo', will: (_: string) => 'O trabalho dela começa de novo, como uma nova instância, com a versão mais nova do workflow, a entrada armazenada (também o que está oculto para você), os mesmos rótulos e a mesma prioridade. Esta não muda. O trabalho começa de novo uma vez: se isso já aconteceu, é mostrada a instância que foi iniciada então.' },
    signal: { name: 'Enviar sinal…', title: 'Enviar um sinal', button: 'Enviar sinal', will: (_: string) => 'Se a instância espera por este sinal, ela continua com o payload como saída desse nó. Se não, o sinal fica guardado até que ela espere por ele.' },
    confirm: { name: 'Confirmar', title: 'Confirmar a decisão', button: 'Confirmar', will: (node: string) => `Seu voto conta como confirmação${node ? ` em “${node}”` : ''}. Quando houver confirmações suficientes, a instância continua.` },
    reject: { name: 'Rejeitar', title: 'Rejeitar a decisão', button: 'Rejeitar', will: (node: string) => `A decisão${node ? ` em “${node}”` : ''} é rejeitada. A instância segue pelo ramo de rejeição, ou desfaz o que fez e falha.` },
    write: { name: 'Gravar…', title: 'Gravar atributos', button: 'Gravar', will: (_: string) => 'Os valores são incorporados aos atributos, e todas as condições são verificadas na mesma etapa: o que elas disparam começa na hora, e o que elas proíbem é recusado.' },
    recover: { name: 'Voltar…', title: 'Voltar a uma gravação anterior', button: 'Voltar', will: (_: string) => 'O que está pendente para, e as transições desde essa gravação são compensadas, a mais nova primeiro. Os valores gravados de fora permanecem.' },
    export: { name: 'Mover para fora…', title: 'Mover esta instância para fora', button: 'Mover e baixar', will: (_: string) => 'Ela para aqui e vira um arquivo, que este navegador baixa. Ela continua onde o arquivo for importado; “ebb import” a traz de volta.' },
    rerunOther: 'Com outra entrada…', rerunBefore: 'Este trabalho já tinha sido iniciado de novo, como esta instância.',
    recoverTo: 'Voltar para', recoverStops: 'Não verificar as condições; deixar para um operador', attributes: 'Atributos atuais', values: 'Valores a gravar',
    newest: 'O que aconteceu nesse meio-tempo',
  },
  instance: {
    quiet: (n: number) => `${count(n, 'etapa pouco importante', 'etapas pouco importantes')} sem problemas.`,
    why: 'Por quê:', started: 'iniciada', ran: (time: string) => `durou ${time}`, runs: (time: string) => `já dura ${time}`, until: (kind: string): string => (kind === 'retry' ? 'Próxima tentativa:' : kind === 'timer' ? 'Continua:' : kind === 'decision' || kind === 'signal' ? 'Prazo:' : 'Até:'), priority: (n: number) => `prioridade ${n}`,
    actAt: (verb: string, at: string) => `${verb}: “${at}”…`,
    tab: { graph: 'Grafo', timeline: 'Linha do tempo', steps: 'Etapas', history: 'Histórico', data: 'Dados', related: 'Relacionadas', raw: 'Bruto' }, inApi: 'O mesmo pela API',
  },
  related: {
    startedBy: 'Iniciada por', trace: 'ID do trace', links: 'Em outros sistemas', rerunOf: 'Repete o trabalho de', reruns: 'Reiniciada como', sameKey: 'Com a mesma chave', sameLabels: 'Com o mesmo rótulo', sameFailure: 'Com a mesma falha', group: 'O grupo inteiro', bulks: 'Ações em massa', cut: 'Só as mais recentes são exibidas.',
    none: 'Nenhuma outra instância tem a mesma chave ou a mesma falha, nenhuma ação em massa a tocou, e nada foi enviado sobre ela.',
  },
  graph: {
    label: 'Etapas do workflow', described: (n: number) => `Imagem de ${count(n, 'nó', 'nós')}. “Lista” mostra o mesmo em texto.`, zoomIn: 'Ampliar', zoomOut: 'Reduzir', fit: 'Ajustar', list: 'Lista', picture: 'Imagem',
  },
  timeline: {
    idle: (time: string) => `Nada aconteceu por ${time}`, cut: (shown: number, all: number) => `Exibidas as últimas ${number(shown)} de ${number(all)} etapas.`, lastEvents: (n: string) => `Desenhado a partir dos últimos ${n} eventos.`,
    kind: { attempt: 'tentativa', failed: 'tentativa com falha', retry: 'aguarda nova tentativa', queue: 'aguarda um worker', wait: 'aguarda', running: 'em execução', undo: 'compensação', undo_failed: 'compensação com falha' },
  },
  steps: {
    step: 'Etapa', branch: 'Ramo', tries: 'Tentativas', took: 'Duração', worker: 'Worker', error: 'Erro', started: 'Início', attempts: (n: number) => count(n, 'tentativa', 'tentativas'), eachAttempt: 'Tentativas',
    notYet: 'Ainda não alcançada.', visit: (n: number, all: number) => `Passagem ${n} de ${all}`, toHistory: 'Eventos desta etapa',
  },
  history: {
    type: 'Tipo', allTypes: 'Todos os tipos', node: 'Etapa', at: 'Hora', attempt: 'Tentativa', took: 'Duração', about: 'Refere-se a', by: 'Por', count: (n: number) => count(n, 'evento', 'eventos'), following: 'acompanhando', toEnd: 'Ir para o fim', event: (seq: number) => `Evento ${seq}`,
  },
  data: {
    input: 'Entrada', output: 'Saída', error: 'Erro', instanceInput: 'Entrada da instância', instanceOutput: 'Saída da instância', outputOf: (node: string) => `Saída de ${node}`, find: 'Buscar nos dados', left: 'Esquerda', right: 'Direita', nothing: 'nada',
    path: 'Caminho', differences: (n: number) => count(n, 'diferença', 'diferenças'), forbidden: 'Seu papel mostra tamanhos e nomes, mas não os dados em si.',
  },
  json: { cut: (size: string) => `${size}, não exibido`, download: 'Baixar', more: (n: number) => `mais ${number(n)}` },
  failures: {
    which: 'Quais falhas', all: 'Todas', none: 'Nenhuma falha. Etapas que falham definitivamente aparecem aqui, agrupadas por erro.', count: (n: number) => count(n, 'instância', 'instâncias'),
    waiting: (n: number) => `${number(n)} aguardando`, ended: (n: number) => `${number(n)} com falha`, retryAll: (n: number) => `Repetir uma, depois todas as ${number(n)}…`, copy: 'Copiar como issue', first: 'Primeira', last: 'Última', versions: 'Versões',
    growth: (hour: string, day: string) => `${hour} na última hora, ${day} nas últimas 24 h`, fresh: 'nova', newest: 'Instâncias, mais recentes primeiro', gone: 'Nenhuma instância falha mais assim.', cancelAll: (n: number) => form(n, 'Cancelar…', `Cancelar todas as ${number(n)}…`),
  },
  decisions: {
    mine: 'Minhas', roles: 'Papéis', allRoles: 'Todos os papéis', none: 'Nada aguarda uma decisão.', late: (time: string) => `${time} de atraso`, left: (time: string) => `restam ${time}`, quorum: (have: number, need: number) => `${have} de ${need} ${form(have, 'confirmada', 'confirmadas')}`,
    question: (node: string) => node.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase()) + '?', more: 'Mais dados', who: 'Quem pode decidir', anyone: 'qualquer pessoa', votes: 'Votos', since: 'Recebida', deadline: 'Prazo', keysMove: 'próxima, anterior',
    gone: 'A decisão deste link não está mais aberta.',
    forbidden: 'Seu papel pode ver decisões, mas não tomá-las.',
  },
  workflows: {
    retention: 'Retenção', kept: 'Instâncias concluídas ficam por', keptFailed: 'Outras encerradas ficam por', keptHelp: 'Uma duração como 30d, ou forever.', ownRule: 'Este workflow tem uma regra própria.', generalRule: 'Vale a regra de todos os workflows.', noRule: 'Não há regra: as instâncias ficam para sempre.', keepWill: 'O que é mais antigo é removido em definitivo, em até seis horas.', setRule: 'Definir a regra', dropRule: 'Remover a regra', ruleSet: (name: string) => `Retenção definida: ${name}`, ruleDropped: (name: string) => `Regra removida: ${name}`,
    name: 'Workflow', version: 'Versão', versions: 'Versões', registered: 'Registro', find: 'Buscar um workflow', none: 'Ainda não há workflows. Registre um:', noMatch: (text: string) => `Nenhum workflow tem “${text}” no nome.`, yaml: 'YAML', newest: '(mais recente)',
    from: 'De', to: 'Para', fromVersion: (n: number) => `Comparar a partir da versão ${n}`, toVersion: (n: number) => `Comparar com a versão ${n}`, difference: (from: number, to: number) => `De v${from} para v${to}`, same: 'Os textos são iguais.', noInstances: 'Ainda não há instâncias deste workflow.', allInstances: 'Todas as instâncias deste workflow',
    structure: 'O que muda', change: { added: 'novo', removed: 'removido', changed: 'alterado' }, onlyText: 'Os nós são iguais; só o texto ao redor é diferente.',
  },
  build: {
    tried: 'Expressões nas suas linhas', triedInput: 'Entrada de exemplo', triedHelp: 'Com ela as expressões são avaliadas. Uma definição pode nomear várias entradas em “samples”.',
    title: (name: string) => `Nova versão de ${name}`, fresh: 'Novo workflow', draft: 'Rascunho guardado neste navegador', restored: 'Seu rascunho da última vez', undo: 'Desfazer', redo: 'Refazer', download: 'Baixar', kind: 'Tipo de nó', addAfter: (name: string) => `Adicionar após ${name}`, addLast: 'Adicionar no fim', earlier: 'Mover para cima', later: 'Mover para baixo', remove: 'Remover', inText: 'Está no texto.',
  },
  register: {
    button: 'Novo workflow…', edit: 'Nova versão…', title: 'Registrar uma versão', text: 'Definição', picture: 'Imagem', problems: 'Problemas', valid: 'Nenhum problema.', noPicture: 'A imagem aparece quando a definição pode ser lida.', submit: 'Registrar', reset: 'Descartar alterações', editor: 'Definição em YAML',
    done: (name: string, version: number) => `Registrado: ${name} v${version}`,
  },
  start: {
    notWhole: 'Nem toda a entrada armazenada é mostrada aqui. Insira um valor onde ele faltar ou for •••.',
    button: 'Iniciar…', title: (name: string) => (name ? `Iniciar ${name}` : 'Iniciar uma instância'), choose: 'Escolha um workflow', form: 'Formulário', input: 'Entrada', key: 'Chave (opcional)', keyHelp: 'A mesma chave é a mesma instância, não importa quantas vezes ela seja iniciada.', asCommand: 'O mesmo como comando', submit: 'Iniciar', optional: '(opcional)',
    required: 'Campo obrigatório.', pattern: (pattern: string) => `Deve corresponder a ${pattern}`, least: (n: number) => `No mínimo ${n}.`, most: (n: number) => `No máximo ${n}.`,
  },
  workers: {
    count: (alive: number, threads: number) => `${count(alive, 'ativo', 'ativos')}, ${count(threads, 'thread', 'threads')}`, worker: 'Worker', host: 'Host', tasks: 'Tarefas', threads: 'Threads', handlers: 'Handlers', handler: 'Handler', since: 'Início', lease: 'Fim do lease', allQueues: 'todas',
    state: { alive: 'ativo', draining: 'encerrando', dead: 'inativo' }, ranOut: (time: string) => `terminou há ${time}`, none: 'Nenhum worker. As instâncias aguardam até que um seja iniciado:',
    unserved: (n: number, handler: string) => `${count(n, 'tarefa aguarda', 'tarefas aguardam')} “${handler}”: nenhum worker ativo tem este handler.`, unservedHint: (queue: string) => `Fila ${queue}. Inicie um worker que o tenha, ou procure um nome escrito errado.`,
    matrix: 'Quem pode executar o quê', no_worker: 'nenhum worker', runs: (worker: string, handler: string) => `${worker} executa ${handler}`,
  },
  queues: {
    longest: 'Mais antiga',
    queue: 'Fila', running: 'Em execução', use: 'Uso', waiting: 'aguardando', sleeping: 'Adormecidas', concurrency: 'Simultâneas', perKey: 'Simultâneas por chave', rate: 'Taxa', unlimited: '–', full: 'cheia', edit: 'Limites…', editOf: (name: string) => `Limites da fila ${name}`, none: 'Nenhuma fila com limites ou tarefas.',
    used: (used: number, of: number) => `${number(used)} de ${number(of)} em uso`, rateOf: (starts: number, period: string) => `${starts} / ${period}`, will: (running: number, waiting: number) => `Os novos limites valem imediatamente, em todos os workers. Agora há ${count(running, 'tarefa', 'tarefas')} em execução e ${number(waiting)} aguardando; tarefas em execução não são interrompidas.`,
    concurrencyHelp: 'Quantas tarefas desta fila podem ser executadas ao mesmo tempo, em todos os workers juntos. Vazio: sem limite.', perKeyHelp: 'O mesmo para cada chave de concorrência. Vazio: sem limite.', rateHelp: 'Quantas tarefas podem iniciar em um período como 1s ou 1m. Vazio: sem limite.', starts: 'Inícios', per: 'por', period: 'Período',
    stops: '0 para a fila: nada dela inicia até que o limite seja aumentado.', save: 'Definir limites', saved: (name: string) => `Limites definidos: ${name}`,
    no_worker: 'nenhum worker', stopped: 'parada', runningNow: (n: number) => `${n} em execução`, sleepingHelp: 'Tarefas que aguardam a sua hora, como a próxima tentativa.',
  },
  settings: {
    tab: { general: 'Geral', grants: 'Concessões', projects: 'Projetos', tokens: 'Tokens da API', sessions: 'Sessões', audit: 'Auditoria', definitions: 'Pasta de definições', config: 'Configuração' }, name: 'Nome', nameHelp: 'Letras, dígitos, “_”, “-” e “.”.',
    look: 'Aparência', theme: 'Cores', system: 'Como o sistema', light: 'Claro', dark: 'Escuro', zone: 'Horários', local: 'Hora local', density: 'Linhas', compact: 'Compactas', comfortable: 'Confortáveis', language: 'Idioma', browser: 'Como o navegador',
    you: 'Você', principal: 'Conhecido como', role: 'Papel', may: 'Permissões', server: 'Servidor', version: 'Versão', store: 'Armazenamento', noWorker: '(não executa handlers)', openapi: 'Documento OpenAPI', limits: 'Limites',
    tokens: 'Tokens de API', token: 'Token', newToken: 'Novo token…', once: 'Este é o token. Ele só é exibido agora.', noTokens: 'Nenhum token.', created: 'Criação', used: 'Último uso', expires: 'Expira', never: 'nunca', revoke: 'Revogar…', revokeOf: (name: string) => `Revogar o token ${name}`, revokeWill: 'Programas que o usam são recusados: imediatamente aqui, em até 5 s em outros servidores.',
    create: 'Criar token', expiresHelp: 'Uma duração como 2160h, ou never.',
    roleHelp: { viewer: 'Vê tudo, menos payloads.', approver: 'Vê e decide.', operator: 'Controla instâncias e filas.', developer: 'Além disso, registra workflows e inicia instâncias.', admin: 'Pode fazer tudo.', worker: 'Executa handlers, nada mais.', starter: 'Inicia instâncias e lê as próprias.' } as Record<string, string>,
  },
  access: {
    project: 'Projeto', everywhere: 'tudo', change: 'Alterar…', remove: 'Remover…', saved: (name: string) => `Salvo: ${name}`, removed: (name: string) => `Removido: ${name}`, taken: (name: string) => `“${name}” já existe. Escolha outro nome ou altere o existente.`,
    patternsHelp: 'Um padrão por linha: * é qualquer texto, ? qualquer caractere.', actAs: 'Pode agir por outros', actAsHelp: 'Uma ação pode citar a pessoa por quem é feita. Para programas com usuários próprios.', yes: 'sim', no: 'não',
  },
  projects: {
    fresh: 'Novo projeto…', what: 'Um projeto é um conjunto de workflows e filas. Uma concessão dá um papel em um só projeto.', title: 'Título', builtIn: 'embutido, tem tudo', none: 'Nenhum projeto próprio. Todo papel vale para tudo.', editOf: (name: string) => `Alterar o projeto ${name}`, removeOf: (name: string) => `Remover o projeto ${name}`,
    fits: (n: number) => `${count(n, 'workflow registrado corresponde', 'workflows registrados correspondem')}:`, fitsNone: 'Nenhum workflow registrado corresponde.', firstOnly: (n: number) => `Só os primeiros ${number(n)} workflows são comparados.`, gains: 'Ganha:', loses: 'Perde:', follow: (n: number) => `${count(n, 'concessão acompanha', 'concessões acompanham')}: aqui na hora, nos outros servidores em até 5 s.`,
    save: 'Salvar o projeto', create: 'Criar o projeto', inUse: (n: number) => `${count(n, 'concessão cita', 'concessões citam')} este projeto. Remova ou altere primeiro.`, toGrants: 'Mostrar essas concessões', removeWill: 'O projeto é removido. Seus workflows e instâncias ficam como estão.', removeTokens: 'Um token neste projeto não pode fazer mais nada.', remove: 'Remover o projeto',
  },
  grants: {
    again: 'Já tem este papel ali.', fresh: 'Nova concessão…', find: 'Buscar nome, papel ou projeto', count: (n: number) => count(n, 'concessão', 'concessões'), none: 'Nenhuma concessão. Uma concessão dá a uma pessoa, a um grupo ou a um token um papel em um projeto.', noMatch: 'Nenhuma concessão corresponde.', subject: 'Quem', kind: { user: 'pessoa', group: 'grupo', token: 'token', cert: 'certificado' }, kindOf: 'Tipo',
    kindHelp: { user: 'O nome com que a pessoa entra.', group: 'Todos os que, segundo o login, estão neste grupo.', token: 'O nome de um token da API. A concessão soma-se ao papel dele.', cert: 'O nome em um certificado de cliente: a primeira URI, o primeiro nome DNS ou o primeiro endereço de e-mail.' }, limits: 'Limites', editOf: (name: string) => `Alterar a concessão ${name}`, removeOf: (name: string) => `Remover a concessão ${name}`,
    keeps: 'Além disso, tem:', keepsNone: 'Além disso, não tem outra concessão.', ofToken: 'o papel do próprio token', decisionRoles: 'Papéis de decisão', decisionHelp: 'Um por linha. Vazio: decisões de qualquer papel.', same: 'Nada muda no papel nem no projeto.', own: 'Esta concessão é sua: você pode perder o próprio acesso.',
    gives: (name: string, role: string, where: string) => `${name} recebe o papel ${role}${where ? ` em ${where}` : ''}.`, takes: (name: string, role: string, where: string) => `${name} perde o papel ${role}${where ? ` em ${where}` : ''}.`, nobody: 'Escolha primeiro quem recebe.', soon: 'Vale aqui na hora e nos outros servidores em até 5 s.', save: 'Salvar a concessão', create: 'Criar a concessão', remove: 'Remover a concessão',
  },
  sessions: {
    none: 'Nenhuma sessão de navegador.', current: '(este navegador)', method: 'Entrada', by: { link: 'link de entrada', oidc: 'provedor de identidade' }, agent: 'Navegador', since: 'Desde', end: 'Encerrar…', endOthers: 'Encerrar minhas outras sessões…',
    endOf: (name: string, id: string) => `Encerrar a sessão ${id} de ${name}`, endAll: (n: number) => `Encerrar ${count(n, 'sessão', 'sessões')}`, will: 'O navegador precisa entrar de novo: aqui imediatamente, em outros servidores em até 5 s. Tokens e instâncias ficam como estão.', willHere: 'Este navegador precisa entrar de novo.', ended: (n: number) => count(n, 'sessão encerrada', 'sessões encerradas'),
  },
  audit: {
    who: 'Quem', action: 'Operação', target: 'Alvo', workflow: 'Workflow', since: 'Nos últimos', only: (value: string) => `Só linhas com ${value}`, count: (n: number) => count(n, 'linha', 'linhas'), none: 'Nada registrado ainda. Toda requisição que pode mudar algo tem uma linha aqui.', noMatch: 'Nenhuma linha corresponde.', row: (n: number) => `Linha ${n} da sua cadeia`,
    whole: (n: number) => `Cadeia de hashes intacta: ${count(n, 'linha verificada', 'linhas verificadas')}`, each: (n: number) => `Hashes corretos: ${count(n, 'linha', 'linhas')}; as linhas entre elas não aparecem`, broken: (n: number) => (n === 1 ? '1 linha não está como foi escrita.' : `${n} linhas não estão como foram escritas.`), brokenHint: 'Guarde uma cópia do banco de dados e examine a auditoria inteira:', unknown: 'Sem HTTPS, o navegador não consegue verificar os hashes. Use',
    fault: { changed: 'Esta linha foi alterada: seu hash é outro.', link: 'A linha anterior foi alterada ou inserida.', doubled: 'Esta linha foi inserida: sua cadeia já tem esse número.' }, removed: (n: number) => (n === 1 ? '1 linha anterior foi removida.' : `${n} linhas anteriores foram removidas.`), outcome: { allowed: 'permitida', failed: 'falhou', refused: 'recusada' },
    credential: 'Reconhecido por', by: { token: 'um token da API', session: 'um login', proxy: 'um proxy', anonymous: 'nada', oidc: 'um token do provedor', certificate: 'um certificado de cliente', local: 'acesso ao banco de dados' }, remote: 'Endereço', request: 'Requisição', chain: 'Cadeia', hash: 'Hash', prev: 'Hash anterior',
  },
  docs: {
    problems: 'Tipos de problemas', find: 'Buscar operação', none: 'Nenhuma operação corresponde.', all: 'Todas as operações', needs: 'Exige', noLogin: 'nenhum login', anyLogin: 'qualquer login', lacks: 'Você não tem esta permissão.', parameters: 'Parâmetros', body: 'Corpo', answers: 'Respostas', other: 'outras', required: 'obrigatório', members: 'Campos', choose: (n: number) => `${count(n, 'operação', 'operações')}. Escolha uma para ver o que ela recebe e responde.`,
  },
  config: {
    setting: 'Ajuste', value: 'Valor', from: 'Origem', about: 'Significado', applies: 'Uma mudança vale', set: 'Definidos', defaults: 'Padrões', find: 'Buscar ajuste', loaded: 'Lida', none: 'Nenhum ajuste. O programa que serve esta página não mostra nenhum.', nothing: 'Nenhum ajuste corresponde.',
    refused: 'A última recarga foi recusada. Os ajustes abaixo continuam valendo.', waiting: (n: number) => `${count(n, 'ajuste mudou', 'ajustes mudaram')} desde o início. Um reinício aplica:`,
    atReload: 'ao recarregar', atRestart: 'ao reiniciar', needsRestart: 'aguarda reinício', origin: { default: 'padrão', flag: 'linha de comando', environment: 'ambiente', file: 'arquivo' },
  },
  files: {
    noFolder: 'Este servidor não tem pasta de definições. Com uma, ele registra os workflows dos arquivos dela:', none: 'A pasta não tem arquivos.', file: 'Arquivo', since: 'Desde', state: { registered: 'registrado', invalid: 'inválido', refused: 'recusado', unreadable: 'ilegível', gone: 'sumiu' },
  },
  notifications: {
    redeliver: 'Entregar de novo', redelivered: (name: string) => `Será enviado de novo: ${name}`, hooks: 'Eventos recebidos', noHooks: 'Nenhum hook. Com um hook, um evento de outro programa inicia uma instância ou envia um sinal a ela.', hookStarts: (workflow: string) => `inicia ${workflow}`, hookSignals: (signal: string, workflow: string) => `envia ${signal} a ${workflow}`, hookDoes: 'Um evento', hookKey: 'Chave da instância',
    allEvents: 'Todos os eventos', only: 'Só estes:', choose: 'Escolha pelo menos um evento.', fresh: 'Novo webhook…', none: 'Nenhum webhook. Um webhook avisa outro programa que uma instância falhou, terminou ou espera por uma pessoa.', webhook: 'Webhook', to: 'Para', toHelp: 'Para onde vão as requisições: na internet pública, a menos que o servidor permita endereços privados.', format: 'Formato', formatHelp: { standard: 'Standard Webhooks: JSON assinado.', cloudevents: 'CloudEvents 1.0: os atributos são cabeçalhos.', slack: 'Uma frase para Slack, Mattermost, Rocket.Chat ou Discord.', teams: 'Um cartão para o Microsoft Teams.', email: 'Um e-mail; falhas de uma causa vêm em um só.' },
    events: 'Eventos', all: 'todos', patterns: 'Padrões de eventos', patternsHelp: 'Um por linha, como instance.*.', workflowsHelp: 'Um padrão por linha. Vazio: todos os workflows.', whereHelp: 'Um filtro por rótulos e outros, como labels.vip. Vazio: todas as instâncias.', isEnabled: 'Enviar eventos', willNot: 'Nada é enviado até ser ativado.', getsAll: 'Recebe todos os eventos.', gets: (n: number) => `Recebe ${count(n, 'tipo de evento', 'tipos de eventos')}:`,
    keepsSecret: 'Mantém o segredo. Falhas e uma suspensão são esquecidas.', makesSecret: 'Recebe um segredo, mostrado uma só vez.', save: 'Salvar o webhook', create: 'Criar o webhook', editOf: (name: string) => `Alterar o webhook ${name}`, state: { ok: 'entrega', enabled: 'ativo', suspended: 'suspenso', disabled: 'desativado' }, failures: (n: number) => count(n, 'falha seguida', 'falhas seguidas'),
    suspended: (n: number) => (n === 1 ? '1 webhook está suspenso.' : `${n} webhooks estão suspensos.`), suspendedHint: (n: number): string => (n === 1 ? 'Tentativas demais falharam. Os eventos esperam até 7 dias; os mais antigos se perdem. Conserte o destino e depois envie um ping ou retome.' : 'Tentativas demais falharam. Os eventos esperam até 7 dias; os mais antigos se perdem. Conserte os destinos e depois envie pings ou retome os webhooks.'), failingHint: 'O destino não aceita os eventos. Há novas tentativas por cerca de três dias.', once: (name: string) => `Este é o segredo de ${name}. Ele só é mostrado agora.`, oldSecret: 'Segredo antigo termina',
    pinged: (name: string) => `Um ping está a caminho: ${name}`, enabled: (name: string) => `Ativado: ${name}`, disabled: (name: string) => `Desativado: ${name}`, ping: 'Enviar um ping', resume: 'Retomar', enable: 'Ativar', disable: 'Desativar', rotate: 'Novo segredo…', rotateNow: 'Gerar novo segredo', rotateWill: 'Recebe um novo segredo, mostrado uma só vez. Pelo tempo abaixo, as requisições também são assinadas com o antigo.', keepOld: 'Manter o segredo antigo por', keepOldHelp: 'Uma duração como 1d. 0s o encerra agora.',
    remove: 'Remover o webhook', removeWill: 'O webhook é removido, com os eventos que esperam por ele. Eles não são enviados.', deliveries: 'Entregas', allDeliveries: 'Todas as entregas', noDeliveries: 'Nada foi enviado ainda.',
  },
  palette: {
    placeholder: 'Um ID, uma chave, um workflow ou uma página', page: 'página', workflow: 'workflow', none: 'Nada encontrado.', hits: 'Resultados', keys: 'Atalhos', filter: 'Ir para o filtro', move: 'Linha seguinte, anterior', select: 'Selecionar a linha', decide: 'Confirmar, rejeitar uma decisão',
    act: 'ação', here: 'nesta página', recent: 'vista há pouco', light: 'Cores claras', dark: 'Cores escuras',
  },
  compare: {
    sameData: 'Os dados das duas execuções são iguais.', button: 'Comparar', title: 'Duas execuções', same: 'Todas as etapas terminaram da mesma forma.', parts: (node: string) => `As execuções se separam em “${node}”.`, absent: 'não alcançada', sameInput: 'As entradas são iguais.',
    apart: 'Diferença', whole: 'A execução inteira', otherWorkflows: 'São instâncias de workflows diferentes. As etapas são comparadas pelo nome.', swap: 'Trocar os lados',
  },
  rehearsal: {
    button: 'Ensaiar', hide: 'Ocultar o ensaio', plan: 'E se…', reset: 'Tudo conclui', ends: 'Fim', undo: 'Desfazer', endOf: (node: string) => `Como ${node} termina`, undoOf: (node: string) => `Como termina desfazer ${node}`, noUndo: 'nada a desfaz', outcome: { complete: 'conclui', fail: 'falha, tenta de novo', fail_for_good: 'falha de vez', never: 'nunca responde' } as Record<string, string>, verdict: { complete: 'é confirmada', fail: 'é confirmada', fail_for_good: 'é rejeitada', never: 'ninguém decide' } as Record<string, string>, signal: { complete: 'chega', fail: 'chega', fail_for_good: 'chega', never: 'nunca chega' } as Record<string, string>, cancel: 'Um operador cancela', noCancel: 'nunca', after: (node: string) => `após ${node}`, help: 'Nenhum handler é chamado e nada é gravado. Uma etapa passa adiante a sua entrada.', result: 'O que aconteceria', invalid: 'Dá para ensaiar quando não houver problemas.', lasts: (time: string) => `após ${time}`, undone: (n: number) => `Desfeitas, nesta ordem (${n}):`, left: (nodes: string) => `O que estas etapas fizeram permanece: ${nodes}`, clean: 'Nada fica para trás.', cut: 'Continuaria; o ensaio termina no seu limite.',
  },
};
