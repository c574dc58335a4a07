import { Elysia } from "elysia"
import { DropReport, DropSamples } from "../../../domain/drop-report.ts"
import { parseId } from "../../../domain/id.ts"
import { instantText } from "../../../domain/moment.ts"
import { Listed } from "../../../domain/response.ts"
import type { Shield } from "../../../domain/shield.ts"
import { ShieldResponse } from "../../../domain/site-response.ts"
import { bodyVersion, etagOf } from "../../../domain/version.ts"
import { type Audit, recorded, shieldEntry } from "../../../services/audit/audit.ts"
import { ShieldInput, shieldNotFound } from "../../../services/definitions/shield-input.ts"
import { type SiteShields, versionOf } from "../../../services/definitions/shields.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import type { Drops } from "../../../services/stats/drops.ts"
import { readNothing } from "../../../web/body.ts"
import type { Admitted, PrivateRouter } from "../../../web/router.ts"
import { type creation, expectedVersions, NoQuery, Sent, takes, takesSome } from "../../public/requests.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface ShieldRoutesOptions {
  siteShields: { of(siteId: number): SiteShields }
  drops: Pick<Drops, "hits">
  create: ReturnType<typeof creation>
  audit: Audit
}

type ShieldHits = Awaited<ReturnType<Drops["hits"]>>

const operation = (verb: string) => ({ summary: `${verb} shield${verb === "List" ? "s" : ""}`, tags: ["shields"] })

/** Creates the routes for the shields of a site. Shields affect future events only. */
export function shieldRoutes(router: PrivateRouter, { siteShields, drops, create, audit }: ShieldRoutesOptions) {
  const shown = (hits: ShieldHits, { id, kind, value, conditions, note, enabled, ...shield }: Shield): ShieldResponse => ({
    id,
    kind,
    value,
    ...(conditions && { conditions: [...conditions] }),
    note,
    enabled,
    hits_7d: hits({ kind, value }),
    version: versionOf({ id, kind, value, note, enabled, ...shield }),
  })
  const find = async (params: { id?: string | undefined }, { site }: Admitted) => named(siteShields.of(site!.id), params.id) // routes below a site have one
  const can = { permission: "site:write", find }

  return new Elysia({ prefix: "/api/private/sites/:site/shields" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const page = await pageOfAll(readPlainPaging(`shields/${site.id}`, query), siteShields.of(site.id).current())
        const hits = await drops.hits(site)
        return { ...page, data: page.data.map((shield) => shown(hits, shield)) }
      },
      { can: "site:read", query: ListQuery, response: { 200: Listed(ShieldResponse) }, detail: operation("List") },
    )
    .post(
      "",
      async ({ site, user, actor, ...call }) => {
        const hits = await drops.hits(site)
        return create<Shield, ShieldResponse>(
          { ...call, user },
          (body, also) => siteShields.of(site.id).add(body, recorded<Shield>(audit, actor, shieldEntry("create", site), also)),
          (shield) => ({
            location: `/api/private/sites/${site.id}/shields/${shield.id}`,
            etag: etagOf({ version: versionOf(shield) }),
            body: shown(hits, shield),
          }),
        )
      },
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 201: ShieldResponse },
        detail: { ...operation("Create a"), ...takes(ShieldInput) },
      },
    )
    .patch(
      "/:id",
      async ({ site, params, body, actor, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const hits = await drops.hits(site)
        const changed = await siteShields.of(site.id).update(named(siteShields.of(site.id), params.id), withoutHits(patch), {
          expected: expectedVersions(request),
          named: { version, current: (now) => shown(hits, now) },
          alongside: recorded<Shield>(audit, actor, shieldEntry("update", site)),
        })
        return withETag(set, { version: versionOf(changed) }, shown(hits, changed))
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: ShieldResponse },
        detail: { ...operation("Update a"), ...takesSome(ShieldInput) },
      },
    )
    .delete(
      "/:id",
      async ({ site, params, actor, request, status }) => {
        await siteShields.of(site.id).remove(named(siteShields.of(site.id), params.id), {
          expected: expectedVersions(request),
          alongside: recorded<Shield>(audit, actor, shieldEntry("delete", site)),
        })
        return status(204, undefined)
      },
      { can: { ...can, read: readNothing }, query: NoQuery, detail: { ...operation("Delete a"), ...refuses("precondition_failed") } },
    )
}

/** Returns the shield with the id from the path. Throws `shield_not_found`. */
function named(shields: SiteShields, text: string | undefined): number {
  const id = parseId(text) ?? 0
  if (!shields.current().some((shield) => shield.id === id)) throw shieldNotFound(id)
  return id
}

/** Server-side members, which clients may send back unchanged. */
function withoutHits(patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const { hits_7d: _, ...rest } = patch as Record<string, unknown>
  return rest
}

export interface DropRoutesOptions {
  drops: Drops
}

/** Creates the routes for the dropped events of a site. */
export const dropRoutes = (router: PrivateRouter, { drops }: DropRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/drops" })
    .use(router)
    .get("", ({ site, query }) => drops.report(site, query), {
      can: "site:read",
      query: ListQuery,
      response: { 200: DropReport },
      detail: { summary: "List dropped events by reason and day", tags: ["drops"] },
    })
    .get(
      "/sample",
      async ({ site }) => ({ data: (await drops.samples(site)).map(({ at, ...sample }) => ({ at: instantText(at), ...sample })) }),
      {
        can: "site:read",
        query: NoQuery,
        response: { 200: DropSamples },
        detail: { summary: "List the latest 100 dropped events", tags: ["drops"] },
      },
    )
