import { Type as t } from "@sinclair/typebox"
import { AppError, type BatchProgress, fault, inspect, isObject, type OwnStatements, type OwnTables, refuseFaults, slugKey } from "#plugin"
import { LIMITS, type Link } from "./link.ts"
import type { Author, LinkChange, Links } from "./link-writes.ts"
import type { BulkResponse, ImportResponse, LinkFormat } from "./responses.ts"
import type { Cache } from "./serving/cache.ts"

const OPS = ["create", "update", "archive", "delete"] as const
export const BulkInput = t.Object(
  {
    op: t.Union(
      OPS.map((op) => t.Literal(op)),
      { description: "Operation: `create`, `update`, `archive` or `delete`." },
    ),
    rows: t.Array(t.Any(), {
      minItems: 1,
      maxItems: LIMITS.bulkRows,
      description: "New links, or objects with the `id` of a link and the fields to change. A row that fails does not affect the others.",
    }),
  },
  { additionalProperties: false, title: "LinkBulk" },
)
export const ImportInput = t.Object(
  {
    csv: t.String({
      minLength: 1,
      description: "CSV file from Bitly, Shlink, YOURLS or Dub, or with the columns `slug,destination,title,tags`.",
    }),
    apply: t.Optional(t.Boolean({ description: "Write the rows. Default: false, which returns a preview." })),
  },
  { additionalProperties: false, title: "LinkImport" },
)

/** Outcome of one row, as it is stored under the idempotency key. */
export type RowOutcome = { id: number } | { error: RowError }
interface RowError {
  code: string
  detail: string
  errors?: unknown
}

const DONE = { create: "created", update: "updated", archive: "archived", delete: "deleted" } as const
export interface Batches {
  bulk(author: Author, body: unknown, progress: BatchProgress<RowOutcome>): Promise<BulkResponse>
  import(author: Author, body: unknown, progress: BatchProgress<RowOutcome>): Promise<ImportResponse>
}

/**
 * Number of rows per transaction. Statements of the catalog run on the event loop, so a larger slice would delay redirects; a smaller
 * one would wait for the disk more often.
 */
const SLICE = 8

interface BatchesOptions {
  db: Pick<OwnTables, "transaction">
  cache: Cache
  show: LinkFormat["response"]
}

