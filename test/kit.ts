/**
 * Shared support for the tests of all layers.
 *
 * `temporaryFolder()` creates a real folder · `fixedClock()` a clock that stands still · `startInstance()` the whole application
 * on both stores in a temporary folder, with an organization, a site (id 1, hosts `shop.example`, zone Europe/Berlin,
 * currency EUR) and a key per purpose. Requests go through the real application without a socket.
 */
import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { loadConfig } from "../config/load.ts"
import { plugins as programPlugins } from "../plugins/index.ts"
import { type App, createApp } from "../src/app.ts"
import type { Clock } from "../src/domain/clock.ts"
import { SCOPES, type Scope } from "../src/domain/key.ts"
import type { Log } from "../src/domain/log.ts"
import type { Role } from "../src/domain/organization.ts"
import type { SiteRole } from "../src/domain/permission.ts"
import type { Site } from "../src/domain/site.ts"
import type { AnyPlugin } from "../src/plugin/contract.ts"
import { type OwnRows, rowWriter } from "../src/plugin/host/own-rows.ts"
import { pluginFacts } from "../src/plugin/load.ts"
import type { PluginFacts } from "../src/services/runtime/plugins.ts"
import { openStores } from "../src/services/runtime/stores.ts"
import { insertMembership, putSiteMember } from "../src/store/catalog/members.ts"
import { catalogSchemas } from "../src/store/catalog/schema.ts"
import { updateSessionProof } from "../src/store/catalog/sessions.ts"
import { insertSetup, insertUser, isSetUp } from "../src/store/catalog/users.ts"
import type { ClickhouseServer } from "../src/store/clickhouse/client.ts"
import { eventSchemas } from "../src/store/events/database.ts"
import { sql } from "../src/store/sql.ts"
import { type LibsqlServer, libsqlServer } from "./fakes/libsql-server.ts"
import type { TestServer } from "./store/clickhouse/server.ts"

/** With `FOOTFALL_TEST_CATALOG=server`, each instance has its catalog on a libSQL server, so that any test can be run with one. */
export const HAS_CATALOG_SERVER = process.env.FOOTFALL_TEST_CATALOG === "server"

/** With `FOOTFALL_TEST_ROWS=server`, the row tables of plugins are on a libSQL server as well. */
const HAS_ROW_SERVER = process.env.FOOTFALL_TEST_ROWS === "server"

/** With `FOOTFALL_TEST_EVENTS=clickhouse`, each instance has its events on ClickHouse, so that any test can be run with it. */
const HAS_CLICKHOUSE = process.env.FOOTFALL_TEST_EVENTS === "clickhouse"

/** Creates a temporary folder that is deleted at the end of the scope: `using folder = temporaryFolder()`. */
export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "footfall-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

/**
 * Copies new stores with all migrations into a data folder. They are made once for each schema, and kept in the system's temporary folder:
 * migrating takes three times as long as the rest of a start.
 */
async function copyNewStores(dataDir: string, plugins: readonly AnyPlugin[]): Promise<void> {
  const facts = pluginFacts(plugins)
  const schema = JSON.stringify([catalogSchemas(facts), eventSchemas(facts)])
  const made = join(tmpdir(), `footfall-new-stores-${Bun.hash(schema).toString(36)}`)
  if (!existsSync(made)) await makeNewStores(made, facts)
  for (const file of readdirSync(made)) copyFileSync(join(made, file), join(dataDir, file))
}

async function makeNewStores(path: string, plugins: PluginFacts[]): Promise<void> {
  const dataDir = mkdtempSync(`${path}-`)
  const options = { dataDir, plugins, random, version: "0.0.0-test", clock: fixedClock("2026-11-21T12:00:00Z") }
  const { catalog, events } = await openStores({ ...options, remoteCatalog: undefined, backUp: undefined, onFault() {} })
  events.close()
  await catalog.checkpoint()
  await catalog.close()
  try {
    renameSync(dataDir, path)
  } catch {
    rmSync(dataDir, { recursive: true }) // another process was quicker
  }
}

