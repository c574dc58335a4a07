/**
 * A ClickHouse server for tests: the HTTP interface over ClickHouse as a library. It runs in a process of its own, because a query worker
 * blocks its thread until the answer is there. Arguments: the folder of the data and the port.
 */
import { rmSync } from "node:fs"
import { createRequire } from "node:module"
import { join } from "node:path"
import { CHDB_FOLDER, PASSWORD, USER } from "./chdb.ts"

/** The part of `chdb` that is used. */
interface Session {
  queryBindAsync(sql: string, parameters: object, options: { format: string }): Promise<{ bytes(): Uint8Array<ArrayBuffer> }>
}
type Chdb = { Session: new (path: string) => Session }

// The types of an optional package are not there when it is not installed.
const { Session } = createRequire(join(CHDB_FOLDER, "package.json"))("chdb") as Chdb
const [folder, port] = process.argv.slice(2)
const session = new Session(join(folder!, "data"))

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  idleTimeout: 0,
  maxRequestBodySize: 2 ** 31,
  async fetch(request) {
    const { headers } = request
    if (headers.get("x-clickhouse-user") !== USER || headers.get("x-clickhouse-key") !== PASSWORD)
      return failure(403, "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)")
    try {
      return new Response(await inTurn(() => answer(request)))
    } catch (error) {
      return failure(500, String((error as Error).message))
    }
  },
})
console.log(server.port)
void endWithParent()

/** Ends the server and deletes its data when the process of the tests has ended without stopping it. */
async function endWithParent(): Promise<void> {
  for await (const _ of Bun.stdin.stream());
  rmSync(folder!, { recursive: true, force: true })
  process.exit()
}

/** Statements run one after another, because they change the database of their session. */
let last: Promise<unknown> = Promise.resolve()
function inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
  const next = last.then(run)
  last = next.catch(() => undefined)
  return next
}

/** Parameters of a request that are not settings. */
const OWN = ["query", "database", "default_format"]
/** Settings of the HTTP interface, which the library does not have. */
const HTTP_ONLY = /^(cancel_http_|http_|wait_end_of_query|buffer_size|session_)/

/** The database of the session. */
let used = "default"

async function answer(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  const query = new URL(request.url).searchParams
  const body = await request.bytes()
  // A query whose caller has left is not run.
  if (request.signal.aborted) throw new Error("Code: 210. DB::Exception: The client has left. (NETWORK_ERROR)")
  const entries = [...query].filter(([name]) => !OWN.includes(name))
  const isParameter = ([name]: [string, string]) => name.startsWith("param_")
  const parameters = Object.fromEntries(entries.filter(isParameter).map(([name, value]) => [name.slice("param_".length), unescaped(value)]))
  const settings = entries.filter((entry) => !isParameter(entry) && !HTTP_ONLY.test(entry[0]))
  const clause =
    settings.length === 0 ? "" : `settings ${settings.map(([name, value]) => `${name} = '${value.replaceAll("'", "\\'")}'`).join(", ")}`
  const database = query.get("database") ?? "default"
  if (database !== used) await run(`use \`${database}\``)
  used = database
  const insert = query.get("query")
  if (insert === null)
    return run(withSettings(new TextDecoder().decode(body), clause), parameters, query.get("default_format") ?? "TabSeparated")
  const rows = join(folder!, "insert")
  await Bun.write(rows, body)
  return run(insert.replace(/ format (\w+)$/, ` from infile '${rows}' ${clause} format $1`))
}

/** Settings of a definition are part of it, so those of the statement have no place. */
const withSettings = (sql: string, clause: string): string => (/^\s*(--.*\n\s*)*select\b/i.test(sql) ? `${sql} ${clause}` : sql)

async function run(sql: string, parameters: object = {}, format = "Null"): Promise<Uint8Array<ArrayBuffer>> {
  return (await session.queryBindAsync(sql, parameters, { format })).bytes()
}

/** Returns the text of a parameter without the escapes of `TabSeparated`, which the library adds again. */
const unescaped = (text: string): string =>
  text.replace(/\\(.)/gs, (_, character: string) => ({ t: "\t", n: "\n", r: "\r", "0": "\0", b: "\b", f: "\f" })[character] ?? character)

function failure(status: number, message: string): Response {
  const code = /Code: (\d+)/.exec(message)?.[1] ?? "1"
  return new Response(`${message}\n`, { status, headers: { "X-ClickHouse-Exception-Code": code } })
}