/** Changes many links at once. A row that fails does not affect the others. Other requests are served between two slices of rows. */
export function createBatches(links: Links, { db, cache, show }: BatchesOptions): Batches {
  async function changeOf(author: Author, op: (typeof OPS)[number], row: unknown): Promise<LinkChange> {
    if (op === "create") return links.changes.create(author, row)
    if (!isObject(row) || !Number.isSafeInteger(row.id)) refuseFaults([fault("/id", "required", "is required")])
    const { id, ...patch } = row as Record<string, unknown> & { id: number }
    if (op === "delete") return links.changes.remove(author, id)
    return links.changes.update(author, id, op === "archive" ? { archived: true } : patch, { show })
  }

  /** Writes rows in slices, except the first ones, whose outcomes an earlier request with the same key has stored. */
  async function writeAll<Row>(
    rows: readonly Row[],
    ready: (row: Row) => Promise<LinkChange>,
    { done, keep }: BatchProgress<RowOutcome>,
  ): Promise<RowOutcome[]> {
    const outcomes = [...done]
    while (outcomes.length < rows.length) {
      const from = outcomes.length
      const changes: (LinkChange | RowOutcome)[] = []
      for (const row of rows.slice(from, from + SLICE)) changes.push(await ready(row).catch(failed))
      const written = await db.transaction(
        async (statements) => {
          const slice = await write(statements, changes)
          await keep(statements, from, slice.outcomes)
          return slice
        },
        ({ links }) => links.forEach(cache.put),
      )
      outcomes.push(...written.outcomes)
      await Bun.sleep(0)
    }
    return outcomes
  }

  async function write(statements: OwnStatements, changes: readonly (LinkChange | RowOutcome)[]) {
    const links: Link[] = []
    const outcomes: RowOutcome[] = []
    for (const change of changes) {
      try {
        if (typeof change === "function") {
          const link = await change(statements, links)
          links.push(link)
          outcomes.push({ id: link.id })
        } else outcomes.push(change)
      } catch (error) {
        outcomes.push(failed(error))
      }
    }
    return { links, outcomes }
  }

  /** Checks rows without writing them. Does not find redirect loops between new links. */
  async function checkAll(author: Author, rows: readonly CsvLink[]): Promise<({ error: RowError } | undefined)[]> {
    const slugs = new Set<string>()
    const found: ({ error: RowError } | undefined)[] = []
    let valid = 0
    for (const [index, { line: _, ...link }] of rows.entries()) {
      try {
        const key = link.slug === undefined ? undefined : slugKey(link.slug)
        await links.check(author, link, valid)
        if (key !== undefined && slugs.has(key)) throw new AppError("slug_taken", "An earlier row uses this slug.")
        if (key !== undefined) slugs.add(key)
        valid++
        found.push(undefined)
      } catch (error) {
        found.push(failed(error))
      }
      if (index % SLICE === SLICE - 1) await Bun.sleep(0)
    }
    return found
  }

  return {
    async bulk(author, body, progress) {
      const { fields, faults } = inspect(
        BulkInput,
        isObject(body) ? { ...body, ...(Array.isArray(body.rows) && { rows: body.rows.map(() => 0) }) } : body,
      )
      refuseFaults(faults)
      const op = fields.op!
      const rows = (body as { rows: unknown[] }).rows // inspected just now
      await cache.ready()
      if (op === "delete") await links.countClicks(author.site)
      const outcomes = await writeAll(rows, (row) => changeOf(author, op, row), progress)
      return { results: outcomes.map((outcome, index) => ({ index, status: "error" in outcome ? "failed" : DONE[op], ...outcome })) }
    },
    async import(author, body, progress) {
      const { faults } = inspect(
        ImportInput,
        isObject(body) && typeof body.csv === "string" ? { ...body, csv: body.csv === "" ? "" : "x" } : body,
      )
      refuseFaults(faults)
      const { csv, apply = false } = body as { csv: string; apply?: boolean } // inspected just now
      await cache.ready()
      const { format, rows } = await readLinks(csv)
      const outcomes = apply
        ? await writeAll(rows, ({ line: _, ...link }) => links.changes.create(author, link), progress)
        : await checkAll(author, rows)
      const shown = rows.map(({ line, slug = null, destination }, index): ImportResponse["rows"][number] => {
        const outcome = outcomes[index]
        const status = outcome === undefined ? "ok" : "error" in outcome ? "failed" : "created"
        return { line, slug, destination, status, ...outcome }
      })
      const failedRows = shown.filter(({ status }) => status === "failed").length
      return { format, dry_run: !apply, counts: { ok: shown.length - failedRows, failed: failedRows }, rows: shown }
    },
  }
}

/** Returns the error of a row. Any other exception is a bug and ends the whole batch. */
function failed(error: unknown): { error: RowError } {
  if (!(error instanceof AppError) || error.code === "internal_error") throw error
  const { errors } = error.members
  return { error: { code: error.code, detail: error.message, ...(errors && { errors }) } }
}

interface CsvLink {
  line: number
  destination: string
  slug?: string
  title?: string
  tags?: string[]
}

/** Names of the columns in other products, in lower case and letters only. */
const COLUMNS = {
  destination: ["destination", "destinationurl", "longurl", "originalurl", "targeturl", "url"],
  slug: ["slug", "keyword", "shortcode", "customslug", "key", "backhalf"],
  short: ["bitlink", "shorturl", "shortlink", "link"],
  title: ["title"],
  tags: ["tags", "tag"],
} as const
/** Columns that only one format has. */
const FORMATS: readonly (readonly [name: string, column: string])[] = [
  ["bitly", "bitlink"],
  ["yourls", "keyword"],
  ["shlink", "shortcode"],
  ["dub", "shortlink"],
  ["dub", "destinationurl"],
]

