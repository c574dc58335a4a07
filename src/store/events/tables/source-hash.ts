import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

/** The folders whose code decides about sums. */
const FOLDERS = ["domain", "query", "store/events"]

/** Returns a hash of the code that computes sums. It is imported as a macro, which needs the sources only when the program is built. */
export function hashSources(src = join(import.meta.dir, "../../..")): string {
  const files = FOLDERS.flatMap((folder) => [...new Glob(`${folder}/**/*.ts`).scanSync(src)]).sort()
  const hash = new Bun.CryptoHasher("sha256")
  for (const file of files) hash.update(`${file}\n${readFileSync(join(src, file), "utf8")}\n`)
  return hash.digest("hex").slice(0, 16)
}
