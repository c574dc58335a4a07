/** Escapes text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Renders paragraphs with `code` in backticks. */
export const prose = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n")

/** Renders the text of one paragraph with `code` in backticks, and with links to chapters of this page, such as `[Filters](docs#filters)`. */
export const inline = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, "<code>$1</code>")
    .replace(/\[([^\]]+)\]\(docs#([a-z-]+)\)/g, '<a href="#$2">$1</a>')

/** Renders a code block that can be scrolled with the keyboard. The script of the page adds a button that copies it. */
export const block = (label: string, code: string): string =>
  `<figure class="code"><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0">${code}</pre></figure>`

/** Renders a value as indented JSON with short lists on one line, and with the names of members set off. */
export const asJson = (value: unknown): string => escapeHtml(jsonText(value, "")).replace(/^( *)(&#34;.*?&#34;):/gm, "$1<span>$2</span>:")

const MAX_LINE_CHARS = 72

function jsonText(value: unknown, indent: string): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const isList = Array.isArray(value)
  const parts = isList
    ? value.map((item) => jsonText(item, inner))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${jsonText(member, inner)}`)
  const [open, close] = isList ? "[]" : "{}"
  const line = `${open}${parts.join(", ")}${close}`
  const isShort = (isList || parts.length <= 1) && indent !== "" && line.length + indent.length <= MAX_LINE_CHARS && !line.includes("\n")
  return parts.length === 0 || isShort ? line : `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`
}

/** Renders a table. On narrow screens its cells are stacked. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join("")
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}

/** A chapter of the page about more than one operation. */
export interface Guide {
  id: string
  title: string
  html: string
}

/** Renders a guide with its heading. */
export const guideSection = ({ id, title, html }: Guide): string =>
  `<section class="guide" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${escapeHtml(title)}</h2>${html}</section>`
