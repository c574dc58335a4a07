import {
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  parameter,
  parseId,
  queryWith,
  readNothing,
  readOptionalJson,
  readSortedPaging,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import type { Area } from "./area.ts"
import { type Board, LIMITS, type WholeBoard } from "./board.ts"
import type { Author } from "./board-writes.ts"
import { refuseReader } from "./boards.ts"
import { BoardDocument } from "./copies.ts"
import type { ShownBoard } from "./data/data.ts"
import { memberViewer } from "./data/viewer.ts"
import { BoardInput, BoardPatch, BoardReplacement, DefaultInput, DuplicateInput, OrderInput, PreviewInput } from "./input.ts"
import { readDataQuery, readDataRequest } from "./requests.ts"
import {
  BoardList,
  BoardResponse,
  DataInput,
  DataResponse,
  DuplicateResponse,
  type ImportResponse as Imported,
  ImportResponse,
} from "./responses.ts"

const operation = operationsOf("dashboards")
const READ = "dashboards:read"
const CONTENT = ["layout_overlap", "unknown_widget_type", "invalid_widget_config", "broken_reference", "forbidden"] as const
const NDJSON = "application/x-ndjson"

/** Routes of dashboards and their data. */
export function dashboardRoutes(area: Area) {
  const { host, boards, writes, preferences, copies, data } = area
  type Params = Record<string, string | undefined>
  interface Admitted {
    site?: Site
    user?: { id: number }
    permissions?: ReadonlySet<string>
  }
  /** Finds the dashboard in the path before the body is read. All routes are below a site and have a user. */
  const find = async ({ id }: Params, { site, user }: Admitted): Promise<void> =>
    void (await boards.find(host.db, site!, id, { user: user! }))
  const findToChange = async ({ id }: Params, { site, user, permissions }: Admitted): Promise<void> =>
    refuseReader(await boards.find(host.db, site!, id, { user: user! }), { permissions: permissions! })
  const findDeleted = async ({ id }: Params, { site, user, permissions }: Admitted): Promise<void> =>
    void (await writes.findDeleted(host.db, site!, id, { user: user!, permissions: permissions! }))
  const read = { permission: READ, find, reads: true } as const
  const change = { permission: READ, find: findToChange } as const

  const authorOf = ({ user, session, role, permissions, actor, request }: Author & { request: Request }): Author => ({
    ...{ user, session, role, permissions, actor },
    expected: versionsIn(request.headers.get("if-match")),
  })
  const tagged = async ({ headers }: { headers: Record<string, unknown> }, site: Site, board: Board, author: Author) => {
    headers.etag = etagOf(board)
    return boards.show(site, board, author)
  }
  const createdAt = (site: Site, board: WholeBoard | Imported["dashboard"]) => ({
    location: `/api/private/sites/${site.id}/dashboards/${board.id}`,
    etag: etagOf(board),
  })
  async function shownTo(
    { site, params, user, session, request }: { site: Site; params: Params; request: Request } & Pick<Author, "user" | "session">,
    requestOf: (board: WholeBoard) => Promise<ShownBoard["request"]>,
  ): Promise<ShownBoard> {
    const board = await boards.whole(host.db, await boards.find(host.db, site, params.id, { user }), site)
    const viewer = memberViewer(host.services.access, { user, session }, request.signal)
    return { board, widgets: board.widgets, site, viewer, request: await requestOf(board) }
  }

  return host
    .siteRouter()
    .get(
      "/dashboards",
      async ({ site, query: given, ...call }) => {
        const paging = readSortedPaging("dashboards", given, ["q", "visibility"], (reader) => ({
          q: reader.text("q", { min: 1, max: 120 })?.toLowerCase(),
          visibility: reader.choice("visibility", ["private", "site"]),
        }))
        return boards.list(site, call, paging)
      },
      {
        can: READ,
        query: queryWith({
          q: parameter.text("Text that the name or the description contains."),
          visibility: parameter.choice(["private", "site"], "Visibility of the dashboards."),
        }),
        response: { 200: BoardList },
        detail: operation("List dashboards: Overview, then the others in your order"),
      },
    )
    .post(
      "/dashboards",
      ({ site, ...call }) => {
        const author = authorOf(call)
        return host.create(
          call,
          (body, alongside) => writes.create(site, body, author, (statements, board) => alongside(statements, { after: board })),
          (board: WholeBoard) => ({ ...createdAt(site, board), body: boards.showNew(board, author) }),
        )
      },
      {
        can: READ,
        query: NoQuery,
        body: Sent,
        response: { 201: BoardResponse },
        detail: { ...operation("Create a dashboard", BoardInput), ...failures(...CONTENT, "dashboard_not_found", "limit_reached") },
      },
    )
    .put(
      "/dashboards/order",
      async ({ site, body, status, ...call }) => {
        await preferences.order(site, body.value, authorOf(call))
        return status(204, undefined)
      },
      { can: READ, query: NoQuery, body: Sent, detail: operation("Set the order in which you see dashboards", OrderInput) },
    )
    .put(
      "/dashboards/default",
      async ({ site, body, status, ...call }) => {
        await preferences.default(site, body.value, authorOf(call))
        return status(204, undefined)
      },
      {
        can: READ,
        query: NoQuery,
        body: Sent,
        detail: {
          ...operation("Set the dashboard that opens first, for you or for the site", DefaultInput),
          ...failures("dashboard_not_found", "not_shared", "forbidden"),
        },
      },
    )
    .post(
      "/dashboards/import",
      ({ site, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            copies.import(site, body, authorOf(call), (statements, imported) => alongside(statements, { after: imported })),
          (imported: Imported) => ({ ...createdAt(site, imported.dashboard), body: imported }),
        ),
      {
        can: READ,
        query: NoQuery,
        body: Sent,
        response: { 201: ImportResponse },
        detail: {
          ...operation("Create a private dashboard from an exported document", BoardDocument),
          ...failures("layout_overlap", "invalid_widget_config", "limit_reached"),
        },
      },
    )
    .get(
      "/dashboards/:id",
      async ({ site, params, set, ...call }) => tagged(set, site, await boards.find(host.db, site, params.id, call), authorOf(call)),
      {
        can: read,
        query: NoQuery,
        response: { 200: BoardResponse },
        detail: { ...operation("Get a dashboard"), ...failures("dashboard_not_found") },
      },
    )
    .put(
      "/dashboards/:id",
      async ({ site, params, body, set, ...call }) => {
        const author = authorOf(call)
        return tagged(set, site, await writes.replace(site, params.id, body.value, author), author)
      },
      {
        can: change,
        query: NoQuery,
        body: Sent,
        response: { 200: BoardResponse },
        detail: {
          ...operation("Replace a dashboard and its widgets", BoardReplacement),
          ...failures(...CONTENT, "dashboard_not_found", "read_only_dashboard", "version_conflict", "precondition_failed"),
        },
      },
    )
    .patch(
      "/dashboards/:id",
      async ({ site, params, body, set, ...call }) => {
        const author = authorOf(call)
        return tagged(set, site, await writes.update(site, params.id, body.value, author), author)
      },
      {
        can: change,
        query: NoQuery,
        body: Sent,
        response: { 200: BoardResponse },
        detail: {
          ...operation("Update a dashboard without its widgets", BoardPatch),
          ...failures(
            "dashboard_not_found",
            "read_only_dashboard",
            "version_conflict",
            "precondition_failed",
            "broken_reference",
            "forbidden",
          ),
        },
      },
    )
    .delete(
      "/dashboards/:id",
      async ({ site, params, status, ...call }) => {
        await writes.remove(site, params.id, authorOf(call))
        return status(204, undefined)
      },
      {
        can: { ...change, read: readNothing },
        query: NoQuery,
        detail: {
          ...operation("Delete a dashboard, which can be restored for 30 days"),
          ...failures("dashboard_not_found", "read_only_dashboard", "precondition_failed"),
        },
      },
    )
    .post(
      "/dashboards/:id/restore",
      async ({ site, params, set, ...call }) => {
        const author = authorOf(call)
        return tagged(set, site, await writes.restore(site, params.id, author), author)
      },
      {
        can: { permission: READ, find: findDeleted, read: readNothing },
        query: NoQuery,
        response: { 200: BoardResponse },
        detail: { ...operation("Restore a deleted dashboard"), ...failures("dashboard_not_found", "limit_reached") },
      },
    )
    .post(
      "/dashboards/:id/duplicate",
      ({ site, params, ...call }) => {
        const author = authorOf(call)
        return host.create(
          call,
          (body, alongside) =>
            copies.duplicate(site, params.id, body, author, (statements, copied) => alongside(statements, { after: copied })),
          (copied: DuplicateResponse) => ({
            status: copied.results.every(({ error }) => error) ? (200 as const) : (201 as const),
            body: copied,
          }),
        )
      },
      {
        can: { permission: READ, find, read: readOptionalJson(64 * 1_024) },
        query: NoQuery,
        body: Sent,
        response: { 200: DuplicateResponse, 201: DuplicateResponse },
        detail: {
          ...operation(`Copy a dashboard to up to ${LIMITS.targets} sites, private and without public links`, DuplicateInput),
          ...failures("dashboard_not_found"),
        },
      },
    )
    .get("/dashboards/:id/export", ({ site, params, ...call }) => copies.export(site, params.id, authorOf(call)), {
      can: read,
      query: NoQuery,
      response: { 200: BoardDocument },
      detail: { ...operation("Export a dashboard as a document that names everything"), ...failures("dashboard_not_found") },
    })
    .post(
      "/dashboards/:id/data",
      async ({ body, ...call }) => {
        const shown = await shownTo(call, (board) => readDataRequest(area, call.site, board, body.value, call.user.id))
        if (!call.request.headers.get("accept")?.includes(NDJSON)) return data.collect(shown)
        // The lines of the stream add up to the documented object.
        return new Response(data.stream(shown), { headers: { "content-type": NDJSON } }) as unknown as DataResponse
      },
      {
        can: { ...read, read: readOptionalJson(64 * 1_024) },
        query: NoQuery,
        body: Sent,
        response: { 200: DataResponse },
        detail: { ...operation("Get the data of all widgets in one call", DataInput), ...failures("dashboard_not_found") },
      },
    )
    .post(
      "/dashboards/:id/preview",
      async ({ site, params, body, user, session, request, ...call }) => {
        const author = authorOf({ user, session, request, ...call })
        const board = await writes.preview(site, params.id, body.value, author)
        const viewer = memberViewer(host.services.access, { user, session }, request.signal)
        return data.collect({ board, widgets: board.widgets, site, viewer, request: {} })
      },
      {
        can: { ...change, reads: true },
        query: NoQuery,
        body: Sent,
        response: { 200: DataResponse },
        detail: {
          ...operation("Get the data of widgets that are not saved, by their position in the list, from 1", PreviewInput),
          ...failures(...CONTENT, "dashboard_not_found", "read_only_dashboard"),
        },
      },
    )
    .get(
      "/dashboards/:id/widgets/:file",
      async ({ query: given, ...call }) => {
        const shown = await shownTo(call, () => readDataQuery(area, call.site, given, call.user.id))
        const id = /^(\d+)\.csv$/.exec(call.params.file ?? "")?.[1]
        const name = `dashboard-${shown.board.id}-widget-${id}.csv`
        const headers = { "content-type": "text/csv; charset=utf-8", "content-disposition": `attachment; filename="${name}"` }
        return new Response(await data.csv(shown, parseId(id)), { headers })
      },
      {
        can: { ...read, also: ["export:read"] },
        query: queryWith({
          range: parameter.text("Range, as a JSON string."),
          filters: parameter.text("Filters, as a JSON string."),
          compare: parameter.text("Comparison: `none`, `previous_period`, `previous_year`, or two days as a JSON string."),
        }),
        detail: {
          ...operation("Get the figures of one widget as CSV, at `<id>.csv`"),
          ...failures("dashboard_not_found", "widget_not_found", "broken_reference", "identity_insufficient", "query_timeout"),
          responses: { 200: { description: "The figures.", content: { "text/csv": { schema: { type: "string" } } } } },
        },
      },
    )
}
