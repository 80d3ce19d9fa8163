// What is in trouble as the text of an issue, in Markdown. No payload is in it: those may be anyone's data.
import type { InstanceDetail, Step, StepStatus } from '../api/client';
import { SIGNS } from './status';
import { t } from '../text';

/** A block that shows the text as it is, whatever it contains. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

/** In a line of Markdown, as it is: names and keys may hold anything. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\`*_[\]<>|#]/g, (sign) => `\\${sign}`);
}

interface Trouble {
  instance: InstanceDetail;
  steps: readonly Step[];
  why: string;
  address: string;
}

export function issueOf({ instance, steps, why, address }: Trouble): string {
  const error = instance.error as { code?: string; message?: string; step?: string } | null;
  const title = [instance.workflow, error?.step, error?.code ?? t.status(instance.status)].filter((part) => part).map((part) => plain(part!)).join(' / ');
  const facts = [
    `${t.instances.workflow}: ${plain(instance.workflow)} v${instance.version}`,
    ...(instance.key ? [`${t.instances.key}: ${plain(instance.key)}`] : []),
    `${t.instances.status}: ${t.status(instance.status)}`,
    `${t.instances.started}: ${instance.created_at}`,
    address,
  ];
  const lines = steps.map((step) => {
    const sign = SIGNS[step.status as keyof typeof SIGNS] ?? '';
    const tries = step.attempts > 1 ? `, ${t.steps.attempts(step.attempts)}` : '';
    return `- ${sign} ${plain(step.node)}: ${t.status(step.status satisfies StepStatus)}${tries}`;
  });
  const said = error?.message ? `${fenced(error.message)}\n\n` : '';
  return `### ${title}\n\n${why ? `${plain(why)}\n\n` : ''}${said}- ${facts.join('\n- ')}\n\n${lines.length ? `${lines.join('\n')}\n` : ''}`;
}
