import type { Config } from "../../config/schema.ts"
import { openPlaceFile, type PlaceFile } from "../ingest/place/place.ts"
import { openEngine, type PooledEngine } from "../query/engine/engine.ts"
import { createSlowQueries, type SlowQueries } from "../query/engine/slow-queries.ts"
import { createVisibleImports } from "../services/imports/visible-imports.ts"
import { type Instance, openInstance } from "../services/instance/instance.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import { operatorActor } from "./account-settings.ts"
import { type AppOptions, cacheBytes, eventLocation, instanceOptions } from "./settings.ts"

/** The parts that all others need: the stores with their services, the query workers, and the place database. */
interface Foundation {
  instance: Instance
  engine: PooledEngine
  slowQueries: SlowQueries
  placeFile: PlaceFile | undefined
}

/** Opens the foundation. If one part cannot be opened, the others are closed again. */
export async function openFoundation(options: AppOptions, publicUrl: () => string): Promise<Foundation> {
  const { config } = options
  const placeFile = await placesOf(config)
  const slowQueries = createSlowQueries(options.clock)
  const imports = createVisibleImports()
  const engine = openEngine({
    importsOf: imports.of,
    watch: slowQueries.watch,
    workerUrl: options.workers.query,
    ...eventLocation(options),
    cacheBytes: cacheBytes(config.cache_mb),
    ...(options.hasWarmWorker !== undefined && { hasWarmWorker: options.hasWarmWorker }),
    ...(config.query_workers !== undefined && { workers: config.query_workers }),
  })
  const instance = await openInstance({
    ...instanceOptions(options),
    publicUrl,
    imports,
    onEventsReadable: ({ damaged }) => engine.begin(damaged),
  }).catch(async (error) => {
    await engine.close()
    throw error
  })
  engine.onSums(instance.events.storeSums)
  await makeFirstUser(options, instance)
  return { instance, engine, slowQueries, placeFile }
}

/** Closes the foundation after a failed start. */
export async function closeFoundation({ engine, instance }: Foundation): Promise<void> {
  await engine.close()
  await instance.close()
}

/** Creates the first user from the settings, so that an instance can be set up without a browser. */
async function makeFirstUser({ config, log, version }: AppOptions, { accounts, close }: Instance): Promise<void> {
  const { admin_email: email, admin_password: password } = config
  if (email === undefined && password === undefined) return
  try {
    const isMade = await accounts.setup.fromSettings({ email, password }, operatorActor(version))
    if (!isMade) log.warn("admin_email and admin_password are ignored: the instance is set up")
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the place database. An unreadable file at start is a configuration error; if it fails later, the loaded data stays in use. */
async function placesOf({ geo_db }: Config): Promise<PlaceFile | undefined> {
  if (geo_db === undefined) return undefined
  const file = openPlaceFile(geo_db)
  const fault = await file.refresh()
  if (fault !== undefined) throw new ExitFault("configuration", `geo_db: ${geo_db} cannot be read as an mmdb file (${fault})`)
  return file
}
