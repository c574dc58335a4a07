import { type Contribution, type Counters, normalizeUnicode, type Removed, type Site, sql } from "#plugin"
import type { Area } from "./area.ts"
import { linkEntry } from "./audit-entries.ts"
import type { Link, LinksHost } from "./link.ts"
import { addClicks, listTemplates, type NewClicks, updateLink } from "./rows.ts"
import type { Cache } from "./serving/cache.ts"

const ORPHAN_DAYS = 90
const DAY_MS = 86_400_000

/** Lifetime counters of links. They also subtract the counted clicks from the pending ones in the cache. */
export const linkCounters = ({ counters }: LinksHost, cache: Cache): Counters =>
  counters<Link, NewClicks>({
    kind: "clicks",
    by: ["link_id", "human", "qr"],
    positions: "links_positions",
    job: "fold-clicks",
    siteIds: () => new Set([...cache.all()].map(({ link }) => link.site_id)),
    sum(groups) {
      const sum = { human: 0, bot: 0, qr: 0, lastAt: 0 }
      for (const { values, count, lastAt } of groups) {
        const [, human, qr] = values
        sum[human === "1" ? "human" : "bot"] += count
        if (qr === "1") sum.qr += count
        sum.lastAt = Math.max(sum.lastAt, lastAt)
      }
      return sum
    },
    add: addClicks,
    committed(changed) {
      for (const { thing: link, added } of changed) {
        if (link.deleted_at === null) cache.put(link)
        const pending = cache.byId(link.id)?.pending
        if (pending) pending.human = Math.max(0, pending.human - added.human)
      }
    },
  })

/** Returns the background jobs of short links. */
export function jobsOf({ host, counters, trash, orphans, cache }: Area): NonNullable<Contribution["jobs"]> {
  return {
    "fold-clicks": {
      interrupted: "resume",
      onDisk: true, // each node counts the clicks of its own store
      atOnce: 1,
      // Each click schedules the job sooner; this schedule is the fallback.
      schedule: { cron: "* * * * *", hasWork: () => counters.hasWork() || orphans.areWaiting() },
      async run({ signal }) {
        await cache.ready()
        await counters.run(signal)
        await orphans.flush()
      },
    },
    "purge-links": {
      interrupted: "resume",
      schedule: { cron: "40 3 * * *" },
      async run({ signal }) {
        await trash.purge(signal)
        await orphans.deleteBefore(new Date(host.now() - ORPHAN_DAYS * DAY_MS).toISOString().slice(0, 10))
      },
    },
    "fetch-title": {
      interrupted: "resume",
      attempts: 2,
      run: ({ payload }: { payload: { siteId: number; linkId: number } }) => fetchTitle({ host, cache }, payload),
    },
  }
}

/** Removes all links, templates and counter positions of a site. The slugs of its links stay reserved. */
export async function removeSite({ host, cache, counters, trash }: Area, siteId: number): Promise<Removed> {
  const uncache = (removed: readonly Link[]): void => {
    for (const { id } of removed) cache.remove(id)
  }
  const links = await trash.removeSite(siteId, uncache, host.services.sites.directory.byId(siteId)?.organization_id)
  const templates = await host.db.all(sql`delete from links_utm_templates where site_id = ${siteId} returning id`)
  await counters.removeSite(siteId)
  return { links, utm_templates: templates.length }
}

/** Returns the exporters for the archive of a site. Passwords, and URLs and IDs of this instance, have no meaning elsewhere and are left out. */
export function exportersOf({ host, cache, format, trash }: Area): NonNullable<Contribution["exporters"]> {
  const exported = (link: Link) => {
    const { qr_url: _, short_url: __, created_by: ___, version: ____, domain_id: _____, ...fields } = format.response(link)
    return { ...fields, domain: link.domain_id === null ? null : (cache.domainById(link.domain_id)?.host ?? null) }
  }
  return {
    links: async function* (site: Site) {
      for await (const link of trash.ofSite(site)) yield exported(link)
    },
    utm_templates: async function* (site: Site) {
      for (const { name, fields, required } of await listTemplates(host.db, site)) yield { name, fields, required }
    },
  }
}

/** Fetches the title of the destination for a link without one, unless the operator has turned that off meanwhile. */
async function fetchTitle(
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
