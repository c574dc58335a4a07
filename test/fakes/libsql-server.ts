/**
 * A libSQL server on loopback for catalogs: the binary that `FOOTFALL_TEST_SQLD` names, or else a server of our own that speaks the same
 * protocol (Hrana 2 over HTTP) over SQLite, because no package registry has the binary.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite"
import { mkdirSync } from "node:fs"
import { join } from "node:path"

/** Path of the binary of a libSQL server. */
const BINARY = process.env.FOOTFALL_TEST_SQLD

export interface LibsqlServer extends AsyncDisposable {
  url: string
  stop(): Promise<void>
  /** Starts it again at the same address, with the same data. */
  start(): Promise<void>
}

/** Starts a server whose data is in a folder. */
export async function libsqlServer(folder: string): Promise<LibsqlServer> {
  const free = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("") })
  const port = free.port!
  await free.stop(true)
  const begin = () => (BINARY === undefined ? serveHrana(folder, port) : startBinary(BINARY, folder, port))
  let end = await begin()
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => end(),
    start: async () => {
      end = await begin()
    },
    [Symbol.asyncDispose]: () => end(),
  }
}

type End = () => Promise<void>

async function startBinary(binary: string, folder: string, port: number): Promise<End> {
  const address = `127.0.0.1:${port}`
  const child = Bun.spawn([binary, "--no-welcome", "--http-listen-addr", address, "-d", folder], { stdout: "ignore", stderr: "ignore" })
  const isUp = () =>
    fetch(`http://${address}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  for (let tries = 0; tries < 100 && !(await isUp()); tries++) await Bun.sleep(50)
  return async () => {
    child.kill("SIGTERM")
    await child.exited
  }
}

/** Time without a request after which a stream is closed, and its transaction rolled back. */
const IDLE_MS = 10_000

type Value =
  | { type: "null" }
  | { type: "integer"; value: string }
  | { type: "float"; value: number }
  | { type: "text"; value: string }
  | { type: "blob"; base64: string }

interface Statement {
  sql?: string
  sql_id?: number
  args?: Value[]
  named_args?: { name: string; value: Value }[]
}

type Condition =
  | { type: "ok" | "error"; step: number }
  | { type: "not"; cond: Condition }
  | { type: "and" | "or"; conds: Condition[] }
  | { type: "is_autocommit" }

interface Step {
  condition?: Condition | null
  stmt: Statement
}

type StreamRequest =
  | { type: "close" | "get_autocommit" }
  | { type: "execute"; stmt: Statement }
  | { type: "batch"; batch: { steps: Step[] } }
  | { type: "sequence"; sql?: string; sql_id?: number }
  | { type: "store_sql"; sql_id: number; sql: string }
  | { type: "close_sql"; sql_id: number }

async function serveHrana(folder: string, port: number): Promise<End> {
  mkdirSync(folder, { recursive: true })
  const path = join(folder, "data.db")
  const streams = new Map<string, Stream>()
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    routes: {
      "/health": new Response("ok"),
      "/v2/pipeline": {
        POST: async (request) => {
          const { baton, requests } = (await request.json()) as { baton?: string; requests: StreamRequest[] }
          const stream = baton === undefined ? new Stream(path) : streams.get(baton)
          if (!stream) return Response.json({ message: "The stream has expired", code: "STREAM_EXPIRED" }, { status: 400 })
          if (baton !== undefined) streams.delete(baton)
          const results = requests.map((each) => stream.respond(each))
          const next = stream.isClosed ? null : crypto.randomUUID()
          if (next !== null) {
            streams.set(next, stream)
            stream.expireLater(() => streams.delete(next))
          }
          return Response.json({ baton: next, base_url: null, results })
        },
      },
    },
    fetch: () => new Response(null, { status: 404 }),
  })
  return async () => {
    await server.stop(true)
    for (const stream of streams.values()) stream.close()
    streams.clear()
  }
}

/** A connection of a client, with its transaction. */
class Stream {
  private readonly database: Database
  private readonly texts = new Map<number, string>()
  private timer: ReturnType<typeof setTimeout> | undefined
  isClosed = false

  constructor(path: string) {
    this.database = new Database(path, { create: true, safeIntegers: true })
    this.database.run("pragma journal_mode = wal; pragma foreign_keys = on; pragma synchronous = off")
  }

  respond(request: StreamRequest): object {
    clearTimeout(this.timer)
    try {
      return { type: "ok", response: { type: request.type, ...this.answer(request) } }
    } catch (error) {
      return { type: "error", error: failureOf(error) }
    }
  }

  expireLater(forget: () => void): void {
    this.timer = setTimeout(() => {
      forget()
      this.close()
    }, IDLE_MS)
  }

  close(): void {
    clearTimeout(this.timer)
    if (!this.isClosed) this.database.close()
    this.isClosed = true
  }

  private answer(request: StreamRequest): object {
    if (request.type === "close") this.close()
    if (request.type === "get_autocommit") return { is_autocommit: !this.database.inTransaction }
    if (request.type === "execute") return { result: this.execute(request.stmt) }
    if (request.type === "batch") return { result: this.batch(request.batch.steps) }
    if (request.type === "sequence") this.database.run(this.textOf(request))
    if (request.type === "store_sql") this.texts.set(request.sql_id, request.sql)
    if (request.type === "close_sql") this.texts.delete(request.sql_id)
    return {}
  }

  private textOf({ sql, sql_id }: Pick<Statement, "sql" | "sql_id">): string {
    const text = sql ?? this.texts.get(sql_id ?? -1)
    if (text === undefined) throw new Error("The text of the statement is unknown")
    return text
  }

  private execute({ args = [], named_args = [], ...text }: Statement): object {
    using statement = this.database.prepare(this.textOf(text))
    const named = Object.fromEntries(named_args.map(({ name, value }) => [name, valueIn(value)]))
    const bound = named_args.length > 0 ? [named] : args.map(valueIn)
    const rows = statement.values(...(bound as SQLQueryBindings[]))
    const [counts] = this.database.query("select changes(), last_insert_rowid()").values() as [[bigint, bigint]]
    return {
      cols: statement.columnNames.map((name) => ({ name, decltype: null })),
      rows: rows.map((row) => row.map(valueOut)),
      affected_row_count: Number(counts[0]),
      last_insert_rowid: String(counts[1]),
    }
  }

  private batch(steps: readonly Step[]): object {
    const step_results: (object | null)[] = []
    const step_errors: (object | null)[] = []
    const holds = (condition: Condition): boolean => {
      if (condition.type === "ok") return step_results[condition.step] != null
      if (condition.type === "error") return step_errors[condition.step] != null
      if (condition.type === "not") return !holds(condition.cond)
      if (condition.type === "and") return condition.conds.every(holds)
      return condition.type === "or" ? condition.conds.some(holds) : !this.database.inTransaction
    }
    for (const { condition, stmt } of steps) {
      let result: object | null = null
      let error: object | null = null
      try {
        if (!condition || holds(condition)) result = this.execute(stmt)
      } catch (thrown) {
        error = failureOf(thrown)
      }
      step_results.push(result)
      step_errors.push(error)
    }
    return { step_results, step_errors }
  }
}

/** Returns an error as the server reports it, with the primary code only. */
function failureOf(error: unknown): { message: string; code: string } {
  const { message, code = "UNKNOWN" } = error as Error & { code?: string }
  return { message, code: /^SQLITE_[A-Z]+/.exec(code)?.[0] ?? code }
}

function valueIn(value: Value): SQLQueryBindings {
  if (value.type === "null") return null
  if (value.type === "integer") return BigInt(value.value)
  return value.type === "blob" ? Buffer.from(value.base64, "base64") : value.value
}

function valueOut(value: unknown): Value {
  if (value === null) return { type: "null" }
  if (typeof value === "bigint") return { type: "integer", value: String(value) }
  if (typeof value === "number") return { type: "float", value }
  if (typeof value === "string") return { type: "text", value }
  return { type: "blob", base64: Buffer.from(value as Uint8Array).toString("base64") }
}
