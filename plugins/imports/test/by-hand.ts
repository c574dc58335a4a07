import type { AnyPlugin, JobWork } from "#plugin"
import { startInstance, type TestInstance } from "#plugin/test"
import type { ImportsHost } from "../area.ts"
import { createHolders } from "../holders.ts"
import imports from "../imports.ts"
import { createPreviews } from "../preview.ts"
import { createDataApi } from "../run/fetching/data-api.ts"
import { createFetching } from "../run/fetching/fetching.ts"
import type { RunPayload } from "../run/jobs.ts"
import { createRuns, type Runs } from "../run/run.ts"
import { createStaging } from "../staging.ts"
import { createStreams } from "../streams/streams.ts"

/** Events or rows of totals per batch. */
const BATCH = 4

/** An instance whose runs are started by hand with batches of a few events, so that they can be interrupted anywhere. */
export interface StageByHand extends AsyncDisposable {
  instance: TestInstance
  runs: Runs
  headers: { cookie: string }
}

/**
 * `interrupt` is called in each transaction that writes an audit entry or product events, which it rolls back by throwing. `others` are
 * further plugins of the instance.
 */
export async function startByHand(
  interrupt: (action: string) => void = () => {},
  others: readonly AnyPlugin[] = [],
  settings: Record<string, string> = {},
): Promise<StageByHand> {
  let host: ImportsHost | undefined
  const setup: AnyPlugin["setup"] = (given) => {
    const { audit, outbox } = given
    const write: typeof audit.write = async (statements, actor, entry) => {
      interrupt(entry.action)
      await audit.write(statements, actor, entry)
    }
    const publish: typeof outbox.write = async (statements, ...events) => {
      interrupt(events[0]!.event)
      await outbox.write(statements, ...events)
    }
    const runInThread: typeof given.runInThread = (task, options) => given.runInThread({ ...(task as object), batchEvents: BATCH }, options)
    const small = { ...given, runInThread }
    const interrupted = { audit: { ...audit, write }, outbox: { ...outbox, write: publish } }
    host = { ...small, ...interrupted } as ImportsHost // the settings of the plugin
    return imports.setup(small)
  }
  const instance = await startInstance({ plugins: [{ ...imports, setup }, ...others], settings })
  await instance.signIn({ role: "owner", isInstanceAdmin: true })
  const headers = { cookie: await instance.signIn({ role: "admin" }) }
  const staging = createStaging(host!)
  const holders = createHolders(host!)
  const streams = createStreams(host!)
  const previews = createPreviews(host!, { holders, staging, streams })
  const fetching = createFetching(host!, createDataApi(host!))
  const runs = createRuns(host!, { fetching, holders, previews, staging, streams, batch: BATCH })
  return { instance, runs, headers, [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose]() }
}

const actor = { kind: "system", email: "test", ipPrefix: "", userAgent: "", requestId: "" } as const

/**
 * Runs an import, or with a folder one more run of a stream. Aborts it when it reports progress for the given time, or by its own
 * controller.
 */
export function run(
  runs: Runs,
  importId: number,
  abortAt = Number.POSITIVE_INFINITY,
  abort = new AbortController(),
  folder?: string,
): Promise<void> {
  let reports = 0
  const work: Pick<JobWork<RunPayload>, "payload" | "signal" | "progress"> = {
    payload: { importId, actor, ...(folder !== undefined && { folder }) },
    signal: abort.signal,
    progress() {
      if (++reports === abortAt) abort.abort(new Error("The process stops."))
    },
  }
  return runs.run(work as JobWork<RunPayload>) // the members that a run uses
}
