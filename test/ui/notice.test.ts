import { expect, test } from "bun:test"
import { join } from "node:path"

const root = join(import.meta.dir, "../..")
const notice = await Bun.file(join(root, "NOTICE")).text()
const lines = new Set(notice.split("\n").map((line) => line.trim().split(/\s+/).join(" ")))

test("NOTICE lists every library of the dashboard and its typeface with version and licence", async () => {
  const { metafile } = await Bun.build({
    entrypoints: [join(root, "src/ui/index.html")],
    target: "browser",
    external: ["/assets/hanken-grotesk.woff2"],
    metafile: true,
  })
  const bundled = Object.keys(metafile?.inputs ?? {}).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [])
  const names = new Set([...bundled, "@fontsource-variable/hanken-grotesk"])
  const missing: string[] = []
  for (const name of names) {
    const { version, license } = await Bun.file(join(root, "node_modules", name, "package.json")).json()
    if (!lines.has(`${name} ${version} ${license}`)) missing.push(`${name} ${version} ${license}`)
  }
  expect(missing).toEqual([])
  expect(names.size).toBeGreaterThan(8)
})