export const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))

/** Creates a clock that stands still until a test moves it. */
export function fixedClock(start: string): Clock & { advance(ms: number): void; jump(ms: number): void } {
  let at = Date.parse(start)
  let jumped = 0
  return {
    now: () => at + jumped,
    // Both clocks advance together; only `jump` separates them.
    monotonic: () => at,
    advance: (ms) => {
      at += ms
    },
    /** Moves only the wall clock. */
    jump: (ms) => {
      jumped += ms
    },
  }
}

/** Creates a log that keeps its lines, so that a test can check what was logged and what was not. */
export function memoryLog(): Log & { lines: { level: string; message: string; fields: Record<string, unknown> | undefined }[] } {
  const lines: { level: string; message: string; fields: Record<string, unknown> | undefined }[] = []
  const at = (level: string) => (message: string, fields?: Record<string, unknown>) => void lines.push({ level, message, fields })
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), lines }
}

/** URLs of the worker files, which `main.ts` provides in the product. `scripts/ci.ts` bundles the one that most instances start. */
export const WORKERS = {
  query: process.env.FOOTFALL_TEST_QUERY_WORKER ?? new URL("../src/query/engine/worker.ts", import.meta.url).href,
  backup: new URL("../src/services/backup/worker.ts", import.meta.url).href,
  hash: new URL("../src/services/sign-in/hash-worker.ts", import.meta.url).href,
  plugin: new URL("../src/plugin-worker.ts", import.meta.url).href,
  shipping: new URL("../src/services/shipping/worker.ts", import.meta.url).href,
  network: new URL("../src/services/shipping/network-worker.ts", import.meta.url).href,
  rows: new URL("../src/store/rows/worker.ts", import.meta.url).href,
}

/** Priority and cost of slow hashes in tests. `passwords.test.ts` proves the cost in the product. */
const CHEAP_HASHES = { niceness: 0, cost: { memory: 64, passes: 1, blocks: 2 } } as const

/** The same hash of a password as the instance of a test computes. */
export const passwordHash = (password: string): Promise<string> =>
  Bun.password.hash(password, { algorithm: "argon2id", memoryCost: CHEAP_HASHES.cost.memory, timeCost: CHEAP_HASHES.cost.passes })

/** User agent that ingestion does not classify as a bot. */
export const BROWSER = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"

export interface Answer {
  status: number
  headers: Headers
  /** The parsed body if it is JSON, otherwise its text. */
  body: unknown
}

export interface Api {
  get(path: string, key?: string, headers?: Record<string, string>): Promise<Answer>
  /** Sends a string or bytes unchanged and any other body as JSON. */
  post(path: string, body: unknown, key?: string, headers?: Record<string, string>): Promise<Answer>
  /** Sends a request with any method. */
  send(method: string, path: string, body: unknown, key?: string, headers?: Record<string, string>): Promise<Answer>
}

export interface TestInstance extends AsyncDisposable {
  app: App
  clock: ReturnType<typeof fixedClock>
  log: ReturnType<typeof memoryLog>
  dataDir: string
  /** The server with the catalog, if it is on one. */
  catalogServer: LibsqlServer | undefined
  /** The server with the row tables of plugins, if they are on one. */
  rowServer: LibsqlServer | undefined
  site: Site
  /** API keys for all sites: `key` has all scopes, the others have one each. */
  key: string
  statsKey: string
  eventsKey: string
  goalsKey: string
  api: Api
  /** Handles a request from the given client address. */
  fetch(request: Request, address?: string): Promise<Response>
  /** Posts to `/api/event` as a browser at the given address does. */
  collect(payload: unknown, options?: { address?: string; headers?: Record<string, string> }): Promise<Answer>
  /** Creates a user and returns a session cookie. The first user sets up the instance. */
  signIn(standing?: SignInAs): Promise<string>
  /** Enqueues due jobs, runs queued ones and delivers product events, as the running process does each second. */
  runJobs(): Promise<void>
  /** Runs a transaction on the row tables of plugins, wherever they are. */
  rows: OwnRows["write"]
  /** Creates an API key with the given scopes, restricted to the given sites if any. */
  makeKey(scopes: readonly Scope[], siteIds?: readonly number[] | null): Promise<string>
  /** Stops the application; its servers go on. */
  stop(): Promise<void>
}

