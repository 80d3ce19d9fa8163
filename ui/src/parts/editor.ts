import { yaml } from '@codemirror/lang-yaml';
import { lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view';
import type { Diagnostic } from '../api/client';
import { HIDDEN, visible } from '../lib/visible';

// The builder's tools use the editor's parser, so they come with it.
export * from '../lib/outline';

export interface Editor {
  show: (text: string, problems: Diagnostic[]) => void;
  /** Puts the cursor there and brings it into view. */
  goTo: (line: number) => void;
  close: () => void;
}

/** A character that shows nothing itself, as it is shown elsewhere. */
function shownAs(code: number, description: string | null): HTMLElement {
  const shown = document.createElement('span');
  shown.textContent = visible(String.fromCharCode(code));
  shown.title = description ?? '';
  shown.className = 'cm-specialChar';
  return shown;
}

/** Without `onchange` it is read only. */
export function makeEditor(host: HTMLElement, text: string, onchange: ((text: string) => void) | undefined, label: string): Editor {
  // In a shadow root CodeMirror's styles are adopted style sheets; in the document they would be inline <style>
  // elements, which the Content-Security-Policy refuses.
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
  const view = new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), drawSelection(), yaml(), lintGutter(), highlightSpecialChars({ addSpecialChars: HIDDEN, render: shownAs }),
        EditorView.lineWrapping,
        EditorView.theme({
          '&': { maxHeight: '66vh', background: 'var(--paper)', color: 'var(--ink)', fontSize: '13px' },
          '.cm-scroller': { fontFamily: 'var(--mono)', overflow: 'auto' },
          '.cm-content': { caretColor: 'var(--ink)' },
          '.cm-cursor': { borderLeftColor: 'var(--ink)' },
          '.cm-gutters': { background: 'var(--raised)', color: 'var(--soft)', borderColor: 'var(--line)' },
          '&.cm-focused': { outline: 'none' },
          // CodeMirror's own is a light gray in both themes.
          '& .cm-selectionLayer .cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': { background: 'var(--selected)' },
          '.cm-tooltip': { background: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)' },
        }),
        // The tab stop is there anyway; axe knows it only by its name.
        EditorView.contentAttributes.of({ 'aria-label': label, tabindex: '0' }),
        onchange ? EditorView.updateListener.of((update) => update.docChanged && onchange(update.state.doc.toString())) : EditorState.readOnly.of(true),
        // Tab leaves the editor, as it leaves every other field.
        keymap.of([{ key: 'Ctrl-/', run: () => true }]),
      ],
    }),
  });
  return {
    show(next, problems) {
      if (next !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      const lines = view.state.doc.lines;
      const found = problems.filter((one) => one.line && one.line <= lines).map((one) => {
        const line = view.state.doc.line(one.line!);
        const from = Math.min(line.to, line.from + Math.max(0, (one.column ?? 1) - 1));
        return { from, to: Math.max(from, line.to), severity: 'error' as const, message: one.message };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    goTo(line) {
      const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
      view.dispatch({ selection: { anchor: at.from, head: at.to }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) });
    },
    close: () => view.destroy(),
  };
}
