// Pages of another origin that try to act with the session of a person who is logged in to Ebb.
import { createServer } from 'node:http';

const ATTACK = `<!doctype html><meta charset="utf-8"><title>attack</title><script src="/attack.js"></script>`;
const FORM = (target) => `<!doctype html><meta charset="utf-8"><title>form</title>
<form method="post" enctype="text/plain" action="${target}"><input name='{"reason": "' value='"}'><button>win</button></form>`;
const FRAME = (address) => `<!doctype html><meta charset="utf-8"><title>frame</title><iframe src="${address}"></iframe>`;

/** What `attack()` tries: it says of each way whether the browser or the server refused it, or whether nothing can be read. */
const SCRIPT = (address, id) => `
const api = ${JSON.stringify(`${address}api/v1`)};
const act = api + '/instances/${id}/cancel';
const how = async (path, options) => {
  try {
    const answer = await fetch(path, { credentials: 'include', ...options });
    if (answer.type === 'opaque') return 'unreadable';
    return answer.ok ? 'done' : 'refused';
  } catch {
    return 'refused';
  }
};
const post = (more) => how(act, { method: 'POST', body: '{"reason": "attack"}', ...more });
globalThis.attack = async () => ({
  read: await how(api + '/instances'),
  readPlain: await how(api + '/instances', { mode: 'no-cors' }),
  json: await post({ headers: { 'content-type': 'application/json' } }),
  plain: await post({ mode: 'no-cors' }),
  form: await post({ mode: 'no-cors', headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
  beacon: navigator.sendBeacon(act, new Blob(['{"reason": "attack"}'], { type: 'text/plain' })) ? 'unreadable' : 'refused',
  abort: await how(api + '/instances/${id}/abort', { method: 'POST', mode: 'no-cors' }),
  pause: await how(api + '/instances/${id}/pause', { method: 'POST', mode: 'no-cors', body: '' }),
});
`;
/** `address` is that of Ebb, `id` an instance to be attacked. */
export function startForeign(address, id) {
  const pages = {
    '/attack': ['text/html', ATTACK], '/attack.js': ['text/javascript', SCRIPT(address, id)], '/frame': ['text/html', FRAME(address)],
    '/form': ['text/html', FORM(`${address}api/v1/instances/${id}/cancel`)],
  };
  const server = createServer((request, response) => {
    const [type, text] = pages[request.url] ?? ['text/plain', ''];
    response.writeHead(pages[request.url] ? 200 : 404, { 'content-type': type }).end(text);
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const close = () => new Promise((done) => {
        server.closeAllConnections();
        server.close(done);
      });
      resolve({ address: `http://127.0.0.1:${server.address().port}/`, close });
    });
  });
}
