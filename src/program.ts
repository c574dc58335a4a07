/** The program with its real clock, configuration, signals and listening socket. */

import { existsSync } from "node:fs"
import { ConfigFault, type Loaded, loadConfig } from "../config/load.ts"
import { pluginSettings } from "../config/plugins.ts"
import { flagName, KEYS, SETTINGS } from "../config/schema.ts"
import { version } from "../package.json" with { type: "json" }
import { plugins } from "../plugins/index.ts"
import { type App, createApp } from "./app.ts"
import { runCommandLine } from "./cli/cli.ts"
import type { Program, Running, Settings } from "./cli/command.ts"
import type { Clock } from "./domain/clock.ts"
import type { Log } from "./domain/log.ts"
import { LISTENING } from "./http/server.ts"
import { findBackup } from "./services/backup/folder.ts"
import { finishInterrupted, restoreBackup } from "./services/backup/restore.ts"
import { replayClock } from "./services/demo/demo.ts"
import { lockFolder, openInstance } from "./services/instance/instance.ts"
import { withOperations } from "./services/instance/operations.ts"
import { type MovingOptions, moveEvents, releaseSource, shipAgain } from "./services/moving/moving.ts"
import type { Report } from "./services/runtime/control.ts"
import { placesIn, prepareDataFolder, requireStores } from "./services/runtime/data-folder.ts"
import { ExitFault } from "./services/runtime/exit.ts"
import { jsonLog, lineWriter } from "./services/runtime/log.ts"
import { releaseWhenCalm } from "./services/runtime/start-memory.ts"
import { pendingIn } from "./services/runtime/stores.ts"
import { sendToClickhouse } from "./services/shipping/network.ts"
import { createClickhouse } from "./store/clickhouse/client.ts"
import { filledDemo } from "./wiring/demo.ts"
import { operationsOf } from "./wiring/operations.ts"
import { type AppOptions, createBaseUrl, instanceOptions } from "./wiring/settings.ts"

const CLOCK: Clock = { now: Date.now, monotonic: () => performance.now() }

const program: Program = {
  version,
  // Loaded on demand, because the text has a hundred kilobytes and is rarely requested.
  licenses: async () => (await import("../THIRD-PARTY-LICENSES.txt", { with: { type: "text" } })).default,
  settingFlags: settingFlags(),
  pluginCommands: plugins.flatMap(({ commands = [] }) => commands),
  folder: () => process.cwd(),
  interrupted,
  describeSettings: (settings) => load(settings).described,
  async withOperations(settings, report, work, { mayCreateStores } = { mayCreateStores: false }) {
    const options = appOptions(settings)
    if (!mayCreateStores) requireStores(options.config.data_dir)
    const open = async () => {
      const instance = await openInstance(instanceOptions(options))
      return {
        operations: operationsOf(options, instance, { baseUrl: createBaseUrl(options.config).current }),
        async close() {
          await instance.accounts.mail.settled()
          await instance.close()
        },
      }
    }
    return withOperations({ dataDir: options.config.data_dir, report, open }, work)
  },
  async serve(settings, { demo, json, report }) {
    const clock = replayClock(CLOCK)
    const options = { ...appOptions(settings, { serves: true, logTo: json ? process.stderr : process.stdout }), clock }
    const app = await createApp(options)
    try {
      const made = demo && (await filledDemo(app, options, demo, report))
      clock.end()
      return { ...(await listen(app, options)), ...(made && { demo: made }) }
    } catch (error) {
      await app.stop()
      throw error
    }
  },
  async migrate(settings, { backUp }) {
    const options = instanceOptions({ ...appOptions(settings), backUpBeforeMigrating: backUp })
    requireStores(options.dataDir)
    const instance = await openInstance(options)
    await instance.close()
    return instance.migrated
  },
  async migrationStatus(settings) {
    const options = instanceOptions(appOptions(settings))
    requireStores(options.dataDir)
    prepareDataFolder(options.dataDir)
    const lock = lockFolder(options)
    try {
      // While a restore is unfinished, one store may be old and the other one new.
      finishInterrupted(options.dataDir, options.log)
      return await pendingIn(options)
    } finally {
      lock.release()
    }
  },
  moveEvents: (settings, to, report) => whileStopped(settings, report, (options) => moveEvents(to, options)),
  releaseMoved: (settings) => whileStopped(settings, () => {}, releaseSource),
  shipAgain: (settings, since, report) => whileStopped(settings, report, (options) => shipAgain(since, options)),
  requireKey(settings) {
    const { dataDir, secretKey } = instanceOptions(appOptions(settings))
    requireStores(dataDir)
    if (secretKey === undefined && !existsSync(placesIn(dataDir).key)) throw new ExitFault("storage", `${dataDir} has no secret.key`)
  },
  async restore(settings, idOrPath, report, passphrase) {
    const options = instanceOptions(appOptions(settings))
    // After the loss of a disk, a backup is restored into a folder that holds nothing else.
    if (findBackup(options.dataDir, idOrPath) === undefined) requireStores(options.dataDir)
    prepareDataFolder(options.dataDir)
    const lock = lockFolder(options)
    try {
      const remoteCatalog = options.remoteCatalog !== undefined
      return await restoreBackup(
        { ...options, workerUrl: options.backupWorkerUrl, now: CLOCK.now, remoteCatalog, passphrase },
        idOrPath,
        report,
      )
    } finally {
      lock.release()
    }
  },
}

