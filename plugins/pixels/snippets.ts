import { BADGE } from "./images.ts"
import type { Pixel } from "./pixel.ts"

export const FORMATS = ["html", "markdown", "rst", "bbcode"] as const
export type SnippetFormat = (typeof FORMATS)[number]

/** Where the picture of a pixel is, in the form that its kind of page takes best. */
export const urlOf = (base: string, prefix: string, { slug, kind }: Pick<Pixel, "slug" | "kind">): string =>
  `${base}/${prefix}/${slug}${kind === "readme" ? "/badge.svg" : ".gif"}`

/** Slugs and our own address hold nothing that one of the formats would take for markup. */
const WRITERS: Record<SnippetFormat, (url: string, size: { width: number; height: number }) => string> = {
  html: (url, { width, height }) => `<img src="${url}" width="${width}" height="${height}" alt="">`,
  markdown: (url) => `![](${url})`,
  rst: (url, { width, height }) => `.. image:: ${url}\n   :width: ${width}\n   :height: ${height}\n   :alt:\n`,
  bbcode: (url) => `[img]${url}[/img]`,
}

/** A README gets the badge, which people see; all else the picture of one transparent pixel. */
export const snippetOf = (format: SnippetFormat, url: string, { kind }: Pick<Pixel, "kind">): string =>
  WRITERS[format](url, kind === "readme" ? BADGE : { width: 1, height: 1 })
