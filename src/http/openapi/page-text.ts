/** Text that may stand anywhere in a page. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Paragraphs, with `code` in backticks. */
export const prose = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n")

/** One paragraph's text. A long word may break behind a slash or a dot. */
export const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>")

/** A value as it would be sent. */
export const asJson = (value: unknown): string => escapeHtml(typeof value === "string" ? value : JSON.stringify(value, null, 2))

/** A box that scrolls by itself and can be scrolled by keys. */
export const block = (label: string, text: string): string =>
  `<figure><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0">${text}</pre></figure>`
