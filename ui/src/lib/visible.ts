// Text of the outside world is shown as it is, but for characters that show nothing themselves: a control of the writing
// direction would let "gpj.exe" read "exe.jpg", and a zero-width character would make two names look alike. They are
// escaped, as in the log. Joiners and soft hyphens stay, because scripts, emoji and long words need them; so do tabs and
// the ends of lines.
export const HIDDEN = /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u061C\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF]/;
const ALL_HIDDEN = new RegExp(HIDDEN, 'g');

/** `text` with each such character as `\u202e`. */
export const visible = (text: string) => text.replace(ALL_HIDDEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** The attributes that a person reads or hears. */
const ATTRIBUTES = ['title', 'aria-label', 'placeholder', 'alt', 'label'];
const WITH_ATTRIBUTES = ATTRIBUTES.map((name) => `[${name}]`).join();

function showAttribute(element: Element, name: string) {
  const text = element.getAttribute(name);
  if (text && HIDDEN.test(text)) element.setAttribute(name, visible(text));
}

function show(node: Node) {
  if (HIDDEN.test(node.textContent ?? '')) {
    const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
    for (let text = node.nodeType === Node.TEXT_NODE ? node : texts.nextNode(); text; text = texts.nextNode()) {
      if (HIDDEN.test(text.nodeValue!)) text.nodeValue = visible(text.nodeValue!);
    }
  }
  if (!(node instanceof Element)) return;
  for (const element of [node, ...node.querySelectorAll(WITH_ATTRIBUTES)]) for (const name of ATTRIBUTES) showAttribute(element, name);
}

/** Shows whatever comes into the document this way, before it is drawn: no page has to remember it. What people write
 * stays as they wrote it: the values of fields are not part of the text of the document. The editor does the same by itself. */
export function showHidden() {
  new MutationObserver((changes) => {
    for (const { type, target, attributeName, addedNodes } of changes) {
      if (type === 'attributes') showAttribute(target as Element, attributeName!);
      else if (type === 'characterData') show(target);
      else addedNodes.forEach(show);
    }
  }).observe(document, { subtree: true, childList: true, characterData: true, attributeFilter: ATTRIBUTES });
}