/** Roles of a test's user. Without a role, the user is not a member of the site's organization. */
export interface SignInAs {
  role?: Role
  /** Site-specific role, on `siteId`. Default: site 1. */
  siteRole?: SiteRole
  siteId?: number
  isInstanceAdmin?: boolean
  /** Time of the last confirmation of identity. Default: now. */
  provedAt?: number
  organizationId?: number
}

export interface StartOptions {
  now?: string
  /** Settings by key, as on the command line. */
  settings?: Record<string, string>
  /** Default: the plugins of the program. */
  plugins?: readonly AnyPlugin[]
  /** Addresses with ports of the DNS servers that the instance queries for TXT records and for outgoing requests. */
  nameServers?: readonly string[]
  /** Whether the catalog is on a libSQL server. */
  hasCatalogServer?: boolean
  /** ClickHouse server for the events. The catalog is then on a server too. */
  clickhouse?: ClickhouseServer
  /** Whether the row tables of plugins are on a libSQL server. */
  hasRowServer?: boolean
  /** Instance whose servers, key, clock and site are used, by a node with a folder of its own. */
  joining?: TestInstance
  /** Data folder of an instance that has stopped. Default: a new one. */
  dataDir?: string
}

/**
 * Starts the real application on real stores, without a socket. Jobs run only when a test calls `runJobs`, and the query worker starts
 * with the first query.
 */
