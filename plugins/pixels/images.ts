/** A transparent picture of one pixel: GIF89a, 43 bytes. */
const GIF = Uint8Array.fromBase64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==")
/** The same as PNG. */
const PNG = Uint8Array.fromBase64("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAAC0lEQVR42mNgAAIAAAUAAen63NgAAAAASUVORK5CYII=")

/** Of the badge, whatever stands on it: pages keep room for it before it comes. */
export const BADGE = { width: 96, height: 20 } as const

export type ImageKind = "gif" | "png" | "badge"

const TYPES: Record<ImageKind, string> = { gif: "image/gif", png: "image/png", badge: "image/svg+xml; charset=utf-8" }

/** Nothing between here and the reader keeps the picture, and any page may show it. */
const HEADERS = {
  "cache-control": "max-age=0, must-revalidate, no-cache, no-store, private",
  pragma: "no-cache",
  expires: "0",
  "cross-origin-resource-policy": "cross-origin",
  "access-control-allow-origin": "*",
  "x-content-type-options": "nosniff",
} as const

/** `opens` undefined: a badge that tells nothing. The answer to HEAD has the same headers and no body. */
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

/** Three digits at most and a unit: 999, 1.2k, 35k, 1.2M. Rounded down, so that a badge never tells more than there was. */
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

/** The one thing that differs between two badges is a number of ours. */
const badge = (
  value: string,
): string => `<svg xmlns="http://www.w3.org/2000/svg" width="${BADGE.width}" height="${BADGE.height}" role="img" aria-label="opens: ${value}"><title>opens: ${value}</title>\
<rect width="46" height="20" fill="#555"/><rect x="46" width="50" height="20" fill="#0a6e5c"/>\
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,sans-serif" font-size="11"><text x="23" y="14">opens</text><text x="71" y="14">${value}</text></g></svg>
`
