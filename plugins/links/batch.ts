import { Type as t } from "@sinclair/typebox"
import { AppError, fault, inspect, isObject, refuseFaults, slugKey } from "#plugin"
import type { Cache } from "./cache.ts"
import { csvRows, unmarked } from "./csv.ts"
import type { Author, Links } from "./keeping.ts"
import { LIMITS } from "./link.ts"
import type { Showing } from "./shown.ts"

const OPS = ["create", "update", "archive", "delete"] as const
export const BulkInput = t.Object(
  { op: t.Union(OPS.map((op) => t.Literal(op))), rows: t.Array(t.Any(), { minItems: 1, maxItems: LIMITS.bulkRows }) },
  { additionalProperties: false, title: "LinkBulk" },
)
export const ImportInput = t.Object(
  { csv: t.String({ minLength: 1 }), apply: t.Optional(t.Boolean({ description: "Writes; without it nothing is changed" })) },
  { additionalProperties: false, title: "LinkImport" },
)

/** What became of one row. */
interface RowResult {
  index: number
  status: "created" | "updated" | "archived" | "deleted" | "failed"
  id?: number
  error?: { code: string; detail: string; errors?: unknown }
}

export interface BulkAnswer {
  results: RowResult[]
}

export interface Batches {
  bulk(author: Author, body: unknown): Promise<BulkAnswer>
  import(author: Author, body: unknown): Promise<ImportAnswer>
}

export interface ImportAnswer {
  format: string
  dry_run: boolean
  counts: { ok: number; failed: number }
  rows: ImportedRow[]
}
interface ImportedRow {
  line: number
  status: "ok" | "created" | "failed"
  slug: string | null
  destination: string
  id?: number
  error?: { code: string; detail: string }
}

/** Rows stand alone: one that fails stops no other. */
export function createBatches(links: Links, { cache, show }: { cache: Cache; show: Showing["link"] }): Batches {
  async function change(author: Author, op: (typeof OPS)[number], row: unknown): Promise<Omit<RowResult, "index">> {
    if (op === "create") return { status: "created", id: (await links.create(author, row)).id }
    if (!isObject(row) || !Number.isSafeInteger(row.id)) refuseFaults([fault("/id", "required", "is required")])
    const { id, ...patch } = row as Record<string, unknown> & { id: number }
    if (op === "delete") await links.remove(author, id)
    else await links.update(author, id, op === "archive" ? { archived: true } : patch, { show })
    return { status: op === "delete" ? "deleted" : op === "archive" ? "archived" : "updated", id }
  }

  return {
    async bulk(author, body) {
      const { fields, faults } = inspect(
        BulkInput,
        isObject(body) ? { ...body, ...(Array.isArray(body.rows) && { rows: body.rows.map(() => 0) }) } : body,
      )
      refuseFaults(faults)
      const rows = (body as { rows: unknown[] }).rows // of the shape, as just looked at
      const results: RowResult[] = []
      for (const [index, row] of rows.entries())
        results.push({
          index,
          ...(await change(author, fields.op!, row).catch((error): Omit<RowResult, "index"> => ({ status: "failed", error: told(error) }))),
        })
      return { results }
    },
    async import(author, body) {
      const { faults } = inspect(
        ImportInput,
        isObject(body) && typeof body.csv === "string" ? { ...body, csv: body.csv === "" ? "" : "x" } : body,
      )
      refuseFaults(faults)
      const { csv, apply = false } = body as { csv: string; apply?: boolean } // of the shape, as just looked at
      await cache.ready()
      const { format, rows } = readLinks(csv)
      const found: Found = { slugs: new Set(), links: 0 }
      const done: ImportedRow[] = []
      for (const row of rows) done.push(await importRow(author, row, { apply, found }))
      const failed = done.filter(({ status }) => status === "failed").length
      return { format, dry_run: !apply, counts: { ok: done.length - failed, failed }, rows: done }
    },
  }

  async function importRow(
    author: Author,
    { line, ...link }: CsvLink,
    { apply, found }: { apply: boolean; found: Found },
  ): Promise<ImportedRow> {
    const said = { line, slug: link.slug ?? null, destination: link.destination }
    try {
      if (apply) return { ...said, status: "created", id: (await links.create(author, link)).id }
      await judge(author, link, found)
      return { ...said, status: "ok" }
    } catch (error) {
      return { ...said, status: "failed", error: told(error) }
    }
  }

  /** What writing would refuse, with the rows before it written; only of circles among new links nothing is known. */
  async function judge(author: Author, link: Omit<CsvLink, "line">, found: Found): Promise<void> {
    const key = link.slug === undefined ? undefined : slugKey(link.slug)
    await links.judge(author, link, found.links)
    if (key !== undefined && found.slugs.has(key)) throw new AppError("slug_taken", "A row before it has this slug.")
    if (key !== undefined) found.slugs.add(key)
    found.links++
  }
}