export async function startInstance({
  now = "2026-11-21T12:00:00Z",
  settings = {},
  plugins = programPlugins,
  nameServers,
  clickhouse: givenServer,
  hasCatalogServer: isCatalogRemote = HAS_CATALOG_SERVER,
  hasRowServer = HAS_ROW_SERVER,
  joining,
  dataDir,
}: StartOptions = {}): Promise<TestInstance> {
  const clickhouse = givenServer ?? (HAS_CLICKHOUSE ? await ownDatabase() : undefined)
  const hasCatalogServer = isCatalogRemote || clickhouse !== undefined
  const folder = dataDir === undefined ? temporaryFolder() : { path: dataDir, [Symbol.dispose]() {} }
  const clock = joining?.clock ?? fixedClock(now)
  const log = memoryLog()
  if (!hasCatalogServer) await copyNewStores(folder.path, plugins)
  if (joining && !dataDir) copyFileSync(join(joining.dataDir, "secret.key"), join(folder.path, "secret.key"))
  const catalogServer = joining?.catalogServer ?? (hasCatalogServer ? await libsqlServer(join(folder.path, "server")) : undefined)
  const rowServer = joining?.rowServer ?? (hasRowServer ? await libsqlServer(join(folder.path, "rows")) : undefined)
  const flags = { ...settings, data_dir: folder.path, ...(catalogServer && { catalog_url: catalogServer.url }) }
  const environment: Record<string, string> = clickhouse ? clickhouseEnvironment(clickhouse) : {}
  const { config, described } = loadConfig({ flags, environment, workingDirectory: folder.path, plugins })
  const app = await createApp({
    ...{
      config,
      described,
      plugins,
      version: "0.0.0-test",
      clock,
      log,
      random,
      workers: WORKERS,
      hashing: CHEAP_HASHES,
      hasWarmWorker: false,
    },
    ...(nameServers && { nameServers }),
    ...(rowServer && { rowServer: { url: rowServer.url, authToken: undefined } }),
  })
  const { organizations, sites, keys } = app.instance
  const organization = joining?.site.organization_id ?? (await organizations.create({ name: "Shop" })).id
  const site =
    joining?.site ??
    (await sites.create(organization, {
      name: "Shop",
      hosts: ["shop.example"],
      timezone: "Europe/Berlin",
      revenue_currency: "EUR",
    }))
  const makeKey: TestInstance["makeKey"] = async (scopes, site_ids = null) =>
    (await keys.create(organization, { name: `${scopes.length} scopes`, scopes, site_access: site_ids ? "list" : "all", site_ids })).secret
  // One server object for all requests, as in the product, so that concurrent requests cannot be confused.
  const addresses = new WeakMap<Request, string>()
  const server = { requestIP: (request: Request) => ({ address: addresses.get(request) ?? "" }) }
  const fetch: TestInstance["fetch"] = async (request, address = "198.51.100.7") => {
    addresses.set(request, address)
    return app.fetch(request, server)
  }
  const api = apiOver(fetch)
  let stopped: Promise<void> | undefined
  function stop(): Promise<void> {
    stopped ??= app.stop()
    return stopped
  }
  return {
    app,
    clock,
    log,
    dataDir: folder.path,
    catalogServer,
    rowServer,
    site,
    key: await makeKey(SCOPES),
    statsKey: await makeKey(["stats:read"]),
    eventsKey: await makeKey(["events:write"]),
    goalsKey: await makeKey(["goals:write"]),
    api,
    fetch,
    makeKey,
    runJobs: jobRunner(app),
    rows: rowWriter({ ...app.instance, collector: app.collector }).write,
    signIn: (as = {}) => signIn(app, clock.now(), { organizationId: organization, ...as }),
    collect: async (payload, { address, headers } = {}) =>
      answerOf(
        await fetch(
          requestFor("POST", "/api/event", payload, { "user-agent": BROWSER, "content-type": "text/plain", ...headers }),
          address,
        ),
      ),
    stop,
    async [Symbol.asyncDispose]() {
      await stop()
      if (!joining) await catalogServer?.[Symbol.asyncDispose]()
      if (!joining) await rowServer?.[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

/** Returns the environment of an instance with events on a ClickHouse server. */
const clickhouseEnvironment = ({ url, user, password, database }: ClickhouseServer) => ({
  FOOTFALL_CLICKHOUSE_URL: url,
  FOOTFALL_CLICKHOUSE_USER: user,
  FOOTFALL_CLICKHOUSE_PASSWORD: password,
  FOOTFALL_CLICKHOUSE_DATABASE: database,
})

let clickhouseServer: Promise<TestServer> | undefined
let databases = 0

/** Creates a database on a ClickHouse server that all instances of the process share. The server ends with the process. */
async function ownDatabase(): Promise<ClickhouseServer> {
  clickhouseServer ??= import("./store/clickhouse/server.ts").then(({ startClickhouse }) => startClickhouse())
  const { server, clickhouse } = await clickhouseServer
  const database = `footfall_${++databases}`
  await clickhouse.run(`create database ${database}`)
  return { ...server, database }
}

/**
 * Inserts another organization, with an id that no test expects. The user who sets up the instance then gets a separate
 * organization and does not own site 1.
 */
export const serveOthers = ({ app }: TestInstance): Promise<void> =>
  app.instance.catalog.run(sql`insert into organizations (id, name, created_at, updated_at) values (0, 'Others', 0, 0)`)

function jobRunner({ instance: { schedules, jobs, outbox } }: App): () => Promise<void> {
  let isStarted = false
  return async () => {
    if (!isStarted) await Promise.all([schedules.start(), outbox.start()])
    isStarted = true
    await schedules.tick()
    await jobs.drain()
    await outbox.deliver()
  }
}

/** Creates a user and a session as signing in does, but without a password. The first user sets up the instance. */
async function signIn(app: App, now: number, as: SignInAs & { organizationId: number }): Promise<string> {
  const { catalog, sessions, cookieSecrets } = app.instance
  const token = await catalog.transaction(async (statements) => {
    const name = `user-${crypto.randomUUID().slice(0, 8)}`
    const email = `${name}@example.com`
    const fields = { email, email_key: email, name, password_hash: null, is_instance_admin: as.isInstanceAdmin ?? false, created_at: now }
    const user = (await insertUser(statements, fields))! // the address is unique
    if (!(await isSetUp(statements))) await insertSetup(statements, { userId: user.id, now })
    if (as.role) await insertMembership(statements, { organizationId: as.organizationId, userId: user.id, role: as.role, now })
    if (as.siteRole) await putSiteMember(statements, { siteId: as.siteId ?? 1, userId: user.id, role: as.siteRole, by: null, now })
    const made = await sessions.create(statements, user, {
      method: "password",
      mfa: false,
      client: { userAgent: BROWSER, ipPrefix: "" },
    })
    if (as.provedAt !== undefined) await updateSessionProof(statements, made.session.id, as.provedAt)
    return made.token
  })
  return cookieOf(token, cookieSecrets)
}

/** Formats the token of a session as the cookie that a browser sends. */
export const cookieOf = (token: string, [secret]: readonly [string, ...string[]]): string =>
  `sid=${encodeURIComponent(signCookie(token, secret))}`

/** Signs like the cookie library: HMAC-SHA-256 in base64 without padding. */
function signCookie(value: string, secret: string): string {
  const hmac = new Bun.CryptoHasher("sha256", secret).update(value).digest("base64")
  return `${value}.${hmac.replace(/=+$/, "")}`
}

function apiOver(fetch: TestInstance["fetch"]): Api {
  const send: Api["send"] = async (method, path, body, key, headers = {}) => {
    const own = {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
    }
    return answerOf(await fetch(requestFor(method, path, body, { ...own, ...headers })))
  }
  return {
    send,
    get: (path, key, headers) => send("GET", path, undefined, key, headers),
    post: (path, body, key, headers) => send("POST", path, body, key, headers),
  }
}

function requestFor(method: string, path: string, body: unknown, headers: Record<string, string>): Request {
  const isRaw = typeof body === "string" || body instanceof Uint8Array || body === undefined
  // Any typed array is a valid body, but the type accepts only views of a plain ArrayBuffer.
  const sent = isRaw ? (body as string | Uint8Array<ArrayBuffer> | undefined) : JSON.stringify(body)
  return new Request(`http://localhost${path}`, { method, headers, ...(sent !== undefined && { body: sent }) })
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = /^application\/([a-z]+\+)?json/.test(response.headers.get("content-type") ?? "")
  return { status: response.status, headers: response.headers, body: isJson && text !== "" ? JSON.parse(text) : text }
}

// What a plugin contributes to the tests of all private routes.
export { footfall, serving } from "./cli/footfall.ts"
export { type Bing, bing } from "./fakes/bing.ts"
export { type Google, google } from "./fakes/google.ts"
export { type AnalyticsData, analyticsData } from "./fakes/google-analytics.ts"
export { type SearchConsole, searchConsole } from "./fakes/search-console.ts"
export type { AreaProof, AreaProofKit } from "./http/private/proofs/area-proofs.ts"
export type { Scene } from "./http/private/scene.ts"
export { openMailbox } from "./mailbox.ts"
export { archiveLines, archiveOf } from "./plugin/archive.ts"
export { type SmtpServer, smtpServer } from "./services/mail/smtp-server.ts"
export { certificate, startTlsServer } from "./services/mail/starttls-server.ts"
export { nameServer } from "./services/oidc/name-server.ts"
export { bySize, longTest, SEED } from "./size.ts"
/** Plugins of the program, for tests of what they are together. A plugin that was deleted is missing. */
export { programPlugins }
