import type { Log } from "../domain/log.ts"
import type { Lock } from "./lock.ts"
import type { Stores } from "./stores.ts"

interface OpenInstance extends Pick<Stores, "catalog" | "events" | "lease"> {
  lock: Lock
}

const FAREWELL_MS = 2_000

/** Brings both stores to one file each and gives the folder free. */
export async function closeInstance({ catalog, events, lock, lease }: OpenInstance, log: Log): Promise<void> {
  // What a full or failing disk does not take stays safe in the stores' logs, and the end has its own exit code.
  const unmoved = (error: unknown) => log.warn("a store could not be brought to one file", { error })
  if (!catalog.remote) await catalog.checkpoint("truncate").catch(unmoved)
  try {
    events.checkpoint("truncate")
  } catch (error) {
    unmoved(error)
  }
  // A server that is gone must not hold up the end: its lease runs out by itself.
  if (lease) await Promise.race([lease.give().then(catalog.close), Bun.sleep(FAREWELL_MS)]).catch(() => {})
  else await catalog.close()
  events.close()
  lock.release()
}
