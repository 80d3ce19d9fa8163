import * as vscode from 'vscode';
import { ask, type Target } from './command';
import { shortId, type Act, type Instance, type Wait } from './model';

/** Asks before anything is done. The sentence says what happens. */
async function isSure(sentence: string, button: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(sentence, { modal: true }, button)) === button;
}

/** Of several waits the one that is meant. */
async function pickWait(waits: Wait[], title: string): Promise<Wait | undefined> {
  if (waits.length < 2) return waits[0];
  const picked = await vscode.window.showQuickPick(waits.map((wait) => ({ label: wait.node ?? '', description: wait.sentence, wait })), { title });
  return picked?.wait;
}

export function faultOfJson(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? `This is not valid JSON: ${error.message}` : 'This is not valid JSON.';
  }
}

async function decide(instance: Instance, name: string): Promise<string[] | undefined> {
  const waits = instance.waiting_for.filter((wait) => wait.kind === 'decision');
  const wait = await pickWait(waits, `Which decision of ${name}?`);
  if (!wait?.node) {
    void vscode.window.showInformationMessage(`${name} waits for no decision.`);
    return undefined;
  }
  const verdicts = [
    { label: 'Confirm', verdict: 'confirm', description: 'the workflow goes on' },
    { label: 'Reject', verdict: 'reject', description: 'the workflow does what it says of a rejection' },
  ];
  const picked = await vscode.window.showQuickPick(verdicts, { title: `${wait.node}: ${wait.sentence}` });
  if (!picked) return undefined;
  const comment = await vscode.window.showInputBox({ title: `${picked.label} ${wait.node}: comment`, prompt: 'For the history; may be empty.', ignoreFocusOut: true });
  if (comment === undefined) return undefined;
  if (!(await isSure(`${picked.label} the decision "${wait.node}" of ${name}?`, picked.label))) return undefined;
  return ['decide', instance.id, picked.verdict, '--node', wait.node, ...(comment ? ['--comment', comment] : [])];
}

async function signal(instance: Instance, name: string): Promise<string[] | undefined> {
  const awaited = instance.waiting_for.filter((wait) => wait.kind === 'signal').map((wait) => wait.what ?? wait.node ?? '');
  const other = 'Another signal...';
  let signalName = awaited.length > 0 ? await vscode.window.showQuickPick([...new Set(awaited), other], { title: `Signal to ${name}` }) : other;
  if (signalName === other) signalName = await vscode.window.showInputBox({ title: `Signal to ${name}: its name`, ignoreFocusOut: true });
  if (!signalName) return undefined;
  const payload = await vscode.window.showInputBox({ title: `Signal ${signalName}: JSON`, value: 'null', ignoreFocusOut: true, validateInput: faultOfJson });
  if (payload === undefined) return undefined;
  if (!(await isSure(`Send the signal "${signalName}" to ${name}?`, 'Send'))) return undefined;
  return ['signal', instance.id, signalName, '--payload', payload];
}

async function requeue(instance: Instance, name: string): Promise<string[] | undefined> {
  const isDone = await isSure(`Let ${name} try again from where it stopped, with a new count of attempts?`, 'Requeue');
  return isDone ? ['requeue', instance.id] : undefined;
}

async function cancel(instance: Instance, name: string): Promise<string[] | undefined> {
  const isDone = await isSure(`Cancel ${name}? Everything that it did is compensated.`, 'Cancel the Instance');
  return isDone ? ['cancel', instance.id] : undefined;
}

async function pause(instance: Instance, name: string): Promise<string[] | undefined> {
  const isDone = await isSure(`Pause ${name}? Handlers that run finish, and nothing new starts until it is resumed.`, 'Pause');
  return isDone ? ['pause', instance.id] : undefined;
}

async function resume(instance: Instance, name: string): Promise<string[] | undefined> {
  return (await isSure(`Resume ${name}? It continues where it was paused.`, 'Resume')) ? ['resume', instance.id] : undefined;
}

/** What cannot be taken back is typed and not only clicked. */
async function abort(instance: Instance, name: string): Promise<string[] | undefined> {
  const wanted = shortId(instance.id);
  const prompt = `${name} ends at once and nothing is compensated. To abort it, write ${wanted}.`;
  const validateInput = (text: string) => (text.trim() === wanted ? undefined : `Write ${wanted}, the end of the id.`);
  const written = await vscode.window.showInputBox({ title: `Abort ${name}`, prompt, validateInput, ignoreFocusOut: true });
  return written?.trim() === wanted ? ['abort', instance.id] : undefined;
}

const DOINGS: Record<Act, (instance: Instance, name: string) => Promise<string[] | undefined>> = { decide, signal, requeue, pause, resume, cancel, abort };

/** Asks for what is missing and for a confirmation, and does it. False if the person has not confirmed. */
export async function steer(act: Act, id: string, target: Target): Promise<boolean> {
  const instance = await ask<Instance>(['show', id], target);
  const words = await DOINGS[act](instance, `${instance.workflow} ${shortId(id)}`);
  if (!words) return false;
  await ask<unknown>(words, target);
  return true;
}
