import { AnyQuery, AuditRowResponse, csvLine, formatAuditRow, type Host, NoQuery, Paged } from "#plugin"
import { AuditCheckResponse } from "./operation-responses.ts"
import { fileHeaders, operation, rawResponse, streamed } from "./routing.ts"

/** Routes for the audit log of the instance. */
export const auditRoutes = (host: Host) => {
  const { audit } = host.services.console

  return host
    .instanceRouter()
    .get(
      "/admin/audit",
      async ({ query }) => {
        const page = await audit.list(query)
        return { ...page, data: page.data.map(formatAuditRow) }
      },
      { instanceAdmin: true, query: AnyQuery, response: { 200: Paged(AuditRowResponse) }, detail: operation("List audit entries") },
    )
    .get("/admin/audit/export.ndjson", async ({ query, actor }) => file("ndjson", await audit.open(actor, query)), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...operation("Export the audit log as NDJSON"), ...rawResponse(TYPES.ndjson) },
    })
    .get("/admin/audit/export.csv", async ({ query, actor }) => file("csv", await audit.open(actor, query)), {
      instanceAdmin: true,
      query: AnyQuery,
      detail: { ...operation("Export the audit log as CSV"), ...rawResponse(TYPES.csv) },
    })
    .get("/admin/audit/verify", () => audit.verify(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: AuditCheckResponse },
      detail: operation("Verify the integrity of the audit log"),
    })
}

const TYPES = { csv: "text/csv", ndjson: "application/x-ndjson" } as const

type Row = Parameters<typeof formatAuditRow>[0]
const COLUMNS = Object.keys(AuditRowResponse.properties) as (keyof AuditRowResponse)[] // its own keys

const WRITES: Readonly<Record<keyof typeof TYPES, (row: AuditRowResponse) => string>> = {
  ndjson: (row) => `${JSON.stringify(row)}\n`,
  csv: (row) => csvLine(COLUMNS.map((name) => (name === "changes" ? JSON.stringify(row.changes) : (row[name] ?? undefined)))),
}

/** Streams rows to a file while they are read. */
function file(format: keyof typeof TYPES, rows: AsyncIterable<Row[]>): Response {
  const encode = (text: string) => new TextEncoder().encode(text)
  async function* parts() {
    if (format === "csv") yield encode(`${COLUMNS.join(",")}\r\n`)
    for await (const part of rows) yield encode(part.map((row) => WRITES[format](formatAuditRow(row))).join(""))
  }
  return new Response(streamed(parts()), { headers: fileHeaders(`${TYPES[format]}; charset=utf-8`, `audit.${format}`) })
}
