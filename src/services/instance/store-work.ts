import { statSync } from "node:fs"
import { Type as t } from "@sinclair/typebox"
import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import { parsed } from "../../domain/sign-in.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { EventStore } from "../../store/events/events.ts"
import { raw } from "../../store/sql.ts"
import type { Audit } from "../audit/audit.ts"
import { inBackupThread } from "../backup/thread.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { BeginJob, JobWork } from "../jobs/jobs.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { diskSpace } from "../runtime/files.ts"
import type { Exclusive } from "../runtime/tasks.ts"

const StoreInput = t.Object(
  { store: t.Union([t.Literal("catalog"), t.Literal("events")]) },
  { additionalProperties: false, title: "StoreInput" },
)

type Store = "catalog" | "events"
interface Payload {
  store: Store
  actor: Actor
}

/** Jobs that maintain a whole store. */
export interface StoreWork {
  /** Starts a vacuum of `{store}`. Throws `validation_failed`, `not_enough_space`, `invalid_state` for a catalog on a server. */
  vacuum(actor: Actor, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  analyze(actor: Actor, body: unknown, alongside?: Alongside<Job>): Promise<Job>
  performVacuum(work: JobWork<Payload>): Promise<void>
  performAnalyze(work: JobWork<Payload>): Promise<void>
}

interface StoreWorkOptions {
  dataDir: string
  backupWorkerUrl: string
  catalog: Catalog
  events: EventStore
  clock: Pick<Clock, "now">
  exclusive: Exclusive
  audit: Pick<Audit, "writeAlone">
  beginJob: BeginJob
}

export const VACUUM_JOB = "core.vacuum-store"
export const ANALYZE_JOB = "core.analyze-store"
/** Largest event store that is rewritten by a vacuum, because writing waits meanwhile. A larger one reuses its free pages. */
const WHOLE_FILE = 256 << 20

export function createStoreWork(options: StoreWorkOptions): StoreWork {
  const { dataDir, catalog, events, exclusive, clock, audit } = options
  const places = placesIn(dataDir)
  const sizeOf = (store: Store) => statSync(places[store], { throwIfNoEntry: false })?.size ?? 0

  function parseStore(body: unknown): Store {
    const { store } = parsed(StoreInput, body)
    if (store === "catalog" && catalog.remote)
      throw new AppError("invalid_state", "The catalog is on a server, which maintains it itself.", { state: "remote" })
    return store
  }
  const storeEntry = (store: Store, verb: string): AuditEntry => ({
    action: `admin.store.${verb}`,
    target: { type: "store", id: store, label: store },
  })
  const begin = (verb: "vacuum" | "analyze", actor: Actor, store: Store, alongside: Alongside<Job> | undefined): Promise<Job> => {
    const kind = verb === "vacuum" ? VACUUM_JOB : ANALYZE_JOB
    return options.beginJob(actor, { kind, key: store, payload: { store, actor }, join: true }, storeEntry(store, verb), alongside)
  }
  /** Runs a job and writes the audit entry of its end. The entry of its start was written with the job. */
  async function recorded({ store, actor }: Payload, verb: string, work: () => Promise<void>): Promise<void> {
    const before = sizeOf(store)
    await exclusive.run(work)
    await audit.writeAlone(actor, { ...storeEntry(store, `${verb}-end`), changes: { bytes: [before, sizeOf(store)] } })
  }
  async function compactEvents(): Promise<void> {
    await events.merge(clock.now())
    await events.dropRetired(clock.now())
    if (sizeOf("events") > WHOLE_FILE) return
    await events.emptyLog()
    await inBackupThread<"compact">(options.backupWorkerUrl, { do: "compact", path: places.events })
    await events.emptyLog()
  }

  return {
    async vacuum(actor, body, alongside) {
      const store = parseStore(body)
      const needed_bytes = sizeOf(store)
      const { freeBytes: free_bytes } = diskSpace(dataDir)
      if (free_bytes < needed_bytes)
        throw new AppError("not_enough_space", "The store needs free disk space of its own size.", { needed_bytes, free_bytes })
      return begin("vacuum", actor, store, alongside)
    },
    analyze: async (actor, body, alongside) => begin("analyze", actor, parseStore(body), alongside),
    performVacuum: ({ payload }) =>
      recorded(payload, "vacuum", async () => {
        if (payload.store === "events") return compactEvents()
        await catalog.compact()
        await catalog.checkpoint()
      }),
    performAnalyze: ({ payload }) =>
      recorded(payload, "analyze", async () => {
        if (payload.store === "events") events.analyze()
        else await catalog.run(raw("analyze"))
      }),
  }
}
