import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { parseId } from "../../domain/id.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import { etagOf } from "../../domain/version.ts"
import type { Admitted, PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { shieldDeed } from "../../services/deeds.ts"
import type { Drops } from "../../services/drops.ts"
import { pageOfAll, readPlainPaging } from "../../services/paging.ts"
import { ShieldInput, shieldNotFound } from "../../services/shield-input.ts"
import { type SiteShields, versionOf } from "../../services/site-shields.ts"
import { expectedVersions } from "../public/conditions.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes, takesSome } from "../public/things.ts"
import { bodyVersion } from "./body-version.ts"
import { Id, Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface ShieldRoutesOptions {
  siteShields: { of(siteId: number): SiteShields }
  drops: Pick<Drops, "hits">
  create: ReturnType<typeof creation>
  audit: Audit
}

const ShieldShown = t.Object(
  {
    id: Id,
    kind: t.String(),
    value: t.String({ description: "Of kind rule its name" }),
    conditions: t.Optional(t.Array(t.Any())),
    note: t.String(),
    enabled: t.Boolean(),
    hits_7d: t.Integer({ minimum: 0 }),
    version: t.Integer(),
  },
  { title: "Shield" },
)

const says = (verb: string) => ({ summary: `${verb} shield`, tags: ["shields"] })

/** A site's own rules for drops. They act on coming events. */
export function shieldRoutes(router: PrivateRouter, { siteShields, drops, create, audit }: ShieldRoutesOptions) {
  const show = (site: Site, { id, kind, value, conditions, note, enabled, ...shield }: Shield): Static<typeof ShieldShown> => ({
    id,
    kind,
    value,
    ...(conditions && { conditions: [...conditions] }),
    note,
    enabled,
    hits_7d: drops.hits(site, { kind, value }),
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
        return { ...page, data: page.data.map((shield) => show(site, shield)) }
      },
      { can: "site:read", query: ListQuery, response: { 200: Listed(ShieldShown) }, detail: says("List") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<Shield, Static<typeof ShieldShown>>(
          { ...call, user },
          (body, also) => siteShields.of(site.id).add(body, recorded<Shield>(audit, actor, shieldDeed("create", site), also)),
          (shield) => ({
            location: `/api/private/sites/${site.id}/shields/${shield.id}`,
            etag: etagOf({ version: versionOf(shield) }),
            body: show(site, shield),
          }),
        ),
      { can: "site:write", query: NoQuery, body: Sent, response: { 201: ShieldShown }, detail: { ...says("Make"), ...takes(ShieldInput) } },
    )
    .patch(
      "/:id",
      async ({ site, params, body, actor, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const changed = await siteShields.of(site.id).update(named(siteShields.of(site.id), params.id), withoutHits(patch), {
          expected: expectedVersions(request),
          named: { version, current: (now) => show(site, now) },
          alongside: recorded<Shield>(audit, actor, shieldDeed("update", site)),
        })
        return tagged(set, { version: versionOf(changed) }, show(site, changed))
      },
      { can, query: NoQuery, body: Sent, response: { 200: ShieldShown }, detail: { ...says("Change"), ...takesSome(ShieldInput) } },
    )
    .delete(
      "/:id",
      async ({ site, params, actor, request, status }) => {
        await siteShields.of(site.id).remove(named(siteShields.of(site.id), params.id), {
          expected: expectedVersions(request),
          alongside: recorded<Shield>(audit, actor, shieldDeed("delete", site)),
        })
        return status(204, undefined)
      },
      { can: { ...can, read: async () => null }, query: NoQuery, detail: { ...says("Remove"), ...refuses("precondition_failed") } },
    )
}

/** The id that a path names, of a shield that is there. */
function named(shields: SiteShields, text: string | undefined): number {
  const id = parseId(text) ?? 0
  if (!shields.current().some((shield) => shield.id === id)) throw shieldNotFound(id)
  return id
}

/** Counted by us; sent back by who got it from us. */
function withoutHits(patch: unknown): unknown {
  if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch
  const { hits_7d: _, ...rest } = patch as Record<string, unknown>
  return rest
}
