/**
 * A client of the HTTP interface of ClickHouse. Answers are read as bytes in the format `Native`, and rows are inserted as `RowBinary`.
 */

import { StoreFault } from "../events/fault.ts"

/** The server and the user that a client signs in as. */
export interface ClickhouseServer {
  /** Such as `https://clickhouse.example:8443`. */
  url: string
  user: string
  password: string
  database: string
}

/** Sends a request, as `transfer` of the outbound client does. Resolves with any status; rejects when there is no answer. */
export type Send = (url: string, request: SentRequest) => Promise<Response>

export interface SentRequest {
  method: "POST"
  headers: Readonly<Record<string, string>>
  body: Blob
  /** The operator has configured the URL, so it may be a private address. */
  byOperator: true
  timeoutMs: number
  signal?: AbortSignal
}

/** Values of the placeholders of a statement, such as `{site:UInt32}`. Lists are `Array` placeholders of numbers. */
export type Parameters = Readonly<Record<string, string | number | bigint | readonly (number | bigint)[]>>

/** Settings of ClickHouse for one statement, by their names. */
export type Settings = Readonly<Record<string, string | number>>

export interface StatementOptions {
  parameters?: Parameters
  settings?: Settings
  /** Ends the statement on the server by closing the request. */
  signal?: AbortSignal
  /** Time for the whole exchange. Default: 30 s. */
  timeoutMs?: number
}

export interface Clickhouse {
  /** Runs a statement that has no answer. */
  run(sql: string, options?: StatementOptions): Promise<void>
  /** Returns the answer to a query in the format `Native`. A statement that changes something is refused. */
  read(sql: string, options?: StatementOptions): Promise<Uint8Array>
  /** Returns the rows of a short answer. 64-bit integers are texts. */
  rows<Row>(sql: string, options?: StatementOptions): Promise<Row[]>
  /** Inserts rows in the format `RowBinary`. Resolves once the server has stored them as its settings and those of the call demand. */
  insert(table: string, columns: readonly string[], rows: Uint8Array<ArrayBuffer>, options?: StatementOptions): Promise<void>
}

/** A failed statement. */
export class ClickhouseFault extends Error {
  constructor(
    /** Number of the server's exception. Undefined without a complete answer; then the outcome of an insert is unknown. */
    readonly code: number | undefined,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = "ClickhouseFault"
  }
}

/** Converts a failed statement to the fault of a store that cannot be reached. Other errors stay as they are. */
export const toStoreFault = (error: unknown): unknown =>
  error instanceof ClickhouseFault ? new StoreFault("unreachable", error.message, { cause: error }) : error

/** Returns an answer that rejects with the fault of a store when a statement failed. */
export const withStoreFault = <T>(answer: Promise<T>): Promise<T> => answer.catch((error) => Promise.reject(toStoreFault(error)))

const TIMEOUT_MS = 30_000

/** Settings of every statement. */
const SETTINGS: Settings = { http_write_exception_in_output_format: 0 }
/** Settings of queries. The server ends one whose request is closed, but only if it can change nothing. */
const READING: Settings = { readonly: 2, cancel_http_readonly_queries_on_client_close: 1 }

export function createClickhouse(server: ClickhouseServer, send: Send): Clickhouse {
  async function ask(sql: string, options: StatementOptions, format: string, rows?: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    const url = urlOf(server, options, format)
    if (rows) url.searchParams.set("query", sql)
    const { timeoutMs = TIMEOUT_MS, signal } = options
    const headers = { "User-Agent": "Footfall", "X-ClickHouse-User": server.user, "X-ClickHouse-Key": server.password }
    try {
      const body = new Blob([rows ?? sql])
      const response = await send(url.href, { method: "POST", headers, body, byOperator: true, timeoutMs, ...(signal && { signal }) })
      const bytes = await response.bytes()
      refuseFailure(response, bytes)
      return bytes
    } catch (error) {
      if (error instanceof ClickhouseFault) throw error
      throw new ClickhouseFault(undefined, "ClickHouse gave no complete answer", { cause: error })
    }
  }
  return {
    async run(sql, options = {}) {
      await ask(sql, options, "Null")
    },
    read: (sql, options = {}) => ask(sql, { ...options, settings: { ...READING, ...options.settings } }, "Native"),
    async rows<Row>(sql: string, options: StatementOptions = {}) {
      const settings = { ...options.settings, output_format_json_quote_64bit_integers: 1 }
      const text = new TextDecoder().decode(await ask(sql, { ...options, settings }, "JSONEachRow"))
      const lines = text.split("\n").filter((line) => line !== "")
      return lines.map((line) => JSON.parse(line) as Row) // the author of the statement knows its columns
    },
    async insert(table, columns, rows, options = {}) {
      const names = columns.map((name) => `\`${name}\``).join(", ")
      await ask(`insert into ${table} (${names}) format RowBinary`, options, "Null", rows)
    },
  }
}

function urlOf({ url, database }: ClickhouseServer, { parameters = {}, settings = {} }: StatementOptions, format: string): URL {
  const full = new URL(url)
  const query = full.searchParams
  query.set("database", database)
  query.set("default_format", format)
  for (const [name, value] of Object.entries({ ...SETTINGS, ...settings })) query.set(name, String(value))
  for (const [name, value] of Object.entries(parameters)) query.set(`param_${name}`, parameterText(value))
  return full
}

/** Returns the text of a parameter, which the server reads as a field of `TabSeparated`. */
function parameterText(value: Parameters[string]): string {
  if (typeof value === "object") return `[${value.join(",")}]`
  return String(value).replace(/[\\\t\n\r\0\b\f]/g, (character) => ESCAPES[character]!)
}

const ESCAPES: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  "\t": "\\t",
  "\n": "\\n",
  "\r": "\\r",
  "\0": "\\0",
  "\b": "\\b",
  "\f": "\\f",
}

/** Enough for the last lines of an answer. */
const END_BYTES = 2_048

/** Throws for the answer to a failed statement, which may have failed after its status was sent. */
function refuseFailure({ status, headers }: Response, body: Uint8Array): void {
  if (status !== 200) throw faultOf(new TextDecoder().decode(body), headers.get("x-clickhouse-exception-code"), status)
  const tag = headers.get("x-clickhouse-exception-tag")
  if (tag === null) return
  const end = new TextDecoder("latin1").decode(body.subarray(-END_BYTES))
  const at = end.lastIndexOf(`__exception__\r\n${tag}`)
  if (at >= 0) throw faultOf(end.slice(at), null, status)
}

function faultOf(text: string, code: string | null, status: number): ClickhouseFault {
  const found = Number(code ?? /Code: (\d+)/.exec(text)?.[1] ?? Number.NaN)
  const detail = text.slice(0, MAX_DETAIL).trim()
  return new ClickhouseFault(Number.isNaN(found) ? undefined : found, `ClickHouse answered ${status}: ${detail}`)
}

const MAX_DETAIL = 500
