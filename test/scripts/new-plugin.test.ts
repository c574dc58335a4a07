import { afterAll, beforeAll, expect, test } from "bun:test"
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { withPlugin } from "../../scripts/new-plugin.ts"
import { temporaryFolder } from "../kit.ts"
import { longTest } from "../size.ts"

const ROOT = join(import.meta.dir, "../..")
const PARTS = ["src", "plugins", "config", "scripts", "test", "package.json", "tsconfig.json", "biome.json", "bunfig.toml"]

/** A copy of the checkout in which the tests create and delete plugins. */
let checkout: ReturnType<typeof temporaryFolder>
beforeAll(() => {
  checkout = temporaryFolder()
  for (const part of PARTS) cpSync(join(ROOT, part), join(checkout.path, part), { recursive: true })
  symlinkSync(join(ROOT, "node_modules"), join(checkout.path, "node_modules"))
})
afterAll(() => checkout[Symbol.dispose]())

const read = (path: string): string => readFileSync(join(checkout.path, path), "utf8")
function write(path: string, text: string): void {
  mkdirSync(dirname(join(checkout.path, path)), { recursive: true })
  writeFileSync(join(checkout.path, path), text)
}

async function run(...words: string[]): Promise<{ status: number; output: string }> {
  const child = Bun.spawn([process.execPath, ...words], { cwd: checkout.path, stdout: "pipe", stderr: "pipe" })
  const [output, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { status: await child.exited, output: output + errors }
}

/** Returns the faults of types, layers and format that mention the plugin. */
async function faultsIn(plugin: string): Promise<string[]> {
  const runs = await Promise.all([run("x", "tsc", "--noEmit"), run("scripts/check-layers.ts"), run("x", "biome", "check", "plugins")])
  return runs.flatMap(({ output }) =>
    output.split("\n").filter((line) => line.includes(`plugins/${plugin}`) || line.includes("plugins/index.ts")),
  )
}

/** Starts the program with the current list and reports whether it has the plugin. */
const features = `
import { plugins } from "./plugins/index.ts"
import { startInstance } from "#plugin/test"
import { longTest } from "../size.ts"
await using instance = await startInstance({ plugins })
console.log(instance.app.instance.plugins.features().join())`

longTest(
  "a new plugin passes its own tests and every check, and can be deleted without a trace",
  async () => {
    const before = read("plugins/index.ts")
    expect(await run("scripts/new-plugin.ts", "rooms")).toMatchObject({ status: 0 })
    expect(await run("test", "plugins/rooms")).toMatchObject({ status: 0, output: expect.stringContaining("6 pass") })
    expect(await faultsIn("rooms")).toEqual([])
    write("features.ts", features)
    expect((await run("features.ts")).output.trim().split(",")).toContain("rooms")
    expect(await run("scripts/new-plugin.ts", "rooms")).toMatchObject({ status: 64, output: "plugins/rooms already exists\n" })

    rmSync(join(checkout.path, "plugins/rooms"), { recursive: true })
    write("plugins/index.ts", before)
    expect(await faultsIn("rooms")).toEqual([])
    expect((await run("features.ts")).output.trim().split(",")).not.toContain("rooms")
  },
  120_000,
)

test.each(["Rooms", "r", "my-rooms", "../x", ""])("rejects the plugin id %p", async (id) => {
  expect(await run("scripts/new-plugin.ts", id)).toMatchObject({ status: 64 })
})

longTest(
  "the guide to building a plugin works as written",
  async () => {
    const page = readFileSync(join(ROOT, "plugins/README.md"), "utf8")
    const files = [...page.matchAll(/```(?:ts|sql) file=(\S+)\n([\s\S]*?)```/g)]
    expect(files.map(([, path]) => path)).toHaveLength(6)
    for (const [, path, text] of files) write(path!, text!)
    write("plugins/index.ts", withPlugin(read("plugins/index.ts"), "guestbook"))
    for (const [, line] of page.match(/```diff[\s\S]*?```/)![0].matchAll(/^\+(import .*)$/gm))
      expect(read("plugins/index.ts")).toContain(line!)
    const [, command] = /```sh\nbun (.*)\n```/.exec(page)!
    expect(await run(...command!.split(" "))).toMatchObject({ status: 0, output: expect.stringContaining("5 pass") })
    expect(await faultsIn("guestbook")).toEqual([])
  },
  120_000,
)

test("adds a plugin to the list once, regardless of its content", () => {
  const list = (names: string) =>
    `/** Plugins. */\nimport type { AnyPlugin } from "#plugin"\n\nexport const plugins: readonly AnyPlugin[] = [${names}]\n`
  const one = withPlugin(list(""), "links")
  expect(one).toBe(list("links").replace("\n\n", '\nimport links from "./links/links.ts"\n\n'))
  expect(withPlugin(one, "pixels")).toContain("[links, pixels]\n")
  expect(withPlugin(one, "pixels")).toContain('import pixels from "./pixels/pixels.ts"\n\nexport')
  expect(() => withPlugin(one, "links")).toThrow("already contains links")
  expect(() => withPlugin("export const plugins = {}", "links")).toThrow("no longer contains the list")
})
