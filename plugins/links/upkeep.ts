import { type Contribution, type Counters, type Removed, type Site, sql } from "#plugin"
import type { Area } from "./area.ts"
import { auditEntry } from "./audit-entries.ts"
import type { Link, LinksHost } from "./link.ts"
import { addClicks, type NewClicks, updateLink } from "./rows.ts"
import type { Cache } from "./serving/cache.ts"
import { titleIn } from "./serving/title.ts"
import { listTemplates } from "./templates/rows.ts"

const ORPHAN_DAYS = 90
const DAY_MS = 86_400_000

/** Lifetime counters of links. They also tell the cache which clicks no longer have to be added to them. */
export const linkCounters = ({ counters }: LinksHost, cache: Cache): Counters =>
  counters<Link, NewClicks>({
    kind: "clicks",
    by: ["link_id", "human", "qr"],
    table: "links_links",
    positions: "links_folds",
    positionAt: "folded_at",
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
        const cached = cache.byId(link.id)
        if (cached) cached.since.human = Math.max(0, cached.since.human - added.human)
      }
    },
  })

/** Returns the background jobs of short links. */
export function jobsOf({ host, counters, trash, orphans, cache }: Area): NonNullable<Contribution["jobs"]> {
  return {
    "fold-clicks": {
      interrupted: "resume",
      atOnce: 1,
      // Every click schedules the job sooner; this is the fallback.
      schedule: { cron: "* * * * *" },
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
        await orphans.forgetBefore(new Date(host.now() - ORPHAN_DAYS * DAY_MS).toISOString().slice(0, 10))
      },
    },
    "fetch-title": {
      interrupted: "resume",
      attempts: 2,
      run: ({ payload }: { payload: { siteId: number; linkId: number } }) => fetchTitle({ host, cache }, payload),
    },
  }
}

/** Only an empty title is filled, and only as long as the operator wants it. */
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
      // Changes of the cache follow their commit at once, and transactions follow one another.
      const before = cache.byId(linkId)?.link
      if (before?.title !== "") return undefined
      const password = { hash: before.password_hash, version: before.password_version }
      const after = await updateLink(statements, { ...before, title }, { password, now: host.now() })
      await host.audit.write(statements, host.audit.system, auditEntry("update", site, before, after))
      return after
    },
    (after) => after && cache.put(after),
  )
}

/** Removes all links, templates and counter positions of a site. The slugs of its links stay reserved. */
export async function removeSite({ host, cache, counters, trash }: Area, siteId: number): Promise<Removed> {
  const leave = (removed: readonly Link[]): void => {
    for (const { id } of removed) cache.remove(id)
  }
  const links = await trash.removeSite(siteId, leave, host.services.sites.directory.byId(siteId)?.organization_id)
  const templates = await host.db.all(sql`delete from links_utm_templates where site_id = ${siteId} returning id`)
  await counters.removeSite(siteId)
  return { links, utm_templates: templates.length }
}

/** What the archive of a site holds of the area. Passwords and tokens are no use elsewhere, nor are addresses of this instance. */
export function exportersOf({ host, cache, showing, trash }: Area): NonNullable<Contribution["exporters"]> {
  const archived = (link: Link) => {
    const { qr_url: _, short_url: __, created_by: ___, version: ____, domain_id: _____, ...shown } = showing.link(link)
    return { ...shown, domain: link.domain_id === null ? null : (cache.domainById(link.domain_id)?.host ?? null) }
  }
  return {
    links: async function* (site: Site) {
      for await (const link of trash.ofSite(site)) yield archived(link)
    },
    utm_templates: async function* (site: Site) {
      for (const { name, fields, required } of await listTemplates(host.db, site)) yield { name, fields, required }
    },
  }
}
