import { expect, test } from "bun:test"
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { prepareDataFolder, readRun, takeLock } from "../../../src/services/runtime/data-folder.ts"
import { ExitFault } from "../../../src/services/runtime/exit.ts"
import { secretKeys } from "../../../src/services/runtime/secret-key.ts"
import { temporaryFolder } from "../../kit.ts"

const secretKey = (path: string, key: string | undefined, random: (bytes: number) => Uint8Array) =>
  secretKeys(path, { key, previous: undefined }, random).current

const isRoot = process.getuid?.() === 0

function faultOf(work: () => unknown): Pick<ExitFault, "exit" | "message"> {
  try {
    work()
  } catch (error) {
    if (error instanceof ExitFault) return { exit: error.exit, message: error.message }
    throw error
  }
  throw new Error("Nothing was thrown")
}

test("creates a data folder that only its owner can access", () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, "a/b/data")
  prepareDataFolder(dataDir)
  expect(statSync(dataDir).mode & 0o777).toBe(0o700)
  prepareDataFolder(dataDir)
})

test.each([0o755, 0o775, 0o750])("restricts an empty folder of mode %o, as mkdir creates it, and logs that once", (mode) => {
  using folder = temporaryFolder()
  chmodSync(folder.path, mode)
  expect(prepareDataFolder(folder.path)).toEqual([`${folder.path} was empty and accessible to other users: its mode is now 0700`])
  expect(statSync(folder.path).mode & 0o777).toBe(0o700)
  expect(prepareDataFolder(folder.path)).toEqual([])
})

test("rejects a data folder that others can access, and leaves it unchanged", () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "catalog.db"), "", { mode: 0o600 })
  chmodSync(folder.path, 0o750)
  expect(faultOf(() => prepareDataFolder(folder.path))).toEqual({
    exit: "ownership",
    message: `Other users can access ${folder.path}. Run chmod 0700 ${folder.path}`,
  })
  expect(statSync(folder.path).mode & 0o777).toBe(0o750)
})

test.skipIf(!isRoot)("rejects a data folder of another user", () => {
  using folder = temporaryFolder()
  chmodSync(folder.path, 0o755)
  chownSync(folder.path, 4_711, 4_711)
  expect(faultOf(() => prepareDataFolder(folder.path))).toMatchObject({
    exit: "ownership",
    message: expect.stringContaining("belongs to user 4711"),
  })
})

test("rejects a file in place of the data folder", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "data")
  writeFileSync(path, "")
  expect(faultOf(() => prepareDataFolder(path))).toEqual({ exit: "storage", message: `${path} is not a folder` })
  expect(faultOf(() => prepareDataFolder(join(path, "deeper")))).toMatchObject({ exit: "storage" })
})

test("tells a second process which one holds the lock", () => {
  using folder = temporaryFolder()
  const first = takeLock(folder.path, { pid: 42, started_at: "2026-11-21T12:00:00.000Z", version: "1.0.0" })
  expect(first.afterCrash).toBe(false)
  expect(faultOf(() => takeLock(folder.path, { pid: 43, started_at: "2026-11-21T12:01:00.000Z", version: "1.0.0" }))).toEqual({
    exit: "inUse",
    message: `Another Footfall process uses ${folder.path} (pid 42, started 2026-11-21T12:00:00.000Z). Stop it, or use another --data-dir`,
  })
  expect(readRun(folder.path)).toEqual({ pid: 42, started_at: "2026-11-21T12:00:00.000Z", version: "1.0.0" })
  first.release()
  const second = takeLock(folder.path, { pid: 43, started_at: "2026-11-21T12:01:00.000Z", version: "1.0.0" })
  expect(second.afterCrash).toBe(false)
  second.release()
})

test("releases the lock when its process dies, and the next one detects that", async () => {
  using folder = temporaryFolder()
  const path = join(import.meta.dir, "../../../src/services/runtime/data-folder.ts")
  const code = `import { takeLock } from ${JSON.stringify(path)}
    takeLock(${JSON.stringify(folder.path)}, { pid: process.pid, started_at: "", version: "" })
    Bun.gc(true); console.log("held"); setInterval(() => {}, 1000)`
  await using child = Bun.spawn([process.execPath, "-e", code], { stdout: "pipe" })
  await child.stdout.getReader().read()
  expect(faultOf(() => takeLock(folder.path, { pid: 1, started_at: "", version: "" }))).toMatchObject({
    exit: "inUse",
    message: expect.stringContaining(`pid ${child.pid}`),
  })
  child.kill("SIGKILL")
  await child.exited
  const next = takeLock(folder.path, { pid: 1, started_at: "", version: "" })
  expect(next.afterCrash).toBe(true)
  next.release()
})

test.each([
  ["an empty", ""],
  ["a truncated", '{"pid": 4'],
])("treats %s run.json, as a power cut leaves it, as an unclean shutdown", (_, content) => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, "run.json"), content)
  const lock = takeLock(folder.path, { pid: 42, started_at: "2026-11-21T12:00:00.000Z", version: "1.0.0" })
  expect(lock.afterCrash).toBe(true)
  expect(readRun(folder.path)).toMatchObject({ pid: 42 })
  lock.release()
})

test("creates the key once, readable only by its owner, and reads it again", () => {
  using folder = temporaryFolder()
  const random = (bytes: number) => new Uint8Array(bytes).fill(7)
  expect(secretKey(folder.path, undefined, random)).toEqual(new Uint8Array(32).fill(7))
  const path = join(folder.path, "secret.key")
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, "utf8")).toBe("BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=\n")
  expect([...secretKey(folder.path, undefined, () => new Uint8Array(32))]).toEqual(new Array(32).fill(7))
})

test("accepts a configured key in base64 and hex, and writes no key file", () => {
  using folder = temporaryFolder()
  const bytes = Uint8Array.from({ length: 32 }, (_, index) => index * 3)
  for (const text of [Buffer.from(bytes).toString("base64"), bytes.toHex()])
    expect([...secretKey(folder.path, text, () => new Uint8Array(32))]).toEqual([...bytes])
  expect(existsSync(join(folder.path, "secret.key"))).toBe(false)
})

test.each([
  ["readable by others", (path: string) => chmodSync(path, 0o644), "ownership"],
  ["of the wrong length", (path: string) => writeFileSync(path, "c2hvcnQ=\n"), "damaged"],
] as const)("a key file %s is refused", (_, spoil, exit) => {
  using folder = temporaryFolder()
  mkdirSync(folder.path, { recursive: true })
  secretKey(folder.path, undefined, () => new Uint8Array(32).fill(1))
  spoil(join(folder.path, "secret.key"))
  expect(faultOf(() => secretKey(folder.path, undefined, () => new Uint8Array(32)))).toMatchObject({ exit })
})
