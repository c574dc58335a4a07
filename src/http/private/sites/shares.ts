import { Elysia } from "elysia"
import { Listed } from "../../../domain/response.ts"
import { formatShare, type Share, ShareInput, ShareResponse } from "../../../domain/share.ts"
import { bodyVersion, etagOf } from "../../../domain/version.ts"
import { type Audit, recorded, shareEntry } from "../../../services/audit/audit.ts"
import { privatePage, readPlainPaging } from "../../../services/lists/paging.ts"
import type { OwnShare, Shares } from "../../../services/sharing/shares.ts"
import { readNothing } from "../../../web/body.ts"
import type { Admitted, PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { expectedVersions, NoQuery, Sent, takes, takesSome } from "../../public/requests.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface SharesRoutesOptions {
  shares: Shares
  create: ReturnType<typeof creation>
  audit: Audit
  publicUrl(): string
}

const operation = (verb: string) => ({ summary: `${verb} shared view${verb === "List" ? "s" : ""}`, tags: ["shared views"] })

/** Creates the routes for shared views, which anyone with the link can open. */
export function sharesRoutes(router: PrivateRouter, { shares, create, audit, publicUrl }: SharesRoutesOptions) {
  const show = (share: OwnShare) => toShareResponse(share, publicUrl())
  const find = (params: { id?: string | undefined }, { site }: Admitted) => shares.get(site!, params.id) // routes below a site have one
  const can = { permission: "dashboards:share", find }

  return new Elysia({ prefix: "/api/private/sites/:site/shares" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const paging = readPlainPaging(`shares/${site.id}`, query)
        const page = await privatePage(
          paging,
          (limit) => shares.list(site, { after: paging.after ?? 0, limit }),
          () => shares.count(site),
        )
        return { ...page, data: page.data.map(show) }
      },
      { can: "dashboards:share", query: ListQuery, response: { 200: Listed(ShareResponse) }, detail: operation("List") },
    )
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<OwnShare, ShareResponse>(
          { ...call, user },
          (body, also) => shares.create(site, body, user.id, recorded<OwnShare>(audit, actor, shareEntry("create", site), also)),
          (share) => ({ location: `/api/private/sites/${site.id}/shares/${share.id}`, etag: etagOf(share), body: show(share) }),
        ),
      {
        can: "dashboards:share",
        query: NoQuery,
        body: Sent,
        response: { 201: ShareResponse },
        detail: {
          ...operation("Create a"),
          ...refuses("sharing_disabled", "password_required", "embed_needs_no_password"),
          ...takes(ShareInput),
        },
      },
    )
    .get("/:id", async ({ site, params, set }) => withTag(set, await shares.get(site, params.id)), {
      can: "dashboards:share",
      query: NoQuery,
      response: { 200: ShareResponse },
      detail: operation("Get a"),
    })
    .patch(
      "/:id",
      async ({ site, params, body, actor, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const { slug } = await shares.get(site, params.id)
        const changed = await shares.update(site, params.id, patch, {
          expected: expectedVersions(request),
          named: { version, current: (now) => show({ ...now, slug }) },
          alongside: recorded<Share>(audit, actor, shareEntry("update", site)),
        })
        return withTag(set, changed)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: ShareResponse },
        detail: {
          ...operation("Update a"),
          ...refuses("sharing_disabled", "password_required", "embed_needs_no_password"),
          ...takesSome(ShareInput),
        },
      },
    )
    .delete(
      "/:id",
      async ({ site, params, actor, request, status }) => {
        const alongside = recorded<Share>(audit, actor, shareEntry("delete", site))
        await shares.remove(site, params.id, { expected: expectedVersions(request), alongside })
        return status(204, undefined)
      },
      { can: { ...can, read: readNothing }, query: NoQuery, detail: { ...operation("Delete a"), ...refuses("precondition_failed") } },
    )

  function withTag(set: { headers: Record<string, unknown> }, share: OwnShare): ShareResponse {
    return withETag(set, share, show(share))
  }
}

const toShareResponse = (share: OwnShare, base: string): ShareResponse => ({
  id: share.id,
  site_id: share.site_id,
  ...formatShare(share, `${base}/share/s/${share.slug}`),
  sections: [...share.sections],
  is_public: share.is_public,
})
