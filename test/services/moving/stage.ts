/** An instance that is stopped and started again with its events in the data folder or on ClickHouse, and moved in between. */
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { loadConfig } from "../../../config/load.ts"
import { plugins } from "../../../plugins/index.ts"
import { type App, createApp } from "../../../src/app.ts"
import { openInstance } from "../../../src/services/instance/instance.ts"
import { type Destination, type MovingOptions, moveEvents } from "../../../src/services/moving/moving.ts"
import { placesIn } from "../../../src/services/runtime/data-folder.ts"
import { type ClickhouseServer, createClickhouse } from "../../../src/store/clickhouse/client.ts"
import type { RowServer } from "../../../src/store/rows/reader.ts"
import { operatorActor } from "../../../src/wiring/account-settings.ts"
import { instanceOptions } from "../../../src/wiring/settings.ts"
import { type LibsqlServer, libsqlServer } from "../../fakes/libsql-server.ts"
import { BROWSER, cookieOf, fixedClock, memoryLog, random, temporaryFolder, WORKERS } from "../../kit.ts"
import { sendDirectly } from "../../store/clickhouse/chdb.ts"
import type { Step } from "./move-and-die.ts"

/** Where a stage is, which another process can be told. */
export interface StagePlace {
  dataDir: string
  catalogUrl: string
  server: ClickhouseServer
  /** Time of its clock. */
  now: number
}

interface OpenOptions {
  rowServer?: RowServer
  dataDir?: string
}

type StageClock = ReturnType<typeof fixedClock>

function optionsOf({ dataDir, catalogUrl, server }: StagePlace, engine: Destination, clock: StageClock) {
  const flags = { data_dir: dataDir, catalog_url: catalogUrl, store_user_ids_allowed: "true", backup_time: "off" }
  const { url, user, password, database } = server
  const environment: Record<string, string> =
    engine === "embedded"
      ? {}
      : {
          FOOTFALL_CLICKHOUSE_URL: url,
          FOOTFALL_CLICKHOUSE_USER: user,
          FOOTFALL_CLICKHOUSE_PASSWORD: password,
          FOOTFALL_CLICKHOUSE_DATABASE: database,
        }
  const { config, described } = loadConfig({ flags, environment, workingDirectory: dataDir, plugins })
  return {
    ...{ config, described, plugins, version: "0.0.0-test", clock, log: memoryLog(), random, workers: WORKERS },
    ...{ hashing: { niceness: 0, cost: { memory: 64, passes: 1, blocks: 2 } }, hasWarmWorker: false },
  } as const
}

/** Opens a stopped instance as the command does, and runs work on its events. */
export async function whileStopped<T>(
  place: StagePlace,
  work: (options: MovingOptions) => Promise<T>,
  clock = fixedClock(new Date(place.now).toISOString()),
): Promise<T> {
  const options = instanceOptions(optionsOf(place, "clickhouse", clock))
  const instance = await openInstance({ ...options, isMoving: true })
  try {
    return await work({
      ...instance,
      ...{ plugins: options.plugins, report() {}, clock, path: placesIn(place.dataDir).events },
      ...{
        siteKey: instance.siteKeys.siteKey,
        node: instance.nodes!.own,
        clickhouse: createClickhouse(place.server, sendDirectly),
        server: place.server,
        rows: undefined,
      },
      networkUrl: WORKERS.network,
    })
  } finally {
    await instance.close()
  }
}

