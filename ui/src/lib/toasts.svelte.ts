// Short messages at the bottom: what an act has done. They are read out, and never the only place of an error.
export interface Toast {
  id: number;
  text: string;
  kind: 'good' | 'bad';
  href?: string | undefined;
}

let next = 0;
export const toasts = $state<Toast[]>([]);

export function say(text: string, kind: Toast['kind'] = 'good', href?: string) {
  const id = ++next;
  toasts.push({ id, text, kind, href });
  setTimeout(() => dismiss(id), kind === 'bad' ? 10_000 : 5000);
}

export function dismiss(id: number) {
  const at = toasts.findIndex((toast) => toast.id === id);
  if (at >= 0) toasts.splice(at, 1);
}