/** Number of rows to parse before other requests are served. */
const READ_SLICE = 500

async function readLinks(csv: string): Promise<{ format: string; rows: CsvLink[] }> {
  const parsed = csvRows(csv)
  const { cells: head = [] } = parsed.next().value ?? {}
  const names = head.map((name) => name.toLowerCase().replace(/[^a-z]/g, ""))
  const column = (of: keyof typeof COLUMNS): number => COLUMNS[of].map((name) => names.indexOf(name)).find((index) => index >= 0) ?? -1
  const [destination, slug, short, title, tags] = [column("destination"), column("slug"), column("short"), column("title"), column("tags")]
  if (destination < 0) refuseFaults([fault("/csv", "required", "must have a column with destinations")])
  const cell = (cells: readonly string[], index: number): string => (index < 0 ? "" : withoutFormulaGuard((cells[index] ?? "").trim()))
  function linkOf({ line, cells }: CsvRow): CsvLink {
    const named = cell(cells, slug) || lastPart(cell(cells, short))
    const words = cell(cells, tags)
      .split(/[,;|]/)
      .map((tag) => tag.trim())
    const unique = [...new Set(words)].filter((tag) => tag !== "")
    return {
      line,
      destination: cell(cells, destination),
      ...(named !== "" && { slug: named }),
      ...(title >= 0 && { title: [...cell(cells, title)].slice(0, 200).join("") }),
      ...(unique.length > 0 && { tags: unique }),
    }
  }
  const rows: CsvLink[] = []
  for (const row of parsed) {
    if (rows.length === LIMITS.importRows) refuseFaults([fault("/csv", "too_many", `must have at most ${LIMITS.importRows} rows`)])
    rows.push(linkOf(row))
    if (rows.length % READ_SLICE === 0) await Bun.sleep(0)
  }
  return { format: FORMATS.find(([, name]) => names.includes(name))?.[0] ?? "plain", rows }
}

/** Returns the last segment of a URL: `3xYz` for `https://bit.ly/3xYz`. */
const lastPart = (address: string): string =>
  address
    .split(/[?#]/)[0]!
    .split("/")
    .filter((part) => part !== "")
    .at(-1) ?? ""

/** A row of a CSV file with the number of its first line. */
interface CsvRow {
  line: number
  cells: string[]
}

/**
 * Yields the rows of a CSV file (RFC 4180), without empty ones. Lines may end with CR, LF or both; an unclosed quote extends to the end
 * of the file. A generator, so that the caller can pause between the rows of a large file.
 */
function* csvRows(text: string): Generator<CsvRow, void> {
  let [at, line] = [text.startsWith("\ufeff") ? 1 : 0, 1]

  function quotedPart(): string {
    let part = ""
    for (at++; ; at++) {
      const end = text.indexOf('"', at)
      part += text.slice(at, end === -1 ? undefined : end)
      at = end === -1 ? text.length : end + 1
      if (text[at] !== '"') break
      part += '"'
    }
    line += part.match(LINE_END)?.length ?? 0
    return part
  }
  function readCell(): string {
    const quoted = text[at] === '"' ? quotedPart() : ""
    CELL_END.lastIndex = at
    const end = CELL_END.exec(text)?.index ?? text.length
    const cell = quoted + text.slice(at, end)
    at = end
    return cell
  }

  while (at < text.length) {
    const [firstLine, cells] = [line, [readCell()]]
    while (text[at] === ",") {
      at++
      cells.push(readCell())
    }
    at += text.startsWith("\r\n", at) ? 2 : 1
    line++
    if (cells.length > 1 || cells[0] !== "") yield { line: firstLine, cells }
  }
}

const LINE_END = /\r\n|\r|\n/g
const CELL_END = /[,\r\n]/g

/** Removes the apostrophe that exports put in front of a cell that a spreadsheet would run as a formula. */
const withoutFormulaGuard = (cell: string): string => (/^'[=+\-@\t\r＝＋－＠]/.test(cell) ? cell.slice(1) : cell)
