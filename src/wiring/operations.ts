import type { Site } from "../domain/site.ts"
import { openEngine } from "../query/engine/engine.ts"
import { type DataHooks, NO_HOOKS } from "../services/erasure/data-hooks.ts"
import { createRetention } from "../services/erasure/retention.ts"
import { type AreaFile, type Takeout, writeTakeout } from "../services/export/takeout.ts"
import { examine } from "../services/instance/doctor.ts"
import type { Instance } from "../services/instance/instance.ts"
import { createOperations, type Operations } from "../services/instance/operations.ts"
import { type RunPluginCommand, refuseWithoutServer } from "../services/instance/plugin-commands.ts"
import { createStorage } from "../services/instance/storage.ts"
import { beginsJobs } from "../services/jobs/jobs.ts"
import { operatorActor } from "./account-settings.ts"
import { type AppOptions, cacheBytes, doctorOptions, eventLocation, scriptUrlOf } from "./settings.ts"

/** Writes the export of a site. It opens its own query engine, because a command can run without a serving instance. */
async function takeOut(
  options: AppOptions,
  instance: Instance,
  areaFiles: () => readonly AreaFile[],
  { site, path }: { site: Site; path: string },
): Promise<Takeout> {
  const { config, clock, random, workers } = options
  const engine = openEngine({
    importsOf: instance.imports.of,
    workerUrl: workers.query,
    ...eventLocation(options),
    cacheBytes: cacheBytes(config.cache_mb),
    workers: 1,
  })
  try {
    return await writeTakeout({ ...instance, engine, areaFiles, clock, random }, site, path)
  } finally {
    await engine.close()
  }
}

/** Creates the operations that the command line can run, whether the instance is serving or not. */
export function operationsOf(
  options: AppOptions,
  instance: Instance,
  {
    baseUrl,
    // Without hooks, data that areas derived from visits is erased by their next nightly run.
    hooks = NO_HOOKS,
    areaFiles = () => [],
    runPluginCommand = refuseWithoutServer,
  }: { baseUrl(): string; hooks?: DataHooks; areaFiles?(): readonly AreaFile[]; runPluginCommand?: RunPluginCommand },
): Operations {
  const { config, clock, version } = options
  const places = { dataDir: config.data_dir, backupWorkerUrl: options.workers.backup }
  const { segments } = createStorage({ ...instance, ...places, clock })
  return createOperations({
    ...instance,
    ...instance.accounts,
    actor: operatorActor(version),
    clock,
    publicUrl: baseUrl,
    now: clock.now,
    takeOut: (site, path) => takeOut(options, instance, areaFiles, { site, path }),
    scriptUrl: () => scriptUrlOf(config, baseUrl()),
    retention: createRetention({ ...instance, ...places, clock, hooks, segments, beginJob: beginsJobs(instance) }),
    examine: (report) => examine(doctorOptions(options, instance), report),
    runPluginCommand,
  })
}
