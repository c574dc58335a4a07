const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)

/** The same text for programs that show pages: one paragraph a block, a link where a line is an address. */
export function htmlOf(subject: string, text: string): string {
  const blocks = text.split(/\n{2,}/).map((block) => `<p>${block.split("\n").map(lineOf).join("<br>")}</p>`)
  const style = "font:16px/1.5 system-ui,sans-serif;color:#1c1c1c;max-width:36em"
  return `<!doctype html><html><head><meta charset="utf-8"><title>${escaped(subject)}</title></head><body style="${style}">${blocks.join("")}</body></html>`
}

const lineOf = (line: string): string => (/^https?:\/\/\S+$/.test(line) ? `<a href="${escaped(line)}">${escaped(line)}</a>` : escaped(line))
