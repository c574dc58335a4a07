import { Database } from "bun:sqlite"
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "../..")
const dist = join(root, "dist")
const built = join(dist, `footfall-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`)

/** Copies the compiled file into a new folder, so that any file it needs beside it would be missing. */
export function compiledAlone() {
  const folder = mkdtempSync(join(tmpdir(), "footfall-binary-"))
  const alone = join(folder, "bin")
  const binary = join(alone, "footfall")
  mkdirSync(alone)
  oneAtATime(() => {
    if (!isFresh()) build()
    copyFileSync(built, binary)
  })
  chmodSync(binary, 0o755)
  return { folder, alone, command: [binary], remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** Runs work under a lock, because test files run in parallel and build into the same folder. The lock ends with its process. */
function oneAtATime(work: () => void): void {
  mkdirSync(dist, { recursive: true })
  const lock = new Database(join(dist, "build.lock"))
  lock.run("pragma busy_timeout = 120000")
  lock.run("begin exclusive")
  try {
    work()
  } finally {
    lock.close()
  }
}

/** Reports whether the binary is newer than all its sources. */
function isFresh(): boolean {
  const made = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = new Glob("{src,plugins,config,scripts}/**/*").scanSync({ cwd: root })
  return [...sources, "package.json", "bun.lock"].every((file) => statSync(join(root, file)).mtimeMs < made)
}

function build(): void {
  const run = Bun.spawnSync([process.execPath, "scripts/build.ts"], { cwd: root })
  if (!run.success) throw new Error(run.stderr.toString())
}
