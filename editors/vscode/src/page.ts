import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** A page of the extension: its script, its style, and nothing else that a browser could load but `images`, a source of its policy. */
export function page(webview: vscode.Webview, extension: vscode.Uri, { name, title, body, images = '' }: { name: string; title: string; body: string; images?: string }): string {
  const nonce = randomBytes(16).toString('hex');
  const at = (file: string) => webview.asWebviewUri(vscode.Uri.joinPath(extension, 'out', file)).toString();
  const policy = `default-src 'none'; style-src ${webview.cspSource} 'nonce-${nonce}'; script-src 'nonce-${nonce}'${images && `; img-src ${images}`}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<link rel="stylesheet" href="${at(`${name}.css`)}">
<title>${title}</title>
</head>
<body data-nonce="${nonce}">
${body}
<script nonce="${nonce}" src="${at(`${name}.js`)}"></script>
</body>
</html>`;
}