export class Stage implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  readonly #server: ClickhouseServer
  readonly clock = fixedClock("2026-11-21T12:00:00Z")
  #catalog!: LibsqlServer
  #app: App | undefined
  /** Cookie of the owner. */
  #cookie = ""

  private constructor(server: ClickhouseServer) {
    this.#server = server
    mkdirSync(this.dataDir, { mode: 0o700 })
  }

  /** Starts with the events in the data folder, and a site that recognizes people by their user ids. */
  static async start(server: ClickhouseServer): Promise<Stage> {
    const stage = new Stage(server)
    stage.#catalog = await libsqlServer(join(stage.#folder.path, "server"))
    const app = await stage.open("embedded")
    const { organizations, sites, accounts, sessions, cookieSecrets, catalog } = app.instance
    const { user, organization } = await accounts.setup.byOperator(
      { email: "ann@example.com", name: "Ann", organization: "Shop", password: "correct horse battery" },
      operatorActor("0.0.0-test"),
    )
    const { id } = organization ?? (await organizations.list())[0]!
    await sites.create(id, { name: "Shop", hosts: ["shop.example"], timezone: "Europe/Berlin", revenue_currency: "EUR" })
    await sites.configure(1, { identity_mode: "identified", store_user_ids: true })
    const { token } = await catalog.transaction((statements) =>
      sessions.create(statements, user as never, { method: "password", mfa: false, client: { userAgent: BROWSER, ipPrefix: "" } }),
    )
    stage.#cookie = cookieOf(token, cookieSecrets)
    return stage
  }

  get dataDir(): string {
    return join(this.#folder.path, "data")
  }

  get #place(): StagePlace {
    return { dataDir: this.dataDir, catalogUrl: this.#catalog.url, server: this.#server, now: this.clock.now() }
  }

  /** Starts the instance, with its rows on a server if one is given. With another folder it is another node. */
  async open(engine: Destination, { rowServer, dataDir = this.dataDir }: OpenOptions = {}): Promise<App> {
    const options = optionsOf({ ...this.#place, dataDir }, engine, this.clock)
    this.#app = await createApp({ ...options, ...(rowServer && { rowServer }) })
    return this.#app
  }

  get app(): App {
    return this.#app!
  }

  async stop(): Promise<void> {
    await this.#app?.stop()
    this.#app = undefined
  }

  /** Opens the stopped instance as the command does, and runs work on its events. */
  whileStopped<T>(work: (options: MovingOptions) => Promise<T>, changes: Partial<MovingOptions> = {}): Promise<T> {
    return whileStopped(this.#place, (options) => work({ ...options, ...changes }), this.clock)
  }

  move(to: Destination, changes: Partial<MovingOptions> = {}) {
    return this.whileStopped((options) => moveEvents(to, options), changes)
  }

  /** Moves the events in another process, which kills itself at a step. Resolves with the signal that ended it. */
  async moveAndDie(to: Destination, step: Step): Promise<string | number | null> {
    const file = join(import.meta.dir, "move-and-die.ts")
    const child = Bun.spawn([process.execPath, file, JSON.stringify(this.#place), to, step], { stdout: "inherit", stderr: "inherit" })
    await child.exited
    return child.signalCode
  }

  /** Runs a statement in the database of the instance. */
  clickhouse(sql: string): Promise<void> {
    return createClickhouse(this.#server, sendDirectly).run(sql)
  }

  async send(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const headers = { cookie: this.#cookie, "content-type": "application/json" }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await this.#fetch(new Request(`http://localhost${path}`, init), "198.51.100.7")
    const text = await response.text()
    return { status: response.status, body: text.startsWith("{") || text.startsWith("[") ? JSON.parse(text) : text }
  }

  /** Sends an event of a visitor, who may have a user id. */
  async collect(visitor: number, event: object): Promise<number> {
    const body = JSON.stringify({ d: "shop.example", ...event })
    const headers = { "user-agent": BROWSER, "content-type": "text/plain" }
    const request = new Request("http://localhost/api/event", { method: "POST", headers, body })
    return (await this.#fetch(request, `198.51.100.${visitor}`)).status
  }

  /** Requests an address as a visitor. Resolves with the status of the answer. */
  async visit(path: string, visitor: number): Promise<number> {
    const request = new Request(`http://localhost${path}`, { headers: { "user-agent": BROWSER } })
    return (await this.#fetch(request, `198.51.100.${visitor}`)).status
  }

  async #fetch(request: Request, address: string): Promise<Response> {
    return this.app.fetch(request, { requestIP: () => ({ address }) } as never)
  }

  #hasJobs = new WeakSet<App>()
  async runJobs(): Promise<void> {
    const { schedules, jobs, outbox } = this.app.instance
    if (!this.#hasJobs.has(this.app)) await Promise.all([schedules.start(), outbox.start()])
    this.#hasJobs.add(this.app)
    await schedules.tick()
    await jobs.drain()
    await outbox.deliver()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.#catalog[Symbol.asyncDispose]()
    this.#folder[Symbol.dispose]()
  }
}
