import { Type as t } from "@sinclair/typebox"
import {
  type Actor,
  AnyQuery,
  type ArgumentReader,
  type Asked,
  csvLine,
  etagOf,
  NoQuery,
  Paged,
  privatePage,
  readNothing,
  readPaging,
  refuseOtherVersion,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import { type Area, failures, operation, requestBody } from "./area.ts"
import { hiddenRevenue } from "./format.ts"
import { PreviewInput, parseInput, RunInput, readImport, type SentImport } from "./input.ts"
import { type Author, ImportPatch } from "./lifecycle.ts"
import { ImporterResponse, ImportResponse, PreviewResponse } from "./responses.ts"
import { countImports, type ImportRow, importById, listImports, type Reject, rejectsOf, STATES } from "./rows.ts"
import { SOURCES } from "./sources/sources.ts"

const READ = "imports:read"
const WRITE = "imports:write"

const CONTENT = [
  ...["unrecognized_source", "unsupported_version", "missing_columns", "invalid_archive", "invalid_encoding", "needs_date_dimension"],
  ...["ambiguous_date", "website_id_required", "mapping_required", "nothing_to_import", "archive_too_large", "upload_not_found"],
  ...["upload_incomplete", "checksum_mismatch", "stream_key_lost"],
] as const
const RUN = [...CONTENT, "no_effective_days", "duplicate_import", "preview_mismatch", "invalid_state"] as const

interface Called {
  site: Site
  actor: Actor
  user: { id: number }
  permissions: ReadonlySet<string>
}
const authorOf = ({ site, actor, user, permissions }: Called): Author => ({ site, actor, userId: user.id, permissions })

/** The part of a call that names the thing and sets the status of the answer. */
interface Changing {
  params: { id: string }
  status(code: 202, body: ImportResponse): unknown
}

/** A call whose answer has a version. */
interface Tagging {
  set: { headers: Record<string, unknown> }
  permissions: ReadonlySet<string>
}

/** Documents an answer that is not JSON. */
const answersFile = (type: string): object => ({ responses: { 200: { content: { [type]: { schema: { type: "string" } } } } } })

/** The list of sources. */
export const importerRoutes = ({ host, format }: Area) =>
  host.instanceRouter().get("/importers", () => ({ data: SOURCES.map(format.importer) }), {
    signedIn: true,
    query: NoQuery,
    response: { 200: t.Object({ data: t.Array(ImporterResponse, { description: "Available sources." }) }) },
    detail: operation("List the sources of imports"),
  })

/** Previews, runs and the history of imports. */
export function importRoutes(area: Area) {
  const { host, imports, format } = area
  const find = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }) => void (await imports.get(site!, id)) // below a site
  const location = ({ site_id, id }: ImportRow) => `/api/private/sites/${site_id}/imports/${id}`
  async function tagged({ set, permissions }: Tagging, row: ImportRow): Promise<ImportResponse> {
    set.headers.etag = etagOf(row)
    return format.seenBy(permissions).response(row)
  }

  /** Creates the handler of a route that changes the state of an import. Its answer comes before the work is done. */
  const changes =
    (change: "cancel" | "undo" | "retry") =>
    async ({ params, status, ...call }: Called & Changing) => {
      const row = await imports[change](authorOf(call), params.id)
      return status(202, await format.seenBy(call.permissions).response(row))
    }

  /** The options of such a route. */
  const verb = (summary: string, ...codes: Parameters<typeof failures>) => ({
    can: { permission: WRITE, find, read: readNothing },
    query: NoQuery,
    response: { 202: ImportResponse },
    detail: operation(summary, failures(...codes)),
  })

  return host
    .siteRouter()
    .get("/imports", ({ site, query, permissions }) => listing({ host, format: format.seenBy(permissions) }, site, query), {
      can: READ,
      query: AnyQuery,
      response: { 200: Paged(ImportResponse) },
      detail: operation("List imports"),
    })
    .post(
      "/imports",
      ({ site, actor, user, permissions, request, body, set }) => {
        const author = authorOf({ site, actor, user, permissions })
        return host.create<ImportRow, ImportResponse>(
          { user, request, body, set },
          (_, alongside) => imports.create(author, parseInput(body as SentImport, "run"), request.signal, alongside), // read by `readImport`
          (row) => ({ status: 202, location: location(row), etag: etagOf(row), body: format.seenBy(permissions).started(row) }),
        )
      },
      {
        can: { permission: WRITE, read: readImport, multipart: true },
        query: NoQuery,
        body: Sent,
        response: { 202: ImportResponse },
        detail: operation("Start an import", { ...requestBody(RunInput), ...failures(...RUN) }),
      },
    )
    .post(
      "/imports/preview",
      async ({ site, actor, user, permissions, request, body }) => {
        const input = parseInput(body as SentImport, "preview") // `readImport` reads it
        const { answer } = await imports.preview(authorOf({ site, actor, user, permissions }), input, request.signal)
        return permissions.has("revenue:read") ? answer : { ...answer, totals: hiddenRevenue(answer.totals) }
      },
      {
        can: { permission: WRITE, read: readImport, multipart: true, reads: true },
        query: NoQuery,
        body: Sent,
        response: { 200: PreviewResponse },
        detail: operation("Preview an import without storing anything", { ...requestBody(PreviewInput), ...failures(...CONTENT) }),
      },
    )
    .get("/imports/:id", async ({ site, params, set, permissions }) => tagged({ set, permissions }, await imports.get(site, params.id)), {
      can: { permission: READ, find },
      query: NoQuery,
      response: { 200: ImportResponse },
      detail: operation("Get an import"),
    })
    .patch(
      "/imports/:id",
      async ({ site, actor, user, permissions, params, body, request, set }) => {
        const expected = versionsIn(request.headers.get("if-match"))
        const author = authorOf({ site, actor, user, permissions })
        return tagged(
          { set, permissions },
          await imports.update(author, params.id, body.value, {
            expected: (row) => refuseOtherVersion(row, expected),
            current: format.seenBy(permissions).created,
          }),
        )
      },
      {
        can: { permission: WRITE, find },
        query: NoQuery,
        body: Sent,
        response: { 200: ImportResponse },
        detail: operation("Rename an import, or hide or show it", {
          ...requestBody(ImportPatch),
          ...failures("invalid_state", "version_conflict", "precondition_failed"),
        }),
      },
    )
    .post("/imports/:id/cancel", changes("cancel"), verb("Cancel an import", "invalid_state"))
    .post("/imports/:id/undo", changes("undo"), verb("Undo an import", "invalid_state"))
    .post("/imports/:id/retry", changes("retry"), verb("Retry a failed import", "invalid_state", "source_missing"))
    .get(
      "/imports/:id/events",
      async ({ site, params, request, server, permissions }) =>
        progress({ host, format: format.seenBy(permissions) }, await imports.get(site, params.id), { request, server }),
      {
        can: { permission: READ, find },
        query: NoQuery,
        detail: operation("Stream the progress of an import as server-sent events", answersFile("text/event-stream")),
      },
    )
    .get(
      "/imports/:id/rejects.csv",
      async ({ site, params, request }) => rejects(area, site, await imports.get(site, params.id), request.signal),
      {
        can: { permission: READ, find },
        query: NoQuery,
        detail: operation("Download the rejected lines of an import as CSV", answersFile("text/csv")),
      },
    )
}

