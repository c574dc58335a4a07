/** Routes of those who manage the shares of a dashboard. */
import { Type as t } from "@sinclair/typebox"
import {
  type Actor,
  type AuditEntry,
  bodyVersion,
  changesBetween,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  Paged,
  privatePage,
  readNothing,
  readPlainPaging,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import type { Area } from "../area.ts"
import { memberViewer } from "../data/viewer.ts"
import { readOnlyBoard } from "../errors.ts"
import { OVERVIEW_ID } from "../templates.ts"
import { type BoardShare, type SharedBoard, ShareInput, SharePatch, ShareResponse, toShareResponse } from "./share.ts"

const operation = operationsOf("dashboards")
const SHARE = "dashboards:share"
const REFUSALS = ["dashboard_not_found", "sharing_disabled", "password_required", "embed_needs_no_password"] as const

type Params = Record<string, string | undefined>

export function shareRoutes({ host, boards, shares }: Area) {
  type OwnShare = BoardShare & { slug: string }
  type Caller = Parameters<typeof memberViewer>[1]

  async function sharedBoard(site: Site, id: string | undefined, user: { id: number }): Promise<SharedBoard> {
    return { board: await boards.find(host.db, site, id, { user }), site }
  }
  async function managedBoard(site: Site, id: string | undefined, { user, session, request }: Caller & { request: Request }) {
    const author = memberViewer(host.services.access, { user, session }, request.signal)
    return { ...(await sharedBoard(site, id, user)), author }
  }
  const find = async ({ id, share_id }: Params, { site, user }: { site?: Site; user?: { id: number } }): Promise<void> => {
    const owner = await sharedBoard(site!, id, user!) // routes below a site have both
    if (share_id !== undefined) await shares.get(owner, share_id)
  }
  const can = { permission: SHARE, find }

  /** Returns the audit entry of a share without its slug, which readers of the log must not learn. */
  const entryOf =
    (verb: string, site: Site) =>
    ({ slug: _, ...share }: BoardShare & { slug?: string }): AuditEntry => ({
      action: `dashboards.share.${verb}`,
      target: { type: "dashboard_share", id: share.id, label: share.name },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(verb === "create" && { changes: changesBetween(undefined, share) }),
    })
  const recorded = (actor: Actor, verb: string, site: Site) => host.audit.recorded<OwnShare>(actor, entryOf(verb, site))
  const show = (site: Site, share: OwnShare): ShareResponse => toShareResponse(share, site, host.baseUrl())
  function tagged({ headers }: { headers: Record<string, unknown> }, site: Site, share: OwnShare): ShareResponse {
    headers.etag = etagOf(share)
    return show(site, share)
  }

  return host
    .siteRouter()
    .get(
      "/dashboards/:id/shares",
      async ({ site, params, query, user }) => {
        const owner = await sharedBoard(site, params.id, user)
        const paging = readPlainPaging(`dashboards/${owner.board.id}/shares`, query)
        const page = await privatePage(
          paging,
          (limit) => shares.list(owner, { after: paging.after ?? 0, limit }),
          () => shares.count(owner),
        )
        return { ...page, data: page.data.map((share) => show(site, share)) }
      },
      {
        can,
        query: t.Object({}, { additionalProperties: true }),
        response: { 200: Paged(ShareResponse) },
        detail: { ...operation("List the shares of a dashboard"), ...failures("dashboard_not_found") },
      },
    )
    .post(
      "/dashboards/:id/shares",
      async ({ site, params, actor, ...call }) => {
        const owner = await managedBoard(site, params.id, call)
        if (owner.board.id === OVERVIEW_ID) throw readOnlyBoard()
        return host.create<OwnShare, ShareResponse>(
          { ...call, params } as Parameters<typeof host.create>[0],
          (body, alongside) =>
            shares.create(owner, body, call.user.id, async (statements, change) => {
              await recorded(actor, "create", site)(statements, change)
              await alongside(statements, change)
            }),
          (share) => ({
            location: `/api/private/sites/${site.id}/dashboards/${owner.board.id}/shares/${share.id}`,
            etag: etagOf(share),
            body: show(site, share),
          }),
        )
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 201: ShareResponse },
        detail: { ...operation("Share a dashboard", ShareInput), ...failures(...REFUSALS, "read_only_dashboard", "limit_reached") },
      },
    )
    .patch(
      "/dashboards/:id/shares/:share_id",
      async ({ site, params, body, actor, request, set, user, session }) => {
        const owner = await managedBoard(site, params.id, { user, session, request })
        const { version, patch } = bodyVersion(body.value)
        const { slug } = await shares.get(owner, params.share_id)
        const changed = await shares.update(owner, params.share_id, patch, {
          expected: versionsIn(request.headers.get("if-match")),
          named: { version, current: (now) => show(site, { ...now, slug }) },
          alongside: (statements, change) => host.audit.recorded<BoardShare>(actor, entryOf("update", site))(statements, change),
        })
        return tagged(set, site, changed)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: ShareResponse },
        detail: {
          ...operation("Update a share of a dashboard", SharePatch),
          ...failures(...REFUSALS, "share_not_found", "version_conflict", "precondition_failed"),
        },
      },
    )
    .delete(
      "/dashboards/:id/shares/:share_id",
      async ({ site, params, actor, request, status, user }) => {
        await shares.remove(await sharedBoard(site, params.id, user), params.share_id, {
          expected: versionsIn(request.headers.get("if-match")),
          alongside: host.audit.recorded<BoardShare>(actor, entryOf("delete", site)),
        })
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        detail: {
          ...operation("Revoke a share of a dashboard"),
          ...failures("dashboard_not_found", "share_not_found", "precondition_failed"),
        },
      },
    )
}
