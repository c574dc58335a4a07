import { normalizeUnicode } from "#plugin"
import type { Area } from "./area.ts"
import { linkEntry } from "./audit-entries.ts"
import { updateLink } from "./rows.ts"

/** Fetches the title of the destination for a link without one, unless the operator has turned that off meanwhile. */
export async function fetchTitle(
  { host, cache }: Pick<Area, "host" | "cache">,
  { siteId, linkId }: { siteId: number; linkId: number },
): Promise<void> {
  await cache.ready()
  const link = cache.byId(linkId)?.link
  const site = host.services.sites.directory.byId(siteId)
  if (!host.settings.fetch_titles || !site || link?.title !== "") return
  const { status, headers, body } = await host.fetch(link.destination)
  if (status !== 200 || !/html/i.test(headers.get("content-type") ?? "")) return
  const title = titleIn(new TextDecoder().decode(body))
  if (title === "") return
  await host.db.transaction(
    async (statements) => {
      // The cache is current here: each commit changes it at once, and transactions run one after the other.
      const before = cache.byId(linkId)?.link
      if (before?.title !== "") return undefined
      const password = { hash: before.password_hash, version: before.password_version }
      const after = await updateLink(statements, { ...before, title }, { password, now: host.now() })
      await host.audit.write(statements, host.audit.system, linkEntry({ verb: "update", site, before, after }))
      return after
    },
    (after) => after && cache.put(after),
  )
}

const MAX_CHARS = 200
const NAMED_ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " }

// Stops at the next tag. Otherwise a page of opening tags would be searched to its end from each of them.
const TITLE = /<title[^<>]*>([^<]*)<\/title>/i

/** Returns the title of a page as one line of text; empty if it has none. */
export function titleIn(html: string): string {
  const text = TITLE.exec(html)?.[1] ?? ""
  return [
    ...normalizeUnicode(
      decoded(text)
        .replace(/[\s\p{Cc}\p{Cf}]+/gu, " ")
        .trim(),
    ).toWellFormed(),
  ]
    .slice(0, MAX_CHARS)
    .join("")
    .trim()
}

const decoded = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED_ENTITIES[name.toLowerCase()] ?? whole
    const point = Number.parseInt(decimal ?? hex ?? "", decimal === undefined ? 16 : 10)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
