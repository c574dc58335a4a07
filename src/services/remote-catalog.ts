import { type Catalog, openCatalog } from "../store/catalog/catalog.ts"
import { sql } from "../store/catalog/sql.ts"
import { StoreFault } from "../store/events/fault.ts"
import { ExitFault } from "./exit.ts"

export interface RemoteCatalog {
  url: string
  authToken: string | undefined
}

/** A server may come up later than we do. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/** Opens a catalog on a server as soon as it answers. After 30 s without an answer it is exit code 69. */
export async function openRemoteCatalog(
  { url, authToken }: RemoteCatalog,
  onFault: (fault: StoreFault) => void,
  patience = PATIENCE_MS,
): Promise<Catalog> {
  let isReached = false
  // Until then a fault is what is waited out.
  const told = (fault: StoreFault) => isReached && onFault(fault)
  const catalog = await openCatalog(url, { onFault: told, ...(authToken !== undefined && { authToken }) })
  const end = AbortSignal.timeout(patience)
  const { promise: late, reject } = Promise.withResolvers<never>()
  // An address may carry a token; its host does not.
  const { host } = new URL(url)
  end.addEventListener("abort", () =>
    reject(new ExitFault("unavailable", `The catalog server ${host} was not reachable for 30 s: start it`)),
  )
  await Promise.race([late, answer(catalog, host, end)])
  isReached = true
  return catalog
}

async function answer(catalog: Catalog, host: string, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    try {
      await catalog.get(sql`select 1`)
      return
    } catch (error) {
      if (isRefusal(error))
        throw new ExitFault("configuration", `The catalog server ${host} refuses FOOTFALL_CATALOG_AUTH_TOKEN`, { cause: error })
      if (!(error instanceof StoreFault)) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** The client says how a server answered in its words alone. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StoreFault && error.cause instanceof Error && /HTTP status 40[13]\b/.test(error.cause.message)
