/** Escapes text for HTML. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

/** Renders paragraphs with `code` in backticks. */
export const prose = (text: string): string =>
  text
    .split("\n\n")
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join("\n")

/** Renders the text of one paragraph with `code` in backticks. */
export const inline = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, "<code>$1</code>")

/** Formats a value as it would be sent. */
export const asJson = (value: unknown): string => escapeHtml(typeof value === "string" ? value : JSON.stringify(value, null, 2))

/** Renders a code block that can be scrolled with the keyboard. */
export const block = (label: string, text: string): string =>
  `<figure><figcaption>${escapeHtml(label)}</figcaption><pre tabindex="0">${text}</pre></figure>`
