// A real VS Code on a free port of this machine, with the packed extension, and a browser page on it.
// Environment: EBB_VSCODE (the fetched server), EBB_VSIX, EBB_COMMAND, EBB_CHROMIUM.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { EBB_VSCODE, EBB_VSIX, EBB_COMMAND } = process.env;

/** Each start of the command is a line of a file, so that a test sees which programs were started. */
function recorder(folder) {
  const path = join(folder, 'ebb');
  writeFileSync(path, `#!/bin/sh\necho "$*" >> '${folder}/starts'\nexec '${EBB_COMMAND}' "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

export class Code {
  static async start({ files, isTrusted, settings = {} }) {
    const code = new Code();
    code.home = mkdtempSync(join(tmpdir(), 'ebb-vscode-'));
    code.folder = join(code.home, 'shop');
    for (const name of ['shop', 'data/User', 'extensions', 'server', 'unpacked']) mkdirSync(join(code.home, name), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(code.folder, name), text);
    const user = {
      'ebb.path': recorder(code.home),
      'security.workspace.trust.enabled': !isTrusted,
      'security.workspace.trust.startupPrompt': 'never',
      'security.workspace.trust.banner': 'never',
      'files.autoSave': 'off',
      'workbench.startupEditor': 'none',
      'workbench.tips.enabled': false,
      'telemetry.telemetryLevel': 'off',
      'extensions.ignoreRecommendations': true,
      'editor.quickSuggestionsDelay': 0,
      ...settings,
    };
    writeFileSync(join(code.home, 'data/User/settings.json'), JSON.stringify(user));
    code.install();
    await code.serve();
    return code;
  }

  options() {
    const at = (name) => join(this.home, name);
    return ['--accept-server-license-terms', '--telemetry-level', 'off', '--user-data-dir', at('data'), '--extensions-dir', at('extensions'), '--server-data-dir', at('server')];
  }

  install() {
    const main = join(EBB_VSCODE, 'out/server-main.js');
    const done = spawnSync(process.execPath, [main, '--install-extension', EBB_VSIX, ...this.options()], { encoding: 'utf8' });
    if (!done.stdout.includes('was successfully installed')) throw new Error(`VS Code refuses the extension:\n${done.stdout}${done.stderr}`);
  }

  async serve() {
    const main = join(EBB_VSCODE, 'out/server-main.js');
    const args = [main, '--host', '127.0.0.1', '--port', '0', '--without-connection-token', ...this.options()];
    const env = { ...process.env, EBB_HOST_RESULT: join(this.home, 'result.json') };
    // A group of its own, so that the extension host ends with it.
    this.server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env, detached: true });
    this.log = '';
    this.server.stderr.on('data', (data) => (this.log += data));
    this.port = await new Promise((found, failed) => {
      this.server.stdout.on('data', (data) => {
        this.log += data;
        const port = /listening on (\d+)/.exec(this.log)?.[1];
        if (port) found(Number(port));
      });
      this.server.once('exit', (status) => failed(new Error(`VS Code ended with ${status}:\n${this.log}`)));
    });
  }

  get origin() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The address of the workbench, with a file in its editor or with a test that runs inside the extension host. */
  url({ file, test }) {
    const url = new URL(this.origin);
    const remote = (path) => `vscode-remote://127.0.0.1:${this.port}${path}`;
    const extension = join(this.home, 'extensions/ebb.ebb-0.1.0');
    const payload = test ? [['extensionDevelopmentPath', remote(extension)], ['extensionTestsPath', remote(test)]] : [['openFile', remote(join(this.folder, file))]];
    url.searchParams.set('folder', this.folder);
    url.searchParams.set('payload', JSON.stringify(payload));
    return url.href;
  }

  /** What the test in the extension host has written, when it is there. */
  result() {
    const path = join(this.home, 'result.json');
    if (!existsSync(path)) return undefined;
    const text = readFileSync(path, 'utf8');
    return text.endsWith('\n') ? JSON.parse(text) : undefined;
  }

  /** All settings that are kept in files. */
  settings() {
    return readFileSync(join(this.home, 'data/User/settings.json'), 'utf8');
  }

  starts() {
    const path = join(this.home, 'starts');
    return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
  }

  async stop() {
    this.server.removeAllListeners('exit');
    const ended = new Promise((done) => this.server.once('exit', done));
    try {
      process.kill(-this.server.pid, 'SIGKILL');
      await ended;
    } finally {
      rmSync(this.home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    }
  }
}
