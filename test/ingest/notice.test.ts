import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"

const root = new URL("../..", import.meta.url)
const notice = await Bun.file(new URL("NOTICE", root)).text()
const lines = new Set(notice.split("\n").map((line) => line.trim().split(/\s+/).join(" ")))

interface Package {
  version: string
  license: string
  dependencies?: Record<string, string>
}
const packageOf = (name: string): Promise<Package> => Bun.file(new URL(`node_modules/${name}/package.json`, root)).json()
/** Packages that contain only types are not in the binary. */
const isCode = (name: string) => !name.startsWith("@types/") && name !== "undici-types"

test("NOTICE names every library in the binary, with version and licence", async () => {
  const { dependencies }: { dependencies: Record<string, string> } = await Bun.file(new URL("package.json", root)).json()
  const waiting = Object.keys(dependencies)
  const missing: string[] = []
  const seen = new Set<string>()
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name) || !isCode(name)) continue
    seen.add(name)
    const { version, license, dependencies: below = {} } = await packageOf(name)
    if (!lines.has(`${name} ${version} ${license}`)) missing.push(`${name} ${version} ${license}`)
    waiting.push(...Object.keys(below))
  }
  expect(missing).toEqual([])
  expect(seen.size).toBeGreaterThan(12)
})

test("NOTICE names every data file", () => {
  const files = readdirSync(new URL("src/ingest/data/", root))
  expect(files.filter((file) => !notice.includes(`src/ingest/data/${file} `))).toEqual([])
})
