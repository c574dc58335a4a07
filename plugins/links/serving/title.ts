import { normalizeUnicode } from "#plugin"

const MOST_CHARS = 200
const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

// Stops at the next tag: a page of nothing but beginnings would else be read to its end from each of them.
const TITLE = /<title[^<>]*>([^<]*)<\/title>/i

/** The title of a page, as one line of text; "" without one. */
export function titleIn(html: string): string {
  const text = TITLE.exec(html)?.[1] ?? ""
  return [
    ...normalizeUnicode(
      decoded(text)
        .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
        .trim(),
    ).toWellFormed(),
  ]
    .slice(0, MOST_CHARS)
    .join("")
    .trim()
}

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
    const point = Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
