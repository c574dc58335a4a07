import { strToU8, zipSync } from "fflate"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listUserFacts } from "../../store/catalog/instance-lists.ts"
import type { Check } from "../doctor.ts"
import type { LogLines } from "../log-lines.ts"
import { anonymous } from "../redact.ts"
import { inSlices } from "../slices.ts"
import type { ShownSettings } from "./settings.ts"
import type { SystemReport } from "./system.ts"

export interface DiagnosticsOptions {
  catalog: Catalog
  clock: { now(): number }
  dataDir: string
  logLines: Pick<LogLines, "list">
  system(): Promise<SystemReport>
  health(): Promise<Check[]>
  settings(): ShownSettings
}

const LINES = 500

/**
 * A file to send to whoever helps: what runs, what is wrong with it, how it is set, what it said lately. Without secrets and
 * addresses of machines; people are numbers.
 */
export async function diagnosticsZip(options: DiagnosticsOptions): Promise<Uint8Array> {
  const users = await inSlices((slice) => listUserFacts(options.catalog, options.clock.now(), slice))
  const ids = new Map(users.map(({ id, email }) => [email.toLowerCase(), id]))
  const cleared = (value: unknown): string =>
    anonymous(JSON.stringify(value, null, 2).replaceAll(options.dataDir, "(data folder)"), (email) => ids.get(email.toLowerCase()))
  const lines = options.logLines.list({ level: "warn" }, LINES).map(({ at, ...line }) => ({ at: new Date(at).toISOString(), ...line }))
  const files: Record<string, unknown> = {
    "system.json": await options.system(),
    "health.json": await options.health(),
    // What an operator has named is told by its source alone: it holds hosts, paths and accounts.
    "settings.json": options
      .settings()
      .data.map(({ key, group, value, source, editable }) => ({ key, source, ...(group !== "operator" && editable && { value }) })),
    "warnings.json": lines,
  }
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, value]) => [name, strToU8(cleared(value))])))
}
