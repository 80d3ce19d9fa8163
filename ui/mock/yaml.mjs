// Writes a definition as YAML, as the real server answers to `Accept: application/yaml`.
export function toYaml(value, indent = 0) {
  const pad = '  '.repeat(indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return ' []\n';
    const items = value.map((item) => {
      if (typeof item !== 'object' || item === null) return `${pad}- ${scalar(item)}\n`;
      return `${pad}- ${toYaml(item, indent + 1).slice(pad.length + 2)}`;
    });
    return (indent ? '\n' : '') + items.join('');
  }
  const lines = Object.entries(value).map(([key, inner]) => {
    if (typeof inner === 'object' && inner !== null) {
      const below = toYaml(inner, indent + 1);
      return `${pad}${key}:${below.startsWith('\n') || below.startsWith(' []') ? '' : '\n'}${below}`;
    }
    return `${pad}${key}: ${scalar(inner)}\n`;
  });
  return lines.join('');
}

function scalar(value) {
  return typeof value === 'string' && /[:#{}\[\]"'&*!|>%@`^$]|^\s|\s$|^$/.test(value) ? JSON.stringify(value) : String(value);
}
