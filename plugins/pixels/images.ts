/** Images of pixels, and the snippets that embed them. */
import type { Pixel } from "./pixel.ts"

/** A transparent GIF89a of one pixel, 43 bytes. */
const GIF = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
/** A transparent PNG of one pixel. */
const PNG = Uint8Array.fromBase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=")

/** Size of the badge. It does not depend on the number, so that pages can reserve the space. */
export const BADGE = { width: 96, height: 20 } as const

export type ImageKind = "gif" | "png" | "badge"

const TYPES: Record<ImageKind, string> = { gif: "image/gif", png: "image/png", badge: "image/svg+xml; charset=utf-8" }

/** The image must not be cached, and any page may embed it. */
const HEADERS = {
  "cache-control": "max-age=0, must-revalidate, no-cache, no-store, private",
  pragma: "no-cache",
  expires: "0",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "x-content-type-options": "nosniff",
} as const

/** Returns the response with an image. A badge without `opens` shows a dash. The response to HEAD has the same headers and no body. */
export function imageAnswer(kind: ImageKind, { opens, isHead }: { opens: number | undefined; isHead: boolean }): Response {
  const body = bodyOf(kind, opens)
  const headers = {
    ...HEADERS,
    "content-type": TYPES[kind],
    "content-length": String(body.length),
    ...(kind === "badge" && { "content-security-policy": "default-src 'none'" }),
  }
  return new Response(isHead ? null : body, { status: 200, headers })
}

function bodyOf(kind: ImageKind, opens: number | undefined): Uint8Array<ArrayBuffer> {
  if (kind === "gif") return GIF
  return kind === "png" ? PNG : new TextEncoder().encode(badge(opens === undefined ? "–" : shortCount(opens)))
}

/** Abbreviates a number: 999, 1.2k, 35k, 1.2M. Rounds down, so that a badge never shows more opens than there were. */
function shortCount(count: number): string {
  const unit = UNITS.find(({ from }) => count >= from)
  if (!unit) return String(count)
  const tenths = Math.floor(count / (unit.from / 10))
  return `${tenths < 100 ? (tenths / 10).toString() : Math.floor(tenths / 10)}${unit.letter}`
}

const UNITS = [
  { from: 1e9, letter: "G" },
  { from: 1e6, letter: "M" },
  { from: 1e3, letter: "k" },
] as const

/** Returns a badge as SVG. `value` is a number and needs no escaping. */
const badge = (
  value: string,
): string => `<svg xmlns="http://www.w3.org/2000/svg" width="${BADGE.width}" height="${BADGE.height}" role="img" aria-label="opens: ${value}"><title>opens: ${value}</title>\
<rect width="46" height="20" fill="#555"/><rect x="46" width="50" height="20" fill="#0a6e5c"/>\
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="23" y="14">opens</text><text x="71" y="14">${value}</text></g></svg>
`

export const FORMATS = ["html", "markdown", "rst", "bbcode"] as const
export type SnippetFormat = (typeof FORMATS)[number]

/** Returns the URL of a pixel: a badge for a README, a GIF for other kinds. */
export const urlOf = (base: string, prefix: string, { slug, kind }: Pick<Pixel, "slug" | "kind">): string =>
  `${base}/${prefix}/${slug}${kind === "readme" ? "/badge.svg" : ".gif"}`

/** URLs need no escaping, because neither slugs nor the base URL contain markup. */
const WRITERS: Record<SnippetFormat, (url: string, size: { width: number; height: number }) => string> = {
  html: (url, { width, height }) => `<img src="${url}" width="${width}" height="${height}" alt="">`,
  markdown: (url) => `![](${url})`,
  rst: (url, { width, height }) => `.. image:: ${url}\n   :width: ${width}\n   :height: ${height}\n   :alt:\n`,
  bbcode: (url) => `[img]${url}[/img]`,
}

/** Returns the snippet that embeds a pixel: a visible badge in a README, one transparent pixel elsewhere. */
export const snippetOf = (format: SnippetFormat, url: string, { kind }: Pick<Pixel, "kind">): string =>
  WRITERS[format](url, kind === "readme" ? BADGE : { width: 1, height: 1 })
