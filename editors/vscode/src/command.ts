import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as vscode from 'vscode';

/** What an answer may have: a large history, but not all of a computer's memory. */
const ANSWER_BYTES_MAX = 64 << 20;
/** How much of what a command says of its failure is kept. */
const WORDS_MAX = 4_000;

/** Of the environment, what would lead a command elsewhere or give it rights that the user did not give here. */
const NOT_INHERITED = ['EBB_DB', 'EBB_SERVER', 'EBB_TOKEN', 'EBB_TOKEN_FILE', 'EBB_ALLOW_EXEC'];

/** Where instances are: the options that name it, and the token of a server. */
export interface Target {
  args: string[];
  token?: string;
}

export const NOWHERE: Target = { args: [] };

function start(words: string[], target: Target, stdin?: string): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...process.env, NO_COLOR: '1' };
  for (const name of NOT_INHERITED) delete env[name];
  if (target.token !== undefined) env.EBB_TOKEN = target.token;
  const path = vscode.workspace.getConfiguration('ebb').get<string>('path') || 'ebb';
  // A process and not a shell: no text of a workflow is ever read as a command.
  const child = spawn(path, [...words, ...target.args], { cwd: folder(), env, stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'] });
  // A command that ends before it has read everything says why itself.
  child.stdin?.on('error', () => undefined).end(stdin);
  return child;
}

export const folder = () => vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;

/** The sentence of an error that a command has written as JSON, or else its last words. */
export function sentenceOf(words: string): string {
  const last = words.trim().split('\n').at(-1) ?? '';
  try {
    const { error } = JSON.parse(last) as { error?: { message?: unknown } };
    if (typeof error?.message === 'string') return error.message;
  } catch {
    // It is plain text.
  }
  return last || 'The command ended without a word.';
}

/** What the command answers. Fails with its sentence if it ends with another status than `statuses`. */
function textOf(words: string[], target: Target, statuses: number[], stdin?: string): Promise<string> {
  const child = start(words, target, stdin);
  return new Promise((done, failed) => {
    let answer = '';
    let complaint = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      if (answer.length > ANSWER_BYTES_MAX) child.kill();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (complaint = (complaint + text).slice(-WORDS_MAX)));
    child.once('error', (error) => failed(new Error(`ebb cannot be started: ${error.message}`)));
    child.once('close', (status) => {
      if (status !== null && statuses.includes(status)) done(answer);
      else failed(new Error(sentenceOf(complaint)));
    });
  });
}

/** A text that the command prints in a format of its own. */
export const print = (words: string[], format: string, target: Target, statuses = [0], stdin?: string) => textOf([...words, '--format', format], target, statuses, stdin);

/** What the command answers as JSON. */
export async function ask<Answer>(words: string[], target: Target, statuses = [0], stdin?: string): Promise<Answer> {
  const answer = await textOf([...words, '--json'], target, statuses, stdin);
  try {
    return JSON.parse(answer) as Answer;
  } catch {
    throw new Error('The answer of the command is not valid JSON: is it an older ebb?');
  }
}

/** The files of types that every command gets that reads workflows. */
export const types = () => (vscode.workspace.getConfiguration('ebb').get<string[]>('types') ?? []).flatMap((file) => ['--types', file]);

/** A command that prints a JSON document on each line until it ends or is stopped. */
export class Lines implements vscode.Disposable {
  private readonly child: ChildProcess;
  private readonly line = new vscode.EventEmitter<Record<string, unknown>>();
  private readonly end = new vscode.EventEmitter<string | undefined>();
  private complaint = '';
  private isOver = false;
  readonly onLine = this.line.event;
  /** With what the command said of its failure, if it failed before it printed the last line. */
  readonly onEnd = this.end.event;

  constructor(words: string[], target: Target, stdin?: string) {
    this.child = start(words, target, stdin);
    createInterface({ input: this.child.stdout! }).on('line', (text) => this.read(text));
    this.child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.complaint = (this.complaint + text).slice(-WORDS_MAX)));
    this.child.once('error', (error) => this.finish(`ebb cannot be started: ${error.message}`));
    this.child.once('close', (status) => this.finish(status === 0 ? undefined : sentenceOf(this.complaint)));
  }

  /** Asks the command to end in an orderly way, as Ctrl-C does. */
  dispose(): void {
    if (!this.isOver) this.child.kill('SIGINT');
  }

  private read(text: string): void {
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) this.line.fire(value as Record<string, unknown>);
    } catch {
      // Not a line of ours.
    }
  }

  private finish(words: string | undefined): void {
    if (this.isOver) return;
    this.isOver = true;
    this.end.fire(words);
  }
}
