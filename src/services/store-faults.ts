import { StoreFault } from "../store/events/fault.ts"
import { StoreRefusal } from "../store/refusal.ts"
import { ExitFault } from "./exit.ts"

/** What a store threw while nobody served yet, as the line and exit code of a failed start. Anything else passes as it is. */
export function toExitFault(error: unknown, dataDir: string): unknown {
  if (error instanceof StoreRefusal) return error.reason === "foreign" ? foreign(error) : misfit(error)
  if (!(error instanceof StoreFault)) return error
  if (error.kind === "damaged") {
    const remedy = `footfall backup list --data-dir ${dataDir}, then footfall backup restore <id> --data-dir ${dataDir}`
    return new ExitFault("damaged", `A store in ${dataDir} is damaged (${causeOf(error)}). Restore a backup: ${remedy}`, { cause: error })
  }
  if (error.kind === "locked") return new ExitFault("inUse", `Another program holds a store in ${dataDir}`, { cause: error })
  if (error.kind === "unreachable") return new ExitFault("unavailable", "The catalog server does not answer any more", { cause: error })
  return new ExitFault("storage", `A store in ${dataDir} cannot be used (${causeOf(error)})`, { cause: error })
}

const misfit = (error: StoreRefusal) => new ExitFault("configuration", error.message, { cause: error })
const foreign = (error: StoreRefusal) =>
  new ExitFault("damaged", `${error.message}. Move it away, or footfall backup restore <id>`, { cause: error })

/** SQLite's own code says more than our kind of fault. */
const causeOf = (fault: StoreFault): string =>
  fault.cause instanceof Error && "code" in fault.cause ? String(fault.cause.code) : fault.message
