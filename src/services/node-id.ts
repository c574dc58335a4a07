import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { placesIn } from "./data-folder.ts"
import type { Random } from "./secrets.ts"

/** What tells this data folder from those of other nodes; made when it is first asked for, under the folder's lock. */
export function nodeId(dataDir: string, random: Random): string {
  const { node } = placesIn(dataDir)
  if (existsSync(node)) return readFileSync(node, "utf8").trim()
  const id = random(16).toHex()
  writeFileSync(node, `${id}\n`, { mode: 0o600 })
  return id
}