/** The part of the area that shows imports, as someone may see them. */
interface Shown {
  host: Area["host"]
  format: Pick<Area["format"], "response">
}

/** Returns a page of imports as `GET /imports` answers it. */
export async function listing({ host, format }: Shown, site: Site, query: Record<string, unknown>) {
  const readState = (reader: ArgumentReader) => reader.choice("state", STATES)
  const paging = readPaging(`imports/${site.id}`, query, ["state"], readState)
  const filter = { siteId: site.id, ...(paging.filters && { state: paging.filters }) }
  const before = paging.after ?? Number.MAX_SAFE_INTEGER
  const read = (limit: number) => listImports(host.db, filter, { before, limit })
  const page = await privatePage(paging, read, () => countImports(host.db, filter))
  return { ...page, data: await Promise.all(page.data.map(format.response)) }
}

/** Streams the progress of the job of an import. The last event is the import itself. */
async function progress({ host, format }: Shown, row: ImportRow, asked: Asked): Promise<Response> {
  const job = row.job_id === null ? undefined : await host.jobs.get(row.job_id)
  const current = async () => format.response((await importById(host.db, row.id)) ?? row)
  if (job) return host.jobs.stream(job, asked, current)
  const headers = { "content-type": "text/event-stream; charset=utf-8" }
  return new Response(`event: end\ndata: ${JSON.stringify(await current())}\n\n`, { headers })
}

const REJECTS_PER_READ = 1_000

/** Streams the rejected lines of an import. */
function rejects({ host }: Area, site: Site, { id }: ImportRow, signal: AbortSignal): Response {
  const utf8 = new TextEncoder()
  const caller = { organizationId: site.organization_id, signal }
  let after = 0
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8.encode(csvLine(["file", "line", "code", "excerpt"]))),
    async pull(controller) {
      const found = await host.rows.read<Reject & { n: number }>(rejectsOf(id, after, REJECTS_PER_READ), caller)
      const lines = found.map(({ file, line, code, excerpt }) => csvLine([file, line, code, excerpt]))
      if (lines.length > 0) controller.enqueue(utf8.encode(lines.join("")))
      after = found.at(-1)?.n ?? after
      if (found.length < REJECTS_PER_READ) controller.close()
    },
  })
  const headers = {
    "content-type": "text/csv; charset=utf-8",
    "content-disposition": `attachment; filename="import-${id}-rejects.csv"`,
  }
  return new Response(body, { headers })
}
