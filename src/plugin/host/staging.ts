import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { placesIn } from "../../services/runtime/data-folder.ts"

/** Returns the function that creates the folder of a plugin for staged files (areas/00 section 18). */
export const stagingFolders = (dataDir: string, plugin: string) => (): string => {
  const path = join(placesIn(dataDir).staging, plugin)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}