/** What the rows of a file so far would have made. */
interface Found {
  slugs: Set<string>
  links: number
}

/** A refusal in words; anything else is a bug, and ends the whole. */
function told(error: unknown): NonNullable<RowResult["error"]> {
  if (!(error instanceof AppError) || error.code === "internal_error") throw error
  const { errors } = error.members
  return { code: error.code, detail: error.message, ...(errors && { errors }) }
}

interface CsvLink {
  line: number
  destination: string
  slug?: string
  title?: string
  tags?: string[]
}

/** How others call the columns, in lower case and without signs. A format is told by a column that no other one has. */
const COLUMNS = {
  destination: ["destination", "destinationurl", "longurl", "originalurl", "targeturl", "url"],
  slug: ["slug", "keyword", "shortcode", "customslug", "key", "backhalf"],
  short: ["bitlink", "shorturl", "shortlink", "link"],
  title: ["title"],
  tags: ["tags", "tag"],
} as const
const FORMATS: readonly (readonly [name: string, column: string])[] = [
  ["bitly", "bitlink"],
  ["yourls", "keyword"],
  ["shlink", "shortcode"],
  ["dub", "shortlink"],
  ["dub", "destinationurl"],
]

function readLinks(csv: string): { format: string; rows: CsvLink[] } {
  const [head, ...rows] = csvRows(csv)
  const names = (head?.cells ?? []).map((name) => name.toLowerCase().replace(/[^a-z]/g, ""))
  const column = (of: keyof typeof COLUMNS): number => COLUMNS[of].map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1
  const [destination, slug, short, title, tags] = [column("destination"), column("slug"), column("short"), column("title"), column("tags")]
  if (destination < 0) refuseFaults([fault("/csv", "required", "needs a column with destinations")])
  if (rows.length > LIMITS.importRows) refuseFaults([fault("/csv", "too_many", `may have ${LIMITS.importRows} rows`)])
  const cell = (cells: readonly string[], index: number): string => (index < 0 ? "" : unmarked((cells[index] ?? "").trim()))
  return {
    format: FORMATS.find(([, name]) => names.includes(name))?.[0] ?? "plain",
    rows: rows.map(({ line, cells }) => {
      const named = cell(cells, slug) || lastPart(cell(cells, short))
      const words = cell(cells, tags)
        .split(/[,;|]/)
        .map((tag) => tag.trim())
      const kept = [...new Set(words)].filter((tag) => tag !== "")
      return {
        line,
        destination: cell(cells, destination),
        ...(named !== "" && { slug: named }),
        ...(title >= 0 && { title: [...cell(cells, title)].slice(0, 200).join("") }),
        ...(kept.length > 0 && { tags: kept }),
      }
    }),
  }
}

/** `https://bit.ly/3xYz` is `3xYz`. */
const lastPart = (address: string): string =>
  address
    .split(/[?#]/)[0]!
    .split("/")
    .filter((part) => part !== "")
    .at(-1) ?? ""
