/**
 * `bun scripts/chdb/install.ts` installs ClickHouse as a library, for benchmarks and for the tests of the second engine. It takes 550 MB and
 * is therefore not among the development dependencies; what needs it is skipped without it.
 */
import { cpSync, mkdirSync } from "node:fs"
import { join } from "node:path"

const ROOT = join(import.meta.dir, "../..")
const FOLDER = join(ROOT, "dist/rivals")

mkdirSync(FOLDER, { recursive: true })
for (const file of ["package.json", "bun.lock"]) cpSync(join(import.meta.dir, file), join(FOLDER, file))
const { exitCode } = Bun.spawnSync([process.execPath, "install", "--frozen-lockfile"], {
  cwd: FOLDER,
  stdout: "inherit",
  stderr: "inherit",
})
process.exit(exitCode)
