import { type Contribution, type Removed, type Site, SLUG_KEPT_MS, sql } from "#plugin"
import type { Area } from "./area.ts"
import { LIMITS, type Link, type LinksHost } from "./link.ts"
import { deedOf } from "./link-deed.ts"
import { deleteLink, deleteOldLinks, deleteTombstones, linkById, linksOfSite, putTombstone, updateLink } from "./rows.ts"
import { listTemplates } from "./template-rows.ts"
import { titleIn } from "./title.ts"

const SLICE = 200
const ORPHAN_DAYS = 90
const DAY_MS = 86_400_000

/** Work of the area in the background. */
export function jobsOf({ host, fold, orphans, cache }: Area): NonNullable<Contribution["jobs"]> {
  const { db, now } = host
  return {
    "fold-clicks": {
      interrupted: "resume",
      atOnce: 1,
      // The net: whoever records a click has asked for one sooner.
      schedule: { cron: "* * * * *" },
      async run({ signal }) {
        await cache.ready()
        await fold.all(signal)
        if (fold.isBehind()) await host.jobs.enqueue("fold-clicks", { runAt: now() + LIMITS.foldMs, join: true })
        await orphans.flush()
      },
    },
    "purge-links": {
      interrupted: "resume",
      schedule: { cron: "40 3 * * *" },
      async run({ signal }) {
        const passes = [() => purgeLinks(host), () => deleteTombstones(db, now(), SLICE)]
        for (const pass of passes) for (let gone = SLICE; gone === SLICE && !signal.aborted; ) gone = await pass()
        await orphans.forgetBefore(new Date(now() - ORPHAN_DAYS * DAY_MS).toISOString().slice(0, 10))
      },
    },
    "fetch-title": {
      interrupted: "resume",
      attempts: 2,
      run: ({ payload }: { payload: { siteId: number; linkId: number } }) => fetchTitle({ host, cache }, payload),
    },
  }
}

/** Those that nobody can bring back any more; how many. */
const purgeLinks = ({ db, audit, now, services }: LinksHost): Promise<number> =>
  db.transaction(async (statements) => {
    const gone = await deleteOldLinks(statements, now() - LIMITS.restoreMs, SLICE)
    for (const link of gone) {
      const organizationId = services.sites.directory.byId(link.site_id)?.organization_id
      await audit.write(statements, audit.system, {
        action: "links.link.purge",
        target: { type: "link", id: link.id, label: link.title || link.slug },
        ...(organizationId !== undefined && { organizationId }),
        siteId: link.site_id,
      })
    }
    return gone.length
  })

/** Only an empty title is filled, and only as long as the operator wants it. */
async function fetchTitle(
  { host, cache }: Pick<Area, "host" | "cache">,
  { siteId, linkId }: { siteId: number; linkId: number },
): Promise<void> {
  const link = await linkById(host.db, siteId, linkId)
  const site = host.services.sites.directory.byId(siteId)
  if (!host.settings.fetch_titles || !site || !link || link.title !== "" || link.deleted_at !== null) return
  const { status, headers, body } = await host.fetch(link.destination)
  if (status !== 200 || !/html/i.test(headers.get("content-type") ?? "")) return
  const title = titleIn(new TextDecoder().decode(body))
  if (title === "") return
  await host.db.transaction(
    async (statements) => {
      const before = await linkById(statements, siteId, linkId)
      if (before?.title !== "" || before.deleted_at !== null) return undefined
      const password = { hash: before.password_hash, version: before.password_version }
      const after = await updateLink(statements, linkId, { ...before, title }, { password, now: host.now() })
      await host.audit.write(statements, host.audit.system, deedOf("update", site, before, after))
      return after
    },
    (after) => after && cache.put(after),
  )
}

/** Nothing of the site is left; its slugs stay shut for a while, for codes with them are on paper. */
export async function removeSite({ host, cache }: Pick<Area, "host" | "cache">, siteId: number): Promise<Removed> {
  const { db, now, services } = host
  const organizationId = services.sites.directory.byId(siteId)?.organization_id ?? 0
  let links = 0
  for (let slice = SLICE; slice === SLICE; links += slice)
    slice = await db
      .transaction(
        async (statements) => {
          const found = await linksOfSite(statements, siteId, 0, SLICE)
          for (const link of found) {
            if (link.deleted_at === null) await putTombstone(statements, link, { organizationId, now: now(), until: now() + SLUG_KEPT_MS })
            await deleteLink(statements, link.id)
          }
          return found
        },
        (found) => {
          for (const { id } of found) cache.remove(id)
        },
      )
      .then((found) => found.length)
  const templates = await db.all(sql`delete from links_utm_templates where site_id = ${siteId} returning id`)
  await db.run(sql`delete from links_folds where site_id = ${siteId}`)
  return { links, utm_templates: templates.length }
}

/** What the archive of a site holds of the area. Passwords and tokens are no use elsewhere, nor are addresses of this instance. */
export function exportersOf({ host, cache, showing }: Pick<Area, "host" | "cache" | "showing">): NonNullable<Contribution["exporters"]> {
  const archived = (link: Link) => {
    const { qr_url: _, short_url: __, created_by: ___, version: ____, domain_id: _____, ...shown } = showing.link(link)
    return { ...shown, domain: link.domain_id === null ? null : (cache.domainById(link.domain_id)?.host ?? null) }
  }
  return {
    links: async function* (site: Site) {
      for (let after = 0; ; ) {
        const slice = await linksOfSite(host.db, site.id, after, SLICE)
        for (const link of slice) if (link.deleted_at === null) yield archived(link)
        if (slice.length < SLICE) return
        after = slice.at(-1)!.id
      }
    },
    utm_templates: async function* (site: Site) {
      for (const { name, fields, required } of await listTemplates(host.db, site)) yield { name, fields, required }
    },
  }
}
