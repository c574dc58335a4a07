import { expect, test } from "bun:test"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "../kit.ts"

test("dev serves an existing data folder and ends with its server", async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, "data")
  mkdirSync(dataDir, { mode: 0o700 })
  const child = Bun.spawn([process.execPath, "scripts/dev.ts", "--port", "0"], {
    env: { ...process.env, FOOTFALL_DATA_DIR: dataDir },
    stdout: "pipe",
    stderr: "pipe",
  })
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader()
  let printed = ""
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    printed += read.value
    if (printed.includes("src/main.ts")) break
  }
  child.kill("SIGTERM")
  expect({ printed, code: await child.exited }).toEqual({ printed: expect.stringContaining("listens at http://"), code: 0 })
  // Without bun on the PATH, the commands that it starts still work through npx.
  expect(printed).toContain(`"npx -y bun@${Bun.version} src/main.ts" from source`)
}, 30_000)
