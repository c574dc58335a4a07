import type { Log } from "../domain/log.ts"
import type { Collector } from "../ingest/collect/collect.ts"
import type { LoadedPlugins } from "../plugin/load.ts"
import type { Engine } from "../query/engine/engine.ts"
import type { OnlineRestore } from "../services/backup/restore.ts"
import type { Console } from "../services/instance/console.ts"
import type { Instance } from "../services/instance/instance.ts"
import { type Operations, runOperation } from "../services/instance/operations.ts"
import { checkStores, FIND_HOSTS, FIND_SPANS, type UpkeepOptions } from "../services/instance/upkeep.ts"
import type { Memberships } from "../services/organizations/memberships.ts"
import { listenForCommands } from "../services/runtime/control.ts"
import type { Timers } from "../services/runtime/tasks.ts"
import type { AppOptions } from "./settings.ts"

interface Beginning {
  instance: Instance
  operations: Operations
  timers: Timers
  upkeep: UpkeepOptions
}

/** Starts the jobs, timers and event consumers of an instance, and listens for commands of the command line. */
export async function begin(options: AppOptions, { instance, operations, timers, upkeep }: Beginning): Promise<{ stop(): void }> {
  const { config, clock, log, version } = options
  const control = listenForCommands(config.data_dir, (...command) => runOperation(operations, ...command))
  instance.lock.announce({ pid: process.pid, started_at: new Date(clock.now()).toISOString(), version, control: control.path })
  await instance.jobs.recover()
  await instance.schedules.start()
  await instance.outbox.start()
  timers.start()
  for (const task of [FIND_SPANS, FIND_HOSTS]) void timers.wake(task)
  instance.accounts.mail.wake()
  if (instance.lock.afterCrash) {
    log.warn("the last run did not end in order; both stores are being checked")
    checkStores(upkeep, { full: false }).catch((error) => log.error("the check after a crash failed", { error }))
  }
  return control
}

interface Ending {
  instance: Instance
  engine: Engine
  collector: Collector
  plugins: LoadedPlugins
  memberships: Memberships
  console: Console
  timers: Timers
  onlineRestore: OnlineRestore
  /** The listener for commands of the command line; undefined before `begin`. */
  control: { stop(): void } | undefined
  log: Log
}

/** Time to send other nodes what was counted last. A server that does not answer must not delay the end. */
const SENDING_MS = 2_000

/** Ends an instance after its web server has stopped: commits waiting events, ends the jobs, closes the stores, in this order. */
export async function end({ instance, engine, collector, plugins, memberships, console, timers, onlineRestore, control, log }: Ending) {
  collector.stop()
  control?.stop()
  await Promise.all([timers.stop(), instance.jobs.stop(), instance.outbox.stop()])
  await instance.accounts.background.settled()
  await instance.accounts.mail.stop()
  // Losing these counts is acceptable. A full disk must not prevent an orderly stop.
  await memberships.keyUsage.flush().catch((error) => log.warn("counts of keys' requests were lost", { error }))
  await console.ingestion.task.run(AbortSignal.abort()).catch((error) => log.warn("counts of events were lost", { error }))
  if (instance.shipped) await Promise.race([instance.shipped.tallies.send(), Bun.sleep(SENDING_MS)]).catch(() => {}) // repeated at the next start
  await plugins.stop()
  // Nothing writes to the stores any more, but they are still open.
  await onlineRestore.backUpCurrent(instance.backups).catch((error) => log.error("the backup could not be restored", { error }))
  await engine.close()
  await instance.close()
  if (onlineRestore.exchange()) log.info("a backup was put in the place of the stores")
}