/** Runs work on the events of an instance that is not running and names a ClickHouse server. */
async function whileStopped<T>(settings: Settings, report: Report, work: (options: MovingOptions) => Promise<T>): Promise<T> {
  const app = appOptions(settings)
  const options = instanceOptions(app)
  requireStores(options.dataDir)
  const { clickhouse: to, rowServer, plugins, version, random } = options
  if (!to) throw new ExitFault("configuration", "FOOTFALL_CLICKHOUSE_URL must name the ClickHouse server, also to move events away from it")
  const instance = await openInstance({ ...options, isMoving: true })
  try {
    return await work({
      ...instance,
      ...{ plugins, report, clock: CLOCK, path: placesIn(options.dataDir).events, siteKey: instance.siteKeys.siteKey },
      ...{
        node: instance.nodes!.own,
        clickhouse: createClickhouse(to.server, sendToClickhouse),
        server: to.server,
        rows: rowServer && { server: rowServer, version, random },
        networkUrl: app.workers.network,
      }, // with `clickhouse`
    })
  } finally {
    await instance.close()
  }
}

/** Runs the command line. Resolves with the exit code. */
export function runProgram(argv: readonly string[]): Promise<number> {
  return runCommandLine(argv, program, {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    readInput: () => Bun.stdin.text(),
    monotonic: CLOCK.monotonic,
  })
}

/** Returns the flags for the settings of the core and of all plugins. Secrets have no flag. */
function settingFlags(): Record<string, string> {
  const all = [...KEYS.map((key) => ({ key, setting: SETTINGS[key] })), ...pluginSettings(plugins)]
  return Object.fromEntries(all.filter(({ setting }) => !setting.secret).map(({ key, setting }) => [flagName(key).slice(2), setting.about]))
}

function load(settings: Settings): Loaded {
  try {
    return loadConfig({ flags: settings, environment: process.env, workingDirectory: process.cwd(), plugins })
  } catch (error) {
    throw error instanceof ConfigFault ? new ExitFault("configuration", error.message) : error
  }
}

interface LogOptions {
  /** Whether the process serves. Other commands report their result themselves, so they log warnings and errors only. */
  serves: boolean
  logTo: { fd: number }
}

function appOptions(settings: Settings, { serves, logTo }: LogOptions = { serves: false, logTo: process.stderr }): AppOptions {
  const { config, described } = load(settings)
  return {
    config,
    described,
    plugins,
    version,
    clock: CLOCK,
    log: jsonLog({ level: serves ? config.log_level : "warn", now: CLOCK.now, write: lineWriter(logTo.fd) }),
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    // Resolved here, because in the binary `import.meta.url` is that of this file everywhere.
    workers: {
      query: new URL("./query/engine/worker.ts", import.meta.url).href,
      backup: new URL("./services/backup/worker.ts", import.meta.url).href,
      hash: new URL("./services/sign-in/hash-worker.ts", import.meta.url).href,
      plugin: new URL("./plugin-worker.ts", import.meta.url).href,
      shipping: new URL("./services/shipping/worker.ts", import.meta.url).href,
      network: new URL("./services/shipping/network-worker.ts", import.meta.url).href,
      rows: new URL("./store/rows/worker.ts", import.meta.url).href,
    },
  }
}

/** Opens the listening socket, which is the last step of a start. */
async function listen(app: App, { config, log }: AppOptions): Promise<Running> {
  let requests = 0
  const answer: App["fetch"] = (request, server) => {
    requests++
    return app.fetch(request, server)
  }
  const server = bind(answer, config)
  const name =
    config.host === "0.0.0.0" || config.host === "::" ? "localhost" : config.host.includes(":") ? `[${config.host}]` : config.host
  const address = `http://${name}:${server.port}`
  await app.start(address)
  void releaseWhenCalm({ requests: () => requests })
  return {
    address,
    dataDir: config.data_dir,
    isNew: (await app.instance.allSites()).length === 0,
    inviteToSetUp: app.inviteToSetUp,
    logStart: () => log.info("listening", { address, version }),
    failed: app.instance.states.lost,
    restarting: app.restarting,
    stop: () => stop(app, server, log),
  }
}

function bind(answer: App["fetch"], { host, port }: { host: string; port: number }): Bun.Server<undefined> {
  try {
    return Bun.serve({ ...LISTENING, hostname: host, port, fetch: answer })
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown"
    const reason = code === "EADDRINUSE" ? "is in use" : `cannot be opened (${code})`
    throw new ExitFault("unavailable", `${host}:${port} ${reason}: free it, or use another --port`, { cause: error })
  }
}

/** Stops the instance in the order of reliability.md 3.4, within 10 seconds. */
async function stop(app: App, server: Bun.Server<undefined>, log: Log): Promise<void> {
  app.instance.health.enter("stopping")
  server.stop()
  await drainRequests(server, 5_000)
  app.collector.stop()
  await drainRequests(server, 500)
  server.stop(true)
  await app.stop()
  log.info("stopped")
}

/** Waits until all requests are answered, at most for a time. */
async function drainRequests(server: Bun.Server<undefined>, timeoutMs: number): Promise<void> {
  const end = CLOCK.monotonic() + timeoutMs
  while (server.pendingRequests > 0 && CLOCK.monotonic() < end) await Bun.sleep(10)
}

/**
 * Resolves at the first signal, which requests an orderly stop. The second signal exits immediately. Acknowledged events are safe in
 * both cases.
 */
function interrupted(): Promise<void> {
  interruption ??= listenForSignals()
  return interruption
}

/** One promise for the whole process, so that an instance that is being restarted does not miss a signal. */
let interruption: Promise<void> | undefined

function listenForSignals(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isInterrupted = false
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.on(signal, () => {
      if (isInterrupted) process.exit(code)
      isInterrupted = true
      resolve()
    })
  }
  return promise
}
