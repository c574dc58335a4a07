import { expect } from "bun:test"
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../kit.ts"
import { longTest } from "../size.ts"

const ROOT = join(import.meta.dir, "../..")
const AREAS = readdirSync(join(ROOT, "plugins"), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
/** Paths that are not copied, because nothing in the tree reads them or they are linked instead. */
const LEFT = new Set([".git", "node_modules", "dist", "junit.xml"])

/** Type check, layer check and the tests that inspect all plugins, their pages or the whole source. */
const CHECKS = [
  ["x", "tsc", "--noEmit"],
  ["scripts/check-layers.ts"],
  ["test", "test/domain/permission.test.ts", "test/plugin/loading.test.ts", "test/threats/key-timing.test.ts", "test/ui/weight.test.ts"],
]

longTest(
  "types, layers and tests pass without the plugins' folders and their lines in the lists",
  () => {
    expect(AREAS).toEqual(expect.arrayContaining(["admin", "links", "pixels"]))
    using folder = temporaryFolder()
    copyTree(folder.path)
    for (const area of AREAS) rmSync(join(folder.path, "plugins", area), { recursive: true })
    for (const list of ["plugins/index.ts", "plugins/pages.ts", "plugins/share-pages.ts"]) withoutLines(join(folder.path, list))
    withoutWorkers(join(folder.path, "plugins/workers.ts"))
    for (const words of CHECKS) expect(runIn(folder.path, words)).toEqual({ words, exitCode: 0, output: "" })
  },
  180_000,
)

function copyTree(to: string): void {
  for (const name of readdirSync(ROOT)) if (!LEFT.has(name)) cpSync(join(ROOT, name), join(to, name), { recursive: true })
  symlinkSync(join(ROOT, "node_modules"), join(to, "node_modules"))
}

function runIn(cwd: string, words: string[]): { words: string[]; exitCode: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...words], { cwd })
  return { words, exitCode, output: exitCode === 0 ? "" : `${stdout}${stderr}` }
}

/** Removes the plugins' entries from the list of workers. */
function withoutWorkers(list: string): void {
  const left = readFileSync(list, "utf8").replaceAll(new RegExp(`^ {2}(?:${AREAS.join("|")}): .*\\n`, "gm"), "")
  expect(left).not.toContain("import(")
  writeFileSync(list, left)
}

/** Removes the plugins' imports and entries from a list. */
function withoutLines(list: string): void {
  const names = AREAS.join("|")
  const text = readFileSync(list, "utf8")
  const left = text
    .replaceAll(new RegExp(`^import (?:${names}) from .*\n`, "gm"), "")
    .replaceAll(new RegExp(`\\b(?:${names})\\b(?:, )?`, "g"), "")
  expect(left).toContain("= []")
  writeFileSync(list, left)
}
