import { expect, test } from "bun:test"
import { join } from "node:path"
import { unzipSync } from "fflate"
import { temporaryFolder } from "../kit.ts"
import { createInstance, footfall } from "./footfall.ts"

test("exports a whole site into a new file and never overwrites an existing one", async () => {
  using folder = temporaryFolder()
  const data = ["--data-dir", join(folder.path, "data")]
  await createInstance(join(folder.path, "data"))
  await footfall(["site", "create", "--name", "Shop", "--hosts", "shop.example", ...data])
  const out = join(folder.path, "shop.zip")
  const made = await footfall(["export", "--site", "1", "--out", out, ...data, "--json"])
  expect(made.code).toBe(0)
  expect(JSON.parse(made.out)).toMatchObject({ path: out, visits: 0, events: 0 })
  const files = unzipSync(await Bun.file(out).bytes())
  expect(JSON.parse(new TextDecoder().decode(files["manifest.json"]))).toMatchObject({
    format: "footfall-site",
    version: 2,
    site: { name: "Shop" },
  })
  expect(await footfall(["export", "--site", "1", "--out", out, ...data])).toMatchObject({
    code: 64,
    err: expect.stringContaining("already exists"),
  })
  expect(await footfall(["export", "--site", "1", "--out", join(folder.path, "no", "x.zip"), ...data])).toMatchObject({
    code: 64,
    err: expect.stringContaining("cannot be written"),
  })
  expect(await footfall(["export", "--site", "9", "--out", join(folder.path, "y.zip"), ...data])).toMatchObject({ code: 64 })
  expect(await footfall(["export", "--site", "1", ...data])).toMatchObject({ code: 64, err: expect.stringContaining("--out is missing") })
}, 60_000)
